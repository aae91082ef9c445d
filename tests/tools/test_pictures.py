"""The pictures of the documentation are those that the present code makes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image, ImageSequence

import figure_collapse
import figures_deep
import logbarrier as lb
import looks
import pictures
import rule_curves
from logbarrier import contexts, mdps
from logbarrier.bandits.algorithms import RULES

PICTURES = pictures.registered()


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_not_stale(name):
    maker, things = PICTURES[name]
    assert pictures.what_is_wrong(name, things) == "", f"run {maker}.py"


def test_every_picture_is_made_by_a_command():
    files = {str(file.relative_to(pictures.IMAGES)) for file in pictures.IMAGES.rglob("*.*")}
    assert files == set(PICTURES)


def test_a_curve_is_stale_when_the_pinned_numbers_of_its_rule_change(monkeypatch):
    scene = rule_curves.GAUSSIAN
    before = {rule.name: pictures.hash_of(rule_curves.known(rule, scene)) for rule in (lb.UCB1(), lb.SGB(learning_rate=0.3))}
    case = next(case for case in rule_curves.PINNED if case.startswith("ucb1"))
    monkeypatch.setitem(rule_curves.PINNED, case, "other")
    after = {rule.name: pictures.hash_of(rule_curves.known(rule, scene)) for rule in (lb.UCB1(), lb.SGB(learning_rate=0.3))}
    assert [name for name in before if after[name] != before[name]] == ["ucb1"]


def test_every_rule_has_a_learning_curve():
    rules = [*RULES, *mdps.algorithms.RULES, *contexts.RULES]
    assert {f"rules/{name}.svg" for name in rules} == set(rule_curves.PICTURES)


def test_a_stamp_is_read_back_and_what_changed_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    data = tmp_path / "results.json"
    data.write_text("1")
    frames = [Image.new("L", (3, 2), shade) for shade in (0, 255)]
    frames[0].save(tmp_path / "a.png")
    frames[0].save(tmp_path / "b.gif", save_all=True, append_images=frames[1:])
    (tmp_path / "c.svg").write_text("<svg></svg>\n")
    for name in ("a.png", "b.gif", "c.svg"):
        assert pictures.what_is_wrong(name, ()) == "has no stamp"
        things = (lb.SGB, 0.1, data)
        pictures.stamp(tmp_path / name, things)
        assert pictures.stamp_of(tmp_path / name).version == lb.__version__
        assert pictures.what_is_wrong(name, things) == ""
        assert "is stale" in pictures.what_is_wrong(name, (lb.SGB, 0.2, data))
        assert "is stale" in pictures.what_is_wrong(name, (lb.NPG, 0.1, data))
    data.write_text("2")
    assert "is stale" in pictures.what_is_wrong("a.png", (lb.SGB, 0.1, data))
    assert pictures.what_is_wrong("d.png", ()) == "is missing"
    with Image.open(tmp_path / "a.png") as picture, Image.open(tmp_path / "b.gif") as animation:  # they can still be read
        picture.load()
        assert len(list(ImageSequence.Iterator(animation))) == 2


def test_a_curve_has_the_mean_and_its_interval():
    records = [lb.simulate(rule, lb.GaussianBandit([0.0, 1.0]), horizon=100, runs=3, seed=1, checkpoints=[50])
               for rule in (lb.SGB(learning_rate=0.1), lb.UCB1())]  # fmt: skip
    text = rule_curves.curve(*records, "optimal_probability", "a < b")
    assert "<title>a &lt; b</title>" in text
    heights = [float(point.split(",")[1]) for point in text.rpartition('<polyline points="')[2].split('"')[0].split()]
    low, high = rule_curves.HEIGHT - rule_curves.BOTTOM, rule_curves.TOP
    means = [(low - height) / (low - high) for height in heights]
    assert means == pytest.approx(list(records[0].mean("optimal_probability")), abs=1e-3)


def test_the_grid_of_the_plotted_coefficients_is_that_of_the_study():
    source = (pictures.ROOT / "benchmarks" / "deep_study.py").read_text()  # importing it takes PyTorch
    assert f"\nCOEFFICIENTS = {figures_deep.COEFFICIENTS}\n" in source
    study = json.loads(figures_deep.STUDY.read_text())
    assert [study[key]["task"] for key in ("2", "3", "0", "8", "5")] == [
        "grid, collapsed checkpoint", "grid, collapsed checkpoint, A2C", "digits, labels permuted", "DeepSea 8",
        "grid, five goals in turn",
    ]  # fmt: skip


def test_the_picture_of_the_readme_shows_the_results_that_it_quotes():
    quoted = json.loads((pictures.ROOT / "benchmarks" / "readme_results.json").read_text())["collapsed"]
    axes = Figure().subplots()
    figure_collapse.plot_rescue(axes)
    shown = [text.get_text() for text in axes.texts]
    assert shown == [f"{quoted[name]:.2f}" for name in ("none", "entropy", "annealed")]


def test_the_interval_of_an_interquartile_mean_covers_it():
    """At a true rate of misses of 8 %, more than 30 of 200 have a probability below 1e-3 (binomial); the seed is fixed."""
    rng = np.random.default_rng(3)
    misses = sum(not low <= 0.0 <= high for low, high in (looks.middle_interval(rng.normal(size=30), 400) for _ in range(200)))
    assert misses <= 30
