"""How many decide-and-reward cycles a second the service answers, each on disk twice, beside the disk's own fsync rate.

python benchmarks/service_load.py [--seconds 10] [--folder .] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from service_client import NEW_AGENT, Connection, Served, fsyncs_per_second

CONNECTIONS = (1, 32, 256)
WARM_UP = 1.0  # seconds, not counted


async def cycles(port: int, token: str, count: int, seconds: float) -> list[float]:
    """The seconds that each cycle took, of `count` connections that ask and tell without pause."""
    taken: list[float] = []
    begin = time.perf_counter() + WARM_UP
    end = begin + seconds

    async def client() -> None:
        connection = Connection(port, token)
        await connection.open()
        while (start := time.perf_counter()) < end:
            decision = await connection.post("/decide", {})
            await connection.post("/reward", {"id": decision["id"], "reward": 0.5})
            finish = time.perf_counter()
            if begin <= start and finish <= end:
                taken.append(finish - start)
        connection.close()

    await asyncio.gather(*(client() for _ in range(count)))
    return taken


def measured(folder: Path, seconds: float) -> dict[str, Any]:
    """The table as plain values; the disk is measured before and after each load."""
    served = Served(folder / "agent.db", *NEW_AGENT)
    rows, rate = [], fsyncs_per_second(folder, 3.0)
    for count in CONNECTIONS:
        taken = np.array(asyncio.run(cycles(served.port, served.token, count, seconds)))
        after = fsyncs_per_second(folder, 3.0)
        fsyncs, rate = (rate + after) / 2, after
        p50, p99 = np.quantile(taken, [0.5, 0.99]) * 1e3
        rows.append(
            {
                "connections": count,
                "cycles_per_second": len(taken) / seconds,
                "p50_ms": float(p50),
                "p99_ms": float(p99),
                "fsyncs_per_second": fsyncs,
                "cycles_per_fsync": len(taken) / seconds / fsyncs,
            }
        )
    served.stop()
    return {"seconds": seconds, "rows": rows}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk to measure")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table = measured(Path(folder), options.seconds)
    if options.json:
        print(json.dumps(table, indent=1))
        return
    print("connections  cycles/s  p50 ms  p99 ms  fsyncs/s  cycles per fsync")
    for row in table["rows"]:
        print(
            f"{row['connections']:11d}  {row['cycles_per_second']:8.0f}  {row['p50_ms']:6.1f}  {row['p99_ms']:6.1f}  "
            f"{row['fsyncs_per_second']:8.0f}  {row['cycles_per_fsync']:16.1f}"
        )


if __name__ == "__main__":
    main()
