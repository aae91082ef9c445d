"""All that user-defined rules, problems and environments need, in one place; docs/extending.md writes one of each.

compiled code   compiled, inlined: decorators; exp, log, select_above: for numbers and for lanes of runs alike
bandit rules    TwoScalarRule, VectorRule, their base Rule; policy_gradient, for `expected_update`
                learning_rate_at, schedule_numbers, LearningRate: a learning rate that may be a schedule
                by_largest, draw_largest, largest, fill_arm_normals: for index and posterior policies
bandits         Bandit, one fixed instance; ChangingBandits, means that move; ProblemSource, what the simulator asks of a family
                uniform_noise, standard_normal, reward_uniform, gaussian_reward, bernoulli_reward: parts of a distribution
MDP rules       MDPRule, MDPActorCritic; episode, the module of the tables and compiled steps that such rules are made of
environments    FiniteMDP, one fixed MDP; MDPFamily, one MDP per run, drawn by `uniforms`; MDPSource, what the simulator asks
parameters      Positive, AtLeastZero, Share; between, whole, choice, optional, Parameter: annotations that check a field
conformance     check_rule, for rules of both kinds; Conformance and Check, what it returns

>>> import numpy as np
>>> from logbarrier import extend
>>> float(extend.policy_gradient(np.array([0.5, 0.5]), np.array([1.0, 0.0]))[0])
0.25
"""

from __future__ import annotations

from .base.lazy_names import lazy_names

# Names are imported on first use and listed in extend.pyi: a file with a rule needs neither SciPy nor the conformance suite.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
