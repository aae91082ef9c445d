"""Damage the files of an agent, one bit or one cut at a time, and count what the next opening makes of it.

Refused: opening ends in one sentence. Harmless: it opens, and all that was written is there. Shorter: it opens with a part of
the commits, each of them as it was written. Silent: it opens with anything else; this must be zero.

python benchmarks/service_damage.py [--cuts 60] [--flips 60] [--file-flips 200]
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import logbarrier as lb

CYCLES = 300
RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)


def play(agent: lb.DurableAgent) -> None:
    """Make decisions and tell their rewards."""
    for t in range(CYCLES):
        agent.tell(agent.ask(), 0.25 * (t % 5))


def flipped(content: bytes, generator: random.Random) -> bytes:
    """The content with one bit changed."""
    spoilt = bytearray(content)
    spoilt[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    return bytes(spoilt)


def cut(content: bytes, generator: random.Random) -> bytes:
    """The content up to a random place."""
    return content[: generator.randrange(len(content))]


def is_beginning(rows: list[dict[str, Any]], truth: list[dict[str, Any]]) -> bool:
    """Whether rows are the first ones of truth; the last may lack its reward."""
    asked = [{**row, "reward": None, "outcome": None, "closed": None} for row in truth[: len(rows)]]
    return len(rows) <= len(truth) and all(row in (true, open_) for row, true, open_ in zip(rows, truth, asked, strict=False))


def outcome(path: Path, truth: list[dict[str, Any]]) -> str:
    """What opening the files makes of them."""
    try:
        with lb.DurableAgent(path) as agent:
            rows, is_replayed = list(agent.log()), agent.replayed().state_dict() == agent.state_dict()
    except (ValueError, OSError) as error:
        return "refused" if str(error).startswith("DurableAgent: ") and "\n" not in str(error) else f"silent: {error}"
    if rows == truth and is_replayed:
        return "harmless"
    return "shorter" if is_replayed and is_beginning(rows, truth) else "silent"


def counted(folder: Path, kind: str, damage: Callable[[bytes, random.Random], bytes], times: int, seed: int) -> Counter[str]:
    """Damage a file as a kill leaves it (its write-ahead log) or as closed, and count the outcomes."""
    (folder / kind).mkdir()
    path, copy = folder / kind / "agent.db", folder / kind / "copy.db"
    agent = lb.DurableAgent(path, rule=RULE, arms=["a", "b", "c"])
    play(agent)
    truth = list(agent.log())
    if kind == "file":
        agent.close()
    kept = {end: Path(f"{path}{end}").read_bytes() for end in ("", "-wal") if Path(f"{path}{end}").exists()}
    agent.close()
    target, generator, found = "" if kind == "file" else "-wal", random.Random(seed), Counter[str]()
    for _ in range(times):
        for end in ("-wal", "-shm"):
            Path(f"{copy}{end}").unlink(missing_ok=True)
        for end, content in kept.items():
            Path(f"{copy}{end}").write_bytes(damage(content, generator) if end == target else content)
        found[outcome(copy, truth)] += 1
    return found


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=60)
    parser.add_argument("--flips", type=int, default=60)
    parser.add_argument("--file-flips", type=int, default=200)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        for name, kind, damage, times in (
            ("write-ahead log, cut", "cut", cut, options.cuts),
            ("write-ahead log, one bit", "flip", flipped, options.flips),
            ("closed file, one bit", "file", flipped, options.file_flips),
        ):
            found = counted(folder, kind, damage, times, seed=0)
            print(f"{name:26s}", ", ".join(f"{count} {each}" for each, count in sorted(found.items())), flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
