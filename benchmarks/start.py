"""What a start costs from an empty cache, in CPU seconds of whole processes: the table of docs/engine-study.md.

python benchmarks/start.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARRIER = "lb.LogBarrierSGB(learning_rate=0.1, eta=50)"
OWN = """
from dataclasses import dataclass
import logbarrier as lb
from logbarrier.bandits.algorithms.rule import TwoScalarRule
from logbarrier.engine.compiled import compiled
@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    step = hyper[0] * {factor} * reward
    return step, step
@dataclass(frozen=True, kw_only=True)
class UserDefined(TwoScalarRule):
    name, place, lift_and_drain = "user-defined", "here", staticmethod(lift_and_drain)
    def hyper(self, n_arms):
        return (0.1,)
lb.simulate(UserDefined(), lb.GapInstances(n_arms=100), horizon=100)
"""
AGENT = f"import logbarrier as lb; agent = lb.Agent({BARRIER}, n_arms=10); agent.tell(agent.ask(), reward=1.0)"


def simulation(n_arms: int, rule: str = BARRIER, family: str = "GapInstances") -> str:
    """A program that runs a hundred steps."""
    return f"import logbarrier as lb; lb.simulate({rule}, lb.{family}(n_arms={n_arms}), horizon=100)"


def cpu_seconds(code: str, folder: str) -> float:
    """CPU seconds of a process that runs a program with a cache folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "LOGBARRIER_CACHE_DIR": folder})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stopping_seconds(after: float) -> float:
    """Wall seconds from Ctrl-C, some seconds into a first simulation, to the end of the process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LOGBARRIER_CACHE_DIR": folder}
        process = subprocess.Popen([sys.executable, "-c", simulation(100)], env=environment, stderr=subprocess.DEVNULL)
        time.sleep(after)
        started = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        return time.perf_counter() - started


def main() -> None:
    """Measure, print, and if asked write JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: dict[str, float] = {}

    def row(work: str, seconds: float, most: float) -> None:
        results[work] = seconds
        print(f"{work:<62}{seconds:8.2f}   at most {most:g}", flush=True)

    for n_arms, most in ((10, 5.0), (100, 12.0), (1000, 12.0)):
        with tempfile.TemporaryDirectory() as folder:
            row(f"first simulation ever, K = {n_arms}", cpu_seconds(simulation(n_arms), folder), most)
            if n_arms < 1000:
                other = "lb.EntropySGB(learning_rate=0.1, tau=0.1)"
                row(f"another rule, K = {n_arms}", cpu_seconds(simulation(n_arms, other), folder), 2.0)
                bernoulli = simulation(n_arms, family="BernoulliGapInstances")
                row(f"another reward distribution, K = {n_arms}", cpu_seconds(bernoulli, folder), 2.0)
            if n_arms == 10:
                row("the same again (warm)", cpu_seconds(simulation(n_arms), folder), 1.0)
            if n_arms == 100:
                cpu_seconds(OWN.format(factor=1.0), folder)
                row("a user-defined rule in a new process", cpu_seconds(OWN.format(factor=1.0), folder), 1.5)
                row("a user-defined rule, edited", cpu_seconds(OWN.format(factor=2.0), folder), 3.0)
    with tempfile.TemporaryDirectory() as folder:
        row("agent: construct, ask, tell; cold", cpu_seconds(AGENT, folder), 3.0)
        row("agent: construct, ask, tell; warm", cpu_seconds(AGENT, folder), 0.9)
    for after in (2.0, 4.0, 6.0):
        row(f"Ctrl-C {after:g} s into compilation, wall seconds", stopping_seconds(after), 1.0)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
