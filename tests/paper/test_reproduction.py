"""reproduce: one command, the same bytes twice, and what it prints."""

from __future__ import annotations

import json

import pytest
from command import logbarrier

import logbarrier as lb
from logbarrier.paper import EXPERIMENTS, paper_study, results_of
from logbarrier.paper.design import barrier, checkpoints, instances
from logbarrier.paper.figures import experiment_figure
from logbarrier.paper.reproduction import cases_of, experiments_with_runs, horizon_of
from logbarrier.studies import Store, Study
from logbarrier.theory.plateau import mean_plateau


def reproduce(*arguments):
    return logbarrier("reproduce", *arguments, env={"NO_COLOR": "1"}, timeout=200)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """The eta figure, twice from nothing, on different numbers of threads."""
    folders = []
    for threads in (1, 2):
        out = tmp_path_factory.mktemp(f"threads-{threads}")
        done = reproduce("eta", "--horizon", "printed", "--runs", 4, "--out", out, "--threads", threads)
        assert done.returncode == 0, done.stderr
        folders.append((next(out.iterdir()), done.stdout))
    return folders


def test_figures_are_the_same_bytes_twice(two_runs):
    (one, _), (two, _) = two_runs
    names = sorted(path.name for path in (one / "figures").iterdir())
    assert names == ["eta-quantiles.svg", "eta-stuck.svg", "eta.pdf", "eta.png", "eta.svg"]
    for name in names:
        assert (one / "figures" / name).read_bytes() == (two / "figures" / name).read_bytes(), name


def test_the_table_fits_100_columns_and_names_every_claim(two_runs):
    _, printed = two_runs[0]
    lines = [line for line in printed.splitlines() if not line.startswith("figures:")]
    assert max(map(len, lines)) <= 100
    assert "eta-1e2-plateaus-low-0.1" in printed
    assert "lb-converges-k1000" in printed
    assert "K / (alpha (r* - J))" in " ".join(printed.split())


def test_claims_are_kept_as_json(two_runs):
    folder, _ = two_runs[0]
    evaluated = {one["name"]: one for one in json.loads((folder / "claims.json").read_text())}
    assert evaluated["eta-1e2-plateaus-low-0.1"]["printed"]["effect"] < 0.9
    assert evaluated["lb-converges-k1000"]["verdict"] == "not run"


def test_stored_figures_are_not_drawn_again(two_runs):
    folder, _ = two_runs[0]
    figure = folder / "figures" / "eta.svg"
    before = figure.stat().st_mtime_ns
    assert reproduce("eta", "--horizon", "printed", "--runs", 4, "--out", folder.parent).returncode == 0
    assert figure.stat().st_mtime_ns == before
    figure.unlink()
    assert reproduce("eta", "--horizon", "printed", "--runs", 4, "--out", folder.parent).returncode == 0
    assert figure.is_file()


def test_the_figure_shows_means_bands_and_plateaus(two_runs):
    folder, _ = two_runs[0]
    results = results_of(Store.open(folder))
    assert experiments_with_runs(results) == ["eta"]
    figure = experiment_figure(EXPERIMENTS["eta"], results)
    panel = EXPERIMENTS["eta"].rows[0][0]
    axes = figure.axes[0]
    drawn = [line.get_ydata() for line in axes.lines]
    for curve in panel.curves:
        mean = results(10, curve.rule).mean("optimal_probability")
        assert any(len(line) == len(mean) and (line == mean).all() for line in drawn)
    levels = sorted(line[0] for line in drawn if len(line) == 2)
    assert levels == pytest.approx([mean_plateau(instances(10), eta, 0, 4)[0] for eta in (1e2, 1e3, 1e4)])
    assert len(axes.collections) == len(panel.curves)
    assert len(figure.legends) == 1
    styles = [(line.get_color(), str(line.get_linestyle())) for line in axes.lines if len(line.get_ydata()) > 2]
    assert len(set(styles)) == len(styles)


def test_a_dry_run_lists_every_cell(tmp_path):
    done = reproduce("--dry-run", "--json", "--out", tmp_path, "--runs", 20)
    assert len(json.loads(done.stdout)[0]["cells"]) == 37
    assert list(tmp_path.iterdir()) == []


def test_a_single_run_is_plotted_but_not_evaluated(tmp_path):
    done = reproduce("eta", "--horizon", "printed", "--runs", 1, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "45 not run" in done.stdout


def test_the_long_horizon_begins_with_figure_1_and_stops_in_time(tmp_path, monkeypatch):
    """Every cell is said to take 10 s on one core; of 400 s, figure 1 gets one block of 20 runs, as 160 s are left then."""
    from logbarrier.cli.reproduce import _what_fits
    from logbarrier.paper import budget

    stores = [Store(tmp_path / name, paper_study(name, 60)) for name in ("printed", "long")]
    monkeypatch.setattr(Store, "provenance", lambda self, cell: {"seconds": 10.0 * cell.horizon / 2_500_000})
    rounds = list(budget.rounds(stores[1], cases_of(list(EXPERIMENTS))))
    assert [(len(cases), up_to) for cases, up_to in rounds[:4]] == [(24, 20), (24, 40), (24, 60), (12, 20)]
    assert budget.seconds_needed(stores[1], stores[0], rounds[0][0], 20, cores=1) == pytest.approx(240)
    assert budget.seconds_needed(stores[1], stores[0], rounds[0][0], 60, cores=2) == pytest.approx(360)
    done, now = [], [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def compute(store, cases, up_to):
        done.append((len(cases), up_to))
        now[0] += 240

    _what_fits(stores[1], stores[0], rounds[0][0], compute, 400.0, 1)
    assert done == [(24, 20)]


def test_a_figure_of_fewer_runs_says_so(tmp_path):
    study = paper_study("printed", 40)
    store = Store(tmp_path / study.folder_name, study)
    from logbarrier.studies import LocalExecutor, run

    run(store, LocalExecutor(2), cases_of(["eta"]), up_to=20)
    results = results_of(store)
    assert results.runs == 20
    figure = experiment_figure(EXPERIMENTS["eta"], results)
    assert figure.get_suptitle() == "20 of 40 runs, 25,000 steps"
    assert results(10, lb.SGB(learning_rate=0.1)).runs == 20


def test_the_study_is_the_papers():
    study = paper_study()
    assert (study.horizon, study.runs, len(study.cases)) == (25_000, 100, 37)
    assert paper_study("long").horizon == 2_500_000
    etas = {(K, alpha): barrier(K, alpha) for K in (10, 100, 1000) for alpha in (0.01, 0.1)}
    assert etas == {(10, 0.01): 1e3, (10, 0.1): 1e3, (100, 0.01): 2e3, (100, 0.1): 2e3, (1000, 0.01): 1e4, (1000, 0.1): 5e3}
    assert {case.n_arms for case in cases_of(["eta"])} == {10}
    assert (horizon_of(study), horizon_of(paper_study("long", 7, 3))) == ("printed", "long")
    other = Study(name="paper", cases=study.cases[:3], horizon=25_000)
    assert horizon_of(other) is None


def test_checkpoints_hold_the_clipping_steps():
    steps = checkpoints(25_000)
    assert {16382, 16383, 0, 25_000} <= set(steps)
    assert 200 < len(steps) < 260


def test_every_figure_keeps_one_look_a_rule():
    looks = {}
    for experiment in EXPERIMENTS.values():
        for panel in experiment.panels:
            for curve in panel.curves:
                if not isinstance(curve.rule, lb.LogBarrierSGB):
                    assert looks.setdefault(curve.label, (curve.colour, curve.style)) == (curve.colour, curve.style)
