"""The study files of the paper: the same cases as the reproduction, and one edit away from a variation."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import logbarrier

from logbarrier.paper.reproduction import EXPERIMENTS
from logbarrier.paper.variation import differences_from_paper
from logbarrier.studies import read_study

FOLDER = Path(__file__).parents[2] / "examples" / "paper"


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_a_file_has_the_cases_of_its_experiment(name):
    study = read_study(FOLDER / f"{name}.toml").study
    assert {case.key for case in study.cases} == {case.key for case in EXPERIMENTS[name].cases}
    assert differences_from_paper(study) == []


def varied(folder):
    """K = 100 alone, Bernoulli rewards, gap 0.2."""
    start, _, hundred, _ = (FOLDER / "figure-1.toml").read_text().split("[[problems]]\n")
    file = folder / "figure-1.toml"
    edited = hundred.replace('"GapInstances"', '"BernoulliGapInstances"').replace("gap = 0.1", "gap = 0.2")
    file.write_text(f"{start}[[problems]]\n{edited}")
    return file


def test_every_setting_that_was_edited_is_named(tmp_path):
    study = read_study(varied(tmp_path), runs=3, horizon=100).study
    assert set(differences_from_paper(study)) == {
        "horizon 100 instead of 25000",
        "runs 3 instead of 100",
        "problem BernoulliGapInstances instead of GapInstances",
        "n_arms 100 instead of 10, 100, 1000",
        "gap 0.2 instead of 0.1",
        "r_max 0.9 instead of 1",
        "scale none instead of 1",
        "eta 2000 instead of 1000, 2000, 5000, 10000",
        "tau 0.0005 instead of 0.0001, 0.0002, 0.0005, 0.001",
    }


def test_a_varied_figure_is_written_as_pdf_svg_and_png(tmp_path):
    run = logbarrier("run", varied(tmp_path), "--runs", 3, "--horizon", 100, "--out", tmp_path / "runs", "--json")
    assert run.returncode == 0, run.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert logbarrier("report", folder).returncode == 0
    assert {"grid.pdf", "grid.svg", "grid.png", "curves-1.pdf"} <= {file.name for file in (folder / "figures").iterdir()}
    page = (folder / "report.html").read_text()
    assert "Settings that differ from the paper&#x27;s: horizon 100 instead of 25000" in page
    assert "LB-SGB" in page


def test_a_part_of_the_paper_can_be_reproduced(tmp_path):
    done = logbarrier(
        "reproduce", "figure-1", "--horizon", "printed", "--runs", 2, "--only", "n_arms=10", "--only", "learning_rate=0.1",
        "--out", tmp_path, "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.iterdir()
    assert (folder / "figures" / "figure-1.pdf").is_file()
    assert "figure-1 with K = 10 alone, 1 of 6 panels" in (folder / "report.html").read_text()
    wrong = logbarrier("reproduce", "eta", "--horizon", "printed", "--only", "n_arms=100", "--out", tmp_path)
    assert wrong.returncode == 2
    assert "no curve of eta matches n_arms=100" in wrong.stderr
