"""How c changes while training."""

from __future__ import annotations

import itertools
import math

import pytest
from gymnasium import spaces
from stable_baselines3 import PPO
from toys import Toy

from logbarrier.deep import sb3


def at(progress=0.0, steps=0, coefficient=0.3, min_log_probability=None) -> sb3.Moment:
    return sb3.Moment(progress=progress, steps=steps, coefficient=coefficient, min_log_probability=min_log_probability)


def test_linear_holds_and_then_falls_in_a_straight_line():
    schedule = sb3.Linear(0.4, end=0.2, hold=0.5)
    assert [schedule(at(p)) for p in (0.0, 0.5, 0.75, 1.0, 1.2)] == pytest.approx([0.4, 0.4, 0.3, 0.2, 0.2])


def test_steps_take_the_last_value_that_has_begun():
    schedule = sb3.Steps({0: 0.3, 100: 0.1, 500: 0.0})
    assert [schedule(at(steps=s)) for s in (0, 99, 100, 499, 10_000)] == [0.3, 0.3, 0.1, 0.1, 0.0]


@pytest.mark.parametrize("gap", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("start", [0.001, 1.0])
def test_floor_finds_the_coefficient_at_which_the_policy_rests_on_the_floor(gap, start):
    schedule, c, floor, n_actions = sb3.Floor(floor=0.01, low=1e-6, high=100.0, gain=0.3), start, 0.01, 4
    for _ in range(200):
        # The smallest probability at rest, from pi(a) = (c/K)/(c + V - Q(a)) with V = Q* - (K - 1) gap pi(a).
        b, k = c + gap, (n_actions - 1) * gap
        smallest = (b - math.sqrt(b * b - 4 * k * c / n_actions)) / (2 * k)
        c = schedule(at(coefficient=c, min_log_probability=math.log(smallest)))
    assert smallest == pytest.approx(floor, rel=1e-3)


def test_floor_moves_by_at_most_a_factor_of_two_and_stays_in_its_range():
    schedule = sb3.Floor(floor=0.01, low=0.05, high=0.5)
    assert schedule(at(coefficient=0.1, min_log_probability=-1000.0)) == pytest.approx(0.2)
    assert schedule(at(coefficient=0.4, min_log_probability=-1000.0)) == 0.5
    assert schedule(at(coefficient=0.06, min_log_probability=0.0)) == pytest.approx(0.05)
    assert schedule(at(coefficient=0.1)) == 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb3.Linear(-0.1), "Linear: start must be zero or positive, got -0.1"),
        (lambda: sb3.Linear(0.1, hold=1.0), "Linear: hold must be at least 0 and below 1, got 1.0"),
        (lambda: sb3.Steps({10: 0.1}), r"Steps: values must start at step 0, got steps \[10\]"),
        (lambda: sb3.Steps({0: math.nan}), "Steps: value must be finite, got nan"),
        (lambda: sb3.Floor(floor=0.5), "Floor: floor must be above 0 and below 0.5, got 0.5"),
        (lambda: sb3.Floor(floor=0.1, low=2.0), "Floor: low must be below high, got 2.0 and 1.0"),
    ],
)
def test_wrong_settings_are_refused_with_their_value(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def trained(schedule: sb3.Linear | sb3.Steps | sb3.Floor) -> list[float]:
    """The coefficients a real PPO trained with, 8 rollouts of 32 steps, then 4 more after resuming."""
    used = []

    def note(moment: sb3.Moment) -> float:
        used.append(schedule(moment))
        return used[-1]

    model = PPO(
        sb3.LogBarrierPolicy, Toy(spaces.Discrete(4)), ent_coef=0.1, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0
    )
    model.learn(256, callback=sb3.BarrierCallback(note))
    model.learn(128, callback=sb3.BarrierCallback(note), reset_num_timesteps=False)
    assert model.ent_coef == used[-1]
    return used


def test_ppo_trains_with_the_coefficient_of_the_schedule():
    assert trained(sb3.Steps({0: 0.3, 64: 0.2, 300: 0.1})) == [0.3] * 2 + [0.2] * 8 + [0.1] * 2


def test_progress_is_of_the_whole_training_when_it_is_resumed():
    assert trained(sb3.Linear(1.0)) == pytest.approx(
        [1 - i / 8 for i in range(8)] + [1 - 256 / 384, *(1 - s / 384 for s in (288, 320, 352))]
    )


def test_the_adaptive_schedule_carries_on_from_where_it_was():
    # An untrained policy is nearly uniform, far above this floor: c can only fall, from 0.1, and goes on falling.
    used = trained(sb3.Floor(floor=1e-3))
    assert used[0] == 0.1
    assert all(after < before for before, after in itertools.pairwise(used[:8]))
    assert used[8] == used[7]  # the first rollout after resuming has seen no training yet
    assert used[-1] < used[8]
