"""Plot a small learning curve of every rule into docs/images/rules: `python tools/rule_curves.py [NAME ...]`.

Each picture shows the mean of 100 runs with its 95 % interval, and in grey another rule on the same problem. The reference of
the site puts it under the description of the rule (docs/site_hooks.py).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

import logbarrier as lb
from logbarrier import contexts, mdps
from pictures import IMAGES, ROOT, stamp

RUNS, SEED, POINTS = 100, 31, 60
PINNED: dict[str, str] = json.loads((ROOT / "tests" / "studies" / "cell_digests.json").read_text())
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 150, 30, 24, 10, 24
COLOUR, GREY = "#3b82c4", "#8a8a8a"  # readable on white and on dark


class Scene(NamedTuple):
    """A problem on which rules are shown, what is measured, and the rules in grey; the second is for the first."""

    simulate: Callable[..., lb.Record]
    problem: Any
    horizon: int
    metric: str
    greys: tuple[Any, Any]

    def grey_for(self, rule: Any) -> Any:
        """Return the rule in grey."""
        first, second = self.greys
        return second if type(rule) is type(first) else first


SGB_OR_BARRIER = (lb.SGB(learning_rate=0.3), lb.LogBarrierSGB(learning_rate=0.3, eta=200))
GAUSSIAN = Scene(lb.simulate, lb.GapInstances(n_arms=10, gap=0.3), 10_000, "optimal_probability", SGB_OR_BARRIER)
CLICKS = GAUSSIAN._replace(problem=lb.BernoulliGapInstances(n_arms=10, gap=0.3))
CHANGING = GAUSSIAN._replace(problem=lb.SwappingArms(n_arms=10, period=3000))
FEATURES = GAUSSIAN._replace(problem=lb.FeatureInstances(n_arms=100, n_features=10))
DEEP_SEA = Scene(mdps.simulate, mdps.DeepSea(10), 100_000, "score", (mdps.PG(learning_rate=0.5), mdps.SpectralPG()))
EPSILON_OR_BARRIER = (contexts.EpsilonGreedy(), contexts.ContextualBarrier())
CONTEXTS = Scene(contexts.simulate, lb.LinearContexts(5, 6), 10_000, "optimal_probability", EPSILON_OR_BARRIER)
MEANING = {"optimal_probability": "Probability of the optimal arm", "score": "Score of the greedy policy (1 is optimal)"}
RULES: dict[Scene, list[Any]] = {
    GAUSSIAN: [
        lb.OptimisticBarrier(),
        lb.AutoLogBarrier(),
        lb.LogBarrierSGB(learning_rate=0.3, eta=200),
        lb.AdaptiveLogBarrierSGB(learning_rate=0.3),
        lb.SGB(learning_rate=0.3),
        lb.BaselineSGB(learning_rate=0.3),
        lb.EntropySGB(learning_rate=0.3, tau=0.05),
        lb.NPG(learning_rate=0.1),
        lb.BaselineNPG(learning_rate=0.1),
        lb.ClippedLogBarrierSGB(),
        lb.TheorySGB(minimum_gap=0.3),
        lb.DecayingSGB(horizon=10_000),
        lb.DecayingEntropySGB(horizon=10_000, tau=0.05),
        lb.StagedSGB(first_stage=1000),
        lb.MiniBatchLogBarrierSGB(learning_rate=1.0, weight=0.05),
        lb.MomentumLogBarrierSGB(weight=0.05),
        lb.TwoPhaseEntropySGB(tau=0.05),
        lb.EntropyNPG(learning_rate=0.05, tau=0.05),
        lb.TsallisSGB(learning_rate=0.1, weight=0.05),
        lb.ExactPG(),
        lb.ExactEntropyPG(tau=0.05),
        lb.ExactLogBarrierPG(weight=0.05),
        lb.UCB1(),
        lb.ThompsonSampling(),
        lb.EmpiricalThompsonSampling(),
        lb.EpsilonGreedy(),
        lb.InverseGapWeighting(),
    ],
    CLICKS: [lb.BetaThompsonSampling(), lb.KLUCB(), lb.EXP3(learning_rate=0.01), lb.TsallisINF(), lb.LBINF(horizon=10_000)],
    CHANGING: [lb.SlidingWindowUCB(window=1500), lb.DiscountedThompsonSampling(discount=0.998)],
    FEATURES: [
        lb.LogLinearSGB(learning_rate=0.3),
        lb.LogDetSGB(learning_rate=0.3, eta=200.0),
        lb.LinUCB(),
        lb.LinThompson(),
    ],
    DEEP_SEA: [
        mdps.PG(learning_rate=0.5),
        mdps.EntropyPG(learning_rate=0.5, tau=0.1),
        mdps.ActionBarrierPG(learning_rate=0.5, eta=100.0),
        mdps.NPG(learning_rate=0.1),
        mdps.SpectralPG(),
        mdps.FeatureSpectralPG(),
        mdps.CountBonus(learning_rate=0.5, scale=0.1),
        mdps.StateEntropy(learning_rate=0.5, scale=0.1),
        mdps.OptimisticQ(learning_rate=0.3, initial=1.0),
    ],
    CONTEXTS: [rule() for rule in contexts.RULES.values()],
}


def record_of(rule: Any, scene: Scene) -> lb.Record:
    """Simulate a rule."""
    return scene.simulate(rule, scene.problem, horizon=scene.horizon, runs=RUNS, seed=SEED, spacing="log", checkpoints=POINTS)


def curve(record: lb.Record, grey: lb.Record, metric: str, title: str) -> str:
    """Return the picture: the mean of a metric over the logarithm of the step, with its interval."""
    last = math.log(record.steps[-1])

    def x(step: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * math.log(max(step, 1)) / last:.1f}"

    def y(value: float) -> str:
        return f"{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(max(value, 0), 1):.1f}"

    def points(values: Any) -> list[str]:
        return [f"{x(step)},{y(value)}" for step, value in zip(record.steps, values, strict=True)]

    low, high = record.interval(metric)
    levels, steps = (0, 0.5, 1), [10**power for power in range(int(last / math.log(10) + 0.01) + 1)]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">
<title>{escape(title)}</title>
<g stroke="{GREY}" stroke-opacity=".4">{"".join(f'<path d="M{LEFT} {y(v)}H{WIDTH - RIGHT}"/>' for v in levels)}</g>
<g fill="{GREY}" font-family="sans-serif" font-size="10">
{"".join(f'<text x="{LEFT - 5}" y="{y(v)}" dy="3" text-anchor="end">{v:g}</text>' for v in levels)}
{"".join(f'<text x="{x(t)}" y="{HEIGHT - 7}" text-anchor="middle">{t:,}</text>' for t in steps)}
</g>
<g fill="none" stroke-width="1.8">
<polyline points="{" ".join(points(grey.mean(metric)))}" stroke="{GREY}" stroke-dasharray="5 3"/>
<polygon points="{" ".join(points(low) + points(high)[::-1])}" fill="{COLOUR}" fill-opacity=".25"/>
<polyline points="{" ".join(points(record.mean(metric)))}" stroke="{COLOUR}"/>
</g>
</svg>
"""


def known(rule: Any, scene: Scene) -> tuple[Any, ...]:
    """Return what a picture depends on: how it is plotted, the settings, and the pinned numbers of its two rules."""
    grey = scene.grey_for(rule)
    pinned = [digest for case, digest in PINNED.items() if case.split()[0] in (rule.name, grey.name)]
    return curve, repr(rule), repr(grey), repr(scene.problem), scene.horizon, scene.metric, RUNS, SEED, POINTS, pinned


PICTURES = {f"rules/{rule.name}.svg": known(rule, scene) for scene, rules in RULES.items() for rule in rules}


def title_of(rule: Any, scene: Scene) -> str:
    """Return what a picture shows, in words."""
    what = f"{MEANING[scene.metric]} over the steps: {rule!r} on {scene.problem!r}"
    return f"{what}, mean of {RUNS} runs with its 95 % interval. Dashed: {scene.grey_for(rule)!r}."


def main() -> None:
    """Write the pictures of all rules, or of those with these names."""
    (IMAGES / "rules").mkdir(exist_ok=True)
    for scene, rules in RULES.items():
        for rule in rules:
            if not sys.argv[1:] or rule.name in sys.argv[1:]:
                path = IMAGES / "rules" / f"{rule.name}.svg"
                records = record_of(rule, scene), record_of(scene.grey_for(rule), scene)
                path.write_text(curve(*records, scene.metric, title_of(rule, scene)))
                stamp(path, PICTURES[f"rules/{path.name}"])
                print(path, flush=True)


if __name__ == "__main__":
    main()
