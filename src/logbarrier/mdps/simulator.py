"""simulate: a rule on an MDP, many seeded runs, measured at checkpoints."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from ..base import validate
from ..base.failure import RuleError, WrongTypeError
from ..base.runs import LARGEST_STEP, Progress, Reporter, Runs, checkpoint_steps, metric_names, run_all
from ..engine.code_hash import classes_of, is_user_defined
from ..engine.random import stream_key
from ..record import Record
from . import live
from .algorithms import Rule
from .environments import Environment, MDPSource
from .episode import new_episode, nothing_learned
from .loop import REWARDS, Job, loop_kernel
from .measure import METRICS, RANGES, Evaluator
from .problem import FiniteMDP
from .transitions import transitions_of

DEFAULT_CHECKPOINTS = 51
STEPS_PER_PIECE = 1_000_000  # between two looks at the progress bar and at Ctrl-C, about a tenth of a second


def simulate(
    rule: Rule,
    mdp: MDPSource | Environment,
    *,
    horizon: int | None = None,
    runs: int = 1,
    seed: int = 0,
    checkpoints: int | Sequence[int] | None = None,
    spacing: str = "linear",
    metrics: Sequence[str] | None = None,
    threads: int | None = None,
    chunk: int | None = None,
    first_run: int = 0,
    progress: bool | Progress = False,
    steps: int | None = None,
) -> Record:
    """Let `rule` act and learn in `mdp` for `horizon` steps, `runs` times, and measure at the checkpoints.

    Episodes begin from rho, and end where the MDP ends them or after `mdp.episode_length` steps. Nothing is known to the rule
    but states, actions, rewards and gamma, unless the rule says otherwise.

    rule         any rule, such as mdps.SpectralPG()
    mdp          one MDP (mdps.DeepSea(20)), a family (mdps.RandomLocks(...)) or a Gymnasium environment (mdps.Environment(...))
    seed         runs first_run .. first_run + runs - 1 of this seed; each is a pure function of (seed, run number)
    checkpoints  the steps to measure at, or how many; 0 and the horizon are always among them; 51 by default
    spacing      "linear" or "log", for a number of checkpoints
    metrics      names from mdps.METRICS; all by default
    threads      how many runs at once, processes where an environment runs; all cores by default
    chunk        steps between two looks at the progress bar and at Ctrl-C
    progress     True for a bar on stderr, or a function of (steps done, steps in all); steps is the deprecated name of horizon

    Threads, chunk and splitting the runs over calls change no bit.

    >>> from logbarrier import mdps
    >>> record = mdps.simulate(mdps.SpectralPG(), mdps.Lock(6), horizon=3000, runs=4, seed=0, checkpoints=[1000])
    >>> record.steps, record["score"].shape
    (array([   0, 1000, 3000]), (4, 3))
    """
    horizon = validate.integer("simulate", "horizon", _horizon(horizon, steps), 1, LARGEST_STEP)
    asked = Runs.asked(runs, seed, first_run, threads)
    chunk = validate.integer("simulate", "chunk", STEPS_PER_PIECE if chunk is None else chunk, 1)
    marks = checkpoint_steps(checkpoints, spacing, horizon, DEFAULT_CHECKPOINTS)
    validate.instance("simulate", "rule", rule, Rule, "a rule such as mdps.SpectralPG()")
    _check_mdp(mdp)
    if isinstance(mdp, Environment):
        names, started = metric_names(metrics, live.measurable(mdp)), time.perf_counter()
        measured = live.run_live(rule, mdp, asked, marks, names, progress)
    else:
        names, key = metric_names(metrics, METRICS), stream_key(asked.seed)
        MDPRun(rule, Evaluator(mdp.instance(key, asked.first)), key, asked.first).advance(0)  # compiles before the clock starts
        started = time.perf_counter()
        measured = _run(rule, mdp, asked, marks, chunk, names, progress)
    sizes = {"n_states": mdp.n_states, "n_actions": mdp.n_actions, "horizon": horizon}
    return Record(
        marks,
        {name: np.ascontiguousarray(measured[:, :, i]) for i, name in enumerate(names)},
        settings={"rule": rule.to_dict(), "problem": mdp.to_dict(), **sizes, **asked.settings},
        provenance=asked.provenance("mdp", started),
        ranges=RANGES,
    )


def _check_mdp(mdp: Any) -> None:
    if not all(hasattr(mdp, name) for name in ("instance", "n_states", "n_actions")) or isinstance(mdp, type):
        raise WrongTypeError(f"simulate: mdp must be an MDP such as mdps.RiverSwim(12), got {mdp!r}")


def _horizon(horizon: int | None, steps: int | None) -> int | None:
    """The horizon, by its present or its earlier name."""
    if steps is None:
        return horizon
    if horizon is not None:
        raise ValueError("simulate: give horizon alone; steps is its earlier name")
    warnings.warn(
        "simulate: steps is now called horizon; the next version will not know steps", DeprecationWarning, stacklevel=3
    )
    return steps


def code_roots(rule: Rule, mdp: MDPSource | Environment) -> tuple[Any, ...]:
    """Return the classes and functions whose code hash covers all that the numbers of a simulation depend on."""
    return *classes_of(rule), *classes_of(mdp), simulate


def _run(
    rule: Rule,
    mdp: MDPSource,
    asked: Runs,
    marks: np.ndarray,
    chunk: int,
    names: Sequence[str],
    progress: bool | Progress,
) -> np.ndarray:
    """The metrics of these names (runs, marks, names) of all runs; `chunk` steps lie between two looks at Ctrl-C."""
    key, stop, evaluators = stream_key(asked.seed), threading.Event(), _Evaluators()
    measured = np.empty((asked.count, len(marks), len(names)))

    with Reporter(progress, asked.count * int(marks[-1])) as report:

        def one_run(index: int) -> None:
            number = asked.first + index
            current = MDPRun(rule, evaluators.of(mdp.instance(key, number)), key, number)
            for c, mark in enumerate(marks.tolist()):
                while current.time < mark:
                    if stop.is_set():
                        return
                    report(current.advance(min(mark, current.time + chunk)))
                measured[index, c] = current.measure(names)

        run_all(one_run, asked.count, asked.threads, stop, may_hang=is_user_defined(rule, mdp))
    return measured


class MDPRun:
    """One run in progress: all that the rule has learnt, and where it stands."""

    def __init__(self, rule: Rule, evaluator: Evaluator, key: np.ndarray, run: int) -> None:
        mdp = evaluator.mdp
        self._rule, self._evaluator = rule, evaluator
        self._loop = loop_kernel(rule.act, rule.at_once, rule.learn, rule.renew)
        episode = new_episode(mdp.episode_length, mdp.n_actions)
        self.learned = nothing_learned(mdp.n_states, mdp.n_actions, rule.first_preference, rule.memory, rule.new_memory(mdp))
        self._stand, self.time = np.zeros(4), 0
        learned = self.learned.states, self.learned.tally, self.learned.memory
        self._job = Job(transitions_of(mdp), episode, *learned, rule.hyper(mdp), self._stand, key, run)
        self._go = self._loop.bound((self._job,), (0,), ())

    def advance(self, until: int) -> int:
        """Go on up to step `until`; returns the steps made."""
        self._go(until)
        if not np.isfinite(self.learned.states).all():
            step = self._bad_step(until)
            raise RuleError(f"simulate: {self._rule.name} learnt a preference or value that is not finite at step {step}")
        made, self.time = until - self.time, until
        return made

    def _bad_step(self, bad: int) -> int:
        """Return the step up to `bad` that left the first number that is not finite: run again, and bisect from `time`."""
        good, last_good = MDPRun(self._rule, self._evaluator, self._job.key, self._job.run)._job, self.time
        self._loop(good, last_good)
        while bad - last_good > 1:
            middle, job = (last_good + bad) // 2, _copied(good)
            self._loop(job, middle)
            if np.isfinite(job.states).all():
                good, last_good = job, middle
            else:
                bad = middle
        return bad

    def measure(self, names: Sequence[str]) -> list[float]:
        """The metrics of these names, now."""
        policy = self._rule.policy(self.learned.theta)
        return self._evaluator.measure(names, policy, self.learned, self.time, float(self._stand[REWARDS]))


def _copied(job: Job) -> Job:
    """Return a job whose changing parts are copies."""
    changing = "episode", "states", "tally", "memory", "stand"
    return job._replace(**{name: deepcopy(getattr(job, name)) for name in changing})


class _Evaluators:
    """One evaluator for each MDP in turn; runs of a fixed MDP share one."""

    def __init__(self) -> None:
        self._last: Evaluator | None = None
        self._lock = threading.Lock()

    def of(self, mdp: FiniteMDP) -> Evaluator:
        with self._lock:
            if self._last is None or self._last.mdp is not mdp:
                self._last = Evaluator(mdp)
            return self._last
