"""A study of every rule of every setting, small enough to pin its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import logbarrier as lb
from logbarrier import contexts, mdps
from logbarrier.studies import Study, product

BANDIT_RULES = [
    lb.SGB(learning_rate=0.1),
    lb.BaselineSGB(learning_rate=lb.inverse_sqrt(0.3)),
    lb.EntropySGB(learning_rate=0.1, tau=0.2),
    lb.LogBarrierSGB(learning_rate=0.1, eta=50),
    lb.NPG(learning_rate=0.1),
    lb.BaselineNPG(learning_rate=0.1),
    lb.ClippedLogBarrierSGB(),
    lb.AdaptiveLogBarrierSGB(learning_rate=0.1),
    lb.AutoLogBarrier(),
    lb.TheorySGB(minimum_gap=0.1),
    lb.DecayingSGB(horizon=300),
    lb.DecayingEntropySGB(horizon=300, tau=0.2),
    lb.StagedSGB(first_stage=50),
    lb.MiniBatchLogBarrierSGB(learning_rate=0.3, weight=0.1, batch=3),
    lb.MomentumLogBarrierSGB(weight=0.1),
    lb.TwoPhaseEntropySGB(tau=0.1),
    lb.EntropyNPG(learning_rate=0.05, tau=0.2),
    lb.TsallisSGB(learning_rate=0.1, weight=0.05),
    lb.ExactPG(),
    lb.ExactEntropyPG(tau=0.1),
    lb.ExactLogBarrierPG(weight=0.1),
    lb.UCB1(),
    lb.ThompsonSampling(),
    lb.BetaThompsonSampling(),
    lb.SlidingWindowUCB(window=50),
    lb.DiscountedThompsonSampling(discount=0.99),
    lb.EpsilonGreedy(),
    lb.InverseGapWeighting(),
    lb.OptimisticBarrier(),
    lb.EXP3(learning_rate=0.01),
    lb.LogLinearSGB(learning_rate=0.3),
    lb.LogDetSGB(learning_rate=0.3, eta=50.0),
    lb.LinUCB(),
    lb.LinThompson(),
    lb.KLUCB(),
    lb.TsallisINF(lowest=-1.0, highest=1.0),
    lb.LBINF(horizon=300, lowest=-1.0, highest=1.0),
    lb.EmpiricalThompsonSampling(),
]
BANDITS = [lb.GapInstances(n_arms=70), lb.GapInstances(n_arms=10), lb.BetaBandit([0.2, 0.5, 0.7]), lb.FeatureInstances(20, 3)]
MDP_RULES = [
    mdps.PG(learning_rate=0.5),
    mdps.EntropyPG(learning_rate=0.5, tau=0.3),
    mdps.ActionBarrierPG(learning_rate=0.5, eta=20.0),
    mdps.NPG(learning_rate=0.1),
    mdps.SpectralPG(),
    mdps.FeatureSpectralPG(),
    mdps.CountBonus(learning_rate=0.5, scale=2.0),
    mdps.StateEntropy(learning_rate=0.5, scale=0.7),
    mdps.OptimisticQ(learning_rate=0.3, initial=3.0),
]
DIGESTS = Path(__file__).parent / "cell_digests.json"
MDPS = [mdps.RiverSwim(5), mdps.RandomLocks(4, 3)]
CONTEXT_RULES = [rule() for rule in contexts.RULES.values()]
CONTEXTS = [lb.LinearContexts(3, 2, delay=3), lb.SegmentedClicks(4, 3, rate=0.2, change_every=100)]


def studies() -> list[Study]:
    """Every rule on every problem of its setting."""
    settings = {"horizon": 300, "runs": 2, "checkpoints": 5, "seed": 3}
    pairs = ((BANDITS, BANDIT_RULES), (MDPS, MDP_RULES), (CONTEXTS, CONTEXT_RULES))
    return [Study(name="every-rule", cases=product(problems, rules), **settings) for problems, rules in pairs]


def digests() -> dict[str, str]:
    """Return the digest of the numbers of every case."""
    return {str(case): study.cells_of(case)[0].simulate(threads=2).digest() for study in studies() for case in study.cases}


if __name__ == "__main__":  # pin the numbers of every rule
    DIGESTS.write_text(json.dumps(digests(), indent=2) + "\n")
