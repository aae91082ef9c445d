"""SpectralPPO explores where PPO does not, with any spaces, and goes on from a file as if it had not stopped."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from toys import Chain, Toy

from logbarrier.deep.bonuses import RND, CountBonus, EpisodicElliptical, OneHot, RandomFeatures, SpectralBonus
from logbarrier.deep.sb3 import LogBarrierPolicy, SpectralA2C, SpectralPPO, SpectralRecurrentPPO, load
from logbarrier.deep.sb3.spectral import generalised_advantages

ROLLOUT = {"n_steps": 40, "batch_size": 320, "n_epochs": 4, "learning_rate": 1e-3, "device": "cpu"}
SMALL = {"n_steps": 16, "batch_size": 16, "n_epochs": 1, "device": "cpu", "seed": 0}
IMAGE = spaces.Box(0, 255, (36, 36, 3), np.uint8)
VECTOR = spaces.Box(-1.0, 1.0, (3,), np.float32)


def chain_return(algorithm, seed: int, steps: int) -> float:
    environments = make_vec_env(Chain, 32, seed=seed)
    model = algorithm("MlpPolicy", environments, seed=seed, **ROLLOUT).learn(steps)
    return float(evaluate_policy(model, environments, 1, warn=False)[0])


@pytest.mark.parametrize("seed", [11, 12])
def test_a_chain_of_20_states_is_solved(seed):
    # All returns above 1 need the right end: nine steps there are the best policy.
    assert chain_return(SpectralPPO, seed, 30_000) == pytest.approx(10.0)


def test_ppo_does_not_solve_the_chain_in_as_many_steps():
    assert chain_return(PPO, 11, 30_000) < 0.1


@pytest.mark.parametrize(
    ("policy", "observations", "actions"),
    [
        ("MlpPolicy", VECTOR, spaces.Discrete(3)),
        ("MlpPolicy", spaces.Discrete(5), spaces.MultiDiscrete([2, 3])),
        ("CnnPolicy", IMAGE, spaces.Discrete(2)),
        ("MultiInputPolicy", spaces.Dict({"image": IMAGE, "place": VECTOR}), spaces.MultiDiscrete([2, 2])),
        ("MlpPolicy", VECTOR, spaces.Box(-1.0, 1.0, (2,), np.float32)),
        (LogBarrierPolicy, VECTOR, spaces.Discrete(3)),
    ],
    ids=["vector", "number", "image", "dictionary", "continuous", "barrier"],
)
def test_training_stopped_half_way_and_loaded_ends_with_the_same_bonus(policy, observations, actions, tmp_path):
    def model():
        return SpectralPPO(policy, make_vec_env(lambda: Toy(actions, observations), 2, seed=0), **SMALL)

    first = model().learn(64)
    first.save(tmp_path / "half.zip")
    second = SpectralPPO.load(tmp_path / "half.zip", device="cpu")
    for name in ("bonus", "bonus_critic", "policy"):
        saved, loaded = getattr(first, name).state_dict(), getattr(second, name).state_dict()
        assert all(torch.equal(value, loaded[key]) for key, value in saved.items())
    assert (second.squares, second.rollouts) == (first.squares, first.rollouts)
    for resumed in (first, second):
        resumed.set_env(make_vec_env(lambda: Toy(actions, observations), 2, seed=1))
        resumed.set_random_seed(3)
        resumed.learn(64, reset_num_timesteps=False)
    assert second.num_timesteps == 128
    assert torch.equal(first.bonus.gram, second.bonus.gram)
    weights = zip(first.policy.parameters(), second.policy.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)


BONUSES = {
    "state": lambda shape, environments: SpectralBonus(OneHot(20)),
    "score": lambda shape, environments: SpectralBonus(OneHot(20), logits=2),
    "episodic": lambda shape, environments: EpisodicElliptical(RandomFeatures(shape, size=32), environments=environments),
    "rnd": lambda shape, environments: RND(shape),
    "count": lambda shape, environments: CountBonus(),
}


@pytest.mark.parametrize("bonus", BONUSES.values(), ids=BONUSES)
@pytest.mark.parametrize("algorithm", [SpectralPPO, SpectralA2C])
def test_every_bonus_trains_saves_and_resumes(algorithm, bonus, tmp_path):
    rollout = SMALL if algorithm is SpectralPPO else {"n_steps": 16, "device": "cpu", "seed": 0}
    model = algorithm("MlpPolicy", make_vec_env(Chain, 4), bonus=bonus, **rollout).learn(128)
    model.save(tmp_path / "model.zip")
    again = algorithm.load(tmp_path / "model.zip", env=make_vec_env(Chain, 4), device="cpu")
    again.learn(128, reset_num_timesteps=False)
    assert all(torch.isfinite(weight).all() for weight in again.policy.parameters())
    assert again.rollouts == 4
    assert type(load(tmp_path / "model.zip")) is algorithm


def test_a_recurrent_policy_trains_saves_and_resumes_with_the_bonus(tmp_path):
    options = {**SMALL, "policy_kwargs": {"lstm_hidden_size": 8}}
    model = SpectralRecurrentPPO("MlpLstmPolicy", make_vec_env(Chain, 4), bonus=SpectralBonus(OneHot(20)), **options).learn(128)
    model.save(tmp_path / "model.zip")
    again = load(tmp_path / "model.zip", env=make_vec_env(Chain, 4))
    assert type(again) is SpectralRecurrentPPO
    assert torch.equal(again.bonus.gram, model.bonus.gram)
    assert float(again.bonus.gram.trace()) == pytest.approx(64 + 0.95 * 64)  # one for each step, with forgetting
    again.learn(64, reset_num_timesteps=False)
    assert (again.num_timesteps, again.rollouts) == (192, 3)
    with pytest.raises(ValueError, match="SpectralRecurrentPPO: has no score form"):
        SpectralRecurrentPPO("MlpLstmPolicy", Chain(), bonus=SpectralBonus(OneHot(20), logits=2), **options)


class Logged(BaseCallback):
    def _on_training_end(self) -> None:
        self.values = dict(self.logger.name_to_value)

    def _on_step(self) -> bool:
        return True


def test_the_logger_gets_the_bonus_its_dimension_coverage_and_weight():
    seen = Logged()
    model = SpectralPPO("MlpPolicy", make_vec_env(Chain, 4), bonus=SpectralBonus(OneHot(20), memory=1.0), **SMALL)
    model.learn(640, callback=seen, log_interval=1000)
    logged = {name.removeprefix("bonus/"): value for name, value in seen.values.items() if name.startswith("bonus/")}
    assert set(logged) == {"mean", "coverage", "weight", "critic_loss", "effective_dimension", "new_share"}
    assert logged["weight"] == pytest.approx(0.1)  # the last rollout ends the training
    visits = np.diag(model.bonus.gram.numpy())
    assert visits.sum() == 640
    assert logged["effective_dimension"] == pytest.approx((visits / (visits + 1)).sum(), rel=1e-5)


def test_the_advantages_are_mixed_by_weight_whatever_the_scale_of_the_rewards():
    class Scaled(Chain):
        scale = 1.0

        def step(self, action):
            place, reward, over, late, more = super().step(action)
            return place, self.scale * reward, over, late, more

    class Large(Scaled):
        scale = 1000.0

    ends = []
    for kind in (Scaled, Large):
        model = SpectralPPO("MlpPolicy", make_vec_env(kind, 4, seed=0), gamma=0.0, **SMALL)
        model.policy.value_net.weight.data.zero_()  # so that the first critic knows no scale
        model.learn(64)
        ends.append(model.rollout_buffer.advantages)
    assert ends[1] == pytest.approx(ends[0], rel=1e-3, abs=1e-4)


def test_advantages_of_the_bonus_are_discounted_sums_of_differences():
    chance = np.random.default_rng(0)
    rewards, values = chance.normal(size=(6, 2)), chance.normal(size=(7, 2))
    found = generalised_advantages(torch.tensor(rewards), torch.tensor(values), gamma=0.9, decay=0.8).numpy()
    differences = rewards + 0.9 * values[1:] - values[:-1]
    for step in range(6):
        weights = 0.72 ** np.arange(6 - step)
        assert found[step] == pytest.approx(weights @ differences[step:])


class Broken(Toy):
    def step(self, action):
        _, *rest = super().step(action)
        return np.full(3, np.nan, np.float32), *rest


@pytest.mark.parametrize(
    ("options", "actions", "kind", "message"),
    [
        (
            {"bonus": SpectralBonus(OneHot(3), logits=2)},
            VECTOR,
            ValueError,
            "the score form needs discrete actions",
        ),
        ({"bonus_weights": (1.0, 0.0)}, spaces.Discrete(2), ValueError, "bonus_weights must be positive and finite, got 0.0"),
        ({"bonus_weights": 10}, spaces.Discrete(2), TypeError, "bonus_weights must be two positive numbers, first and last"),
        ({"bonus_gamma": "0.9"}, spaces.Discrete(2), TypeError, "bonus_gamma must be a number, got '0.9'"),
        ({"bonus": RandomFeatures((3,))}, spaces.Discrete(2), TypeError, "or a function that returns one, got RandomFeatures"),
        (
            {"bonus": SpectralBonus},
            spaces.Discrete(2),
            TypeError,
            "or a function that returns one, got the class SpectralBonus",
        ),
        ({"bonus": RND((5,))}, spaces.Discrete(2), ValueError, r"the bonus must take observations of shape \(3,\)"),
        ({"bonus": SpectralBonus(RandomFeatures((3,)), logits=3)}, spaces.Discrete(2), ValueError, "must be 2 for Discrete"),
        ({"bonus": SpectralBonus(OneHot(20))}, spaces.Discrete(2), ValueError, "OneHot: observations must be integers"),
        ({"bonus_gamma": 1.0}, spaces.Discrete(2), ValueError, "bonus_gamma must be at least 0 and below 1, got 1.0"),
        ({"bonus": 3}, spaces.Discrete(2), TypeError, "or a function that returns one, got int"),
        ({"bonus": lambda shape, n: 3}, spaces.Discrete(2), TypeError, "bonus must return a Bonus, got int"),
    ],
)
def test_bad_input_is_one_sentence(options, actions, kind, message):
    with pytest.raises(kind, match=message):
        SpectralPPO("MlpPolicy", Toy(actions), **options, **SMALL)


def test_observations_that_are_not_finite_are_refused_in_one_sentence():
    model = SpectralPPO("MlpPolicy", Broken(spaces.Discrete(2), VECTOR), **SMALL)
    with pytest.raises(ValueError, match="^SpectralPPO: observations of the environment must be finite, got 3 "):
        model.learn(16)


class BrokenOnce(Toy):
    """Not a number at the last step of a rollout of 16: the observation, the reward, or the observation at a time limit."""

    def __init__(self, what):
        super().__init__(spaces.Discrete(2), VECTOR)
        self.what, self.steps = what, 0

    def step(self, action):
        seen, reward, over, _, info = super().step(action)
        self.steps += 1
        if self.steps == 16:
            if self.what == "reward":
                reward = np.nan
            else:
                seen, over = np.full(3, np.nan, np.float32), False
            return seen, reward, over, self.what == "time limit", info
        return seen, reward, over, False, info


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("observation", "observations of the environment must be finite, got 3 "),
        ("reward", "rewards, and observations at a time limit, must be finite, got 1 "),
        ("time limit", "(rewards, and )?observations (at a time limit,|of the environment) must be finite"),
    ],
)
def test_a_number_that_is_not_finite_at_the_end_of_a_rollout_is_refused_before_training(what, message):
    model = SpectralPPO("MlpPolicy", BrokenOnce(what), **SMALL)
    with pytest.raises(ValueError, match=message):
        model.learn(64)
    assert all(torch.isfinite(weights).all() for weights in model.policy.parameters())


@pytest.mark.parametrize("numbered", [spaces.Discrete(6), spaces.Dict({"place": spaces.Discrete(6), "box": VECTOR})])
def test_features_are_given_the_shape_that_the_maker_is_given(numbered):
    shapes = []

    def make(shape, environments):
        def features(seen):
            found = {name: tuple(part.shape[1:]) for name, part in seen.items()} if isinstance(seen, dict) else seen.shape[1:]
            shapes.append(found == shape)
            return torch.ones(len(seen["box"] if isinstance(seen, dict) else seen), 2)

        return SpectralBonus(features, size=2)

    policy = "MultiInputPolicy" if isinstance(numbered, spaces.Dict) else "MlpPolicy"
    SpectralPPO(policy, Toy(spaces.Discrete(2), numbered), bonus=make, **SMALL).learn(32)
    assert shapes
    assert all(shapes)


def test_a_model_with_e3b_goes_on_with_another_number_of_environments(tmp_path):
    def environments(count):
        return make_vec_env(lambda: Toy(spaces.Discrete(2), VECTOR), count, seed=0)

    model = SpectralPPO("MlpPolicy", environments(2), bonus=BONUSES["episodic"], **SMALL).learn(32)
    model.save(tmp_path / "two.zip")
    more = SpectralPPO.load(tmp_path / "two.zip", env=environments(4), device="cpu").learn(64)
    assert len(more.bonus.episodes) == 4


def test_features_of_varying_size_are_refused_in_one_sentence():
    sizes = iter([3, 3, 3])
    novelty = SpectralBonus(lambda x: torch.ones(len(x), next(sizes, 4)), size=3)
    model = SpectralPPO("MlpPolicy", Toy(spaces.Discrete(2), VECTOR), bonus=novelty, **SMALL)
    message = r"^SpectralBonus: features must have the shape \(16, 3\) for this batch, got \(16, 4\)$"
    with pytest.raises(ValueError, match=message):
        model.learn(64)
