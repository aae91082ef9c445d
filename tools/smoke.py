"""One small use of every part that has dependencies: for a new environment, such as tools/lowest_versions.py makes.

python tools/smoke.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import logbarrier as lb
from logbarrier import mdps
from logbarrier.plots import learning_curves
from logbarrier.studies.cluster import DaskExecutor


def simulations() -> None:
    """Every engine, a rule that keeps vectors, a picture and a table."""
    family = lb.GapInstances(n_arms=5)
    for engine in ("lockstep", "dense", "lazy"):
        record = lb.simulate(lb.LogBarrierSGB(learning_rate=0.1, eta=100), family, horizon=100, runs=9, engine=engine)
    lb.simulate(lb.NPG(learning_rate=0.1), family, horizon=100, engine="sparse")
    lb.simulate(lb.ThompsonSampling(), family, horizon=100)
    assert len(record.to_frame()) == 9 * len(record.steps)
    learning_curves({"barrier": record})


def mdp() -> None:
    """An MDP of this package and one of Gymnasium."""
    for mdp in (mdps.Lock(6), mdps.from_gymnasium("FrozenLake-v1", gamma=0.9)):
        mdps.simulate(mdps.SpectralPG(), mdp, horizon=1000, runs=2)


def study(folder: Path) -> None:
    """Here and on a cluster of one worker."""
    rules = [lb.SGB(learning_rate=0.1)]
    for number, executor in enumerate((None, DaskExecutor(workers=1))):
        plan = lb.Study(name=f"smoke-{number}", problems=[lb.GapInstances(n_arms=5)], rules=rules, horizon=50 + number, runs=4)
        assert lb.run_study(plan, out=folder, executor=executor).outcome.computed == 1


def command_line(folder: Path) -> None:
    """Help, a table, a simulation and a report."""
    run = [sys.executable, "-m", "logbarrier"]
    words = ["simulate", "--rule", "sgb", "--learning-rate", "0.1", "--arms", "3", "--horizon", "50", "--plot"]
    done = next(folder.glob("smoke-0-*"))
    for command in (["--help"], ["simulate", "--help"], ["rules"], [*words, str(folder / "a.png")], ["report", str(done)]):
        subprocess.run([*run, *command], check=True, capture_output=True)


def service(folder: Path) -> None:
    """Start it, decide once, stop it."""
    words = ["serve", str(folder / "agent.db"), "--arms", "a,b", "--rule", "sgb", "--learning-rate", "0.1", "--port", "0"]
    environment = {**os.environ, "LOGBARRIER_TOKEN": "smoke"}
    command = [sys.executable, "-m", "logbarrier", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        try:
            assert running.stdout is not None
            address = json.loads(running.stdout.readline())["address"]
            request = urllib.request.Request(f"{address}/decide", b"{}", {"Authorization": "Bearer smoke"}, method="POST")
            assert json.load(urllib.request.urlopen(request, timeout=60))["arm"] in ("a", "b")
        finally:
            running.terminate()


def lab() -> None:
    """The page answers."""
    page = lb.lab(warm=False)
    try:
        assert b"logbarrier lab</h1>" in urllib.request.urlopen(page.url, timeout=60).read()
    finally:
        page.stop()


def main() -> None:
    """Try all parts; the first that fails ends it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulations()
        mdp()
        study(folder)
        command_line(folder)
        service(folder)
        lab()
    print("smoke test passed")


if __name__ == "__main__":
    main()
