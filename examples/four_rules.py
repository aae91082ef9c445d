"""The picture of the README: four rules on a hundred arms, ten times the paper's horizon.

python examples/four_rules.py docs/images/four-rules.png
"""

from __future__ import annotations

import sys

import logbarrier as lb
from logbarrier.plots import learning_curves, save_figure

family = lb.GapInstances(n_arms=100, gap=0.1)
rules = {
    "LB-SGB": lb.LogBarrierSGB(learning_rate=0.1, eta=2000),
    "SGB": lb.SGB(learning_rate=0.1),
    "ENT": lb.EntropySGB(learning_rate=0.1, tau=1 / 2000),
    "NPG": lb.NPG(learning_rate=0.1),
}
records = {name: lb.simulate(rule, family, horizon=250_000, runs=100, seed=0) for name, rule in rules.items()}
for name, record in records.items():
    print(f"{name:8} p(a*) {record.mean('optimal_probability')[-1]:.3f}   stuck {record.stuck_fraction():.2f}")
save_figure(learning_curves(records), sys.argv[1] if len(sys.argv) > 1 else "four-rules.png")
