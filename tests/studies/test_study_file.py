"""Study files: grids, defaults, round trips, and mistakes named by file, table and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import SMALL

import logbarrier as lb
from logbarrier.engine.random import stream_key
from logbarrier.studies import Study, product, read_study, study_as_toml
from logbarrier.studies.bandit_setting import SETTING
from logbarrier.studies.tables import grid, problem_of, rule_of, table_of_problem

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def test_lists_are_grids_and_every_rule_meets_every_problem(small_file):
    study = read_study(small_file).study
    assert [(case.n_arms, case.rule["rule"], case.rule["learning_rate"]) for case in study.cases] == [
        (n_arms, rule, rate)
        for n_arms in (3, 5)
        for rule, rate in (("log-barrier-sgb", 0.05), ("log-barrier-sgb", 0.1), ("npg", 0.1))
    ]
    assert len(study.cells()) == 6 * 3


def test_a_file_and_an_object_give_the_same_study(tmp_path):
    path = tmp_path / "both.toml"
    path.write_text('horizon = 50\nruns = 3\n[[problems]]\nproblem = "BernoulliBandit"\nmeans = [0.2, 0.5]\n'
                    '[[rules]]\nrule = "sgb"\nlearning_rate = {scale = 0.5, power = 0.5}\n')  # fmt: skip
    by_hand = Study(
        name="both",
        cases=product([lb.BernoulliBandit([0.2, 0.5])], [lb.SGB(learning_rate=lb.inverse_sqrt(0.5))]),
        horizon=50,
        runs=3,
    )
    assert read_study(path).study.hash == by_hand.hash


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_read_and_resolve_to_themselves(path, tmp_path):
    study = read_study(path).study
    (tmp_path / "resolved.toml").write_text(study_as_toml(study))
    assert read_study(tmp_path / "resolved.toml").study == study


def test_there_are_examples():
    assert len(EXAMPLES) >= 2


PROBLEM_TABLES = [
    {"problem": "GapInstances", "n_arms": 5, "gap": 0.2},
    {"problem": "BernoulliGapInstances", "n_arms": 4},
    {"problem": "GaussianBandit", "means": [0.0, 1.0], "scale": [1.0, 2.0]},
    {"problem": "BernoulliBandit", "means": [0.1, 0.1], "allow_ties": True},
    {"problem": "UniformBandit", "means": [0.1, 0.2], "half_width": 0.3},
    {"problem": "BetaBandit", "means": [0.1, 0.7], "concentration": 3.3},
    {"problem": "NeedleInstances", "n_arms": 3, "gap": 0.2, "level": -1.0, "scale": 0.5},
    {"problem": "UnequalNoiseInstances", "n_arms": 3, "gap": 0.2, "r_max": 2.0, "smallest": 0.2, "largest": 0.7},
    {"problem": "StudentInstances", "n_arms": 3, "gap": 0.2, "r_max": 2.0, "scale": 0.5, "df": 4.5},
    {"problem": "ClickInstances", "n_arms": 3, "rate": 0.05, "spread": 0.2},
    {"problem": "CountInstances", "n_arms": 3, "rate": 5.0, "spread": 0.2},
    {"problem": "RevenueInstances", "n_arms": 3, "rate": 0.05, "amount": 7.0, "spread": 0.2, "sigma": 0.4},
    {"problem": "CostInstances", "n_arms": 3, "cost": 5.0, "spread": 0.2, "sigma": 0.4},
    {"problem": "StudentBandit", "means": [0.1, 0.3], "scale": [1.0, 2.0], "df": 4},
    {"problem": "PoissonBandit", "means": [0.5, 30.0, 2.0]},
    {"problem": "RevenueBandit", "rates": [0.1, 0.1, 0.3], "amount": [7.0, 7.0, 0.7], "sigma": 0.3, "allow_ties": True},
    {"problem": "CostBandit", "costs": [0.3, 0.1], "sigma": 0.2},
    {"problem": "LinearBandit", "features": [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], "weights": [0.2, 0.7], "scale": 0.5},
    {"problem": "FeatureInstances", "n_arms": 5, "n_features": 2, "gap": 0.2, "scale": 0.5},
    {"problem": "SwappingArms", "n_arms": 3, "gap": 0.3, "period": 70, "r_max": 2.0, "scale": 0.5},
    {"problem": "DriftingArms", "n_arms": 3, "time_scale": 70.5, "r_max": 2.0, "scale": 0.5, "block": 3},
    {"problem": "SeasonalArms", "n_arms": 3, "period": 70.5, "swing": 0.1, "r_max": 2.0, "scale": 0.5, "block": 3},
]


@pytest.mark.parametrize("table", PROBLEM_TABLES, ids=lambda table: table["problem"])
def test_a_problem_survives_its_table(table):
    problem = problem_of(table)
    again = problem_of(table_of_problem(problem))
    assert again.to_dict() == problem.to_dict()
    assert again.instance(stream_key(0), 1).tolist() == problem.instance(stream_key(0), 1).tolist()


def test_every_problem_is_in_that_test():
    assert {table["problem"] for table in PROBLEM_TABLES} == set(SETTING.problems)


def test_numbers_per_arm_are_no_grid():
    assert grid({"problem": "GaussianBandit", "means": [0.0, 1.0]}) == [{"problem": "GaussianBandit", "means": [0.0, 1.0]}]
    assert len(grid({"problem": "GaussianBandit", "means": [[0.0, 1.0], [0.5, 0.6]]})) == 2


@pytest.mark.parametrize("value", ["0.1", True, None, [0.1]])
def test_a_number_must_be_a_number(value):
    with pytest.raises(TypeError, match="sgb: learning_rate must be a number or a schedule"):
        rule_of({"rule": "sgb", "learning_rate": value})


MISTAKES = [
    ("horizon = 200", "horizn = 200", "has no key horizn; it takes name, horizon"),
    ("horizon = 200", "", "needs horizon"),
    ("horizon = 200", 'horizon = "many"', "Study: horizon must be a whole number, got 'many'"),
    ("horizon = 200", "horizon = 0", "Study: horizon must be between 1 and"),
    ("runs = 6", "runs = true", "Study: runs must be a whole number, got True"),
    ("runs = 6", "runs = 2.5", "Study: runs must be a whole number, got 2.5"),
    ("runs = 6", "runs =", "is not TOML"),
    ("runs = 6", 'metrics = ["speed"]', "Study: metrics must be one of"),
    ("runs = 6", 'spacing = "square"', "Study: spacing must be one of linear, log, got 'square'"),
    ("runs = 6", "bad_start = 2", "Study: bad_start must be a probability between 0 and 1, got 2"),
    ("runs = 6", "checkpoints = [300]", "Study: checkpoints must be between 0 and 200, got 300"),
    ("runs = 6", 'name = "a/b"', "Study: name must be a valid folder name without control characters, got 'a/b'"),
    ("eta = 100", "eta = -3", "[[rules]] number 1: LogBarrierSGB: eta must be positive and finite, got -3"),
    ("eta = 100", 'eta = "big"', "[[rules]] number 1: log-barrier-sgb: eta must be a number, got 'big'"),
    ("eta = 100", "tau = 1", "[[rules]] number 1: log-barrier-sgb: has no parameter tau; it takes learning_rate, eta"),
    ("eta = 100", "", "[[rules]] number 1: log-barrier-sgb: needs eta"),
    ("eta = 100", "eta = []", "[[rules]] number 1: eta must have at least one value, got an empty list"),
    ('rule = "npg"', 'rule = "ucb"', "[[rules]] number 2: rule must be one of "),
    ("n_arms = [3, 5]", "n_arms = [3, 1]", "[[problems]] number 1: GapInstances: n_arms must be at least 2, got 1"),
    ("n_arms = [3, 5]", "", "[[problems]] number 1: GapInstances: needs n_arms"),
    ("n_arms = [3, 5]", "n_arms = 3\ncolour = 1", "[[problems]] number 1: GapInstances: has no parameter colour"),
    ("[[problems]]", "[problems]", "[[problems]]: must be tables in double brackets"),
    ("runs = 6", "runs = 6\n[execution]\nthreads = 'two'", "[execution] threads must be a whole number, got 'two'"),
    ("runs = 6", "runs = 6\n[execution]\nspeed = 2", "[execution] has no key speed; it takes threads"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES, ids=[new.strip() or f"no {old}" for old, new, _ in MISTAKES])
def test_a_mistake_names_file_table_and_key(tmp_path, old, new, message):
    path = tmp_path / "wrong.toml"
    text = SMALL.replace(old, new, 1)
    if "[execution]" in new:  # a table swallows the keys after it
        text = SMALL + "\n" + new.partition("\n")[2]
    path.write_text(text)
    with pytest.raises(ValueError, match="wrong.toml") as caught:
        read_study(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value).partition("is not TOML")[0]


def test_a_rule_that_no_other_process_could_find_is_refused():
    class Mine(lb.SGB):
        pass

    with pytest.raises(ValueError, match=r"Study: .*Mine must be defined at the top level of a file or module"):
        product([lb.GapInstances(n_arms=3)], [Mine(learning_rate=0.1)])


def test_only_selects_by_any_key(small_file):
    study = read_study(small_file).study
    assert {case.n_arms for case in study.only(["n_arms=5"])} == {5}
    assert [case.rule["learning_rate"] for case in study.only(["rule=log-barrier-sgb", "learning_rate=1e-1"])] == [0.1, 0.1]
    with pytest.raises(ValueError, match="only: must be KEY=VALUE with a key from .*learning_rate.*, got 'speed=1'"):
        study.only(["speed=1"])
    with pytest.raises(ValueError, match="only: no case matches n_arms=7"):
        study.only(["n_arms=7"])


def test_what_a_rule_cannot_do_is_refused_before_anything_runs():
    cases = product([lb.GapInstances(n_arms=5)], [lb.SGB(learning_rate=0.1), lb.UCB1()])
    with pytest.raises(ValueError, match="Study: ucb1 has no preferences that bad_start could set"):
        Study(name="bad", cases=cases, horizon=10, bad_start=0.1)
    with pytest.raises(ValueError, match="engine 'lazy' cannot run ucb1"):
        Study(name="bad", cases=cases, horizon=10, engine="lazy")


def test_more_cells_than_a_folder_holds_are_refused_before_they_are_made(small_file):
    with pytest.raises(ValueError, match="Study: must have at most 100,000 cells, got 12,884,901,888; raise runs_per_cell"):
        read_study(small_file, runs=2**32 - 1)


def test_more_cases_than_can_be_run_are_refused_before_they_are_made(tmp_path):
    path, values = tmp_path / "grid.toml", [0.001 * (i + 1) for i in range(1000)]
    path.write_text(
        f'horizon = 10\n[[problems]]\nproblem = "GapInstances"\nn_arms = {list(range(2, 1002))}\ngap = {values}\n'
        f'[[rules]]\nrule = "log-barrier-sgb"\nlearning_rate = {values}\neta = {values}\n'
    )
    with pytest.raises(ValueError, match="grid.toml: must have at most 10,000 rules on problems, got 1,000,000,000,000"):
        read_study(path)


def test_lists_that_a_parameter_takes_are_not_counted_as_a_grid(tmp_path):
    path = tmp_path / "means.toml"
    path.write_text(
        f'horizon = 10\n[[problems]]\nproblem = "GaussianBandit"\nmeans = {[0.0001 * i for i in range(20_000)]}\n'
        '[[rules]]\nrule = "sgb"\nlearning_rate = 0.1\n'
    )
    assert len(read_study(path).study.cases) == 1


@pytest.mark.parametrize("depth", [600, 5000])
def test_lists_nested_without_end_are_refused(tmp_path, depth):
    path = tmp_path / "deep.toml"
    path.write_text(f'horizon = 10\n[[problems]]\nproblem = "GapInstances"\nn_arms = {"[" * depth}{"]" * depth}\n')
    with pytest.raises(ValueError, match="deep.toml: "):
        read_study(path)
