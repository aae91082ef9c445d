"""Cells: names that depend on what is computed alone, bytes that are a function of the name, damage that shows."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import every_rule
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logbarrier as lb
from logbarrier.studies import LocalExecutor, Study, product, tables
from logbarrier.studies.cell import cell_of
from logbarrier.studies.cell_file import DamagedCellError, pack, unpack
from logbarrier.studies.local import compute_cell
from logbarrier.studies.settings import settings

RULES = every_rule.BANDIT_RULES[:7]
PROBLEMS = [lb.GapInstances(n_arms=70), lb.BetaBandit([0.2, 0.5, 0.7])]


def study(**changes):
    settings = {"name": "cells", "cases": product(PROBLEMS, RULES), "horizon": 300, "runs": 2, "checkpoints": 5, "seed": 3}
    return Study(**{**settings, **changes})


CELL = study().cells()[0]
CONTENT = pack(CELL, CELL.simulate(threads=1))


def test_the_numbers_of_every_rule_are_pinned():
    """New numbers of a rule need a reason and a new digest here; a new rule needs one too."""
    of_settings = every_rule.BANDIT_RULES, every_rule.MDP_RULES, every_rule.CONTEXT_RULES
    for setting, rules in zip(settings(), of_settings, strict=True):
        assert {rule.name for rule in rules} == set(setting.rules), setting.name
    assert every_rule.digests() == json.loads(every_rule.DIGESTS.read_text())


def test_the_name_depends_on_every_field():
    changes = {
        "case": replace(CELL.case, rule={**CELL.case.rule, "learning_rate": 0.2}),
        "code": "0",
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
    names.add(replace(CELL, case=replace(CELL.case, problem={**CELL.case.problem, "n_arms": 71})).id)
    assert len(names | {CELL.id}) == len(changes) + 2


def test_adding_a_rule_or_runs_renames_no_other_cell():
    fewer, more = study(cases=product(PROBLEMS, RULES[:3])), study(runs=2 * CELL.runs, runs_per_cell=2)
    names = {cell.id for cell in study(runs_per_cell=2).cells()}
    assert {cell.id for cell in fewer.cells()} < names
    assert names < {cell.id for cell in more.cells()}


def test_bytes_do_not_depend_on_threads():
    assert pack(CELL, CELL.simulate(threads=2)) == CONTENT
    assert compute_cell(cell_of(CELL.identity))[0] == CONTENT


def test_this_machine_computes_cells_without_making_their_rules_and_problems_again(monkeypatch):
    cells = study(runs_per_cell=1).cells()[:3]
    made = []
    monkeypatch.setattr(tables, "_made", lambda *given: made.append(given))
    results = list(LocalExecutor(2).compute(cells, lambda steps: None))
    assert ({result.cell.id for result in results}, made) == ({cell.id for cell in cells}, [])
    assert all(result.content is not None for result in results)


def test_numpy_reads_a_cell():
    with np.load(io.BytesIO(CONTENT), allow_pickle=False) as file:
        assert json.loads(str(file["header"]))["identity"] == CELL.identity
        assert (file["regret"] == CELL.simulate(threads=1)["regret"]).all()


def test_a_cell_survives_its_identity_and_its_bytes():
    assert cell_of(json.loads(json.dumps(CELL.identity))) == CELL
    assert unpack(CELL, CONTENT).digest() == CELL.simulate(threads=1).digest()


def test_other_code_refuses_a_cell():
    content, note = compute_cell(replace(CELL, code="0"))
    assert content is None
    assert "Cell: the code of sgb learning_rate=0.1 on GapInstances" in note["error"]


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
