"""The policies differ from SB3's own by the bonus and by nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.logger import KVWriter, Logger
from toys import Toy

from logbarrier import deep
from logbarrier.deep import sb3

FOUR = spaces.Discrete(4)
IMAGE = spaces.Box(0, 255, (36, 36, 1), np.uint8)
MIXED = spaces.Dict({"vector": spaces.Box(-1.0, 1.0, (2,), np.float32), "kind": spaces.Discrete(3)})
SMALL = {"n_steps": 32, "device": "cpu", "seed": 0}
PPO_SMALL = {**SMALL, "batch_size": 32, "n_epochs": 1}
SMALL_MEMORY = {"lstm_hidden_size": 8}
KINDS = {
    "PPO": (PPO, sb3.LogBarrierPolicy, Toy(FOUR), PPO_SMALL),
    "A2C": (A2C, sb3.LogBarrierPolicy, Toy(FOUR), SMALL),
    "MaskablePPO": (MaskablePPO, sb3.LogBarrierMaskablePolicy, Toy(FOUR), PPO_SMALL),
    "RecurrentPPO": (RecurrentPPO, sb3.LogBarrierRecurrentPolicy, Toy(FOUR), {**PPO_SMALL, "policy_kwargs": SMALL_MEMORY}),
    "MultiDiscrete": (PPO, sb3.LogBarrierPolicy, Toy(spaces.MultiDiscrete([2, 3])), PPO_SMALL),
    "MultiBinary": (PPO, sb3.LogBarrierPolicy, Toy(spaces.MultiBinary(2)), PPO_SMALL),
    "images": (PPO, sb3.LogBarrierCnnPolicy, Toy(FOUR, IMAGE), PPO_SMALL),
    "dictionaries": (PPO, sb3.LogBarrierMultiInputPolicy, Toy(FOUR, MIXED), PPO_SMALL),
}


@pytest.fixture(params=KINDS)
def model(request):
    algorithm, policy, environment, settings = KINDS[request.param]
    return algorithm(policy, environment, ent_coef=0.3, **settings)


def test_every_kind_trains_saves_loads_and_resumes(model, tmp_path):
    model.learn(64)
    model.save(tmp_path / "model.zip")
    again = sb3.load(tmp_path / "model.zip", env=model.get_env())
    assert type(again) is type(model)
    assert type(again.policy) is type(model.policy)
    assert again.ent_coef == 0.3
    for name, weight in model.policy.state_dict().items():
        assert torch.equal(weight, again.policy.state_dict()[name])
    again.learn(64, reset_num_timesteps=False)
    assert again.num_timesteps == 128
    assert any(not torch.equal(weight, again.policy.state_dict()[name]) for name, weight in model.policy.state_dict().items())


@pytest.mark.parametrize("algorithm", [PPO, A2C], ids=["PPO", "A2C"])
def test_without_a_coefficient_training_is_bit_for_bit_that_of_sb3(algorithm):
    weights = [
        algorithm(policy, Toy(FOUR), ent_coef=0.0, n_steps=32, device="cpu", seed=0, **more).learn(96).policy.state_dict()
        for more in [{"batch_size": 32} if algorithm is PPO else {}]
        for policy in ("MlpPolicy", sb3.LogBarrierPolicy)
    ]
    assert all(torch.equal(weight, weights[1][name]) for name, weight in weights[0].items())


def evaluated(kind: str, actions: torch.Tensor, **more: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The bonus of three states, and their logits as the policy's own layers give them."""
    algorithm, policy, environment, settings = KINDS[kind]
    model = algorithm(policy, environment, **settings)
    with torch.no_grad():
        for weight in model.policy.action_net.parameters():
            weight.mul_(100.0)
            weight.add_(torch.linspace(-2, 3, weight.numel()).view(weight.shape))
    observations = torch.linspace(-1, 1, 9).view(3, 3)
    _, _, bonus = model.policy.evaluate_actions(observations, actions, **more)
    latent, _ = model.policy.mlp_extractor(model.policy.extract_features(observations))
    return bonus, model.policy.action_net(latent)


def test_the_bonus_is_the_barrier_of_the_logits():
    bonus, logits = evaluated("PPO", torch.zeros(3, dtype=torch.long))
    assert torch.allclose(bonus, torch.log_softmax(logits, -1).mean(-1) + np.log(4), atol=1e-5)
    assert bonus.max() < -0.1


def test_with_masks_the_barrier_is_that_of_the_allowed_actions():
    mask = torch.tensor([[True, False, True, False], [True, True, True, True], [True, True, False, True]])
    bonus, logits = evaluated("MaskablePPO", torch.zeros(3, dtype=torch.long), action_masks=mask)
    expected = [torch.log_softmax(row[kept], -1).mean() + kept.sum().log() for row, kept in zip(logits, mask, strict=True)]
    assert torch.allclose(bonus, torch.stack(expected).float(), atol=1e-5)


def test_over_several_parts_the_barriers_add_up():
    bonus, logits = evaluated("MultiDiscrete", torch.zeros(3, 2))
    assert torch.allclose(bonus, deep.log_barrier(logits[:, :2]) + deep.log_barrier(logits[:, 2:]), atol=1e-5)


def test_a_yes_or_no_part_has_the_barrier_of_two_actions():
    bonus, logits = evaluated("MultiBinary", torch.zeros(3, 2))
    yes = torch.sigmoid(logits.double())
    expected = (0.5 * (yes.log() + (1 - yes).log()) + np.log(2)).sum(-1)
    assert torch.allclose(bonus.double(), expected, atol=1e-5)


def test_the_gradient_through_the_policy_lifts_an_action_that_has_died():
    model = PPO(sb3.LogBarrierPolicy, Toy(FOUR), **PPO_SMALL)
    with torch.no_grad():
        model.policy.action_net.bias += torch.tensor([200.0, 0.0, 0.0, 0.0])
    _, _, bonus = model.policy.evaluate_actions(torch.zeros(5, 3), torch.zeros(5, dtype=torch.long))
    bonus.mean().backward()
    assert torch.allclose(model.policy.action_net.bias.grad, torch.tensor([-0.75, 0.25, 0.25, 0.25]))


def test_another_bonus_can_be_given_and_is_kept_by_saving(tmp_path):
    model = PPO(sb3.LogBarrierPolicy, Toy(FOUR), policy_kwargs={"bonus": deep.symmetric_kl}, **PPO_SMALL)
    model.save(tmp_path / "model.zip")
    model.policy.save(tmp_path / "policy.pt")
    assert PPO.load(tmp_path / "model.zip").policy.bonus is deep.symmetric_kl
    assert sb3.LogBarrierPolicy.load(tmp_path / "policy.pt").bonus is deep.symmetric_kl


def test_the_entropy_of_the_distribution_stays_the_entropy():
    model = PPO(sb3.LogBarrierPolicy, Toy(FOUR), **PPO_SMALL)
    distribution = model.policy.get_distribution(torch.zeros(2, 3))
    assert torch.allclose(distribution.entropy(), deep.entropy(distribution.distribution.logits))
    assert distribution.entropy().min() > 1.3


def test_continuous_actions_are_refused_with_advice():
    with pytest.raises(
        ValueError, match=r"LogBarrierPolicy: the log barrier needs discrete actions, got Box.*entropy bonus.*bins"
    ):
        PPO(sb3.LogBarrierPolicy, Toy(spaces.Box(-1.0, 1.0, (1,), np.float32)), **PPO_SMALL)


class Kept(KVWriter):
    """A place for a logger to write to, that keeps everything."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    def write(self, values, excluded, step=0) -> None:
        self.rows.append(dict(values))

    def close(self) -> None:
        pass


def test_the_logger_gets_the_true_entropy_beside_what_sb3_calls_so():
    model, kept = PPO(sb3.LogBarrierPolicy, Toy(FOUR), ent_coef=0.3, **PPO_SMALL), Kept()
    model.set_logger(Logger(None, [kept]))
    model.learn(96, callback=sb3.BarrierCallback())
    row = kept.rows[-1]
    assert row["barrier/log_barrier"] == pytest.approx(-row["train/entropy_loss"], abs=1e-6)
    assert 1.0 < row["barrier/entropy"] <= np.log(4)
    assert row["barrier/effective_actions"] == pytest.approx(np.exp(row["barrier/entropy"]), rel=0.05)
    assert 0 < row["barrier/min_probability"] <= 0.25
    assert row["barrier/coefficient"] == 0.3


def test_the_callback_refuses_a_policy_without_the_barrier():
    with pytest.raises(
        ValueError, match="BarrierCallback: the policy must be a LogBarrierPolicy or a variant, got ActorCriticPolicy"
    ):
        PPO("MlpPolicy", Toy(FOUR), **PPO_SMALL).learn(32, callback=sb3.BarrierCallback())
