"""A policy that has collapsed is found out, rescued by the barrier, and not without it."""

from __future__ import annotations

import json
import sys

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from toys import EXAMPLES, Toy
from typer.testing import CliRunner

from logbarrier.cli import app
from logbarrier.deep import sb3

SMALL = {"n_steps": 128, "device": "cpu", "seed": 0}


def greedy_return(model) -> float:
    """What the most likely actions earn in the moved grid."""
    environment = gymnasium.make("MovedGoal-v0")
    observation, _ = environment.reset()
    total, over = 0.0, False
    while not over:
        action, _ = model.predict(np.array(observation), deterministic=True)
        observation, reward, ended, late, _ = environment.step(int(action))
        total, over = total + float(reward), ended or late
    return total


@pytest.fixture(scope="module")
def rescued(collapsed, collapsed_grid) -> sb3.Rescue:
    return sb3.rescue(sb3.load(collapsed), gymnasium.make("MovedGoal-v0"), timesteps=10_000, steps=300)


def test_the_barrier_rescues_a_collapsed_checkpoint(rescued):
    assert rescued.before.lost_share > 0.4
    assert np.mean(rescued.before.returns) == pytest.approx(-0.3)
    assert np.mean(rescued.after.returns) > 0.9
    assert greedy_return(rescued.model) == pytest.approx(1 - 4 * 0.01)


def test_as_much_training_without_the_barrier_does_not(collapsed, collapsed_grid):
    model = sb3.load(collapsed, env=gymnasium.make("MovedGoal-v0"))
    model.set_random_seed(0)
    model.learn(10_000)
    assert greedy_return(model) == pytest.approx(-0.3)


def test_the_coefficient_of_a_rescue_ends_near_zero_so_that_the_policy_is_sharp_again(rescued):
    assert 0 < rescued.model.ent_coef < 0.03


def test_the_rescued_model_is_saved_and_loaded_like_any_other(rescued, tmp_path):
    rescued.model.save(tmp_path / "rescued.zip")
    again = sb3.load(tmp_path / "rescued.zip")
    assert isinstance(again.policy, sb3.LogBarrierPolicy)
    assert greedy_return(again) == greedy_return(rescued.model)


def test_the_picture_has_a_panel_for_before_and_one_for_after(rescued):
    figure = sb3.plot_diagnoses(rescued.before, rescued.after)
    panels = [axis for axis in figure.axes if axis.images]
    assert [panel.get_title().split(":")[0] for panel in panels] == ["before", "after"]
    drawn = panels[0].images[0].get_array()
    assert drawn.shape == (len(set(rescued.before.states)), 4)
    busiest = next(iter(rescued.before.first_visits.values()))
    assert np.allclose(drawn[0], np.log10(rescued.before.probabilities[busiest]))


def with_logits(model, logits: list[float]):
    """The model, made to have these logits in every state."""
    with torch.no_grad():
        model.policy.action_net.weight.zero_()
        model.policy.action_net.bias.copy_(torch.tensor(logits))
    return model


LOGITS = [0.0, np.log(2.0), -20.0, -50.0]
KINDS = {
    PPO: "MlpPolicy",
    A2C: "MlpPolicy",
    MaskablePPO: "MlpPolicy",
    RecurrentPPO: "MlpLstmPolicy",
}


def small(algorithm):
    memory = {"policy_kwargs": {"lstm_hidden_size": 8}} if algorithm is RecurrentPPO else {}
    return algorithm(KINDS[algorithm], Toy(spaces.Discrete(4)), **SMALL, **memory)


@pytest.mark.parametrize("algorithm", KINDS, ids=lambda algorithm: algorithm.__name__)
def test_a_diagnosis_reports_the_probabilities_the_policy_has(algorithm, tmp_path):
    model = with_logits(small(algorithm), LOGITS)
    diagnosis = sb3.diagnose(model, steps=40)
    weights = np.exp(LOGITS) * ([1, 0, 1, 0] if algorithm is MaskablePPO else [1, 1, 1, 1])
    expected = weights / weights.sum()
    assert diagnosis.probabilities.shape == (40, 4)
    assert len(diagnosis.returns) == 4
    for label, mean, smallest, lost in diagnosis.by_action():
        assert [mean, smallest] == pytest.approx([expected[int(label)]] * 2, rel=1e-5)
        assert lost == (1.0 if int(label) >= 2 else 0.0)
    assert [label for label, *_ in diagnosis.by_action()] == (["0", "2"] if algorithm is MaskablePPO else ["0", "1", "2", "3"])
    assert diagnosis.lost_share == 0.5
    positive = expected[expected > 0]
    assert diagnosis.effective == pytest.approx(np.exp(-(positive * np.log(positive)).sum()), rel=1e-5)
    assert diagnosis.by_state(1)[0][3] == (["2"] if algorithm is MaskablePPO else ["2", "3"])


def test_a_diagnosis_of_several_parts_names_part_and_choice():
    model = with_logits(PPO("MlpPolicy", Toy(spaces.MultiDiscrete([2, 3])), **SMALL), [0.0, 0.0, 0.0, -50.0, 0.0])
    diagnosis = sb3.diagnose(model, steps=20)
    assert diagnosis.actions == ["0:0", "0:1", "1:0", "1:1", "1:2"]
    assert diagnosis.by_state(1)[0][3] == ["1:1"]
    assert diagnosis.effective == pytest.approx(4.0)


@pytest.mark.parametrize("algorithm", KINDS, ids=lambda algorithm: algorithm.__name__)
def test_a_saved_model_is_recognised_and_gets_its_barrier_kin(algorithm, tmp_path):
    model = small(algorithm)
    model.save(tmp_path / "model.zip")
    again = sb3.load(tmp_path / "model.zip", env=Toy(spaces.Discrete(4)))
    assert type(again) is algorithm
    barrier = sb3.with_barrier(again)
    assert isinstance(barrier.policy, sb3.LogBarrierMixin)
    assert isinstance(barrier.policy, type(again.policy))
    assert all(torch.equal(weight, barrier.policy.state_dict()[name]) for name, weight in again.policy.state_dict().items())
    assert barrier.learn(128, callback=sb3.BarrierCallback()).num_timesteps == 128


def test_a_policy_class_of_ones_own_is_asked_for_its_kin(tmp_path):
    class Mine(sb3.LogBarrierPolicy.__mro__[2]):
        pass

    class MyBarrier(sb3.LogBarrierMixin, Mine):
        pass

    model = PPO(Mine, Toy(spaces.Discrete(4)), **SMALL)
    with pytest.raises(
        ValueError, match=r"with_barrier: Mine has no barrier version; define `class Mine\(LogBarrierMixin, Mine\)`"
    ):
        sb3.with_barrier(model)
    assert isinstance(sb3.with_barrier(model, policy_class=MyBarrier).policy, MyBarrier)


def test_a_model_without_a_softmax_policy_is_refused(tmp_path):
    model = DQN("MlpPolicy", Toy(spaces.Discrete(4)), buffer_size=10, device="cpu")
    with pytest.raises(ValueError, match="diagnose: needs a model with an actor-critic policy, such as PPO or A2C, got DQN"):
        sb3.diagnose(model)
    model.save(tmp_path / "dqn.zip")
    with pytest.raises(ValueError, match="not a saved PPO, A2C, MaskablePPO or RecurrentPPO model"):
        sb3.load(tmp_path / "dqn.zip")


def test_a_diagnosis_uses_the_scaling_of_a_model_and_leaves_it_as_it_is():
    plain = DummyVecEnv([lambda: Toy(spaces.Discrete(2))])
    scaled = VecNormalize(plain)
    model = PPO("MlpPolicy", scaled, n_steps=16, batch_size=16, n_epochs=1, device="cpu", seed=0).learn(64)
    before = scaled.obs_rms.count, scaled.obs_rms.mean.copy(), scaled.training, scaled.norm_reward
    found = sb3.diagnose(model, steps=60)
    assert (scaled.obs_rms.count, scaled.training, scaled.norm_reward) == (before[0], *before[2:])
    assert (scaled.obs_rms.mean == before[1]).all()
    assert all(float(total).is_integer() for total in found.returns)  # sums of 0 and 1
    scaled.norm_reward = False
    unscaled = sb3.diagnose(model, steps=60)
    assert unscaled.returns == found.returns
    ratio = np.array(found.expected) / np.array(unscaled.expected)  # what the critic expects, in rewards and in its own unit
    assert ratio == pytest.approx(np.sqrt(scaled.ret_rms.var + scaled.epsilon))


def test_continuous_actions_and_wrong_steps_are_refused_and_a_name_of_an_environment_is_taken():
    continuous = PPO("MlpPolicy", Toy(spaces.Box(-1.0, 1.0, (2,))), n_steps=16, batch_size=16, device="cpu")
    with pytest.raises(ValueError, match="diagnose: the policy must have discrete actions, got Box"):
        sb3.diagnose(continuous)
    poles = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, device="cpu")
    with pytest.raises(ValueError, match="diagnose: steps must be at least 1, got 0"):
        sb3.diagnose(poles, steps=0)
    assert sb3.diagnose(poles, "CartPole-v1", steps=20).actions == ["0", "1"]


def test_a_diagnosis_without_an_environment_says_that_it_needs_one(collapsed):
    with pytest.raises(ValueError, match="diagnose: the model was loaded without an environment; pass one as env"):
        sb3.diagnose(sb3.load(collapsed))


def test_a_missing_file_and_options_that_are_no_json_are_named(collapsed):
    with pytest.raises(FileNotFoundError, match=r"load: there is no file nowhere\.zip"):
        sb3.load("nowhere.zip")
    result = CliRunner().invoke(app, ["diagnose", str(collapsed), "--env", "CartPole-v1", "--env-options", "{size: 8}"])
    assert result.exit_code != 0
    assert "diagnose: --env-options must be a JSON object" in " ".join(result.output.split())


def test_the_command_diagnoses_and_draws(collapsed, tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    words = ["rescue", str(collapsed), "--env", "collapsed_grid:MovedGoal-v0", "--steps", "300", "--timesteps", "0"]
    result = CliRunner().invoke(app, [*words, "--plot", str(tmp_path / "lost.png")])
    assert result.exit_code == 0, result.output
    assert "Before: 300 steps in" in result.stdout
    assert "After" not in result.stdout
    assert (tmp_path / "lost.png").stat().st_size > 1000


def test_the_command_trains_saves_and_prints_json(collapsed, tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    words = ["rescue", str(collapsed), "--env", "collapsed_grid:MovedGoal-v0", "--steps", "100", "--timesteps", "256", "--json"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "saved.zip")])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found) == {"before", "after"}
    assert found["before"]["lost_share"] > 0.4
    assert isinstance(sb3.load(tmp_path / "saved.zip").policy, sb3.LogBarrierPolicy)


def test_a_policy_that_is_certain_and_right_is_not_called_collapsed(collapsed, collapsed_grid):
    diagnosis = sb3.diagnose(sb3.load(collapsed), gymnasium.make("Goal-v0"), steps=300)
    assert diagnosis.lost_share > 0.4
    assert diagnosis.collapsed is False
    assert diagnosis.verdict.startswith("Certain, and its returns are good: its mean return is 0.96")
    moved = sb3.diagnose(sb3.load(collapsed), gymnasium.make("MovedGoal-v0"), steps=300)
    assert moved.collapsed is True
    assert "where its critic expects 0.9" in moved.verdict


def test_a_healthy_policy_is_rescued_by_force_alone(collapsed, collapsed_grid):
    with pytest.raises(ValueError, match="rescue: the policy needs no rescue; Certain, and its returns are good"):
        sb3.rescue(sb3.load(collapsed), gymnasium.make("Goal-v0"), timesteps=256, steps=300)
    forced = sb3.rescue(
        sb3.load(collapsed), gymnasium.make("Goal-v0"), timesteps=2048, steps=300, schedule=sb3.Linear(20.0, 20.0), force=True
    )
    assert forced.worse
    assert forced.change == pytest.approx(np.mean(forced.after.returns) - np.mean(forced.before.returns))


def test_discounted_returns_and_values_are_those_of_a_slow_loop():
    model = PPO("MlpPolicy", gymnasium.wrappers.TimeLimit(Toy(spaces.Discrete(1)), 4), gamma=0.5, **SMALL)
    with torch.no_grad():
        model.policy.value_net.weight.zero_()
        model.policy.value_net.bias.fill_(3.0)
    diagnosis = sb3.diagnose(model, steps=12)
    assert diagnosis.returns == [4.0, 4.0, 4.0]
    assert diagnosis.discounted == pytest.approx([1 + 0.5 + 0.25 + 0.125 + 0.0625 * 3.0] * 3)
    assert diagnosis.expected == [3.0, 3.0, 3.0]


def test_the_diagnose_command_gives_the_verdict(collapsed, tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    words = ["diagnose", str(collapsed), "--env", "collapsed_grid:MovedGoal-v0", "--steps", "300"]
    result = CliRunner().invoke(app, [*words, "--plot", str(tmp_path / "lost.png")])
    assert result.exit_code == 0, result.output
    assert "Collapsed: the policy has lost actions" in result.stdout
    assert (tmp_path / "lost.png").stat().st_size > 1000
    assert json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["collapsed"] is True


def test_the_command_refuses_to_rescue_a_healthy_policy(collapsed, tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    words = ["rescue", str(collapsed), "--env", "collapsed_grid:Goal-v0", "--steps", "300", "--timesteps", "256"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "saved.zip")])
    assert result.exit_code == 2
    assert "the policy needs no rescue" in result.output
    assert not (tmp_path / "saved.zip").exists()


def test_the_command_says_which_extra_to_install(collapsed, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("logbarrier.deep")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = CliRunner().invoke(app, ["rescue", str(collapsed), "--env", "CartPole-v1"])
    assert result.exit_code == 2
    assert "torch is not installed; run pip install 'logbarrier[rl]'" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env", "Nowhere-v0"], "cannot make the environment Nowhere-v0"),
        (["--env", "CartPole-v1"], "Observation spaces do not match"),
        (["--env", "CartPole-v1", "--timesteps", "-1"], "rescue: timesteps must be at least 0, got -1"),
        (["--env", "CartPole-v1", "--plot", "nowhere/at/all.png"], "the folder nowhere/at does not exist"),
    ],
)
def test_what_a_user_can_get_wrong_is_one_sentence(collapsed, words, message):
    result = CliRunner().invoke(app, ["rescue", str(collapsed), *words])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_importing_the_package_does_not_import_torch(run_python):
    assert run_python("import logbarrier, logbarrier.cli, sys; print('torch' in sys.modules)") == "False"
