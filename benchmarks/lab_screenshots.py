"""Take the pictures of docs/lab.md: `python benchmarks/lab_screenshots.py [NAME ...]`; needs Chromium."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

from PIL import Image

import logbarrier as lb
from lab_browser import chromium, open_page

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))
from pictures import IMAGES, stamp  # noqa: E402

SIMPLEX = "arms=3&gap=0.3&alpha=0.5&etas=100&start=0.02&horizon=3000&view=simplex"
SHOTS = {
    "learning": "alpha=0.1&rules=lb,sgb,ent,npg",
    "distribution": "alpha=0.5&view=distribution",
    "smallest": "view=smallest",
    "regret": "gap=0.01&rules=lb,adaptive,sgb,thompson&view=regret",
    "simplex": SIMPLEX,
    "policy": "arms=100&alpha=0.3&etas=2000&rules=lb,adaptive,sgb&view=policy",
    "environment": "horizon=100000&runs=20&view=environment",
    "features": "horizon=30000&runs=20&view=environment&environment=deep-sea&features=cosines",
    "dark": "start=0.001&rules=lb,adaptive,sgb,npg",
    "phone": SIMPLEX,
}
PAGE = ROOT / "src" / "logbarrier" / "lab_page"
VIEWS = {"learning": "curves", "smallest": "curves", "regret": "curves", "features": "environment", "dark": "curves",
         "phone": "simplex"}  # fmt: skip
PICTURES = {
    f"lab-{name}.png": (query, PAGE / "page.html", PAGE / "controls.py", PAGE / "views" / f"{VIEWS.get(name, name)}.py")
    for name, query in SHOTS.items()
}
COLOURS = 256  # those that cover most: a median cut loses the colours of thin lines


def main() -> None:
    """One file per view, and one each for a dark page and a phone."""
    page, browser = lb.lab(warm=False), chromium()
    try:
        for name in sys.argv[1:] or SHOTS:
            size = {"phone": (390, 1000)}.get(name, (1100, 720))
            metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            scheme = {"name": "prefers-color-scheme", "value": "dark" if name == "dark" else "light"}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
            open_page(browser, f"{page.url}?{SHOTS[name]}")
            browser.execute_async_script(
                """
                const done = arguments[0]
                const stop = () => [...Bokeh.documents[0]._all_models.values()].find((m) => m.label == 'Stop')
                const look = () => stop()?.disabled ? done() : setTimeout(look, 50)
                look()
                """
            )
            time.sleep(0.5)
            shot = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
            few = shot.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            path = IMAGES / f"lab-{name}.png"
            few.save(path, optimize=True)
            stamp(path, PICTURES[path.name])
            print(path, flush=True)
    finally:
        browser.quit()
        page.stop()


if __name__ == "__main__":
    main()
