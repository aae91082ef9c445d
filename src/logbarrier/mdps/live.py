"""Runs in a Gymnasium environment: Python moves the environment, compiled code acts and learns, one process per core.

A step costs what `env.step` costs and about 3 microseconds more, a hundred times as much as in a known MDP.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
from numba import uint64

from ..base.runs import Progress, Reporter, Runs
from ..engine.compiled import from_python, kernel
from ..engine.random import fill_uniforms, stream_key
from .algorithms import Rule
from .environments import Environment
from .episode import ENDED, Learned, count_visits, new_episode, nothing_at_once, nothing_learned
from .loop import BATCH
from .measure import METRICS, Evaluator

WITHOUT_MODEL = ("return", "coverage")  # the metrics that need no model
SMALL = 50_000  # steps in all; below, starting processes takes longer than the steps
GLANCE = 0.2  # seconds between two looks at the progress of other processes


def measurable(environment: Environment) -> tuple[str, ...]:
    """Return the metrics that can be measured."""
    return METRICS if environment.model is not None else tuple(name for name in METRICS if name in WITHOUT_MODEL)


def run_live(
    rule: Rule, environment: Environment, asked: Runs, marks: np.ndarray, names: Sequence[str], progress: bool | Progress
) -> np.ndarray:
    """Return the metrics of these names (runs, marks, names); the same bits in one process as in many."""
    tasks = [(rule, environment, asked.seed, asked.first + i, marks, tuple(names)) for i in range(asked.count)]
    total = asked.count * int(marks[-1])
    alone = asked.threads == 1 and threading.current_thread() is threading.main_thread()
    with Reporter(progress, total) as report:
        if alone or total <= SMALL:
            return np.array([_one_run(task, report) for task in tasks])
        try:
            pickle.dumps(tasks[0])
        except Exception as error:
            raise ValueError(
                f"simulate: {environment.name} must be an id, a spec or an object that can be pickled to run in other "
                f"processes, got {error}; threads=1 runs it in this one"
            ) from None
        return _in_processes(tasks, min(asked.threads, asked.count), report)


def _in_processes(tasks: list[Any], count: int, report: Callable[[int], None]) -> np.ndarray:
    context, shown = multiprocessing.get_context("spawn"), 0
    done = context.Value("q", 0)
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_share, initargs=(done,))
    try:
        futures = [pool.submit(_one_run, task) for task in tasks]
        pending = set(futures)
        while pending:
            finished, pending = wait(pending, timeout=GLANCE, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
            shown, before = int(done.value), shown
            report(shown - before)
        return np.array([future.result() for future in futures])
    except BrokenProcessPool:
        raise RuntimeError(
            "simulate: a process of the environment ended; a script must call simulate below if __name__ == '__main__':, "
            "or pass threads=1"
        ) from None
    except BaseException:
        for process in (getattr(pool, "_processes", None) or {}).values():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


_done: Any = None  # steps of all processes, shared


def _share(done: Any) -> None:
    global _done
    _done = done


def _count_shared(steps: int) -> None:
    with _done.get_lock():
        _done.value += steps


def _one_run(task: tuple[Any, ...], report: Callable[[int], None] | None = None) -> np.ndarray:
    rule, environment, seed, number, marks, names = task
    report = report or _count_shared
    run, measured = LiveRun(rule, environment, seed, number), np.empty((len(marks), len(names)))
    for i, mark in enumerate(marks.tolist()):
        while run.time < mark:
            report(run.advance(min(mark, run.time + BATCH)))
        measured[i] = run.measure(names)
    if environment.model is None and "return" in names and len(marks) > 1:
        column = names.index("return")
        measured[0, column] = measured[1, column]  # before the first step no episode has ended
    return measured


def _act_with(act: Any) -> Callable[..., Any]:
    def chosen(states, policies, state, u, t):
        return act(states, uint64(state), u, policies, uint64(t))

    return chosen


def _learn_with(learn: Any, renew: Any) -> Callable[..., Any]:
    def learnt(episode, count, states, tally, memory, hyper, gamma):
        learn(episode, count, states, tally, memory, hyper)
        count_visits(episode, count, states, tally, gamma)
        renew(episode, count, states)

    return learnt


class LiveRun:
    """One run in progress, a pure function of seed and number: a copy of the environment, and what the rule has learnt."""

    def __init__(self, rule: Rule, environment: Environment, seed: int, number: int) -> None:
        self._rule, self._problem, self._env = rule, environment, environment.made()
        self._key, self._number, self.time = stream_key(seed), number, 0
        self._episode = new_episode(environment.episode_length, environment.n_actions)
        self.learned = nothing_learned(environment.n_states, environment.n_actions, rule.first_preference, rule.memory)
        self._hyper = rule.hyper(environment)  # type: ignore[arg-type]  # gamma and its normaliser are all that it reads
        states, policies = self.learned.states, self._episode[3]
        self._act = kernel(_act_with, rule.act).bound((states, policies), (0, 0.5, 0), ())
        self._learn = kernel(_learn_with, rule.learn, rule.renew)
        self._at_once = None if rule.at_once is nothing_at_once else from_python(rule.at_once)
        self._evaluator = None if environment.model is None else Evaluator(environment.model)
        self._uniforms, self._fill = np.empty(2 * BATCH), from_python(fill_uniforms)
        first = int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)[0])
        self._state, self._position, self._rewards = self._env.reset(first), 0, 0.0
        self._discounted, self._weight, self._returns, self._mean = 0.0, 1.0, list[float](), 0.0

    def advance(self, until: int) -> int:
        """Go on up to step `until`, at most BATCH steps; returns the steps made."""
        count, (visited, actions, paid) = until - self.time, self._episode[:3]
        self._fill(self._uniforms, self.time, count, self._number, self._key)
        for i in range(count):
            state, here = self._state, self._position
            action = int(self._act(state, float(self._uniforms[2 * i]), here)[0])
            successor, reward, ended, cut = self._env.step(action)
            visited[here], actions[here], paid[here] = state, action, reward
            self._rewards += reward
            self._discounted += self._weight * reward
            self._weight *= self._problem.gamma
            following = ENDED if ended else successor
            if self._at_once is not None:
                self._at_once(self.learned.states, state, action, reward, following, self._hyper)
            self._state, self._position = successor, here + 1
            if ended or cut or self._position == len(actions):
                visited[self._position] = following
                self._end_episode()
        self.time = until
        return count

    def _end_episode(self) -> None:
        learned = self.learned
        self._learn(
            self._episode, self._position, learned.states, learned.tally, learned.memory, self._hyper, self._problem.gamma
        )
        self._returns.append(self._problem.normaliser * self._discounted)
        self._discounted, self._weight, self._position = 0.0, 1.0, 0
        self._state = self._env.reset()

    def measure(self, names: Sequence[str]) -> list[float]:
        """The metrics of these names, now."""
        learned = self.learned
        if self._evaluator is not None:
            known = self._evaluator.mdp.states
            seen = Learned(np.ascontiguousarray(learned.states[known]), learned.tally, learned.memory)
            return self._evaluator.measure(names, self._rule.policy(seen.theta), seen, self.time, self._rewards)
        if self._returns:
            self._mean, self._returns = float(np.mean(self._returns)), []
        found = {"return": self._mean, "coverage": float((learned.visits > 0.0).mean())}
        return [found[name] for name in names]
