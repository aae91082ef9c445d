"""Microseconds per decision and reward of a ContextualAgent: python benchmarks/contexts_speed.py"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import logbarrier as lb

WARM, TIMED = 300, 3000


def microseconds(agent: lb.ContextualAgent, offers: list[dict[str, Any]], rewards: np.ndarray) -> float:
    """The median over ten parts of the run."""
    for offer in offers[:WARM]:
        agent.tell(agent.ask(**offer), 0.5)
    parts = []
    for part in np.array_split(np.arange(WARM, WARM + TIMED), 10):
        started = time.perf_counter()
        for i in part:
            agent.tell(agent.ask(**offers[i]), rewards[i])
        parts.append((time.perf_counter() - started) / len(part))
    return 1e6 * float(np.median(parts))


def main() -> None:
    """One line per shape."""
    rng = np.random.default_rng(0)
    rewards = rng.normal(size=WARM + TIMED)
    for d, n_arms in ((10, 5), (50, 20), (200, 10)):
        offers: list[dict[str, Any]] = [{"context": x} for x in rng.normal(size=(WARM + TIMED, d))]
        print(f"d = {d}, K = {n_arms}: {microseconds(lb.ContextualAgent(n_arms=n_arms, features=d), offers, rewards):.1f} us")
    tables = rng.normal(size=(10, 1000, 20))
    offers = [{"actions": tables[i % 10]} for i in range(WARM + TIMED)]
    print(f"1000 actions of 20 features, shared: {microseconds(lb.ContextualAgent(actions=20), offers, rewards):.1f} us")


if __name__ == "__main__":
    main()
