"""The picture that opens the README."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from figure_collapse import MEANS, RULES, START, clouds, collapse, moments


def test_the_last_frame_can_be_drawn_alone(tmp_path):
    with Image.open(collapse(tmp_path / "small.png", runs=2, steps=50, frames=5)) as picture:
        assert picture.size[0] > 2 * picture.size[1] * 0.9


def test_frames_come_from_the_start_to_the_end():
    when = moments(48, 20_000)
    assert (when[0], when[-1]) == (0, 20_000)
    assert (np.diff(when) > 0).all()


def test_another_kind_of_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.gif or \.png, got 'x\.mp4'"):
        collapse(tmp_path / "x.mp4")


def test_every_run_starts_badly_and_more_return_with_the_barrier():
    steps = np.array([0, 20_000])
    ends = [clouds(rule, steps, runs=12) for _, rule in RULES]
    best = int(np.argmax(MEANS))
    for found in ends:
        assert np.allclose(found[:, 0], START)
    returned = [(found[:, -1, best] > 0.5).mean() for found in ends]
    assert returned[1] > returned[0] + 0.2
