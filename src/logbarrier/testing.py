"""What every rule must satisfy, as one call for testing a user-defined rule; `logbarrier.extend` exports it.

>>> import logbarrier as lb
>>> lb.extend.check_rule(lb.LogBarrierSGB(learning_rate=0.1, eta=100)).passed
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import chisquare, ks_2samp, poisson

from .agent.agent import Agent
from .agent.drawn import PRESENT
from .agent.learner import learner_of
from .bandits.algorithms.rule import Rule, TwoScalarRule
from .bandits.algorithms.vector_rule import VectorRule
from .bandits.engines import engines_for
from .bandits.loops.dense import learn_mean
from .bandits.problems import GaussianBandit
from .bandits.simulator import simulate
from .bandits.softmax import softmax
from .base import validate
from .base.conformance import Conformance, carry_out
from .base.failure import WrongTypeError
from .engine.random import step_uniforms, stream_key
from .mdps.algorithms.rule import Rule as MDPRule
from .mdps.testing import check_rule as check_mdp_rule

Situation = tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
FALSE_ALARM = 1e-6  # of each statistical check; its draws are fixed by the seed


def check_rule(
    rule: Rule | MDPRule, *, n_arms: int = 6, seed: int = 0, show: Callable[[str], object] | None = None, raises: bool = True
) -> Conformance:
    """Check that a rule, of bandits or of MDPs, does what every rule must do; return what was checked.

    n_arms  of the bandits on which it is checked
    show    is given the outcome of every check as it ends, such as print; the first ones take seconds
    raises  AssertionError with the sentence of every failed check; False leaves them to `Conformance.failures`
    """
    if isinstance(rule, MDPRule):
        return check_mdp_rule(rule, seed=seed, show=show, raises=raises)
    validate.instance("check_rule", "rule", rule, Rule, "a rule such as SGB(learning_rate=0.1) or mdps.SpectralPG()")
    return carry_out(rule, _checks_of(rule), show=show, raises=raises, n_arms=n_arms, seed=seed)


def _checks_of(rule: Rule) -> list[Callable[..., None]]:
    """Those that need no compiled loop first."""
    if isinstance(rule, TwoScalarRule):
        first: list[Callable[..., None]] = [check_expected_update]
        first += [check_sum_of_theta] if rule.conserves_sum else []
        first += [] if rule.drains else [check_drain]
        last: list[Callable[..., None]] = [check_engines_agree]
    elif isinstance(rule, VectorRule):
        first, last = [check_expected_change], []
    else:
        raise WrongTypeError(
            f"{type(rule).__name__}: must inherit from TwoScalarRule or VectorRule, which say how it learns, not from Rule"
        )
    return [*first, check_extremes, check_state_round_trip, check_draws, check_agent_matches_simulator, check_scheduling, *last]


def check_expected_update(rule: TwoScalarRule, *, n_arms: int = 6, seed: int = 0) -> None:
    """The mean update over arms and rewards, enumerated exactly, is the one the rule claims, up to a constant."""
    for t, policy, means, memory, numbers in _situations(rule, n_arms, seed):
        update = np.zeros(n_arms)
        for arm in range(n_arms):
            for reward in (means[arm] - 0.7, means[arm] + 0.7):
                lift, drain = _lift_and_drain(rule, t, policy, arm, reward, memory, numbers)
                update += 0.5 * policy[arm] * (lift * np.eye(n_arms)[arm] - drain * policy)
        claimed = rule.expected_update(t, policy, means, _claimed_from(rule, policy, memory, numbers))
        difference = (update - update.mean()) - (claimed - claimed.mean())
        worst = np.abs(difference).max()
        scale = 1e-12 + np.abs(claimed).max()
        assert worst <= 1e-10 * scale, f"{rule.name}: E[update] differs from the claimed one by {worst:.2e} at t = {t}"


def check_expected_change(rule: VectorRule, *, n_arms: int = 6, seed: int = 0) -> None:
    """The mean change of a vector rule's first row, enumerated exactly, is the one the rule claims."""
    hyper = rule.hyper(n_arms)
    for t, policy, means, vectors, memory in _vector_situations(rule, n_arms, seed):
        change = np.zeros(n_arms)
        for arm in range(n_arms):
            for reward in (means[arm] - 0.7, means[arm] + 0.7):
                moved = vectors.copy()
                rule.learn(arm, float(reward), float(policy[arm]), t, policy, moved, rule.memory_at(memory.copy()), hyper)
                change += 0.5 * policy[arm] * (moved[0] - vectors[0])
        claimed = rule.expected_update(t, policy, means, vectors, memory)
        worst = np.abs(change - claimed).max()
        scale = 1e-12 + np.abs(claimed).max() + 1e-5 * np.abs(vectors[0]).max()
        assert worst <= 1e-10 * scale, f"{rule.name}: E[change] differs from the claimed one by {worst:.2e} at t = {t}"


def check_sum_of_theta(rule: TwoScalarRule, *, n_arms: int = 6, seed: int = 0) -> None:
    """The sum of theta never moves at random: lift - drain does not depend on the arm or the reward."""
    for t, policy, means, memory, numbers in _situations(rule, n_arms, seed):
        moved = []
        for arm in range(n_arms):
            for reward in (means[arm] - 0.7, means[arm] + 0.7):
                lift, drain = _lift_and_drain(rule, t, policy, arm, reward, memory, numbers)
                moved.append(lift - drain)
        spread = max(moved) - min(moved)
        assert spread <= 1e-12 * (1 + max(map(abs, moved))), f"{rule.name}: the sum of theta moves at random, {spread:.2e}"


def check_drain(rule: TwoScalarRule, *, n_arms: int = 6, seed: int = 0) -> None:
    """A rule that says it never drains never does; the sparse engine relies on it."""
    for t, policy, means, memory, numbers in _situations(rule, n_arms, seed):
        for arm in range(n_arms):
            _, drain = _lift_and_drain(rule, t, policy, arm, means[arm] + 0.7, memory, numbers)
            assert drain == 0.0, f"{rule.name}: says drains = False, but drains {drain} at t = {t}"


def check_engines_agree(rule: TwoScalarRule, *, n_arms: int = 6, seed: int = 0) -> None:
    """Engines that draw by the same numbers give the same runs up to rounding; the lazy engine gives the same distribution."""
    problem = GaussianBandit(np.linspace(-0.5, 0.5, n_arms))
    names = engines_for(rule)
    short = {name: simulate(rule, problem, horizon=40, runs=3, seed=seed, engine=name)["regret"] for name in names}
    for name in names:
        same = name == "lazy" or np.allclose(short[name], short["dense"], rtol=1e-9)
        assert same, f"{rule.name}: the {name} engine gives other results than dense"
    if "lazy" in names:
        many = [
            simulate(rule, problem, horizon=200, runs=1000, seed=seed, engine=name, checkpoints=2)["regret"][:, -1]
            for name in ("lazy", "dense")
        ]
        p = ks_2samp(*many, method="asymp").pvalue
        assert p > FALSE_ALARM, f"{rule.name}: the lazy engine's regret is not distributed as that of dense, p = {p:.1e}"


def check_agent_matches_simulator(rule: Rule, *, n_arms: int = 6, seed: int = 0) -> None:
    """An agent that is given the simulator's rewards has the simulator's policy, to the last bit."""
    problem = GaussianBandit(np.linspace(-0.5, 0.5, n_arms))
    horizon, checkpoints = 300, [1, 2, 3, 10, 100, 255, 256, 257]
    record = simulate(rule, problem, horizon=horizon, runs=1, seed=seed, checkpoints=checkpoints, engine="dense")
    agent, key = _agent(rule, n_arms, seed, problem.means), stream_key(seed)
    for t in range(horizon + 1):
        if t in record.steps:
            c = int(np.searchsorted(record.steps, t))
            for metric, value in (
                ("optimal_probability", agent.policy[problem.optimal_arm]),
                ("min_probability", agent.policy.min()),
            ):
                simulated = record[metric][0, c]
                assert simulated == value, f"{rule.name}: agent and simulator differ from step {t} on: {value} and {simulated}"
        decision = agent.ask()
        _, u = step_uniforms(t, 0, key)
        reward = problem.reward_of(problem.noise(u), problem.parameters, decision.arm, (key, t, 0))
        agent.tell(decision, reward)


def check_extremes(rule: Rule, *, n_arms: int = 6, seed: int = 0) -> None:
    """Probabilities stay finite, non-negative and sum to 1 at logits of 1e4 and rewards of 1e6, whichever arm is pulled."""
    for size in (1.0, 40.0, 1e4):
        learner = learner_of(rule, np.linspace(-size, size, n_arms), np.linspace(-1.0, 1.0, n_arms))
        for t in range(1, 65):
            reward = (1e6, -1e6, 0.0, 1.0)[t % 4]
            learner.update(t, (t * t) % n_arms, reward, PRESENT)
            probabilities = learner.probabilities
            healthy = bool((probabilities >= 0).all()) and abs(probabilities.sum() - 1) < 1e-12
            assert healthy, f"{rule.name}: the policy broke at step {t} from logits of {size:g}: {probabilities}"


def check_scheduling(rule: Rule, *, n_arms: int = 6, seed: int = 0) -> None:
    """Threads, chunks and splitting the runs over calls change no bit."""
    problem = GaussianBandit(np.linspace(-0.5, 0.5, n_arms))

    for engine in engines_for(rule):

        def run(engine: str = engine, **options: Any) -> np.ndarray:
            record = simulate(rule, problem, horizon=700, seed=seed, checkpoints=[5, 333], engine=engine, **options)
            return record["optimal_probability"]

        whole, who = run(runs=11, threads=1), f"{rule.name} on the {engine} engine"
        assert (whole == run(runs=11, threads=2)).all(), f"{who}: two threads give different bits than one"
        assert (whole == run(runs=11, chunk=7)).all(), f"{who}: chunks give different bits than one piece"
        parts = np.vstack([run(runs=3), run(runs=8, first_run=3)])
        assert (whole == parts).all(), f"{who}: runs 0-2 and 3-10 apart give different bits than together"


def check_state_round_trip(rule: Rule, *, n_arms: int = 6, seed: int = 0) -> None:
    """A restored agent, pending decisions included, goes on exactly as the original would have."""
    agent = _agent(rule, n_arms, seed, np.linspace(-0.5, 0.5, n_arms))
    pending = [agent.ask() for _ in range(3)]
    for t in range(20):
        agent.tell(agent.ask(), reward=np.sin(t))
    restored = Agent.from_state_dict(json.loads(json.dumps(agent.state_dict())), rule=rule)
    for t in range(20):
        ours, theirs = agent.ask(), restored.ask()
        assert ours == theirs, f"{rule.name}: a restored agent decides {theirs} where the original decides {ours}"
        agent.tell(ours, reward=np.cos(t))
        restored.tell(theirs, reward=np.cos(t))
        if t < 3:
            agent.tell(pending[t], reward=-1.0)
            restored.tell(pending[t].id, reward=-1.0)
    assert (agent.policy == restored.policy).all(), f"{rule.name}: a restored agent learns another policy"


def check_draws(rule: Rule, *, n_arms: int = 6, seed: int = 0) -> None:
    """Arms are drawn with probability p, at the start and later with rewards still to come; false-alarm rate 4e-6."""
    start = softmax(np.linspace(-2.0, 2.0, n_arms))
    agent = _agent(rule, n_arms, seed, np.linspace(-0.5, 0.5, n_arms), start=start if rule.has_preferences else None)
    if rule.has_preferences:
        placed = np.allclose(agent.policy, start, rtol=1e-9)
        assert placed, f"{rule.name}: does not start where it should, but at {agent.policy}"
    _check_asked(rule, agent)
    for t in range(2 * n_arms):
        agent.observe(t % n_arms, reward=np.sin(t))
    _check_asked(rule, agent)


def _check_asked(rule: Rule, agent: Agent) -> None:
    """Chi-square on 10 000 draws; the arms expected fewer than five times count as one."""
    draws, policy = 10_000, agent.policy
    counts = np.bincount([agent.ask().arm for _ in range(draws)], minlength=len(policy))
    assert counts[policy == 0].sum() == 0, f"{rule.name}: draws an arm of probability 0"
    rare = policy * draws < 5
    rarely = poisson.sf(counts[rare].sum() - 1, draws * policy[rare].sum())
    assert rarely > FALSE_ALARM, f"{rule.name}: arms of little probability are drawn too often (Poisson p = {rarely:.1e})"
    often = counts[~rare]
    p_value = float(chisquare(often, often.sum() * policy[~rare] / policy[~rare].sum()).pvalue) if len(often) > 1 else 1.0
    assert p_value > FALSE_ALARM, f"{rule.name}: arms are not drawn with probability p (chi-square p = {p_value:.1e})"


def _agent(rule: Rule, n_arms: int, seed: int, means: np.ndarray, start: Any = None) -> Agent:
    return Agent(rule, n_arms=n_arms, seed=seed, start=start, means=means if rule.knows_means else None)


def _vector_situations(rule: VectorRule, n_arms: int, seed: int) -> Iterator[Situation]:
    """(t, policy, means, vectors, memory) at random policies, after a few steps of learning."""
    generator = np.random.default_rng(seed)
    vectors, memory = rule.new_vectors(np.full(n_arms, -np.log(n_arms)), np.zeros(n_arms)), rule.new_memory()
    for t in range(1, 33):
        policy = softmax(generator.normal(size=n_arms) * generator.choice([0.1, 1.0, 4.0]))
        means = generator.uniform(-1, 1, n_arms)
        if rule.knows_means:
            vectors[-1] = means
        yield t, policy, means, vectors, memory
        arm, reward = int(generator.integers(n_arms)), float(generator.normal())
        rule.learn(arm, reward, float(policy[arm]), t, policy, vectors, rule.memory_at(memory), rule.hyper(n_arms))


def _situations(rule: TwoScalarRule, n_arms: int, seed: int) -> Iterator[Situation]:
    """(t, policy, means, memory, arm means or what is remembered of arms) at random policies, after a few steps of learning."""
    generator = np.random.default_rng(seed)
    memory, numbers, counts = rule.new_memory(), np.zeros(n_arms), np.zeros(n_arms)
    for t in range(1, 33):
        policy = softmax(generator.normal(size=n_arms) * generator.choice([0.1, 1.0, 4.0]))
        means = generator.uniform(-1, 1, n_arms)
        yield t, policy, means, memory, numbers
        arm, reward = int(generator.integers(n_arms)), float(generator.normal())
        memory[:] = _handed(rule, policy, arm, memory, numbers)
        rule.lift_and_drain(reward, float(policy[arm]), t, rule.memory_at(memory), rule.hyper(n_arms))
        if rule.remembers_arms:
            numbers[arm] = rule.memory_at(memory).of_arm
        else:
            learn_mean(numbers, counts, arm, reward)


def _handed(rule: TwoScalarRule, policy: np.ndarray, arm: int, memory: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The memory as an engine hands it to the rule after a draw of this arm."""
    handed = memory.copy()
    fields = rule.memory_at(handed)
    if rule.uses_arm_means:
        fields.policy_mean, fields.arm_mean = policy @ numbers, numbers[arm]
    if rule.remembers_arms:
        fields.of_arm = numbers[arm]
    return handed


def _claimed_from(rule: TwoScalarRule, policy: np.ndarray, memory: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """What `expected_update` takes as memory."""
    if rule.remembers_arms:
        return np.array([_handed(rule, policy, arm, memory, numbers) for arm in range(len(policy))])
    return numbers if rule.uses_arm_means else memory


def _lift_and_drain(
    rule: TwoScalarRule, t: int, policy: np.ndarray, arm: int, reward: float, memory: np.ndarray, numbers: np.ndarray
) -> tuple[float, float]:
    handed = rule.memory_at(_handed(rule, policy, arm, memory, numbers))
    lift, drain = rule.lift_and_drain(float(reward), float(policy[arm]), t, handed, rule.hyper(len(policy)))
    return float(lift), float(drain)
