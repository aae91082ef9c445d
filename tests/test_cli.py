"""The command line: tables, JSON, files, and exit code 2 in one sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import MISSING, fields

import psutil
import pytest
from command import Command, logbarrier, logbarrier_from_nothing

import logbarrier as lb
from logbarrier.cli import app

RULE = "--rule log-barrier-sgb --learning-rate 0.1 --eta 50"
SMALL = f"simulate {RULE} --arms 5 --horizon 200 --runs 4".split()


def test_simulate_prints_a_table():
    done = logbarrier_from_nothing(*SMALL)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert any(line.split() == ["step", "mean", "p(a*)", "95", "%", "interval", "median", "stuck"] for line in lines)
    assert lines[2].split()[:2] == ["0", "0.2000"] or lines[3].split()[:2] == ["0", "0.2000"]


def test_simulate_prints_json_and_writes_files(tmp_path):
    done = logbarrier(*SMALL, "--json", "--plot", tmp_path / "a.svg", "--save", tmp_path / "a.npz")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    record = lb.simulate(lb.LogBarrierSGB(learning_rate=0.1, eta=50), lb.GapInstances(n_arms=5), horizon=200, runs=4, seed=0)
    assert printed["digest"] == record.digest() == lb.Record.load(tmp_path / "a.npz").digest()
    assert printed["metrics"]["optimal_probability"]["mean"] == record.mean("optimal_probability").tolist()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_rules_lists_every_rule_with_its_parameters():
    table, plain = logbarrier("rules"), logbarrier("rules", "--json")
    assert all(name in table.stdout for name in (*lb.RULES, *lb.mdps.RULES))
    for setting, rules in (("bandits", lb.RULES), ("mdps", lb.mdps.RULES)):
        listed = {row["rule"]: list(row["parameters"]) for row in json.loads(plain.stdout) if row["setting"] == setting}
        assert listed == {name: [field.name for field in fields(rule)] for name, rule in rules.items()}


@pytest.mark.parametrize("name", list(lb.RULES))
def test_every_rule_runs_with_the_words_that_rules_lists(name, capsys):
    needed = {"learning_rate": 0.1, "eta": 50, "tau": 0.1, "weight": 0.1, "minimum_gap": 0.1}
    words = [
        word
        for field in fields(lb.RULES[name])
        if field.name not in ("horizon", "gap", "r_max", "scale", "prior_scale")
        for word in (
            "--" + field.name.replace("_", "-"),
            str(needed[field.name] if field.default is MISSING else field.default),
        )
    ]
    with pytest.raises(SystemExit) as done:
        app(["simulate", "--rule", name, "--arms", "3", "--horizon", "20", "--runs", "2", "--json", *words])
    printed = capsys.readouterr()
    assert done.value.code == 0, printed.err
    assert json.loads(printed.out)["settings"]["rule"]["rule"] == name


def test_a_problem_that_changes_takes_its_own_options_and_its_regret_is_dynamic(tmp_path):
    words = ["--problem", "SwappingArms", "--period", "50", "--plot", tmp_path / "swaps.svg"]
    done = logbarrier(*SMALL, *words)
    assert done.returncode == 0, done.stderr
    family = lb.SwappingArms(n_arms=5, period=50)
    record = lb.simulate(lb.LogBarrierSGB(learning_rate=0.1, eta=50), family, horizon=200, runs=4, seed=0)
    assert f"mean dynamic regret {record.mean('regret')[-1]:,.1f}" in done.stdout
    assert "mean p(present best)" in done.stdout
    assert "mean rewards of the arms in run 0" in (tmp_path / "swaps.svg").read_text()


def test_a_problem_of_given_means_takes_lists_and_no_number_of_arms():
    done = logbarrier(
        *f"simulate {RULE} --problem RevenueBandit --rates 0.1,0.2 --amount 5,4 --horizon 50 --runs 2 --json".split()
    )
    assert done.returncode == 0, done.stderr
    given = json.loads(done.stdout)["settings"]["problem"]["parameters"]
    assert given[1:3] == [[0.1, 0.2], [5.0, 4.0]]
    missing = logbarrier(*f"simulate {RULE} --horizon 50".split())
    assert (missing.returncode, "simulate: needs --arms" in missing.stderr) == (2, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--eta", "-3"], "LogBarrierSGB: eta must be positive and finite, got -3.0"),
        (["--eta", "nan"], "LogBarrierSGB: eta must be positive and finite, got nan"),
        (["--rule", "ucb"], "got 'ucb'; did you mean ucb1?"),
        (["--tau", "1"], "log-barrier-sgb: has no option --tau; it takes --learning-rate, --eta"),
        (["--hroizon", "1"], "log-barrier-sgb: has no option --hroizon; it takes --learning-rate, --eta"),
        (["--eta"], "simulate: --eta needs a value"),
        (["--eta", "--tau", "1"], "simulate: --eta needs a value"),
        (["--eta", "big"], "LogBarrierSGB: eta must be a positive number, got 'big'"),
        (["surplus"], "simulate: does not know what to do with 'surplus'"),
        (["--arms", "1"], "GapInstances: n_arms must be at least 2, got 1"),
        (["--horizon", "0"], "simulate: horizon must be between 1 and"),
        (["--horizon", "1.5"], "simulate: horizon must be a whole number, got 1.5"),
        (["--runs", "0"], "simulate: runs must be between 1 and"),
        (["--gap", "5"], "GapInstances: gap must be below 2, got 5.0"),
        (["--bad-start", "2"], "OptimalArmAt: probability must be between 0 and 1, got 2.0"),
        (["--engine", "warp"], "simulate: engine must be one of"),
        (["--plot", "nowhere/a.png"], "nowhere/a.png: the folder nowhere does not exist"),
        (["--plot", "a.gif"], "plot: the file must end in .png, .pdf or .svg, got 'a.gif'"),
        (["--arms", "many"], "Invalid value for '--arms'"),
        (["--problem", "SwapingArms"], "got 'SwapingArms'; did you mean SwappingArms?"),
        (["--problem", "GaussianBandit"], "GaussianBandit: has no option --arms; it takes --means, --scale"),
        (["--problem", "SeasonalArms", "--gap", "1"], "SeasonalArms: has no option --gap; it takes --period, --swing"),
        (["--problem", "SwappingArms", "--period", "no"], "SwappingArms: period must be a number, got 'no'"),
        (["--problem", "SwappingArms", "--rewards", "bernoulli"], "simulate: --rewards is for gap instances"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(changes, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = logbarrier(*SMALL, *changes)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_an_option_under_its_former_name_works_and_names_the_new_one():
    done = logbarrier("complexity", "--only", "sgb", "--runs", 2, "--dry-run")
    assert done.returncode == 0
    assert done.stderr == "logbarrier: --only is now called --system; the former name will be removed\n"
    assert done.stdout == logbarrier("complexity", "--system", "sgb", "--runs", 2, "--dry-run").stdout
    both = logbarrier("complexity", "--only", "sgb", "--system", "npg")
    assert both.returncode == 2
    assert both.stderr == "logbarrier: --only is the former name of --system: give only --system\n"


def test_help_does_not_wait_for_the_compiler():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "logbarrier", "--help"], capture_output=True, text=True, timeout=60
    )
    assert "numba" not in done.stderr
    assert "scipy" not in done.stderr
    assert "simulate" in done.stdout


def test_ctrl_c_stops_with_exit_code_130():
    process = Command(*SMALL, "--horizon", "4e9")
    while psutil.Process(process.pid).cpu_times().user < 0.5:  # by then it simulates, or at least compiles
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr == "logbarrier: stopped; nothing was saved\n"


OWN_RULE = """
import sys
from dataclasses import dataclass
import logbarrier as lb
from logbarrier.engine.compiled import compiled
@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    {first}
    return {returned}, 0.1 * reward
@dataclass(frozen=True, kw_only=True)
class UserDefined(lb.TwoScalarRule):
    name, place, lift_and_drain, memory = "user-defined", "here", staticmethod(lift_and_drain), ("count",)
    def hyper(self, n_arms):
        {hyper}
        return (0.1,)
"""
ENDLESS = {"first": "while t > 3 and memory.count >= 0.0: memory.count += 1.0"}


def own_rule(folder, *, first="", returned="0.1 * reward", hyper=""):
    path = folder / "own_rule.py"
    path.write_text(OWN_RULE.format(first=first, returned=returned, hyper=hyper))
    return f"{path}:UserDefined"


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        ({"returned": "0.0 * reward / (t - 7)"}, "user-defined returned a lift or drain that is not finite at step 7"),
        ({"returned": "0.1 * rewrd"}, "own_rule.py:9: name 'rewrd' is not defined"),
        ({"hyper": "sys.exit(0)"}, "user-defined code called sys.exit(0), which must not end a command"),
    ],
)
def test_a_rule_of_ones_own_that_fails_is_one_sentence_and_exit_code_1(mistake, sentence, tmp_path):
    done = logbarrier("simulate", "--rule", own_rule(tmp_path, **mistake), "--arms", 5, "--horizon", 50, "--runs", 2)
    assert done.returncode == 1
    assert done.stderr.endswith(f"{sentence}\n")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("threads", [1, 2])
def test_one_ctrl_c_ends_a_run_whose_rule_never_returns(threads, tmp_path):
    rule = own_rule(tmp_path, **ENDLESS)
    process = Command("simulate", "--rule", rule, "--arms", 5, "--horizon", 50, "--runs", 2, "--threads", threads)
    while psutil.Process(process.pid).cpu_times().user < 2.5:  # after it was compiled
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr == "logbarrier: stopped; nothing was saved\n"


def test_a_closed_stdout_loses_the_output_and_changes_no_exit_code():
    for words, code in ((["rules"], 0), (["no-such-command"], 2)):
        command = 'exec "$0" -m logbarrier "$@" >&-'
        done = subprocess.run(["sh", "-c", command, sys.executable, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert bool(done.stderr) == bool(code)


def test_a_reader_that_leaves_early_ends_a_command_quietly(tmp_path):
    rates = ", ".join(str(0.001 * (i + 1)) for i in range(1000))
    (tmp_path / "study.toml").write_text(
        f'horizon = 9\n[[problems]]\nproblem = "GapInstances"\nn_arms = 3\n[[rules]]\nrule = "sgb"\nlearning_rate = [{rates}]\n'
    )
    words = [sys.executable, "-m", "logbarrier", "run", "--dry-run", str(tmp_path / "study.toml"), "--out", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.mark.parametrize("arms", ["3000000", "1000000000"])
@pytest.mark.parametrize("command", ["plan"])
def test_more_arms_than_a_budget_allows_are_refused_at_once(command, arms):
    done = logbarrier(command, "--arms", arms, "--gap", 0.1, "--horizon", 1000, "-q")
    assert done.returncode == 2
    assert done.stderr == f"logbarrier: {command}: arms must be between 2 and 100000, got {arms}\n"


def test_simulate_and_plan_take_problems_with_contexts():
    words = ["--problem", "LinearContexts", "--arms", "3", "--n-features", "4", "--horizon", "100"]
    shown = logbarrier("simulate", "--rule", "disjoint-lin-ucb", "--alpha", "0.5", *words, "--runs", "2", "--json")
    rule, problem = lb.contexts.LinUCB(alpha=0.5), lb.LinearContexts(3, 4)
    record = lb.contexts.simulate(rule, problem, horizon=100, runs=2, seed=0)
    assert json.loads(shown.stdout)["metrics"] == record.to_dict()["metrics"]
    assert "mean regret" in logbarrier("simulate", "--rule", "contextual-barrier", *words, "--runs", "2").stdout
    refused = logbarrier("simulate", "--rule", "contextual-barrier", *words, "--bad-start", "0.1")
    assert (refused.returncode, "are for problems without contexts" in refused.stderr) == (2, True)
    planned = json.loads(logbarrier("plan", *words, "--budget", "0.1", "--json").stdout)
    assert planned["rows"][0]["code"].startswith("lb.contexts.")
