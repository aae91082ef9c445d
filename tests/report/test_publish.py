"""Reports: of any metrics, of several folders, of rules of another setting's kind; text is escaped once."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.report import publish, publish_together
from logbarrier.report.html_page import Markup, table
from logbarrier.report.products import is_current
from logbarrier.studies import Store, Study
from logbarrier.studies.bandit_setting import Bandits
from logbarrier.studies.local import LocalExecutor
from logbarrier.studies.run import run

FAMILY = lb.GapInstances(n_arms=4)
RULES = [lb.LogBarrierSGB(learning_rate=0.1, eta=50), lb.SGB(learning_rate=0.1)]


@pytest.fixture(autouse=True)
def chosen_numbers(monkeypatch):
    """Runs whose numbers are chosen: LB-SGB has regret 100, SGB 200, UCB1 300."""

    def simulate(self, rule, problem, cell, *, threads, progress):
        ends = {"log-barrier-sgb": 100.0, "sgb": 200.0, "ucb1": 300.0}[rule.name] + np.arange(cell.runs)
        values = {name: np.stack([0 * ends, ends if name == "regret" else ends / 1000], axis=1) for name in cell.metrics}
        return lb.Record(np.array([0, cell.horizon]), values, {}, {"seconds": 1.0})

    monkeypatch.setattr(Bandits, "simulate", simulate)


def stored(tmp_path, **settings):
    study = Study(**{"name": "study", "problems": [FAMILY], "rules": RULES, "horizon": 50, "runs": 6, **settings})
    store = Store(tmp_path / study.folder_name, study)
    run(store, LocalExecutor(1))
    return store


@pytest.mark.parametrize("odd", ["[" * 100_000, "[1]", "no JSON", '{"made_from": 1}'], ids=lambda text: text[:20])
def test_an_odd_note_of_what_was_built_only_means_to_build_it_again(tmp_path, odd):
    store = stored(tmp_path)
    (store.folder / "products.json").write_text(odd)
    assert not is_current(store, "origin")


@pytest.mark.parametrize("metrics", [["regret"], ["optimal_probability"], ["entropy"], None], ids=str)
def test_whatever_was_measured_is_drawn_and_ranked_if_it_can_be(tmp_path, metrics):
    text = publish(stored(tmp_path, metrics=metrics)).read_text()
    ranked = metrics != ["entropy"]
    assert text.count("<img ") == 1 + ranked
    assert ("<h2>Ranking</h2>" in text) == ranked
    assert "<td>log-barrier-sgb</td>" in text
    best = "sgb" if metrics == ["optimal_probability"] else "log-barrier-sgb"
    assert (f"{best} has the best mean" in text) == ranked


def test_text_is_escaped_once(tmp_path):
    text = publish(stored(tmp_path, name="a & b <c>")).read_text()
    assert "<h1>Study a &amp; b &lt;c&gt;</h1>" in text
    assert "&amp;amp;" not in text
    assert "&amp;lt;" not in text
    assert table(["x"], [["<b>"], [Markup("<b>")]]).count("<td>&lt;b&gt;</td>") == 1
    assert "does not tell" not in text


def test_advice_on_a_name_with_signs_is_escaped_once(tmp_path):
    """The sentence of advice was escaped twice."""
    one = stored(tmp_path, name="one")
    other = stored(tmp_path, name="R & D")
    text = publish_together([one, other], tmp_path / "both.html").read_text()
    assert "log-barrier-sgb (R &amp; D)" in text
    assert "&amp;amp;" not in text


def test_several_folders_stand_on_one_page(tmp_path):
    one, other = stored(tmp_path, name="one"), stored(tmp_path, name="other", rules=[lb.UCB1()], metrics=["regret"])
    text = publish_together([one, other], tmp_path / "both.html").read_text()
    order = [text.index(f"<td>{name}</td>") for name in ("log-barrier-sgb", "sgb", "ucb1")]
    assert order == sorted(order)
    assert text.count("<img ") == 2
    assert "<h1>Studies one, other</h1>" in text


def test_studies_of_other_horizons_are_not_ranked_together(tmp_path):
    one, other = stored(tmp_path, name="one"), stored(tmp_path, name="other", rules=[lb.UCB1()], horizon=60)
    text = publish_together([one, other], tmp_path / "both.html").read_text()
    assert "horizon=50" in text
    assert "horizon=60" in text
    assert text.count("<img ") == 1 + 2  # one ranking of two rules, and the curves of each


def test_a_page_is_built_again_only_when_cells_change(tmp_path):
    store = stored(tmp_path)
    page = publish(store)
    before = page.stat().st_mtime_ns
    assert publish(store).stat().st_mtime_ns == before
    store.forget(store.study.cells()[0])
    assert publish(store).stat().st_mtime_ns > before
