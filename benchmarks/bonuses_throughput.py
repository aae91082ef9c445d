"""Microseconds per step of each bonus, and of E3B as a plain loop: `python benchmarks/bonuses_throughput.py`.

32 environments, 128 steps a batch, 256 features of 64 inputs, one thread. A figure covers `bonus` and `update`, the features
included unless they are given. The loop does what RLeXplore's E3B does. It encodes one step of all environments at a time. For
each of them it reads two flags, multiplies by the inverse matrix, and makes the rank-one update through a stored outer product.

Times are those of the processor: medians over 15 batches, and the least of 5 such medians, since other programs may run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from logbarrier.deep.bonuses import RND, Batch, Bonus, CountBonus, EpisodicElliptical, RandomFeatures, SpectralBonus

STEPS, ENVIRONMENTS, INPUTS, SIZE = 128, 32, 64, 256
BATCHES, ROUNDS = 15, 5
RESULTS = Path(__file__).with_suffix(".json")


def make_batch(seed: int) -> Batch:
    """Return a batch with episodes of about 100 steps."""
    chance = torch.Generator().manual_seed(seed)
    return Batch(
        observations=torch.randn(STEPS, ENVIRONMENTS, INPUTS, generator=chance),
        starts=torch.rand(STEPS, ENVIRONMENTS, generator=chance) < 0.01,
        scores=torch.rand(STEPS, ENVIRONMENTS, 2, generator=chance) - 0.5,
    )


def plain_loop(features: Callable[[torch.Tensor], torch.Tensor], ridge: float = 0.1) -> Callable[[Batch], None]:
    """Return E3B with a Python loop over steps and environments."""
    inverse = (torch.eye(SIZE) / ridge).repeat(ENVIRONMENTS, 1, 1)
    outer = torch.empty_like(inverse)

    @torch.no_grad()
    def run(batch: Batch) -> None:
        bonus, terminated, truncated = torch.zeros(batch.shape), batch.starts, torch.zeros_like(batch.starts)
        for step, observations in enumerate(batch.observations):
            z = features(observations)
            for environment in range(ENVIRONMENTS):
                if terminated[step, environment] or truncated[step, environment]:
                    inverse[environment] = torch.eye(SIZE) / ridge
                u = inverse[environment] @ z[environment]
                leverage = torch.dot(u, z[environment]).item()
                bonus[step, environment] = leverage
                torch.outer(u, u, out=outer[environment])
                inverse[environment].sub_(outer[environment], alpha=1.0 / (1.0 + leverage))

    return run


def both(novelty: Bonus) -> Callable[[Batch], None]:
    """Return a function that asks for the bonus and updates."""

    def run(batch: Batch) -> None:
        novelty.bonus(batch)
        novelty.update(batch)

    return run


def measure() -> dict[str, float]:
    """Return the median time of consecutive batches for each method, from a new state."""
    batches, features = [make_batch(seed) for seed in range(BATCHES + 2)], RandomFeatures((INPUTS,), size=SIZE)
    methods = {
        "features alone": lambda batch: features(batch.flat()),
        "SpectralBonus, state part": both(SpectralBonus(features)),
        "SpectralBonus, score form, 2 actions": both(SpectralBonus(features, logits=2)),
        "EpisodicElliptical": both(EpisodicElliptical(features, environments=ENVIRONMENTS)),
        "E3B as a plain loop": plain_loop(features),
        "RND": both(RND((INPUTS,), size=SIZE)),
        "CountBonus": both(CountBonus(torch.round)),
    }
    given = [replace(batch, observations=features(batch.flat()).view(STEPS, ENVIRONMENTS, SIZE)) for batch in batches]
    identity = torch.nn.Identity()
    without_features = {
        "EpisodicElliptical, features given": both(EpisodicElliptical(identity, environments=ENVIRONMENTS, size=SIZE)),
        "E3B as a plain loop, features given": plain_loop(identity),
    }
    results = {}
    for name, run in (methods | without_features).items():
        times = []
        for batch in given if name in without_features else batches:
            begin = time.process_time()
            run(batch)
            times.append(time.process_time() - begin)
        results[name] = round(1e6 * statistics.median(times[2:]) / batches[0].starts.numel(), 2)  # the first two warm up
    return results


def main() -> None:
    """Print the least of several medians for each method, and store it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--print", action="store_true", help="store nothing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rounds = [measure() for _ in range(ROUNDS)]
    results = {name: min(times[name] for times in rounds) for name in rounds[0]}
    for name, duration in results.items():
        print(f"{name:38} {duration:8.2f} µs per step")
    for case in ("", ", features given"):
        ratio = results[f"E3B as a plain loop{case}"] / results[f"EpisodicElliptical{case}"]
        print(f"EpisodicElliptical is {ratio:.1f} times as fast as the loop{case}")
    if not options.print:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
