"""User-defined rules and problems are found, named, stored, and computed again when what they compute changes."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest
from command import Command, logbarrier
from small_study import cell_bytes
from user_rules import STUDY, TEXT

import logbarrier as lb
from logbarrier.engine.code_hash import code_hash
from logbarrier.studies import LocalExecutor, Store, read_study, run, user_defined
from logbarrier.studies.bandit_setting import Bandits
from logbarrier.studies.cluster import compute_elsewhere
from logbarrier.studies.study_file import study_as_toml
from logbarrier.studies.tables import problem_of, rule_of, table_of_problem, table_of_rule

ONE = LocalExecutor(1)


def written(folder, text=TEXT):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.py").write_text(text)
    (folder / "study.toml").write_text(STUDY)
    return folder / "mine.py"


def edited(old, new):
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


@pytest.fixture
def no_numbers(monkeypatch):
    """Cells that cost nothing, for tests of which ones are computed."""

    def simulate(self, rule, problem, cell, *, threads, progress):
        values = {name: np.zeros((cell.runs, 2)) for name in cell.metrics}
        return lb.Record(np.array([0, cell.horizon]), values, {"rule": {"rule": rule.name}}, {"seconds": 1.0})

    monkeypatch.setattr(Bandits, "simulate", simulate)


EDITS = {
    "the update": ("step = FACTOR", "step = 2 * FACTOR", "Clipped"),
    "a function it calls": ("max(reward, -bound), bound)", "max(reward, -bound), 2 * bound)", "Clipped"),
    "a constant": ("FACTOR = 1.0", "FACTOR = 1.5", "Clipped"),
    "an array": ("np.array([1.0, 2.0])", "np.array([1.0, 2.5])", "Clipped"),
    "a method": ("float(self.bound)", "2 * float(self.bound)", "Clipped"),
    "what a method calls": ("return 1.0 * float(rate)", "return 1.1 * float(rate)", "Clipped"),
    "a default": ("bound: float = 5.0", "bound: float = 6.0", "Clipped"),
    "a trait": ('name = "plain"', 'drains = True\n    name = "plain"', "Plain"),
    "the other rule": ("0.1 * reward, 0.1 * reward", "0.2 * reward, 0.2 * reward", "Plain"),
    "the reward": ("noise < 0.1", "noise < 0.2", "Lottery Forgetful"),
    "nothing it uses": ("UNUSED = 3.0", "UNUSED = 4.0", ""),
    "a comment": ("    alpha, bound = hyper\n", "    # both\n    alpha, bound = hyper\n", ""),
    "a docstring": ('"""The update."""', '"""The update, explained."""', ""),
}


@pytest.mark.parametrize(("old", "new", "changed"), EDITS.values(), ids=EDITS)
def test_a_code_hash_changes_with_what_is_computed_and_with_nothing_else(tmp_path, old, new, changed):
    before, after = written(tmp_path / "a"), written(tmp_path / "b", edited(old, new))
    for name in ("Clipped", "Plain", "Lottery", "Forgetful"):
        hashes = {code_hash(user_defined.load(f"{path}:{name}")) for path in (before, after)}
        assert len(hashes) == (2 if name in changed.split() else 1), name


def test_cells_have_the_same_names_in_every_process(tmp_path, run_python):
    written(tmp_path)
    code = f"from logbarrier.studies import read_study; print(read_study({str(tmp_path / 'study.toml')!r}).study.hash)"
    assert {run_python(code, PYTHONHASHSEED=str(seed)) for seed in range(2)} == {read_study(tmp_path / "study.toml").study.hash}


def test_cells_have_the_same_names_wherever_the_file_is(tmp_path):
    studies = [read_study(written(tmp_path / place).with_name("study.toml")).study for place in ("here", "there")]
    assert studies[0].hash == studies[1].hash
    assert studies[0].cases[0].rule != studies[1].cases[0].rule


def test_an_edit_computes_exactly_its_cells_anew(tmp_path, no_numbers):
    outcomes = []
    for number, text in enumerate((TEXT, TEXT, edited("FACTOR = 1.0", "FACTOR = 2.0"))):
        study = read_study(written(tmp_path / str(number), text).with_name("study.toml")).study
        outcomes.append(run(Store(tmp_path / "runs" / study.folder_name, study), ONE))
    assert [(outcome.computed, outcome.stored) for outcome in outcomes] == [(8, 0), (0, 8), (4, 4)]


def test_a_folder_of_an_earlier_version_is_not_taken_for_todays(tmp_path, no_numbers):
    path = written(tmp_path)
    study = read_study(tmp_path / "study.toml").study
    store = Store(tmp_path / "runs" / study.folder_name, study)
    run(store, ONE)
    assert Store.open(store.folder).study == study
    saved = store.folder / "study.toml"
    changed = written(tmp_path / "changed", edited("FACTOR = 1.0", "FACTOR = 2.0"))
    saved.write_text(saved.read_text().replace(str(path), str(changed)))
    with pytest.raises(ValueError, match="its cells were made by other code .* was edited since"):
        Store.open(store.folder)


def test_a_study_made_in_python_is_the_one_in_the_file(tmp_path, no_numbers):
    path = written(tmp_path)
    kinds = {name: user_defined.load(f"{path}:{name}") for name in ("Clipped", "Plain")}
    study = lb.Study(
        name="study",
        problems=[lb.GapInstances(n_arms=3)],
        rules=[*(kinds["Clipped"](learning_rate=rate) for rate in (0.1, 0.2)), kinds["Plain"](), lb.SGB(learning_rate=0.1)],
        horizon=60, runs=4, runs_per_cell=2, checkpoints=5, engine="dense",
    )  # fmt: skip
    assert study == read_study(tmp_path / "study.toml").study
    done = lb.run_study(study, out=tmp_path / "runs")
    assert (done.outcome.computed, len(done.records())) == (8, 4)
    assert [study.rule_label(case) for case in study.cases[:3]] == [
        "Clipped learning_rate=0.1",
        "Clipped learning_rate=0.2",
        "Plain",
    ]
    assert len(study.only(["rule=Clipped"])) == 2


def test_a_problem_survives_its_table(tmp_path):
    problem = user_defined.load(f"{written(tmp_path)}:Lottery")([0.1, 0.3, 0.2])
    assert (problem_of(table_of_problem(problem)).means == problem.means).all()


def test_a_problem_whose_arguments_do_not_tell_all_is_refused(tmp_path):
    kind = user_defined.load(f"{written(tmp_path)}:Forgetful")
    assert table_of_problem(kind([0.1, 0.2]))["means"] == [0.1, 0.2]
    table = {**table_of_problem(kind([0.1, 0.2])), "shift": 0.5}
    shifted = problem_of(table)
    shifted.arguments = lambda: {"means": [0.1, 0.2]}
    with pytest.raises(ValueError, match=r"Study: Forgetful\.arguments\(\) must hold all that makes the same Forgetful again"):
        table_of_problem(shifted)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"rule": "nowhere.py:Rule"}, "nowhere.py: there is no such file"),
        ({"rule": "mine.py:Absent"}, "there is no class or function Absent in mine.py"),
        ({"rule": "no_such_module:Rule"}, "no_such_module: cannot be imported: ModuleNotFoundError"),
        ({"rule": "broken.py:Rule"}, "broken.py: cannot be imported: ZeroDivisionError"),
        ({"rule": "study.py:Rule"}, "must not run a study when imported"),
        ({"rule": "mine.py:Lottery", "means": [0.1, 0.2]}, "Study: rule must be a rule such as"),
        (
            {"rule": "mine.py:Clipped", "learning_rte": 0.1},
            "Clipped: has no parameter learning_rte; it takes learning_rate, bound",
        ),
        ({"rule": "mine.py:Clipped"}, "Clipped: needs learning_rate"),
        ({"rule": "mine.py:Clipped", "learning_rate": "fast"}, "Clipped: learning_rate must be a number, got 'fast'"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(tmp_path, table, message):
    written(tmp_path)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "study.py").write_text("import logbarrier as lb\nlb.run_study(None)\n")
    with pytest.raises((ValueError, TypeError), match=re.escape(message)) as caught:
        rule_of(table, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_worker_without_the_file_fails_in_one_sentence(tmp_path):
    path = written(tmp_path)
    cell = read_study(tmp_path / "study.toml").study.cells()[0]
    elsewhere = json.loads(json.dumps(cell.wire).replace(str(path), str(tmp_path / "gone" / "mine.py")))
    content, note = compute_elsewhere(elsewhere, {})
    assert content is None
    assert note["error"] == f"ValueError: {tmp_path / 'gone' / 'mine.py'}: there is no such file"
    assert str(tmp_path) not in json.dumps(cell.identity)


def test_entry_points_are_found_by_name(tmp_path, monkeypatch):
    kind = user_defined.load(f"{written(tmp_path)}:Clipped")

    class Point:
        value = "my_package.rules:Clipped"

        def load(self):
            return kind

    monkeypatch.setattr(
        user_defined, "entry_points", lambda *, group, name: [Point()] * ((group, name) == ("logbarrier.rules", "clipped"))
    )
    rule = rule_of({"rule": "clipped", "learning_rate": 0.1})
    assert type(rule) is kind
    assert table_of_rule(rule)["rule"].endswith("mine.py:Clipped")


def test_from_the_idea_to_the_ranking_on_the_command_line(tmp_path):
    """Run, kill -9, resume, report, edit, run: cells survive, the ranking names the rule, the edit costs its cells alone."""
    written(tmp_path)
    study, out = tmp_path / "study.toml", tmp_path / "runs"
    study.write_text(
        STUDY.replace("learning_rate = [0.1, 0.2]", "learning_rate = 0.1").replace("horizon = 60", "horizon = 200_000")
    )
    process = Command("run", study, "--out", out, "--threads", 1)
    while not cell_bytes(out):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    kept = len(cell_bytes(out))
    assert 1 <= kept < 6
    resumed = logbarrier("run", study, "--out", out)
    assert f"{6 - kept} cells computed" in resumed.stdout, resumed.stderr
    folder = next(out.iterdir())
    report = logbarrier("report", folder)
    assert report.returncode == 0, report.stderr
    page = (folder / "report.html").read_text()
    assert "Ranking" in page
    assert "<td>Clipped</td>" in page
    written(tmp_path, edited("FACTOR = 1.0", "FACTOR = 2.0"))
    study.write_text(
        STUDY.replace("learning_rate = [0.1, 0.2]", "learning_rate = 0.1").replace("horizon = 60", "horizon = 200_000")
    )
    again = logbarrier("run", study, "--out", out)
    assert "2 cells computed" in again.stdout
    assert "4 were stored" in again.stdout
    status = logbarrier("status", "--out", out, "--json")
    assert sorted(row.get("done", 0) for row in json.loads(status.stdout)) == [0, 6]
    assert f"{folder} is left out" in status.stderr
    assert "edited since" in status.stderr


def test_a_rule_that_does_not_compile_is_one_line_and_the_rest_with_traceback(tmp_path):
    (tmp_path / "typo.py").write_text(
        "from dataclasses import dataclass\nimport logbarrier as lb\n\n\n@lb.extend.compiled\n"
        "def lift_and_drain(reward, probability, t, memory, hyper):\n    return hyper[0] * rewrd, hyper[0] * reward\n\n\n"
        "@dataclass(frozen=True, kw_only=True)\nclass Typo(lb.SGB):\n    name = 'typo'\n"
        "    lift_and_drain = staticmethod(lift_and_drain)\n"
    )
    (tmp_path / "study.toml").write_text(
        'horizon = 10\nruns = 1\n[[problems]]\nproblem = "GapInstances"\nn_arms = 3\n'
        '[[rules]]\nrule = "typo.py:Typo"\nlearning_rate = 0.1\n'
    )
    failed = logbarrier("run", tmp_path / "study.toml", "--out", tmp_path / "runs")
    assert failed.returncode == 1
    assert "typo.py:7: name 'rewrd' is not defined\n" in failed.stderr
    assert "Traceback" not in failed.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    whole = logbarrier("status", folder, "--traceback")
    assert "Failed in nopython mode pipeline" in whole.stderr


LISTED = """
import numpy as np

from logbarrier import extend


class Weighted(extend.Bandit):
    noise = staticmethod(extend.uniform_noise)
    reward_of = staticmethod(extend.compiled(lambda noise, parameters, arm, stream: parameters[0, arm] + noise - 0.5))

    def __init__(self, weights):
        self.weights = weights
        super().__init__(np.cumsum(weights))

    def arguments(self):
        return {"weights": list(self.weights)}


class Shuffled(extend.Family):
    bandit = Weighted

    def __init__(self, n_arms):
        self.n_arms = n_arms

    def instance(self, key, run):
        return np.roll(np.linspace(0.1, 0.9, self.n_arms), run)[None]
"""


def test_a_list_among_the_arguments_of_a_problem_is_no_grid(tmp_path):
    (tmp_path / "listed.py").write_text(LISTED)
    weighted, shuffled = (user_defined.load(f"{tmp_path / 'listed.py'}:{name}") for name in ("Weighted", "Shuffled"))
    study = lb.Study(
        name="listed", problems=[weighted([0.1, 0.2, 0.3]), shuffled(4)], rules=[lb.SGB(learning_rate=0.1)], horizon=50, runs=2
    )
    (tmp_path / "again.toml").write_text(study_as_toml(study))
    again = read_study(tmp_path / "again.toml").study
    assert [cell.id for cell in again.cells()] == [cell.id for cell in study.cells()]
    done = lb.run_study(study, out=tmp_path / "runs")
    assert [record.values["regret"].shape[0] for _, record in done.records()] == [2, 2]
