/* The least a dense step can cost: theta -= c w, w = exp(theta), sum w, over K arms, nothing drawn.
 *
 *     gcc -O3 -march=native -ffast-math floor.c -o floor && ./floor K STEPS    prints ns per arm and step
 *
 * The exponential is the package's: range reduction and a polynomial of degree 11, here as the compiler likes it.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double exponential(double x) {
    const double round = 6755399441055744.0;
    x = x < -708.0 ? -708.0 : x;
    double shifted = x * 1.4426950408889634 + round;
    int64_t bits;
    memcpy(&bits, &shifted, 8);
    double n = (double)(int32_t)bits;
    double r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10;
    double p = 2.5110037605963777e-08;
    p = p * r + 2.763263963904103e-07;
    p = p * r + 2.755724091857897e-06;
    p = p * r + 2.4801485482328494e-05;
    p = p * r + 0.00019841269890047113;
    p = p * r + 0.0013888888952314775;
    p = p * r + 0.008333333333319601;
    p = p * r + 0.0416666666664881;
    p = p * r + 0.1666666666666668;
    p = p * r + 0.5000000000000019;
    p = p * r + 1.0;
    p = p * r + 1.0;
    int64_t scaled;
    memcpy(&scaled, &p, 8);
    scaled += (int64_t)(int32_t)bits << 52;
    memcpy(&p, &scaled, 8);
    return p;
}

int main(int argc, char **argv) {
    int arms = argc > 1 ? atoi(argv[1]) : 1000;
    long steps = argc > 2 ? atol(argv[2]) : 200000;
    double *theta = calloc(arms, sizeof *theta), *weight = calloc(arms, sizeof *weight);
    if (!theta || !weight) return 1;
    double total = arms;
    for (int a = 0; a < arms; a++) weight[a] = 1.0;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long t = 0; t < steps; t++) {
        double c = (t & 1 ? 0.1 : -0.1) / total, sum = 0.0;
        theta[t % arms] += t & 1 ? 0.1 : -0.1;
        for (int a = 0; a < arms; a++) {
            double moved = theta[a] - c * weight[a];
            theta[a] = moved;
            weight[a] = exponential(moved);
            sum += weight[a];
        }
        total = sum;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (end.tv_sec - begin.tv_sec) + 1e-9 * (end.tv_nsec - begin.tv_nsec);
    printf("%.4f %.6g\n", 1e9 * seconds / steps / arms, total);
    return 0;
}
