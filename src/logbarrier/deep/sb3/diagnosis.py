"""Which actions has a policy lost, and where? Let it act for a while and look at its probabilities.

An action is lost in a state if its probability there is below `lost_below`. Sampling will not find out again whether it is
any good, and neither a policy gradient nor an entropy bonus moves it much. A policy that is certain may be right:
`Diagnosis.collapsed` compares its returns with those of uniform play and with what its critic expects (`returns`).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.base_class import maybe_make_env
from stable_baselines3.common.vec_env import VecEnv, unwrap_vec_normalize

from ...base import validate
from ..functions import effective_actions
from .policies import categoricals
from .returns import MANY_LOST, Episodes, is_collapsed, uniform_play

WIDEST_LABEL = 28


@dataclass(frozen=True)
class Diagnosis:
    """A policy at the states it visited: N steps, and one column per action (per part and choice, where actions have parts)."""

    states: list[str]
    """A label for the state of each step, (N,)."""
    actions: list[str]
    """A label for each column, (C,)."""
    probabilities: NDArray[np.float64]
    """(N, C); not a number where the action was masked."""
    effective: NDArray[np.float64]
    """exp(entropy) at each step, (N,)."""
    returns: list[float]
    """Of the episodes that ended."""
    lost_below: float
    discounted: list[float]
    """Discounted returns of the same episodes."""
    expected: list[float]
    """The critic's values where these episodes start; not numbers for RecurrentPPO."""
    uniform: list[float]
    """Returns of uniform play in as many steps."""
    uniform_discounted: list[float]
    """Discounted returns of uniform play."""

    @property
    def lost(self) -> NDArray[np.bool_]:
        """(N, C): which actions were allowed but are all but impossible."""
        return self.probabilities < self.lost_below

    @property
    def collapsed(self) -> bool | None:
        """Whether the policy has lost actions and earns little; None if too few episodes ended to tell."""
        return is_collapsed(self.lost_share, self.discounted, self.uniform_discounted, self.expected)

    @property
    def verdict(self) -> str:
        """One sentence: alive, certain and right, or collapsed."""
        if self.lost_share < MANY_LOST:
            return "Alive: the policy has lost few actions."
        if self.collapsed is None:
            return "Undecided: fewer than two episodes ended; take more steps."
        earned = f"its mean return is {np.mean(self.returns):.3g}, that of uniform play {np.mean(self.uniform):.3g}"
        if self.collapsed:
            hoped = float(np.mean(self.expected))
            critic = (
                ""
                if math.isnan(hoped)
                else (f"; discounted it is {np.mean(self.discounted):.3g} where its critic expects {hoped:.3g}")
            )
            return f"Collapsed: the policy has lost actions, and {earned}{critic}."
        return f"Certain, and its returns are good: {earned}."

    @property
    def first_visits(self) -> dict[str, int]:
        """From each state to the step of its first visit, the most visited state first."""
        first = {label: step for step, label in reversed(list(enumerate(self.states)))}
        return {label: first[label] for label, _ in Counter(self.states).most_common()}

    @property
    def lost_share(self) -> float:
        """Share of the states' allowed actions that are lost, each state counted once: 0 if everything can still be learnt."""
        once = list(self.first_visits.values())
        return float(self.lost[once].sum() / (~np.isnan(self.probabilities[once])).sum())

    def by_action(self) -> list[tuple[str, float, float, float]]:
        """Per action: label, mean and smallest probability, share of the steps at which it is lost; where it is allowed."""
        lines = []
        for label, column in zip(self.actions, self.probabilities.T, strict=True):
            allowed = column[~np.isnan(column)]
            if allowed.size:
                lines.append((label, float(allowed.mean()), float(allowed.min()), float((allowed < self.lost_below).mean())))
        return lines

    def by_state(self, most: int = 10) -> list[tuple[str, int, float, list[str]]]:
        """The most visited states: label, visits, effective actions, the actions lost there."""
        visits = Counter(self.states)
        return [
            (label, visits[label], float(self.effective[step]), [self.actions[c] for c in np.flatnonzero(self.lost[step])])
            for label, step in list(self.first_visits.items())[:most]
        ]

    def __str__(self) -> str:
        mean_return = f", mean return {np.mean(self.returns):.3g} in {len(self.returns)} episodes" if self.returns else ""
        lines = [
            f"{len(self.states):,} steps in {len(set(self.states)):,} states: {100 * self.lost_share:.0f} % of the states' "
            f"actions are lost (probability below {self.lost_below:g}){mean_return}",
            self.verdict,
            "",
            f"{'action':>12}  {'mean':>8}  {'smallest':>9}  lost at",
        ]
        for label, mean, smallest, share in self.by_action():
            lines.append(f"{label:>12}  {mean:8.3f}  {smallest:9.1e}  {100 * share:.0f} % of the steps")
        lines += ["", f"{'state':>{WIDEST_LABEL}}  visits  effective  lost actions"]
        for label, visits, effective, lost in self.by_state():
            lines.append(f"{label:>{WIDEST_LABEL}}  {visits:6d}  {effective:9.2f}  {', '.join(lost) or '-'}")
        return "\n".join(lines)


def diagnose(model: Any, env: Any = None, *, steps: int = 2000, lost_below: float = 1e-3, seed: int = 0) -> Diagnosis:
    """Let an SB3 model (PPO, A2C, MaskablePPO, RecurrentPPO) act by its own probabilities, by default in its own environment.

        print(diagnose(PPO.load("model.zip"), gymnasium.make("FrozenLake-v1")))

    The seed fixes the randomness of environment and policy; the global random state is left alone. The statistics of a
    VecNormalize are used without changing them. Returns and values of the critic are unscaled.
    """
    if not hasattr(getattr(model, "policy", None), "evaluate_actions"):
        raise ValueError(f"diagnose: needs a model with an actor-critic policy, such as PPO or A2C, got {type(model).__name__}")
    if isinstance(model.action_space, spaces.Box):
        raise ValueError(f"diagnose: the policy must have discrete actions, got {model.action_space}")
    steps = validate.integer("diagnose", "steps", steps, 1)
    validate.between_zero_and_one("diagnose", "lost_below", lost_below)
    vectors = model.get_env() if env is None else type(model)._wrap_env(maybe_make_env(env, 0), monitor_wrapper=False)
    if vectors is None:
        raise ValueError("diagnose: the model was loaded without an environment; pass one as env")
    scaling = unwrap_vec_normalize(vectors)
    before = scaling and (scaling.training, scaling.norm_reward)
    unit = math.sqrt(float(scaling.ret_rms.var) + scaling.epsilon) if scaling and scaling.norm_reward else 1.0
    try:
        if scaling:
            scaling.training = scaling.norm_reward = False
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return _visit(model, vectors, max(1, steps // vectors.num_envs), lost_below, seed, unit)
    finally:
        if scaling and before:
            scaling.training, scaling.norm_reward = before


def _visit(model: Any, vectors: VecEnv, rounds: int, lost_below: float, seed: int, unit: float) -> Diagnosis:
    vectors.seed(seed)
    observation, memory = vectors.reset(), None
    starts = np.ones(vectors.num_envs, dtype=bool)
    episodes = Episodes(model, vectors.num_envs, unit)
    states: list[str] = []
    rows: list[NDArray[np.float64]] = []
    effective: list[NDArray[np.float64]] = []
    for _ in range(rounds):
        states += [label(_pick(observation, i)) for i in range(vectors.num_envs)]
        masks = {"action_masks": get_action_masks(vectors)} if isinstance(model, MaskablePPO) else {}
        action, memory = model.predict(observation, state=memory, episode_start=starts, deterministic=False, **masks)
        parts = categoricals(model.policy.action_dist)  # what `predict` has just drawn from
        rows.append(np.hstack([_allowed_probabilities(logits, mask) for logits, mask in parts]))
        effective.append(np.prod([effective_actions(logits.detach(), mask).cpu().double() for logits, mask in parts], axis=0))
        episodes.begin(observation, starts)
        observation, reward, starts, infos = vectors.step(action)
        episodes.add(reward, starts, infos)
    single = len(parts) == 1
    names = [
        str(choice) if single else f"{part}:{choice}"
        for part, (logits, _) in enumerate(parts)
        for choice in range(logits.shape[-1])
    ]
    uniform = uniform_play(model, vectors, rounds, seed, unit)
    return Diagnosis(
        states,
        names,
        np.vstack(rows),
        np.concatenate(effective),
        episodes.returns,
        lost_below,
        episodes.discounted,
        episodes.expected,
        uniform.returns,
        uniform.discounted,
    )


def _allowed_probabilities(logits: torch.Tensor, mask: torch.Tensor | None) -> NDArray[np.float64]:
    probabilities = torch.softmax(logits.detach().double(), -1)
    return (probabilities if mask is None else torch.where(mask, probabilities, torch.nan)).cpu().numpy()


def _pick(observation: Any, i: int) -> Any:
    return {key: value[i] for key, value in observation.items()} if isinstance(observation, dict) else observation[i]


def label(observation: Any) -> str:
    """A short name for a state: its numbers if they are few, the place of the one in a one-hot vector, a hash otherwise."""
    if isinstance(observation, dict):
        return " ".join(f"{key}={label(value)}" for key, value in observation.items())[:WIDEST_LABEL]
    flat = np.asarray(observation).ravel()
    if flat.size > 4 and np.count_nonzero(flat) == 1 and flat.max() == 1:
        return f"one-hot {int(flat.argmax())}"
    shown = " ".join(f"{value:.3g}" for value in flat[:8])
    return shown if flat.size <= 8 and len(shown) <= WIDEST_LABEL else f"#{hash(flat.tobytes()) & 0xFFFFFFFF:08x}"
