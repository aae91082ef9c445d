"""A detector of drops: running sums that notice when rewards have fallen below what they used to be.

A sum grows by how far a reward falls short, in standard deviations and less an allowance, and never falls below 0 (Page's
CUSUM, 1954). On a problem that stays the same it hovers near 0: with normal rewards it passes h/(2 allowance) about once in
exp(h) excursions. After a drop of twice its allowance it passes that line in h/(2 allowance^2) steps. Three allowances notice
large drops at once and small ones in time.
"""

from __future__ import annotations

from ...engine.compiled import compiled
from ...engine.elementary import log

ALLOWANCES = (0.4, 0.16, 0.064)
FARTHEST_FALL = 3.0  # a single reward counts for no more: rare failures of a good arm are no drop
SETTLED = 27.0  # a sum starts once the mean it is compared with is known to a third of its allowance
SURE = 16.0  # h of a step, to which log(age) comes, so that false alarms do not add up over a long life


@compiled
def drop_noticed(fall, age, sums):
    """Add a fall (mean - reward)/deviation to the sums (3,); whether they are now sure of a drop."""
    fall = min(max(fall, -FARTHEST_FALL), FARTHEST_FALL)
    noticed = False
    for i in range(len(ALLOWANCES)):
        allowance = ALLOWANCES[i]
        if age * allowance * allowance > SETTLED:
            sums[i] = max(sums[i] + fall - allowance, 0.0)
            evidence = 2.0 * allowance * sums[i]
            noticed = noticed or (evidence > SURE and evidence > SURE + log(age))
    return noticed
