"""The simulation behind the page: pieces that join to one call, stale work that ends, policies that agree with the agent."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.policies import policies
from logbarrier.lab_page import jobs
from logbarrier.lab_page.jobs import Compiling, Curves, Paths, ResultCache, blocks, curves_job, paths_job
from logbarrier.lab_page.laws import instance_of, problem_of
from logbarrier.lab_page.rules import curves_of
from logbarrier.lab_page.state import State
from logbarrier.lab_page.worker import Stale, Worker
from logbarrier.theory.plateau import mean_plateau

STATE = State(arms=5, horizon=300, runs=30, rules=("lb", "sgb"), etas=(50.0,))


def always(done, total):
    """A check that lets the work go on."""


def results(job):
    return [result for result in job if not isinstance(result, Compiling)]


@pytest.mark.parametrize("state", [State(), State(horizon=2_500_000), State(runs=5), State(runs=1000, horizon=200_000)])
def test_blocks_cover_every_run_of_the_full_horizon_once(state):
    covered = [run for first, runs, horizon in blocks(state) if horizon == state.horizon for run in range(first, first + runs)]
    assert covered == list(range(state.runs))


def test_a_long_horizon_is_first_shown_in_parts():
    assert blocks(State(horizon=2_500_000))[:3] == [(0, 8, 25_000), (0, 8, 250_000), (0, 8, 2_500_000)]


def test_curves_are_those_of_one_simulation_to_the_bit(monkeypatch):
    monkeypatch.setattr(jobs, "LONG", 100)
    monkeypatch.setattr(jobs, "MANY_STEPS", 1000)
    stages = results(curves_job(STATE, ResultCache(), always))
    assert len(stages) == len(blocks(STATE)) == 5
    assert [stage.complete for stage in stages] == [False] * 4 + [True]
    assert [stage.records["SGB"].runs for stage in stages] == [8, 8, 8, 16, 30]
    for curve in curves_of(STATE):
        whole = lb.simulate(curve.rule, problem_of(STATE), horizon=300, runs=30, seed=0)
        assert stages[-1].records[curve.label].digest() == whole.digest()
        early = stages[0].records[curve.label]
        assert np.array_equal(early["regret"][:, -1], whole["regret"][:8, np.searchsorted(whole.steps, 3)])


def test_a_curve_that_a_control_does_not_touch_is_not_simulated_again(monkeypatch):
    cache = ResultCache()
    results(curves_job(STATE, cache, always))
    calls = []
    real = jobs.simulate
    monkeypatch.setattr(jobs, "simulate", lambda rule, *args, **kwargs: calls.append(rule) or real(rule, *args, **kwargs))
    stages = results(curves_job(STATE.changed(etas=(80.0,)), cache, always))
    assert {type(rule) for rule in calls} == {lb.LogBarrierSGB}
    assert stages[-1].complete
    calls.clear()
    assert [stage.complete for stage in results(curves_job(STATE, cache, always))] == [True]
    assert calls == []


def test_what_is_kept_belongs_to_the_settings_it_was_made_with():
    cache = ResultCache()
    for change in ({}, {"gap": 0.2}, {"noise": 2.0}, {"law": "uniform"}, {"seed": 1}, {"start": 0.1}, {"spacing": "log"}):
        state = STATE.changed(runs=2, horizon=20, **change)
        fresh, reused = (results(curves_job(state, store, always))[-1] for store in (ResultCache(), cache))
        assert fresh.records["SGB"].digest() == reused.records["SGB"].digest()


def test_the_plateau_is_the_exact_one():
    shown = results(curves_job(STATE, ResultCache(), always))[-1]
    assert isinstance(shown, Curves)
    assert shown.plateaus == {"LB-SGB, eta 50": mean_plateau(problem_of(STATE), 50.0, 0, 30)}


def test_work_that_is_no_longer_wanted_ends_at_the_next_look():
    def refuse(done, total):
        if done:
            raise Stale

    job = curves_job(STATE, ResultCache(), refuse)
    with pytest.raises(Stale):
        results(job)


@pytest.mark.parametrize(
    "rule", [lb.LogBarrierSGB(learning_rate=0.1, eta=50), lb.ThompsonSampling()], ids=lambda rule: rule.name
)
def test_policies_of_run_zero_are_those_the_dense_simulator_measures(rule):
    problem, steps = lb.GaussianBandit([0.1, 0.9, 0.5]), [0, 1, 7, 300]
    found = np.array(list(policies(rule, problem, steps=steps, seed=4)))
    record = lb.simulate(rule, problem, horizon=300, checkpoints=steps, seed=4, engine="dense")
    assert np.array_equal(found[:, 1], record["optimal_probability"][0])
    assert np.array_equal(found.min(axis=1), record["min_probability"][0])
    assert np.allclose(found.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("steps", [[], [3, 3], [5, 2], [-1]])
def test_policies_refuses_steps_that_do_not_rise(steps):
    with pytest.raises(ValueError, match="^policies: step"):
        policies(lb.SGB(learning_rate=0.1), lb.GaussianBandit([0.1, 0.9]), steps=steps)


def test_paths_start_where_told_and_grow():
    state = State(arms=3, view="simplex", start=0.05, horizon=200, rules=("lb", "sgb"), etas=(60.0,))
    stages = results(paths_job(state, always))
    lengths = [len(stage.steps) for stage in stages]
    assert lengths == sorted(lengths)
    last = stages[-1]
    assert isinstance(last, Paths)
    assert last.complete
    assert last.steps[-1] == 200
    best = instance_of(state).optimal_arm
    for label, path in last.policies.items():
        assert path.shape == (6, len(last.steps), 3)
        assert np.allclose(path[:, 0, best], 0.05)
        assert np.array_equal(stages[0].policies[label], path[:, : lengths[0]])


class Collected:
    """What a worker delivers."""

    def __init__(self):
        self.results, self.changed = [], threading.Condition()

    def deliver(self, ticket, result):
        with self.changed:
            self.results.append((ticket, result))
            self.changed.notify_all()

    def wait_for(self, ticket, result):
        with self.changed:
            assert self.changed.wait_for(lambda: (ticket, result) in self.results, timeout=20)


def test_the_worker_does_the_latest_task_and_queues_none():
    collected = Collected()
    worker = Worker(collected.deliver, lambda ticket, progress: None)
    started, go_on, ended = threading.Event(), threading.Event(), []

    def endless(check):
        started.set()
        go_on.wait()
        try:
            while True:
                check(0, 1)
        finally:
            ended.append("endless")
        yield "never"

    def named(name):
        def task(check):
            ended.append(name)
            yield name

        return task

    worker.ask(endless)
    started.wait()
    for number in range(50):
        last = worker.ask(named(number))
    go_on.set()
    collected.wait_for(last, 49)
    worker.close(wait=True)
    assert ended == ["endless", 49]
    assert collected.results == [(last, 49)]


def test_the_worker_says_what_went_wrong_and_lives_on():
    collected = Collected()
    worker = Worker(collected.deliver, lambda ticket, progress: None)
    error = ValueError("no such thing")

    def fails(check):
        raise error
        yield

    collected.wait_for(worker.ask(fails), error)
    collected.wait_for(worker.ask(lambda check: iter(["fine"])), "fine")
    worker.close(wait=True)
