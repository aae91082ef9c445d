"""Try every statement on random points and on points an optimiser looked for, and say what was found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..base import validate
from ..base.plain import Plain
from . import points as bandits
from .statements import STATEMENTS, Form, Points, Statement

TOLERANCE = 1e-9  # beyond rounding
ITERATIONS = 40  # of the optimiser from one start
EVALUATIONS = 60
NUDGE = 1e-6  # of its differences

HOLDS, CORRECTED, FAILS = "holds", "holds after correction", "fails"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Worst:
    """The tightest point found for one form of a statement: lesser/greater there, and the point itself."""

    ratio: float
    seed: int
    point: dict[str, Any]


@dataclass(frozen=True)
class Verdict(Plain):
    """What was found about a statement.

    verdict    holds, holds after correction (the printed form fails), or fails (the last form there is)
    printed    the tightest point of the printed form; its ratio above 1 is a counterexample
    corrected  the tightest point of the corrected form, where there is one
    equation   an equality: ratios count errors of 1e-9 of the terms' size
    """

    statement: str
    place: str
    verdict: str
    erratum: int | None
    random: int
    optimised: int
    printed: Worst
    corrected: Worst | None
    equation: bool


def verify(
    *,
    instances: int = 10_000,
    optimised: int = 200,
    seed: int = 0,
    statements: tuple[Statement[Any], ...] = STATEMENTS,
    progress: Progress | None = None,
) -> list[Verdict]:
    """Try each statement on `instances` random points and from `optimised` random starts of a maximiser of its ratio.

    >>> verdicts = verify(instances=100, optimised=2)
    >>> sorted({verdict.verdict for verdict in verdicts})
    ['holds', 'holds after correction']
    """
    instances = validate.integer("verify", "instances", instances, 1)
    optimised = validate.integer("verify", "optimised", optimised, 0)
    seed = validate.integer("verify", "seed", seed, 0)
    found = []
    for number, statement in enumerate(statements):
        found.append(_try(statement, instances, optimised, seed))
        if progress is not None:
            progress(number + 1, len(statements))
    return found


def _try(statement: Statement[Any], instances: int, optimised: int, seed: int) -> Verdict:
    effort = (instances, optimised, seed, statement.points)
    printed = tightest(statement.printed, *effort)
    corrected = None if statement.corrected is None else tightest(statement.corrected, *effort)
    if corrected is not None and corrected.ratio > 1.0 + TOLERANCE:
        verdict = FAILS
    elif printed.ratio <= 1.0 + TOLERANCE:
        verdict = HOLDS
    else:
        verdict = FAILS if corrected is None else CORRECTED
    return Verdict(
        statement=statement.name,
        place=statement.place,
        verdict=verdict,
        erratum=statement.erratum,
        random=instances,
        optimised=optimised,
        printed=printed,
        corrected=corrected,
        equation=statement.equation,
    )


def tightest(form: Form[Any], instances: int, optimised: int, seed: int, points: Points = bandits) -> Worst:
    """The point with the largest ratio among random ones and those the optimiser reached."""
    generator = np.random.default_rng(seed)
    best_ratio, best_free, best_size = -math.inf, np.empty(0), points.RANDOM_SIZES[0]
    for size in points.RANDOM_SIZES:
        free = points.draw(generator, -(-instances // len(points.RANDOM_SIZES)), size)
        ratios = _ratios(form, free, size, points)
        worst = int(np.argmax(ratios))
        if ratios[worst] > best_ratio:
            best_ratio, best_free, best_size = float(ratios[worst]), free[worst], size
    for start in range(optimised):
        size = points.SEARCHED_SIZES[start % len(points.SEARCHED_SIZES)]
        ratio, free = _climb(form, points.draw(generator, 1, size)[0], size, points)
        if ratio > best_ratio:
            best_ratio, best_free, best_size = ratio, free, size
    return Worst(best_ratio, seed, points.decode(best_free[None], best_size).describe(0))


def _ratios(form: Form[Any], free: np.ndarray, size: Any, points: Points) -> np.ndarray:
    ratio = np.asarray(form(points.decode(free, size)).ratio)
    return np.asarray(ratio.reshape(len(free), -1).max(axis=1))


def _climb(form: Form[Any], start: np.ndarray, size: Any, points: Points) -> tuple[float, np.ndarray]:
    """Maximise log ratio from a start by L-BFGS; all differences of one gradient are one batch."""
    nudges = NUDGE * np.eye(len(start))

    def falling(free: np.ndarray) -> tuple[float, np.ndarray]:
        around = np.concatenate([free[None], free + nudges, free - nudges])
        values = -np.log(np.maximum(_ratios(form, around, size, points), 1e-12))
        half = len(nudges)
        return float(values[0]), (values[1 : 1 + half] - values[1 + half :]) / (2.0 * NUDGE)

    bounds = [(-60.0, 60.0)] * len(start)
    reached = minimize(
        falling, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": ITERATIONS, "maxfun": EVALUATIONS}
    )
    return math.exp(-float(reached.fun)), np.asarray(reached.x)
