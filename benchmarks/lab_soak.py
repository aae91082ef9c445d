"""Ten sessions of the lab at once, random moves: no crash, steady memory, no stale picture.

python benchmarks/lab_soak.py [--sessions 10] [--seconds 120]

Each tab is moved at random without waiting for its pictures. In the end every tab must show, number by number, the state that
its address names.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from pathlib import Path
from typing import Any

import logbarrier as lb
from lab_browser import chromium, console_errors, open_page
from logbarrier.lab_page.laws import problem_of
from logbarrier.lab_page.rules import curves_of
from logbarrier.lab_page.state import State

MOVES = {"Learning rate": (-3.0, 0.3), "Barrier eta": (1.0, 5.0), "Gap": (-2.0, -0.2), "Arms": (0.5, 3.0), "Runs": (0.5, 2.0)}
SHOWN = """
const sources = [...Bokeh.documents[0]._all_models.values()].filter((m) => m.type == 'ColumnDataSource' && m.data.label)
const data = sources.at(-1).data
return [location.search.slice(1), data.label.map((label, i) => [label, [...data.ys[i]]])]
"""


def resident() -> float:
    """Memory of this process in MB, on Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def stale(shown: Any) -> bool:
    """Whether a tab's curves are not those of its address."""
    query, lines = shown
    state = State.of_query(query)
    for curve, (label, drawn) in zip(curves_of(state), lines, strict=True):
        record = lb.simulate(curve.rule, problem_of(state), horizon=state.horizon, runs=state.runs, seed=state.seed)
        if label != curve.label or drawn != record.mean("optimal_probability").tolist():
            return True
    return False


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    page, browser, generator = lb.lab(warm=False), chromium(), random.Random(0)
    tabs = []
    for number in range(options.sessions):
        if number:
            browser.switch_to.new_window("tab")
        open_page(browser, f"{page.url}?horizon=5000")
        tabs.append(browser.current_window_handle)
    memory, moves = [], 0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        browser.switch_to.window(generator.choice(tabs))
        for _ in range(generator.randint(1, 5)):
            title, (low, high) = generator.choice(list(MOVES.items()))
            browser.execute_script("window.move(...arguments)", title, generator.uniform(low, high))
            moves += 1
        memory.append(resident())
    time.sleep(5.0)
    wrong = 0
    for tab in tabs:
        browser.switch_to.window(tab)
        deadline = time.monotonic() + 30
        while (found := stale(browser.execute_script(SHOWN))) and time.monotonic() < deadline:
            time.sleep(0.5)
        wrong += found
    quarter = max(len(memory) // 4, 1)
    growth = sum(memory[-quarter:]) / quarter - sum(memory[quarter : 2 * quarter]) / quarter
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{options.sessions} sessions, {moves} moves in {options.seconds:.0f} s; stale pictures: {wrong}")
    print(f"memory of the server: from the second quarter to the last {growth:+.0f} MB, peak {peak:.0f} MB")
    print(f"console errors: {len(console_errors(browser))}")
    browser.quit()
    page.stop()


if __name__ == "__main__":
    main()
