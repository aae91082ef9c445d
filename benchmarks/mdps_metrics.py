"""What measuring a policy costs, from 20 states to 20 000: the MDP set up once, then every metric at a checkpoint.

CPU time on one thread: the least of several, each for another policy. Families: dense transitions, random sparse ones (four
successors), a grid of slippery cells, and a lock in which every mistake leads back to the start.

    python benchmarks/mdps_metrics.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from logbarrier import mdps
from logbarrier.mdps.measure import Evaluator

MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
REPEATS = 4


def dense(n_states: int, n_actions: int) -> mdps.FiniteMDP:
    """Every action may lead everywhere."""
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(n_states), size=(n_states, n_actions)), rng.uniform(size=(n_states, n_actions))
    return mdps.FiniteMDP(P=P, R=R, rho=np.full(n_states, 1 / n_states), gamma=0.99)


def grid(side: int) -> mdps.FiniteMDP:
    """Side x side cells, four directions, one step in five goes sideways; the last cell pays."""
    state = np.arange(side * side)
    row, column = np.divmod(state, side)
    moves = []
    for action in range(4):
        for turn, probability in ((0, 0.8), (1, 0.1), (-1, 0.1)):
            down, right = MOVES[(action + turn) % 4]
            successor = np.clip(row + down, 0, side - 1) * side + np.clip(column + right, 0, side - 1)
            moves.append(np.column_stack([state, np.full_like(state, action), successor, np.full(len(state), probability)]))
    R = np.zeros((len(state), 4))
    R[-1] = 1.0
    return mdps.FiniteMDP.from_transitions(np.vstack(moves), R=R, rho=np.eye(1, len(state))[0], gamma=0.99)


def cases() -> Iterator[tuple[str, mdps.FiniteMDP]]:
    """Every MDP with the name of its family."""
    for size in (20, 200, 1000):
        yield "dense, 10 actions", dense(size, 10)
    for size in (20, 200, 1000, 10_000, 20_000):
        yield "sparse, 10 actions", mdps.RandomMDPs(size, 10, gamma=0.99).problem(seed=0, run=0)
    for side in (14, 32, 100, 141):
        yield "grid, 4 actions", grid(side)
    for size in (200, 10_000):
        yield "lock, 2 actions", mdps.Lock(size)


def milliseconds(evaluator: Evaluator) -> float:
    """CPU time of one checkpoint: the policy in play and the greedy one."""
    mdp, taken = evaluator.mdp, []
    for seed in range(REPEATS):
        theta = 3.0 * np.random.default_rng(seed).normal(size=(mdp.n_states, mdp.n_actions))
        policy = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
        before = time.thread_time()
        evaluator.evaluate(policy)
        evaluator.greedy_score(theta.argmax(axis=1))
        taken.append(1e3 * (time.thread_time() - before))
    return min(taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most-states", type=int, default=20_000)
    arguments, found = parser.parse_args(), []
    Evaluator(mdps.RiverSwim(4))  # compiles
    for name, mdp in cases():
        if mdp.n_states > arguments.most_states:
            continue
        before = time.thread_time()
        evaluator = Evaluator(mdp)
        setup, each = 1e3 * (time.thread_time() - before), milliseconds(evaluator)
        found.append({"family": name, "states": mdp.n_states, "setup_ms": setup, "checkpoint_ms": each})
        print(f"{name:<20}{mdp.n_states:>7} states: once {setup:>8.1f} ms, a checkpoint {each:>9.3f} ms", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
