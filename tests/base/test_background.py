"""Work on background threads: all results, the first failure, and no waiting for work that never ends."""

from __future__ import annotations

import threading

import pytest

from logbarrier.base import background
from logbarrier.base.background import in_background
from logbarrier.base.runs import run_all


def test_every_item_is_worked_off_once():
    stop = threading.Event()
    assert sorted(in_background("test", lambda x: x * x, range(100), 4, stop)) == [x * x for x in range(100)]


@pytest.mark.parametrize("failure", [ZeroDivisionError, SystemExit, KeyboardInterrupt])
def test_a_failure_in_a_thread_is_raised_to_the_caller_and_stops_the_others(failure):
    stop, begun = threading.Event(), []

    def work(x):
        begun.append(x)
        raise failure

    with pytest.raises(failure):
        list(in_background("test", work, range(100), 1, stop))
    assert stop.is_set()
    assert begun == [0]


def test_closing_does_not_wait_for_work_that_never_ends(monkeypatch):
    monkeypatch.setattr(background, "PATIENCE", 0.01)
    stop, release = threading.Event(), threading.Event()
    results = in_background("test", lambda x: x or release.wait(), [1, 0], 2, stop)
    assert next(results) == 1
    results.close()
    assert stop.is_set()
    left = [thread for thread in threading.enumerate() if thread.daemon and thread.name.endswith("(_work_off)")]
    assert left, "the thread that never ends was left behind"
    release.set()
    for thread in left:
        thread.join(10)


@pytest.mark.parametrize("may_hang", [False, True])
def test_only_code_that_may_never_return_is_kept_out_of_the_main_thread(may_hang):
    ran_in = []
    run_all(lambda _: ran_in.append(threading.current_thread()), 1, 2, threading.Event(), may_hang=may_hang)
    assert (ran_in != [threading.main_thread()]) == may_hang
