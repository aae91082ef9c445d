"""A stopped verify goes on where it was."""

from __future__ import annotations

import json

import pytest

from logbarrier.verify.finished import FinishedRows
from logbarrier.verify.statements import STATEMENTS
from logbarrier.verify.trials import Verdict, verify

SETTINGS = {"instances": 10, "seed": 0}


def test_a_finished_row_is_not_computed_again(tmp_path):
    assert FinishedRows(tmp_path, SETTINGS).once("one", lambda: {"ratio": 0.5}) == {"ratio": 0.5}
    again = FinishedRows(tmp_path, SETTINGS)
    assert len(again) == 1
    assert again.once("one", lambda: pytest.fail("computed again")) == {"ratio": 0.5}


def test_another_setting_has_rows_of_its_own(tmp_path):
    FinishedRows(tmp_path, SETTINGS).once("one", lambda: {"ratio": 0.5})
    assert len(FinishedRows(tmp_path, {**SETTINGS, "seed": 1})) == 0


@pytest.mark.parametrize("damage", ["", "[1, 2]", '{"one": 3}', '{"one": {"ra'])
def test_a_damaged_file_is_begun_anew(tmp_path, damage):
    rows = FinishedRows(tmp_path, SETTINGS)
    rows.once("one", lambda: {"ratio": 0.5})
    rows.path.write_text(damage)
    assert len(FinishedRows(tmp_path, SETTINGS)) == 0


def test_a_verdict_survives_json():
    (verdict,) = verify(instances=20, optimised=1, statements=STATEMENTS[4:5])
    plain = json.loads(json.dumps(verdict.to_dict()))
    assert Verdict.from_dict(plain).to_dict() == plain
