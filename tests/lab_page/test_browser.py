"""The page in a real browser: controls, presets, views, the address, exports; numbers are those of `lb.simulate`."""

from __future__ import annotations

import csv
import socket
import time
import tomllib

import numpy as np
import pytest

import logbarrier as lb
from logbarrier import mdps
from logbarrier.lab_page.state import State

LISTEN = "window.seen = []; document.addEventListener('lab', (event) => window.seen.push(event.detail))"
QUICK = "horizon=400&runs=12"
# Bokeh's widgets live behind shadow roots; its own index of views finds them.
FIND = """
const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
const named = (words) => all(document).find((e) => e.getAttribute('aria-label')?.startsWith(words))
const inside = (words, selector) => all(named(words).shadowRoot ?? named(words)).find((e) => e.matches(selector))
const button = (words) => all(document).find((e) => e.tagName == 'BUTTON' && e.textContent.trim() == words)
const select = (words) => all(document).find((e) => e.tagName == 'SELECT' && e.getRootNode().textContent.includes(words))
const columns = (name) => [...(window.Bokeh?.documents[0]?._all_models.values() ?? [])]
  .filter((m) => m.type == 'ColumnDataSource' && m.data[name])
"""


@pytest.fixture(scope="module")
def page():
    pytest.importorskip("bokeh", reason="the lab needs Bokeh, which the extra 'lab' installs")
    opened = lb.lab(warm=False)
    yield opened
    opened.stop()


class Tab:
    """The page as a user meets it."""

    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def open(self, query=QUICK):
        self.browser.get_log("browser")
        self.browser.get(f"{self.url}?{query}")
        self.browser.execute_script(LISTEN)
        return self.wait_for(
            lambda: self.run("return columns('label').length > 0 && columns('label').at(-1).data.label.length > 0")
        )

    def run(self, script, *arguments):
        return self.browser.execute_script(FIND + script, *arguments)

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, self.browser.get_log("browser")
            time.sleep(0.03)
        return self

    def wait_for_full(self, query):
        """Until the complete picture of a state is drawn; returns the state."""
        self.wait_for(
            lambda: self.run("const q = arguments[0]; return seen.some((e) => e.stage == 'full' && e.query == q)", query)
        )
        return State.of_query(query)

    def errors(self):
        return [entry for entry in self.browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]

    def address(self):
        return self.browser.current_url.partition("?")[2]


@pytest.fixture
def tab(browser, page):
    opened = Tab(browser, page.url)
    yield opened
    assert opened.errors() == []


def test_a_slider_moved_by_keyboard_draws_what_simulate_gives(tab):
    tab.open()
    tab.run("inside('Learning rate alpha', '.noUi-handle').focus()")
    from selenium.webdriver.common.keys import Keys

    tab.browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    state = tab.wait_for_full("alpha=0.11&horizon=400&runs=12")
    assert tab.address() == state.query()
    drawn = tab.run("const d = columns('label').at(-1).data; return d.label.map((l, i) => [l, [...d.xs[i]], [...d.ys[i]]])")
    rules = [lb.LogBarrierSGB(learning_rate=0.11, eta=1000.0), lb.SGB(learning_rate=0.11)]
    for (label, steps, means), rule in zip(drawn, rules, strict=True):
        record = lb.simulate(rule, lb.GapInstances(n_arms=10, gap=0.1, scale=1.0), horizon=400, runs=12, seed=0)
        assert label.startswith(("LB-SGB", "SGB"))
        assert steps == record.steps.tolist()
        assert means == record.mean("optimal_probability").tolist()


def test_presets_views_and_the_address_lead_to_the_same_picture(tab):
    tab.open()
    tab.run(
        "const s = select('Preset'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))",
        "Trap: collapse (SGB ends on a wrong arm in many runs)",
    )
    tab.wait_for_full("alpha=0.5&view=distribution")
    tab.run("button('Regret').click()")
    tab.wait_for_full("alpha=0.5&view=regret")
    link = tab.address()
    shown = tab.run("return [...columns('label').at(-1).data.ys[1]]")
    tab.open(link)
    tab.wait_for(lambda: tab.run("return [...columns('label').at(-1).data.ys[1]]") == shown)
    assert tab.address() == link


def test_exports_give_the_numbers_and_the_code_on_the_page(tab, tmp_path):
    tab.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    tab.open("horizon=400&runs=13")
    tab.wait_for(lambda: "mean over runs" in tab.run("return named('Probability of the best arm')?.ariaLabel ?? ''"))
    for name in ("CSV", "PNG"):
        tab.run("button(arguments[0]).click()", name)
    files = (tmp_path / "logbarrier-learning.csv", tmp_path / "logbarrier.png")
    tab.wait_for(lambda: all(file.exists() and file.stat().st_size > 1000 for file in files))
    with open(files[0]) as file:
        rows = [row for row in csv.DictReader(file) if row["rule"] == "SGB"]
    record = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=10, gap=0.1), horizon=400, runs=13, seed=0)
    values = np.array([float(row["optimal_probability"]) for row in rows]).reshape(13, -1)
    assert np.array_equal(values, record["optimal_probability"])
    assert files[1].read_bytes().startswith(b"\x89PNG")
    tab.run("button('as study.toml').click()")
    text = "return all(document).find((e) => e.tagName == 'PRE')?.textContent ?? ''"
    tab.wait_for(lambda: "horizon" in tab.run(text))
    assert tomllib.loads(tab.run(text))["runs"] == 13
    tab.run("button('as Python').click()")
    tab.wait_for(lambda: "lb.simulate(rule, problem, horizon=400, runs=13" in tab.run(text))


def test_the_link_is_copied(tab):
    tab.browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    tab.browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": tab.url}
    )
    tab.open("alpha=0.3&" + QUICK)
    tab.run("button('Copy link').click()")
    tab.wait_for(lambda: tab.run("return button('Copied') !== undefined"))
    copied = tab.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == tab.browser.current_url
    assert State.of_query(copied.partition("?")[2]).alpha == 0.3


def test_the_view_of_environments_shows_the_spectral_barrier_ahead_and_only_its_controls(tab):
    tab.open("view=environment&runs=4")
    tab.wait_for(lambda: tab.run("return columns('label').at(-1).data.label.length == 4"))
    ends = tab.run("const d = columns('label').at(-1).data; return d.label.map((l, i) => [l, [...d.ys[i]].at(-1)])")
    assert max(ends, key=lambda pair: pair[1])[0] == "spectral barrier"
    shown = tab.run("return ['Arms K', 'Gap', 'Learning rate', 'Barrier eta'].map((n) => named(n)?.checkVisibility() ?? false)")
    assert shown == [False, False, True, True]


def test_features_are_chosen_where_there_are_rows_and_columns(tab):
    tab.open("view=environment&environment=deep-sea&horizon=2000&runs=4")
    choose = "const s = select(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))"
    tab.run(choose, "Spectral barrier with features", "36 cosines")
    tab.wait_for_full("horizon=2000&runs=4&view=environment&environment=deep-sea&features=cosines")
    drawn = tab.run("const d = columns('label').at(-1).data; return d.label.map((l, i) => [l, [...d.ys[i]]])")
    sea = mdps.DeepSea(14)
    rule = mdps.FeatureSpectralPG(features=mdps.grid_features(sea))
    record = mdps.simulate(rule, sea, horizon=2000, runs=4, seed=0, metrics=["score"])
    assert dict(drawn)["36 cosines"] == record.mean("score").tolist()
    assert len(drawn) == 5
    maps = "return all(document).filter((e) => e.matches('.bk-Figure')).slice(1).map((e) => e.offsetTop)"
    assert len(tab.run(maps)) == 5
    assert len(set(tab.run(maps))) == 1  # in one row
    tab.run(choose, "Environment", "a river to swim up")
    tab.wait_for_full("horizon=2000&runs=4&view=environment&environment=river&features=cosines")
    tab.wait_for(lambda: len(tab.run(maps)) == 4)
    assert not tab.run("return select('Spectral barrier with features')?.checkVisibility() ?? false")


def test_long_work_shows_progress_and_can_be_stopped(tab):
    tab.open("horizon=2500000&runs=100&rules=sgb")
    status = "return all(document).find((e) => e.getAttribute('role') == 'status').shadowRoot.textContent"
    tab.wait_for(lambda: "% simulated, about" in tab.run(status))
    tab.run("button('Stop').click()")
    tab.wait_for(lambda: "Stopped with" in tab.run(status))


def test_a_wrong_address_shows_the_default_and_says_why(tab):
    tab.open("law=%3Cb%3Ebold%3C/b%3E")
    status = "return all(document).find((e) => e.getAttribute('role') == 'status').shadowRoot.textContent"
    tab.wait_for(lambda: "mean over runs: LB-SGB, eta 1000" in tab.run(status))
    assert "lab: law must be one of gaussian, bernoulli, uniform, beta, got '<b>bold</b>'" in tab.run(status)


def test_one_tab_too_many_is_told_so(page, monkeypatch):
    from bokeh.document import Document

    from logbarrier.lab_page import server

    monkeypatch.setattr(server, "_open_pages", set(range(server.MOST_SESSIONS)))
    document = Document()
    server._open(document)
    assert "at most 20 tabs at once" in document.roots[0].text


def test_a_phone_does_not_scroll_sideways_and_dark_is_dark(tab):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    tab.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    tab.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        tab.open()
        assert tab.run("return document.documentElement.scrollWidth") <= 390
        assert tab.run("return getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    finally:
        tab.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        tab.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_every_control_has_a_name_for_screen_readers(tab):
    tab.open("view=distribution&" + QUICK)
    nameless = tab.run("""
        const name = (e) => e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length || e.title
          || e.getRootNode().host?.getAttribute('aria-label') || e.getRootNode().querySelector('label')
        const controls = all(document).filter((e) => e.matches('button, input, select, .noUi-handle'))
        return controls.filter((e) => !name(e)).map((e) => e.outerHTML)
    """)
    assert nameless == []


@pytest.mark.parametrize(("origin", "status"), [("http://evil.example", 403), ("http://127.0.0.1:1", 403), ("its own", 101)])
def test_another_web_page_may_not_talk_to_the_server(page, origin, status):
    host = page.url.removeprefix("http://").rstrip("/")
    headers = {
        "Host": host,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Origin": page.url.rstrip("/") if origin == "its own" else origin,
    }
    lines = ["GET /ws HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    with socket.create_connection(host.split(":")) as connection:
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(100).startswith(f"HTTP/1.1 {status}".encode())
