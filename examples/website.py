"""Five variants of a page, ten thousand visitors: from an empty file to a declared winner.

Each visitor is a subject: one who comes back sees the same variant. A click is the reward. Run the service first:

    logbarrier serve decisions.db
    python examples/website.py http://127.0.0.1:8000 "$(cat decisions.db.token)"

The script creates the experiment 'landing-page', sends simulated visitors, prints the summary now and then, and ends the
experiment when the service declares a winner.
"""

from __future__ import annotations

import json
import random
import sys
import urllib.error
import urllib.request

CLICK_RATES = {"plain": 0.10, "photo": 0.11, "video": 0.09, "quote": 0.10, "price": 0.18}  # unknown to the service
NAME, VISITORS, LOOK_EVERY = "landing-page", 10_000, 1_000
FLOOR = 0.5  # every variant keeps a tenth of the visitors, so that there is evidence about the losers, too


class Service:
    """A few lines of HTTP."""

    def __init__(self, address: str, token: str) -> None:
        self._address, self._headers = address.rstrip("/"), {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, **body: object) -> dict[str, object]:
        """Return the JSON answer."""
        content = json.dumps(body).encode() if method != "GET" else None
        request = urllib.request.Request(self._address + path, content, self._headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


def main(address: str, token: str) -> None:
    """Run the experiment to its end."""
    service, visitors = Service(address, token), random.Random(0)
    try:
        service.call("POST", "/experiments", name=NAME, arms=list(CLICK_RATES), baseline="plain", floor=FLOOR)
    except urllib.error.HTTPError as error:
        raise SystemExit(json.load(error)["error"]) from None
    for number in range(1, VISITORS + 1):
        subject = f"visitor-{number}"
        decision = service.call("POST", f"/experiments/{NAME}/decide", subject=subject)
        click = visitors.random() < CLICK_RATES[str(decision["arm"])]
        service.call("POST", f"/experiments/{NAME}/reward", subject=subject, reward=float(click))
        if number % LOOK_EVERY == 0:
            summary = service.call("GET", f"/experiments/{NAME}/summary")
            print(f"{number:6d} visitors: {summary['sentence']}")
            if summary["verdict"] == "winner":
                service.call("PATCH", f"/experiments/{NAME}", state="ended", winner=summary["leader"])
                break


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
