"""Cells: names that depend on what is computed alone, bytes that are a function of the name, damage that shows."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logbarrier as lb
from logbarrier.studies import Study, product
from logbarrier.studies.cell import KERNELS, REVISED, cell_of
from logbarrier.studies.cell_file import DamagedCellError, pack, unpack
from logbarrier.studies.local import compute_cell

RULES = [
    lb.SGB(learning_rate=0.1),
    lb.BaselineSGB(learning_rate=lb.inverse_sqrt(0.3)),
    lb.EntropySGB(learning_rate=0.1, tau=0.2),
    lb.LogBarrierSGB(learning_rate=0.1, eta=50),
    lb.NPG(learning_rate=0.1),
    lb.BaselineNPG(learning_rate=0.1),
    lb.ClippedLogBarrierSGB(),
]
FURTHER_RULES = [
    lb.AdaptiveLogBarrierSGB(learning_rate=0.1),
    lb.StagedSGB(first_stage=50),
    lb.MiniBatchLogBarrierSGB(learning_rate=0.3, weight=0.1, batch=3),
    lb.MomentumLogBarrierSGB(weight=0.1),
    lb.TwoPhaseEntropySGB(tau=0.1),
    lb.EntropyNPG(learning_rate=0.05, tau=0.2),
    lb.TsallisSGB(learning_rate=0.1, weight=0.05),
    lb.ExactPG(),
    lb.ExactEntropyPG(tau=0.1),
    lb.ExactLogBarrierPG(weight=0.1),
    lb.UCB1(),
    lb.ThompsonSampling(),
    lb.EpsilonGreedy(),
    lb.InverseGapWeighting(),
    lb.EXP3(learning_rate=0.01),
]
PROBLEMS = [lb.GapInstances(n_arms=70), lb.BetaBandit([0.2, 0.5, 0.7])]
DIGESTS = Path(__file__).parent / "cell_digests.json"


def study(**changes):
    settings = {"name": "cells", "cases": product(PROBLEMS, RULES), "horizon": 300, "runs": 2, "checkpoints": 5, "seed": 3}
    return Study(**{**settings, **changes})


CELL = study().cells()[0]
CONTENT = pack(CELL, CELL.simulate(threads=1))


def test_a_rule_that_was_revised_is_computed_anew_and_it_alone():
    revised, other = Study(
        name="cells", cases=product(PROBLEMS[:1], [lb.AutoLogBarrier(), lb.SGB(learning_rate=0.1)]), horizon=10, runs=1
    ).cells()
    own = REVISED["auto-log-barrier"]
    assert own > KERNELS
    assert (revised.identity["kernels"], other.identity["kernels"]) == (own, KERNELS)
    assert cell_of(revised.wire) == revised
    with pytest.raises(ValueError, match=f"Cell: made for kernels {KERNELS}, this machine has kernels {own}"):
        cell_of({**revised.wire, "kernels": KERNELS})


def test_kernels_is_raised_when_numbers_change():
    """Cells stored by an earlier version must not pass for today's: new numbers need a new KERNELS and new digests here."""
    cells = study().cells() + study(cases=product([lb.GapInstances(n_arms=10)], FURTHER_RULES)).cells()
    digests = {cell.id: cell.simulate(threads=2).digest() for cell in cells}
    known = json.loads(DIGESTS.read_text())
    assert known["kernels"] == KERNELS
    assert digests == known["digests"]


def test_the_name_depends_on_every_field():
    changes = {
        "rule": {**CELL.rule, "learning_rate": 0.2},
        "problem": {**CELL.problem, "n_arms": 71},
        "horizon": 301,
        "first_run": 1,
        "runs": 1,
        "seed": 4,
        "checkpoints": 6,
        "spacing": "log",
        "metrics": ("regret",),
        "bad_start": 0.1,
        "engine": "dense",
    }
    assert set(changes) == set(CELL.__dataclass_fields__)
    names = {replace(CELL, **{key: value}).id for key, value in changes.items()}
    assert len(names | {CELL.id}) == len(changes) + 1


def test_adding_a_rule_or_runs_renames_no_other_cell():
    fewer, more = study(cases=product(PROBLEMS, RULES[:3])), study(runs=2 * CELL.runs, runs_per_cell=2)
    names = {cell.id for cell in study(runs_per_cell=2).cells()}
    assert {cell.id for cell in fewer.cells()} < names
    assert names < {cell.id for cell in more.cells()}


def test_bytes_do_not_depend_on_threads():
    assert pack(CELL, CELL.simulate(threads=2)) == CONTENT
    assert compute_cell(CELL.identity)[0] == CONTENT


def test_numpy_reads_a_cell():
    with np.load(io.BytesIO(CONTENT), allow_pickle=False) as file:
        assert json.loads(str(file["header"]))["identity"] == CELL.identity
        assert (file["regret"] == CELL.simulate(threads=1)["regret"]).all()


def test_a_cell_survives_its_identity_and_its_bytes():
    assert cell_of(json.loads(json.dumps(CELL.identity))) == CELL
    assert unpack(CELL, CONTENT).digest() == CELL.simulate(threads=1).digest()


def test_another_version_refuses_a_cell():
    with pytest.raises(ValueError, match=f"Cell: made for kernels 99, this machine has kernels {KERNELS}"):
        cell_of({**CELL.identity, "kernels": 99})


@given(st.integers(0, len(CONTENT) - 1))
def test_a_cell_cut_short_is_damaged(length):
    with pytest.raises(DamagedCellError):
        unpack(CELL, CONTENT[:length])


@given(st.integers(0, 8 * len(CONTENT) - 1))
def test_one_flipped_bit_is_damage(bit):
    flipped = bytearray(CONTENT)
    flipped[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DamagedCellError):
        unpack(CELL, bytes(flipped))


def test_a_cell_under_another_ones_name_is_damaged():
    with pytest.raises(DamagedCellError, match="another cell"):
        unpack(study().cells()[1], CONTENT)


def test_blocks_together_are_the_runs_at_once():
    whole = study(runs=5, runs_per_cell=5).cells()[0].simulate(threads=1)
    parts = [cell.simulate(threads=1) for cell in study(runs=5, runs_per_cell=2).cells_of(study().cases[0])]
    assert [part.runs for part in parts] == [2, 2, 1]
    assert (whole["regret"] == np.concatenate([part["regret"] for part in parts])).all()
