"""A headless Chromium on the lab, for the lab's benchmarks: moves controls as a hand would and listens to what is drawn."""

from __future__ import annotations

import shutil
from typing import Any

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,1000"
)
# Counts pictures from the moment a control moves; a picture counts once the browser has painted it.
LISTEN = """
window.drawn = []
document.addEventListener('lab', (event) => {
  const {query, stage, ticket} = event.detail
  requestAnimationFrame(() => setTimeout(() => window.drawn.push({query, stage, ticket, at: performance.now()}), 0))
})
const sliders = () => [...Bokeh.documents[0]._all_models.values()].filter((model) => model.type == 'Slider')
window.slider = (title) => sliders().find((model) => model.title.startsWith(title))
window.move = (title, value) => { window.drawn = []; window.moved = performance.now(); window.slider(title).value = value }
"""


def chromium() -> Any:
    """A new browser; its `quit` ends it."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def open_page(browser: Any, url: str) -> None:
    """Load the lab and wait until it has drawn something."""
    browser.get(url)
    browser.set_script_timeout(120)
    browser.execute_async_script(
        """
        const done = arguments[0]
        const look = () => window.Bokeh?.documents[0]?.is_idle ? done() : setTimeout(look, 20)
        look()
        """
    )
    browser.execute_script(LISTEN)


def move(browser: Any, title: str, value: float) -> tuple[float, float]:
    """Move a slider; milliseconds until the first picture of its new state and until the complete one."""
    times = browser.execute_async_script(
        """
        const [title, value, done] = arguments
        window.move(title, value)
        const look = () => {
          const full = window.drawn.find((picture) => picture.stage == 'full')
          if (!full) return setTimeout(look, 2)
          const first = window.drawn.find((picture) => picture.stage != 'asked')
          done([first.at - window.moved, full.at - window.moved])
        }
        look()
        """,
        title,
        value,
    )
    return float(times[0]), float(times[1])


def console_errors(browser: Any) -> list[str]:
    """What the console complains of."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]
