"""LB-SGB on gap instances: this package against what one would otherwise run, timed in one go on the same machine.

Each peer runs the same algorithm on the same kind of instance, 100 runs where it can batch them, and is timed after a
warm-up, best of three. Printed are wall nanoseconds per run and step, and how many times longer than this package a peer takes.
JAX and pymab are optional; `make bench` installs them.

    python benchmarks/peers.py [--arms 10 100 1000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb

RUNS = 100
ETA = {10: 1000.0, 100: 2000.0, 1000: 5000.0}  # the paper's, for alpha = 0.1
Peer = Callable[[int, float, float, int], Callable[[], Any]]


def instances(n_arms: int, runs: int) -> np.ndarray:
    """Means (runs, K) of the paper's family."""
    family = lb.GapInstances(n_arms=n_arms)
    return np.stack([family.problem(seed=0, run=run).means for run in range(runs)])


def this_package(n_arms: int, alpha: float, eta: float, horizon: int) -> Callable[[], Any]:
    """lb.simulate, 100 runs, all cores."""
    rule, family = lb.LogBarrierSGB(learning_rate=alpha, eta=eta), lb.GapInstances(n_arms=n_arms)
    return lambda: lb.simulate(rule, family, horizon=horizon, runs=RUNS, seed=0, checkpoints=2)


def numpy_loop(n_arms: int, alpha: float, eta: float, horizon: int) -> Callable[[], Any]:
    """The update as one would first write it: one run, one step at a time."""
    means = instances(n_arms, 1)[0]

    def run() -> np.ndarray:
        rng, theta = np.random.default_rng(0), np.zeros(n_arms)
        for _ in range(horizon):
            p = np.exp(theta - theta.max())
            p /= p.sum()
            arm = rng.choice(n_arms, p=p)
            reward = means[arm] + rng.standard_normal()
            theta += alpha * (-reward * p + (1 - n_arms * p) / eta)
            theta[arm] += alpha * reward
        return theta

    return run


def numpy_batched(n_arms: int, alpha: float, eta: float, horizon: int) -> Callable[[], Any]:
    """All runs side by side in one array, inverse-CDF sampling."""
    means, every = instances(n_arms, RUNS), np.arange(RUNS)

    def run() -> np.ndarray:
        rng, theta = np.random.default_rng(0), np.zeros((RUNS, n_arms))
        for _ in range(horizon):
            p = np.exp(theta - theta.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            arm = (p.cumsum(axis=1) < rng.random((RUNS, 1))).sum(axis=1).clip(max=n_arms - 1)
            reward = means[every, arm] + rng.standard_normal(RUNS)
            theta += alpha * (-reward[:, None] * p + (1 - n_arms * p) / eta)
            theta[every, arm] += alpha * reward
        return theta

    return run


def jax_scan(n_arms: int, alpha: float, eta: float, horizon: int) -> Callable[[], Any]:
    """jax.lax.scan over steps, vmap over runs, float64, inverse-CDF sampling, compiled."""
    import jax
    import jax.numpy as jnp

    config: Any = jax.config
    config.update("jax_enable_x64", True)
    means = jnp.asarray(instances(n_arms, RUNS))

    def one_run(key: Any, r: Any) -> Any:
        def step(theta: Any, key: Any) -> Any:
            p = jax.nn.softmax(theta)
            draws = jax.random.split(key)
            arm = jnp.searchsorted(jnp.cumsum(p), jax.random.uniform(draws[0], dtype=jnp.float64)).clip(max=n_arms - 1)
            reward = r[arm] + jax.random.normal(draws[1], dtype=jnp.float64)
            theta = theta + alpha * (-reward * p + (1 - n_arms * p) / eta)
            return theta.at[arm].add(alpha * reward), None

        return jax.lax.scan(step, jnp.zeros(n_arms), jax.random.split(key, horizon))[0]

    batched = jax.jit(jax.vmap(one_run))
    keys = jax.random.split(jax.random.key(0), RUNS)
    return lambda: batched(keys, means).block_until_ready()


def pymab_gradient(n_arms: int, alpha: float, eta: float, horizon: int) -> Callable[[], Any]:
    """pymab's gradient bandit (Rust); it has no barrier, so this is plain SGB."""
    import pymab
    from pymab.policies import GradientBanditPolicy

    environment = pymab.BanditEnvironment(means=instances(n_arms, 1)[0])
    policy = GradientBanditPolicy(n_arms=n_arms, learning_rate=alpha, use_baseline=False)
    config = pymab.ExperimentConfig(horizon=horizon, n_replicates=2, seed=0)
    return lambda: pymab.Experiment(environment=environment, policies={"sgb": policy}, config=config).run()


# name: (peer, runs per call, steps per call at K = 10, 100, 1000)
PEERS: dict[str, tuple[Peer, int, dict[int, int]]] = {
    "this package": (this_package, RUNS, {10: 100_000, 100: 50_000, 1000: 20_000}),
    "NumPy loop": (numpy_loop, 1, {10: 5_000, 100: 5_000, 1000: 5_000}),
    "NumPy batched": (numpy_batched, RUNS, {10: 4_000, 100: 2_000, 1000: 300}),
    "JAX scan + vmap": (jax_scan, RUNS, {10: 4_000, 100: 2_000, 1000: 300}),
    "pymab (SGB)": (pymab_gradient, 2, {10: 5_000, 100: 1_000}),
}


def best_seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of a few timed calls after one that is not."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(n_arms: int, alpha: float, eta: float, names: list[str]) -> dict[str, float | str]:
    """Wall nanoseconds per run and step of each peer, or why it could not run."""
    row: dict[str, float | str] = {}
    for name in names:
        peer, runs, horizons = PEERS[name]
        if n_arms not in horizons:
            continue
        try:
            call = peer(n_arms, alpha, eta, horizons[n_arms])
        except ImportError as error:
            row[name] = f"not installed ({error.name})"
            continue
        row[name] = 1e9 * best_seconds(call) / (runs * horizons[n_arms])
    return row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, nargs="+", default=[10, 100, 1000], choices=[10, 100, 1000])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"LB-SGB, alpha 0.1, the paper's eta, {RUNS} runs, {os.cpu_count()} cores; wall ns per run and step (times ours)")
    print(f"{'K':>6}  " + "".join(f"{name:>24}" for name in PEERS))
    results = {}
    for n_arms in options.arms:
        row = results[n_arms] = measure(n_arms, 0.1, ETA[n_arms], list(PEERS))
        ours = row["this package"]
        cells = []
        for name in PEERS:
            value = row.get(name, "-")
            ratio = f"{value / ours:.1f}x" if isinstance(value, float) and isinstance(ours, float) else ""
            cells.append(f"{value:,.0f} {ratio:>8}" if isinstance(value, float) else value)
        print(f"{n_arms:>6}  " + "".join(f"{cell:>24}" for cell in cells))
        sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
