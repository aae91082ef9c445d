"""Problems that change, in studies: tables, kill and resume, executors, status, and a report that calls regret dynamic."""

from __future__ import annotations

import json
import re
import signal
import time

import numpy as np
import pytest
from command import Command, logbarrier
from small_study import cell_bytes

import logbarrier as lb
from logbarrier.report import publish
from logbarrier.studies import Store, Study, read_study, study_as_toml
from logbarrier.studies.tables import problem_of, table_of_problem

CHANGING = """
horizon = 20_000
runs = 6
runs_per_cell = 1
seed = 4
checkpoints = 31
metrics = ["optimal_probability", "regret"]

[[problems]]
problem = "SwappingArms"
n_arms = 4
gap = 0.5
period = 5000

[[problems]]
problem = "DriftingArms"
n_arms = 4
time_scale = 900
block = 70

[[problems]]
problem = "SeasonalArms"
n_arms = 4
period = 800.5
swing = 0.25

[[rules]]
rule = "log-barrier-sgb"
learning_rate = 0.1
eta = 100

[[rules]]
rule = "sliding-window-ucb"
window = 200
"""
CELLS = 3 * 2 * 6


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "moving.toml"
    path.write_text(CHANGING)
    return path


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The study run in one go, on one thread: its folder."""
    folder = tmp_path_factory.mktemp("calm")
    (folder / "moving.toml").write_text(CHANGING)
    done = logbarrier("run", folder / "moving.toml", "--out", folder / "out", "--threads", 1)
    assert done.returncode == 0, done.stderr
    assert len(cell_bytes(folder)) == CELLS
    return next((folder / "out").iterdir())


def test_a_file_survives_being_resolved_and_says_what_python_says(file, tmp_path):
    study = read_study(file).study
    (tmp_path / "resolved.toml").write_text(study_as_toml(study))
    assert read_study(tmp_path / "resolved.toml", name="moving").study == study
    problems = [
        lb.SwappingArms(n_arms=4, gap=0.5, period=5000),
        lb.DriftingArms(n_arms=4, time_scale=900, block=70),
        lb.SeasonalArms(n_arms=4, period=800.5, swing=0.25),
    ]
    rules = [lb.LogBarrierSGB(learning_rate=0.1, eta=100), lb.SlidingWindowUCB(window=200)]
    settings = {"horizon": 20_000, "runs": 6, "runs_per_cell": 1, "seed": 4, "checkpoints": 31}
    metrics = ["optimal_probability", "regret"]
    assert Study(name="m", problems=problems, rules=rules, metrics=metrics, **settings).hash == study.hash


@pytest.mark.parametrize(
    "changes",
    [{"n_arms": 5}, {"gap": 0.4}, {"period": 600}, {"r_max": 2.0}, {"scale": 0.5}],
    ids=lambda changes: next(iter(changes)),
)
def test_every_parameter_is_part_of_a_cells_name(changes):
    def name(**settings):
        problem = lb.SwappingArms(**{"n_arms": 4, "gap": 0.5, "period": 500, **settings})
        return Study(name="m", problems=[problem], rules=[lb.UCB1()], horizon=10).hash

    assert name(**changes) != name()


def test_killed_and_resumed_on_dask_it_has_the_bytes_of_a_run_in_one_go(file, tmp_path, calm):
    out = tmp_path / "killed"
    process = Command("run", file, "--out", out, "--threads", 1)
    deadline = time.monotonic() + 60
    while not cell_bytes(out):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    stored = len(cell_bytes(out))
    assert 0 < stored < CELLS
    resumed = logbarrier("run", file, "--out", out, "--executor", "dask", "--workers", 2)
    assert f"{CELLS - stored} cells computed" in resumed.stdout, resumed.stderr
    assert cell_bytes(out) == cell_bytes(calm)


def test_status_tells_the_problems_apart(calm):
    done = logbarrier("status", calm, "--json")
    assert {case["problem"] for case in json.loads(done.stdout)[0]["cases"]} == {
        "SwappingArms period=5000 K=4",
        "DriftingArms block=70 K=4",
        "SeasonalArms block=100 period=800.5 K=4",
    }


def test_the_report_draws_what_changes_and_calls_regret_dynamic(calm):
    text = publish(Store.open(calm)).read_text()
    assert text.count("<img ") == 3 + 3  # a ranking and curves for each problem
    assert text.count("mean dynamic regret</th>") == 3
    assert "each pull is charged against the best arm of its own moment" in text
    assert "mean p(present best)" in text
    assert "p(a*)" not in text
    drawn = (calm / "figures" / "curves-1.svg").read_text()
    assert "cumulative dynamic regret, mean over runs" in drawn


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gap = 0.5", "gap = 2.5", "SwappingArms: gap must be below 2, got 2.5"),
        ("period = 5000", "period = 0", "SwappingArms: period must be at least 1, got 0"),
        ("period = 5000", "period = 1.5", "SwappingArms: period must be a whole number, got 1.5"),
        ("period = 5000", "perod = 5", "SwappingArms: has no parameter perod; it takes n_arms, gap, period, r_max, scale"),
        ("time_scale = 900", "time_scale = 0.5", "DriftingArms: time_scale must be between 1 and 1e+15, got 0.5"),
        ("swing = 0.25", 'swing = "wide"', "SeasonalArms: swing must be a number, got 'wide'"),
        ("block = 70", "block = true", "DriftingArms: block must be a number, got True"),
        (
            'rule = "sliding-window-ucb"\nwindow = 200',
            'rule = "exact-pg"',
            "exact-pg is given the means once, so it cannot run on",
        ),
    ],
)
def test_a_mistake_is_one_sentence(file, old, new, message):
    assert old in CHANGING
    file.write_text(CHANGING.replace(old, new))
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        read_study(file)
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).startswith(f"{file}: ")


OWN = """
import numpy as np
from logbarrier.bandits.changing import ChangingBandits

class Alternating(ChangingBandits):
    def __init__(self, n_arms, block, scale=1.0):
        super().__init__(n_arms, scale)
        self.block = block

    def means_at(self, key, run, step):
        return np.roll(np.linspace(-1.0, 1.0, self.n_arms), step // self.block)

class Forgetful(Alternating):
    def arguments(self):
        return {**super().arguments(), "block": 5}
"""


def test_a_changing_problem_of_ones_own_is_a_citizen_and_must_say_all_that_makes_it(tmp_path):
    (tmp_path / "moves.py").write_text(OWN)
    problem = problem_of({"problem": "moves.py:Alternating", "n_arms": 3, "block": 50}, tmp_path)
    again = problem_of(table_of_problem(problem), tmp_path)
    assert again.to_dict() == {"problem": "Alternating", "n_arms": 3, "scale": 1.0, "block": 50}
    study = lb.Study(name="own", problems=[problem], rules=[lb.LogBarrierSGB(learning_rate=0.1, eta=50)], horizon=100, runs=2)
    ((case, record),) = lb.run_study(study, out=tmp_path).records()
    assert case.changes
    assert record["regret"].shape[0] == 2
    assert np.array_equal(again.means_along(np.array([0, 49, 50, 99]), seed=0).argmax(axis=1), [2, 2, 0, 0])
    forgetful = problem_of({"problem": "moves.py:Forgetful", "n_arms": 3, "block": 50}, tmp_path)
    with pytest.raises(ValueError, match=r"Study: Forgetful.arguments\(\) must hold all that makes the same Forgetful again"):
        table_of_problem(forgetful)
