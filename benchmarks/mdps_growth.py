"""What a learnt step costs in a random MDP with 10 states and with 10 000: small and large in turn, least and median of many.

Every action leads to three random states, so all of them are visited and a step in the large MDP finds little in the nearest
cache. Timed is the loop alone, without measuring the policy, in pieces of 60 000 steps on one thread (CPU time). The first
piece of each turn does not count: it brings the tables back into the cache.

    python benchmarks/mdps_growth.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from logbarrier import mdps
from logbarrier.engine.random import stream_key
from logbarrier.mdps.measure import Evaluator
from logbarrier.mdps.simulator import MDPRun

SIZES, ACTIONS, WAYS, STEPS, TURNS, PIECES = (10, 10_000), 2, 3, 60_000, 20, 6
RULES = (mdps.PG(learning_rate=0.1), mdps.SpectralPG(), mdps.OptimisticQ(learning_rate=0.1, initial=10.0))


def random_mdp(n_states: int) -> mdps.FiniteMDP:
    """Every action leads to three random states, every state may be the first."""
    rng = np.random.default_rng(0)
    pairs = np.repeat(np.arange(n_states * ACTIONS), WAYS)
    successors, chances = rng.integers(n_states, size=len(pairs)), rng.dirichlet(np.ones(WAYS), size=n_states * ACTIONS)
    entries = np.column_stack([pairs // ACTIONS, pairs % ACTIONS, successors, chances.ravel()])
    reward = rng.uniform(size=(n_states, ACTIONS))
    return mdps.FiniteMDP.from_transitions(entries, R=reward, rho=np.full(n_states, 1 / n_states), gamma=0.95)


def nanoseconds(run: MDPRun) -> list[float]:
    """CPU time per step of some pieces of a run."""
    taken = []
    for _ in range(1 + PIECES):
        before = time.thread_time()
        run.advance(run.time + STEPS)
        taken.append(1e9 * (time.thread_time() - before) / STEPS)
    return taken[1:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    evaluators, found = [Evaluator(random_mdp(size)) for size in SIZES], {}
    for rule in RULES:
        runs = [MDPRun(rule, evaluator, stream_key(0), 0) for evaluator in evaluators]
        taken = np.array([[nanoseconds(run) for run in runs] for _ in range(TURNS)])  # (turns, sizes, pieces)
        least, middle = taken.min(axis=(0, 2)), np.median(taken, axis=(0, 2))
        found[rule.name] = {"least": least.tolist(), "median": middle.tolist()}
        costs = ", ".join(f"{word} {few:.0f} and {many:.0f} ns: {many / few:.2f} x"
                          for word, (few, many) in (("least", least), ("median", middle)))  # fmt: skip
        print(f"{rule.name:<14}with {SIZES[0]} and {SIZES[1]} states {costs}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
