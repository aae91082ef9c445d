"""How long the lab takes from a slider's move to the redrawn picture, measured in the browser.

python benchmarks/lab_latency.py [--moves 30]

Two curves (LB-SGB and SGB), 100 runs of 25,000 steps; alpha is moved, so that both are simulated again. "coarse" is the first
painted picture of the new state (8 runs), "full" the one of all runs, in milliseconds. "server" is the CPU time that the server
spent on a move, simulation included, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import random
import time

import numpy as np

import logbarrier as lb
from lab_browser import chromium, console_errors, move, open_page

ETAS = {10: 1000, 100: 2000, 1000: 5000}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=30)
    moves = parser.parse_args().moves
    page = lb.lab(warm=False)
    browser = chromium()
    generator = random.Random(0)
    print("| K | rules moved | coarse p50 | p95 | full p50 | p95 | server p50 |\n|---|---|---|---|---|---|---|")
    try:
        for arms, eta in ETAS.items():
            for rules in ("lb", "lb,sgb"):
                open_page(browser, f"{page.url}?arms={arms}&etas={eta}&rules={rules}")
                move(browser, "Learning rate", -1.5)  # compiles, if that is still to do
                positions = generator.sample([-3 + 0.05 * i for i in range(65)], moves)
                times, spent = [], []
                for position in positions:
                    before = time.process_time()
                    times.append(move(browser, "Learning rate", position))
                    spent.append(1000.0 * (time.process_time() - before))
                coarse, full = (np.percentile(column, (50, 95)) for column in np.array(times).T)
                shown = [*coarse, *full, np.median(spent)]
                print(f"| {arms} | {rules} | " + " | ".join(f"{value:.0f}" for value in shown) + " |", flush=True)
        print(f"console errors: {len(console_errors(browser))}")
    finally:
        browser.quit()
        page.stop()


if __name__ == "__main__":
    main()
