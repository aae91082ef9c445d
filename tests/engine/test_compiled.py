"""Kernels are kept between processes, and nothing that happens to the folder can hurt."""

from __future__ import annotations

import pytest

COMPILE_EVENTS = """
import numba.core.event as event
import logbarrier as lb
with event.install_recorder("numba:compile") as recorder:
    record = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=3), horizon=5, runs=1, threads=1)
print(len(recorder.buffer), record.digest())
"""


@pytest.fixture
def compile_count(run_python, tmp_path):
    def run(folder=None):
        count, digest = run_python(COMPILE_EVENTS, LOGBARRIER_CACHE_DIR=str(folder or tmp_path)).split()
        return int(count), digest

    return run


def test_a_second_process_compiles_nothing(compile_count, tmp_path):
    first, digest = compile_count()
    assert first > 0
    assert compile_count() == (0, digest)
    for kept in tmp_path.glob("*.kernel"):
        content = bytearray(kept.read_bytes())
        content[len(content) // 2] ^= 1
        kept.write_bytes(content[: len(content) - 10])
    again, same = compile_count()
    assert again > 0, "a damaged kernel must not be used"
    assert same == digest


def test_a_folder_that_cannot_be_written_only_costs_a_compilation(compile_count, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    count, _ = compile_count(blocked / "below")
    assert count > 0


def test_kernels_of_one_shape_kept_by_different_processes_are_not_mixed_up(run_python, tmp_path):
    """SGB and NPG have the same argument types; each is compiled first in its process, then both are loaded together."""
    code = """
import logbarrier as lb
for rule in ({rules}):
    print(lb.simulate(rule, lb.GapInstances(n_arms=3), horizon=50, runs=2).digest())
"""
    one, other = "lb.SGB(learning_rate=0.1),", "lb.NPG(learning_rate=0.1),"
    apart = [run_python(code.format(rules=rule), LOGBARRIER_CACHE_DIR=str(tmp_path)) for rule in (one, other)]
    together = run_python(code.format(rules=one + other), LOGBARRIER_CACHE_DIR=str(tmp_path))
    assert together.split() == apart
    assert apart[0] != apart[1]
