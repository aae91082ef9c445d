"""The report in a real browser: every figure shows, nothing is fetched, nothing is wrong in the console, light and dark."""

from __future__ import annotations

import pytest

import logbarrier as lb
from logbarrier.paper import paper_study
from logbarrier.paper.publish import publish_paper
from logbarrier.paper.reproduction import cases_of
from logbarrier.report import publish
from logbarrier.studies import LocalExecutor, Store, Study, product, run


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The report of the paper's study, of which only the eta figure was run, and that of a user's study."""
    base = tmp_path_factory.mktemp("runs")
    paper = paper_study(runs=2)
    rules = [lb.SGB(learning_rate=0.1), lb.LogBarrierSGB(learning_rate=0.1, eta=50)]
    own = Study(name="own <study>", cases=product([lb.GapInstances(n_arms=3)], rules), horizon=50, runs=3)
    stores = [Store(base / study.folder_name, study) for study in (paper, own)]
    run(stores[0], LocalExecutor(), cases_of(["eta"]))
    run(stores[1], LocalExecutor())
    return {"paper": publish_paper(stores[0]), "own": publish(stores[1])}


def opened(browser, published, scheme):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(published.as_uri())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "figures"), [("paper", 3), ("own", 2)])
def test_every_figure_is_visible_and_nothing_is_fetched(browser, pages, name, figures, scheme):
    opened(browser, pages[name], scheme)
    images = browser.find_elements("tag name", "img")
    assert len(images) == figures
    for image in images:
        assert image.is_displayed()
        assert browser.execute_script("return arguments[0].complete && arguments[0].naturalWidth > 100", image)
        assert image.size["width"] > 600
        assert image.get_attribute("alt")
    requested = [
        entry["message"] for entry in browser.get_log("performance") if "Network.requestWillBeSent" in entry["message"]
    ]
    assert not [message for message in requested if '"url":"http' in message or '"url":"ws' in message]
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in fetched if not url.startswith("data:")] == []
    assert browser.get_log("browser") == []


def test_light_and_dark_differ(browser, pages):
    shades = {}
    for scheme in ("light", "dark"):
        opened(browser, pages["paper"], scheme)
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        shades[scheme] = sum(int(part) for part in colour[4:-1].split(","))
    assert shades["light"] > 700
    assert shades["dark"] < 100


def test_the_page_says_what_was_run_and_how_to_run_it_again(browser, pages):
    opened(browser, pages["paper"], "light")
    text = browser.find_element("tag name", "body").text
    for words in (
        "What became of the paper's claims",
        "eta = 1e2 plateaus at a highly suboptimal distribution",
        "not run",
        "Where every curve ended",
        "What it cost",
        "logbarrier reproduce --horizon printed --runs 2 --seed 0",
        "K / (alpha (r* - J))",
    ):
        assert words in text
    opened(browser, pages["own"], "light")
    assert "Study own <study>" in browser.find_element("tag name", "body").text


def test_a_narrow_window_does_not_scroll_sideways(browser, pages):
    opened(browser, pages["paper"], "light")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_page_is_self_contained(pages):
    text = pages["paper"].read_text()
    assert "<script" not in text
    assert 'src="http' not in text
    assert 'href="http' not in text
