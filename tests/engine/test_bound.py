"""A kernel with its arrays fixed: the same machine code, only numbers handed over."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier.engine.compiled import compiled, from_python


@compiled
def add_scaled(values, pair, scale, place, others):
    """values[place] += scale * others[place] + pair; returns it and the place."""
    values[place] += scale * others[place] + pair[0]
    return values[place], place + pair[1]


def test_a_bound_kernel_does_what_the_kernel_does():
    ours, theirs, others = np.zeros(3), np.zeros(3), np.array([1.0, 10.0, 100.0])
    kernel = from_python(add_scaled)
    bound = kernel.bound((ours, (0.5, 7)), (0.0, 0), (others,))
    for scale, place in ((1.0, 0), (2.5, 2), (-1.0, 2), (3, 1)):
        assert bound(scale, place) == kernel(theirs, (0.5, 7), float(scale), place, others)
    assert ours.tolist() == theirs.tolist() == [1.5, 30.5, 151.0]


def test_a_bound_kernel_keeps_its_arrays_alive():
    values = np.zeros(1000)
    bound = from_python(add_scaled).bound((values, (0.0, 0)), (0.0, 0), (np.ones(1000),))
    rubbish = [np.full(1000, 7.0) for _ in range(100)]
    assert [bound(1.0, place)[0] for place in range(1000)] == pytest.approx([1.0] * 1000)
    assert len(rubbish) == 100
