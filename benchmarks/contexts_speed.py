"""Microseconds per decision and reward of a ContextualAgent, in ten fresh processes: python benchmarks/contexts_speed.py

Writes contexts_speed.json. Next to the time on the wall it has the time of the processor: the former is larger where the
process shared its core with another one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb

PROCESSES, WARM, TIMED = 10, 300, 3000


def microseconds(agent: lb.ContextualAgent, offers: list[dict[str, Any]], rewards: np.ndarray) -> list[float]:
    """On the wall and of the processor: the medians over ten parts of the run."""
    for offer in offers[:WARM]:
        agent.tell(agent.ask(**offer), 0.5)
    parts = []
    for part in np.array_split(np.arange(WARM, WARM + TIMED), 10):
        wall, processor = time.perf_counter(), time.process_time()
        for i in part:
            agent.tell(agent.ask(**offers[i]), rewards[i])
        parts.append(((time.perf_counter() - wall) / len(part), (time.process_time() - processor) / len(part)))
    return [round(1e6 * float(each), 1) for each in np.median(parts, axis=0)]


def measure() -> dict[str, list[float]]:
    """Every shape, in this process."""
    rng = np.random.default_rng(0)
    rewards, measured = rng.normal(size=WARM + TIMED), {}
    for d, n_arms in ((10, 5), (50, 20), (200, 10)):
        offers: list[dict[str, Any]] = [{"context": x} for x in rng.normal(size=(WARM + TIMED, d))]
        measured[f"d = {d}, K = {n_arms}"] = microseconds(lb.ContextualAgent(n_arms=n_arms, features=d), offers, rewards)
    tables = rng.normal(size=(10, 1000, 20))
    offers = [{"actions": tables[i % 10]} for i in range(WARM + TIMED)]
    measured["1000 actions of 20 features, shared"] = microseconds(lb.ContextualAgent(actions=20), offers, rewards)
    return measured


def main() -> None:
    """Measure in fresh processes, and write every figure."""
    command = [sys.executable, __file__, "once"]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(PROCESSES)]
    shapes = {}
    for shape in runs[0]:
        wall, processor = ([run[shape][i] for run in runs] for i in range(2))
        shapes[shape] = {"wall": wall, "processor": processor}
        print(f"{shape}: median {np.median(wall):.1f} us, {min(wall)} to {max(wall)}")
    (Path(__file__).parent / "contexts_speed.json").write_text(json.dumps(shapes, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["once"]:
        print(json.dumps(measure()))
    else:
        main()
