"""How many decide-and-reward cycles a second the service answers, each on disk twice, beside the disk's own fsync rate.

With --slow 8, every write and every probe of the disk takes 8 ms longer, as on a slower or busier disk.

python benchmarks/service_load.py [--seconds 10] [--slow 8] [--folder .] [--json]
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


async def batches(port: int, token: str) -> int:
    """How many batches the service has written so far."""
    connection = Connection(port, token)
    await connection.open()
    text = (await connection.send("GET", "/metrics")).decode()
    connection.close()
    return int(text.partition("\nlogbarrier_batches_total ")[2].partition("\n")[0])


def measured(folder: Path, seconds: float, slow: float) -> dict[str, Any]:
    """The table as plain values; the disk is measured before and after each load."""
    served = Served(folder / "agent.db", *NEW_AGENT, slow=slow)
    rows, rate = [], fsyncs_per_second(folder, 3.0, slow)
    for count in CONNECTIONS:
        before = asyncio.run(batches(served.port, served.token))
        taken = np.array(asyncio.run(cycles(served.port, served.token, count, seconds)))
        written = (asyncio.run(batches(served.port, served.token)) - before) * seconds / (seconds + WARM_UP)
        after = fsyncs_per_second(folder, 3.0, slow)
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
                "cycles_per_write": len(taken) / written,
            }
        )
    served.stop()
    return {"seconds": seconds, "slow": slow, "rows": rows}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--slow", type=float, default=0.0, help="milliseconds")
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk to measure")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table = measured(Path(folder), options.seconds, options.slow / 1e3)
    if options.json:
        print(json.dumps(table, indent=1))
        return
    print("connections  cycles/s  p50 ms  p99 ms  fsyncs/s  cycles per fsync  cycles per write")
    for row in table["rows"]:
        print(
            f"{row['connections']:11d}  {row['cycles_per_second']:8.0f}  {row['p50_ms']:6.1f}  {row['p99_ms']:6.1f}  "
            f"{row['fsyncs_per_second']:8.0f}  {row['cycles_per_fsync']:16.1f}  {row['cycles_per_write']:16.1f}"
        )


if __name__ == "__main__":
    main()
