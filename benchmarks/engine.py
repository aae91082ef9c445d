"""What a step costs, and how that grows: the figures of docs/engine-study.md, measured in one go on one machine.

    python benchmarks/engine.py [--long] [--json FILE]
    python benchmarks/engine.py --curves FILE

Peers are those of peers.py. `--long` adds the cell K = 1000, alpha = 0.01, 2.5e6 steps, 100 runs.
`--curves` measures the cost of a step against the number of arms and nothing else, for engine.png
(tools/figures_results.py).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import logbarrier as lb
import peers

HERE = Path(__file__).parent
CURVE_ARMS = [10, 30, 100, 300, 1000, 3000, 10_000, 100_000, 1_000_000]
MEMORY = """
import re, sys
import logbarrier as lb
arms, horizon = int(sys.argv[1]), int(sys.argv[2])
rule = lb.LogBarrierSGB(learning_rate=0.1, eta=5.0 * arms)
lb.simulate(rule, lb.GapInstances(n_arms=65), horizon=2, threads=1)
open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
def kilobytes(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read()).group(1))
before = kilobytes("VmRSS")
lb.simulate(rule, lb.GapInstances(n_arms=arms), horizon=horizon, threads=1, checkpoints=2)
print(1024 * (kilobytes("VmHWM") - before))
"""


def step_ns(rule: lb.Rule, n_arms: int, horizon: int, runs: int, **options: Any) -> float:
    """Wall nanoseconds per run and step, best of two after a warm-up."""
    family = lb.GapInstances(n_arms=n_arms)
    lb.simulate(rule, family, horizon=2, runs=1, checkpoints=2, **options)
    options = {"horizon": horizon, "runs": runs, "seed": 0, "checkpoints": 2, **options}
    return 1e9 * min(float(lb.simulate(rule, family, **options).provenance["seconds"]) for _ in range(2)) / (horizon * runs)


def barrier(n_arms: int, alpha: float = 0.1) -> lb.Rule:
    """LB-SGB with the paper's eta, or 5 K where the paper has none."""
    eta = {(10, 0.1): 1000.0, (100, 0.1): 2000.0, (1000, 0.01): 10_000.0}.get((n_arms, alpha), 5.0 * n_arms)
    return lb.LogBarrierSGB(learning_rate=alpha, eta=eta)


def c_floor() -> float | None:
    """ns per arm and step of floor.c, or None without gcc."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "floor")
        command = ["gcc", "-O3", "-march=native", "-ffast-math", str(HERE / "floor.c"), "-o", program]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            return None
        outputs = [subprocess.run([program, "1000", "200000"], check=True, capture_output=True, text=True) for _ in range(3)]
        return min(float(output.stdout.split()[0]) for output in outputs)


def peak_bytes(n_arms: int, horizon: int) -> int:
    """How much the resident peak of a process grows by one run."""
    command = [sys.executable, "-c", MEMORY, str(n_arms), str(horizon)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def long_cell(results: dict[str, Any], row: Callable[[str, str, str], None]) -> None:
    """Measure the longest cell of the paper's study."""
    record = lb.simulate(barrier(1000, 0.01), lb.GapInstances(n_arms=1000), horizon=2_500_000, runs=100, seed=0)
    seconds, final = record.provenance["seconds"], record.mean("optimal_probability")[-1]
    results["long cell"] = {"seconds": seconds, "final": final}
    row("K = 1000, alpha = 0.01, 2.5e6 steps, 100 runs", f"{seconds:.1f} s, p(a*) {final:.3f}", "reported")
    ours = 1e9 * seconds / (record.horizon * record.runs)
    peer_ns = [results["K=1000 alpha=0.01"][name] for name in ("NumPy batched", "JAX scan + vmap")]
    ratios = [f"{value / ours:.0f}x" if isinstance(value, float) else str(value) for value in peer_ns]
    row(
        f"the same: NumPy / JAX over {ours:.0f} ns, whose steps cost the same at any horizon",
        " / ".join(ratios),
        "200x / 130x",
    )


def main() -> None:
    """Measure, print, and if asked write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--curves", type=Path)
    options = parser.parse_args()
    if options.curves:
        found = {"date": date.today().isoformat(), "machine": platform.machine(), "cores": os.cpu_count(), "curves": curves()}
        options.curves.write_text(json.dumps(found) + "\n")
        return
    results: dict[str, Any] = {"cores": os.cpu_count()}
    rows: list[tuple[str, str, str]] = []

    def row(work: str, measured: str, wanted: str) -> None:
        rows.append((work, measured, wanted))
        print(f"{work:<58}{measured:>34}   {wanted}", flush=True)

    row("work", "measured", "wanted")
    for n_arms, alpha, horizon, wanted in (
        (10, 0.1, 250_000, "40x / 20x"),
        (100, 0.1, 100_000, "20x / 14x"),
        (1000, 0.1, 250_000, "120x / 80x"),
        (1000, 0.01, 250_000, "200x / 130x"),
    ):
        ours = step_ns(barrier(n_arms, alpha), n_arms, horizon, 100)
        names = ["NumPy batched", "JAX scan + vmap"] + (["pymab (SGB)"] if n_arms < 1000 else [])
        measured = peers.measure(n_arms, alpha, peers.ETA[n_arms], names)
        results[f"K={n_arms} alpha={alpha}"] = {"ours": ours, **measured}
        ratios = [f"{value / ours:.0f}x" if isinstance(value, float) else str(value) for value in measured.values()]
        row(f"K = {n_arms}, alpha = {alpha}: NumPy / JAX / pymab over {ours:.0f} ns", " / ".join(ratios), wanted)

    base = step_ns(barrier(1000), 1000, 1_000_000, 2)
    for n_arms, most in ((100_000, 2.5), (1_000_000, 4.0)):
        ours = step_ns(barrier(n_arms), n_arms, 2_000_000, 2)
        results[f"K={n_arms} over K=1000"] = ours / base
        row(f"K = {n_arms:,} ({ours:.0f} ns) over K = 1000 ({base:.0f} ns)", f"{ours / base:.2f}x", f"at most {most}x")
    natural = [step_ns(lb.NPG(learning_rate=0.1), n_arms, 2_000_000, 2) for n_arms in (1000, 1_000_000)]
    results["NPG K=1e6 over 1e3"] = natural[1] / natural[0]
    row(f"NPG at K = 1,000,000 over K = 1000 ({natural[0]:.0f} ns)", f"{natural[1] / natural[0]:.2f}x", "at most 2.5x")

    one, two = (step_ns(barrier(1000), 1000, 100_000, 40, threads=threads) for threads in (1, 2))
    results["threads"] = one / two
    row("two threads over one, K = 1000", f"{one / two:.2f}x", "1.8x")
    dense = step_ns(barrier(1000), 1000, 20_000, 8, engine="dense", threads=1) / 1000
    floor = c_floor()
    results["dense ns per arm"], results["floor ns per arm"] = dense, floor
    ratio = f"{dense / floor:.2f}x ({dense:.2f} / {floor:.2f} ns)" if floor else "no gcc"
    row("dense per arm and step over the C floor, K = 1000", ratio, "at most 2.5x")
    for n_arms, horizon in ((100_000, 1000), (1_000_000, 1000), (1_000_000, 1_000_000)):
        peak = peak_bytes(n_arms, horizon)
        results[f"peak bytes K={n_arms} T={horizon}"] = peak
        per_arm = max(peak - 2**20, 0) / n_arms
        row(f"peak memory of a run, K = {n_arms:,}, {horizon:,} steps", f"{per_arm:.0f} bytes per arm + 1 MB", "at most 80")
    if options.long:
        long_cell(results, row)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", file=sys.stderr)


def curves() -> dict[str, list[tuple[int, float]]]:
    """Return (K, core-nanoseconds per run and step) of the engines and the peers."""
    cores = os.cpu_count() or 1
    found: dict[str, list[tuple[int, float]]] = {"auto (this package)": [], "dense (this package)": []}
    for n_arms in CURVE_ARMS:
        horizon = 400_000 if n_arms <= 10_000 else 1_000_000
        found["auto (this package)"].append(
            (n_arms, cores * step_ns(barrier(n_arms), n_arms, horizon, 16 if n_arms < 1000 else 2))
        )
        if n_arms <= 100_000:
            steps = max(20, 4_000_000 // n_arms)
            found["dense (this package)"].append((n_arms, cores * step_ns(barrier(n_arms), n_arms, steps, 2, engine="dense")))
    for name in ("NumPy batched", "JAX scan + vmap", "pymab (SGB)"):
        points = []
        for n_arms in (10, 100, 1000):
            value = peers.measure(n_arms, 0.1, peers.ETA[n_arms], [name]).get(name)
            if isinstance(value, float):
                points.append((n_arms, cores * value))
        if points:
            found[name] = points
    return found


if __name__ == "__main__":
    main()
