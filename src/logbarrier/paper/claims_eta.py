"""Claims about the barrier parameter: Appendix E on sensitivity to eta."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.rule import Rule
from ..bandits.algorithms.sgb import SGB
from ..theory.plateau import mean_plateau
from .claim import MARGIN, Claim, final, log10_over_floor
from .design import instances
from .evidence import Evidence, above, below, close, every_run_above, share_above
from .experiment import Results

Rules = dict[str, Rule]
Evaluator = Callable[[Rules, Results], Iterator[Evidence]]

_CLAIMS: list[tuple[str, str, str, Evaluator]] = []


def _barriers(alpha: float) -> Rules:
    return {"1e2": LogBarrierSGB(learning_rate=alpha, eta=1e2), "1e3": LogBarrierSGB(learning_rate=alpha, eta=1e3),
            "1e4": LogBarrierSGB(learning_rate=alpha, eta=1e4), "SGB": SGB(learning_rate=alpha)}  # fmt: skip


def _claim(name: str, sentence: str) -> Callable[[Evaluator], Evaluator]:
    """The function below, which is given the rules of `_barriers`, is this claim's check; its docstring is the meaning."""

    def noted(check: Evaluator) -> Evaluator:
        _CLAIMS.append((name, sentence, (check.__doc__ or "").removesuffix("."), check))
        return check

    return noted


def eta_claims(alpha: float) -> list[Claim]:
    """In the order of the paper, for one learning rate: the paper does not say which one it used."""
    where, rules = f"E, eta (alpha {alpha})", _barriers(alpha)
    return [
        Claim(f"{name}-{alpha}", where, sentence, meaning, partial(check, rules)) for name, sentence, meaning, check in _CLAIMS
    ]


@_claim("eta-sgb-min-decays", "vanilla SGB: its exploration rapidly decays to zero")
def _decays(rules: Rules, results: Results) -> Iterator[Evidence]:
    """log10(min p / floor of eta 1e3) below -1 on average."""
    yield below("SGB", log10_over_floor(final(results, 10, rules["SGB"], "min_probability"), 10, 1e3), -1.0)


@_claim("eta-sgb-stagnates", "prematurely stagnates without converging to the optimal action")
def _stagnates(rules: Rules, results: Results) -> Iterator[Evidence]:
    """more than 10 % of SGB's runs are stuck."""
    yield share_above("SGB", final(results, 10, rules["SGB"], "wrong_probability") > 0.5, 0.1)


@_claim("eta-lb-bounds-min", "LB-SGB explicitly bounds this minimum probability away from zero")
def _bounds(rules: Rules, results: Results) -> Iterator[Evidence]:
    """log10(min p / floor) above -1 in every run at every checkpoint, for every eta."""
    for name, eta in (("1e2", 1e2), ("1e3", 1e3), ("1e4", 1e4)):
        least = results(10, rules[name])["min_probability"]
        yield every_run_above(f"eta {name}", log10_over_floor(least, 10, eta), -1.0)


@_claim("eta-1e2-plateaus-low", "eta = 1e2 plateaus at a highly suboptimal distribution")
def _low_plateau(rules: Rules, results: Results) -> Iterator[Evidence]:
    """p below 0.9 and within 0.1 of the exact plateau."""
    values = final(results, 10, rules["1e2"])
    end, _, _ = mean_plateau(instances(10), 1e2, results.store.study.seed, results.runs)
    yield below("p", values, 0.9)
    yield close(f"p - plateau {end:.3f}", values, end, 0.1)


@_claim("eta-1e4-like-sgb", "eta = 1e4 recovers the unstable, stagnating behavior of vanilla SGB")
def _recovers(rules: Rules, results: Results) -> Iterator[Evidence]:
    """p within 0.1 of SGB's and below that of eta 1e3."""
    weak = final(results, 10, rules["1e4"])
    yield close("eta 1e4 - SGB", weak - final(results, 10, rules["SGB"]), 0.0, 0.1)
    yield above("eta 1e3 - eta 1e4", final(results, 10, rules["1e3"]) - weak, MARGIN)


@_claim("eta-1e3-isolates", "eta = 1e3 avoids premature convergence while isolating the optimal action")
def _best(rules: Rules, results: Results) -> Iterator[Evidence]:
    """p above that of eta 1e2, eta 1e4 and SGB."""
    for name in ("1e2", "1e4", "SGB"):
        yield above(f"eta 1e3 - {name}", final(results, 10, rules["1e3"]) - final(results, 10, rules[name]), MARGIN)


@_claim("eta-1e2-linear-regret", "the over-regularized instance incurs linear regret")
def _linear(rules: Rules, results: Results) -> Iterator[Evidence]:
    """regret per step in the second half within 25 % of the plateau's exact r* - J."""
    record = results(10, rules["1e2"])
    _, _, each_step = mean_plateau(instances(10), 1e2, results.store.study.seed, results.runs)
    half = int(np.searchsorted(record.steps, record.horizon // 2))
    slope = (record["regret"][:, -1] - record["regret"][:, half]) / (record.horizon - record.steps[half])
    yield close(f"slope / exact {each_step:.4f} - 1", slope / each_step, 1.0, 0.25)


@_claim("eta-1e3-lowest-regret", "a clear optimal choice (eta = 1e3) yields the lowest cumulative regret")
def _lowest(rules: Rules, results: Results) -> Iterator[Evidence]:
    """regret below that of eta 1e2, eta 1e4 and SGB."""
    ours = final(results, 10, rules["1e3"], "regret")
    for name in ("1e2", "1e4", "SGB"):
        yield above(f"{name} - eta 1e3", final(results, 10, rules[name], "regret") - ours, 0.0)
