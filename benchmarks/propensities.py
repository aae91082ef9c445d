"""Whether arms are drawn as often as their logged propensity says: every rule that the service offers, 100,000 decisions each.

The state is frozen after 24 rewards. Two cases per rule: all arms, and three of four arms with a floor of 0.2, for rules that
follow changing arms. Pearson's chi-square compares counts with propensities. The false-alarm rate is 1e-3 for all cases
together (Bonferroni). All cases share one seed, so their p values are not independent. Draws are those of `Agent.ask` without
its bookkeeping; the first 200 of each case are compared with it.

python benchmarks/propensities.py [--decisions 100000] [--out FILE]
"""

from __future__ import annotations

import argparse
import datetime
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import logbarrier as lb

FALSE_ALARM = 1e-3  # of all cases together
COMPARED = 200
ARMS = ("a", "b", "c", "d")
SUBSET, FLOOR = ["d", "b", "a"], 0.2
NEEDED = {"learning_rate": 0.3, "eta": 20.0, "tau": 0.1, "weight": 0.1, "horizon": 1000, "lowest": 0.0, "highest": 1.0}
NEEDED |= {"minimum_gap": 0.1, "window": 50, "discount": 0.99, "first_stage": 50, "batch": 3, "range": 1.0}


def offered() -> dict[str, lb.Rule]:
    """Return the rules that need neither the means nor features of the arms, by name."""
    found = {}
    for name, kind in lb.RULES.items():
        fields = inspect.signature(kind).parameters.values()
        rule = kind(**{each.name: NEEDED[each.name] for each in fields if each.default is inspect.Parameter.empty})
        try:
            lb.Agent(rule, arms=ARMS)
        except ValueError:
            continue
        found[name] = rule
    return found


def taught(rule: lb.Rule, floor: float) -> lb.Agent:
    """Return an agent that has seen 24 rewards."""
    agent, generator = lb.Agent(rule, arms=ARMS, seed=1, floor=floor), np.random.default_rng(0)
    for t in range(24):
        decision = agent.ask()
        agent.tell(decision, float(generator.random() < (0.5, 0.6, 0.55, 0.4)[t % 4]))
    return agent


def drawn(agent: lb.Agent, available: list[str] | None, decisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each arm was drawn, (K,), and its propensity; nan for arms never drawn."""
    counts, logged = np.zeros(len(ARMS)), np.full(len(ARMS), np.nan)
    learner, key, first = agent._learner, agent._key, agent.asked
    places = None if available is None else agent._places(available)
    for number in range(first, first + decisions):
        if places is None:
            arm, propensity = learner.draw(number, key)
        else:
            place, _, propensity = learner.draw_subset(number, key, places, agent.floor)
            arm = int(places[place])
        counts[arm] += 1
        logged[arm] = propensity
        if number < first + COMPARED:
            decision = agent.ask(available)
            assert (decision.arm, decision.probability) == (ARMS[arm], propensity), agent.rule
            agent.forget(decision)
    return counts, logged


def p_value(counts: np.ndarray, logged: np.ndarray) -> float:
    """Pearson's chi-square; arms with fewer than five draws expected, and those never drawn, are one cell."""
    n, common = counts.sum(), np.nan_to_num(logged) * counts.sum() >= 5
    observed, expected = counts[common], logged[common] * n
    observed, expected = np.append(observed, n - observed.sum()), np.append(expected, max(n - expected.sum(), 0.0))
    if expected[-1] < 5:  # too few for a cell of their own
        observed[-2] += observed[-1]
        expected[-2] += expected[-1]
        observed, expected = observed[:-1], expected[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(observed) - 1)) if len(observed) > 1 else 1.0


def main() -> None:
    """Draw, compare and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--decisions", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    given = parser.parse_args()
    cases: list[dict[str, Any]] = []
    rules = offered()
    for name, rule in rules.items():
        for case, available, floor in (("all", None, 0.0), ("subset, floor 0.2", SUBSET, FLOOR)):
            if floor and not taught(rule, 0.0)._learner.follows_arms:
                continue
            counts, logged = drawn(taught(rule, floor), available, given.decisions)
            shares = [None if np.isnan(p) else round(float(p), 6) for p in logged]
            cases.append({"rule": name, "case": case, "drawn": counts.astype(int).tolist(), "propensities": shares})
            cases[-1]["p"] = round(p_value(counts, logged), 6)
            print(cases[-1], flush=True)
    least = min(case["p"] for case in cases)
    found = {"date": datetime.date.today().isoformat(), "decisions": given.decisions, "rules": len(rules), "least_p": least}
    found |= {"bound": FALSE_ALARM / len(cases), "agrees": least > FALSE_ALARM / len(cases)}
    given.out.write_text(json.dumps({**found, "cases": cases}, indent=1) + "\n")
    print(found)


if __name__ == "__main__":
    main()
