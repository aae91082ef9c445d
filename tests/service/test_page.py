"""The page in a real browser: it asks for the token, shows policy and rewards, and lets no name become markup."""

from __future__ import annotations

import time

import numpy as np
import pytest

from logbarrier.service.chart import Line, chart, ticks


def eventually(condition):
    """Wait until it holds; a browser answers when it likes."""
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.05)
    return False


def log_in(browser, running, token):
    browser.find_element("id", "token").send_keys(token)
    browser.find_element("tag name", "button").click()


@pytest.fixture
def page(browser, running):
    """The page in a fresh tab, logged in."""
    browser.get(running.address)
    log_in(browser, running, running.token)  # each service has its port, and so a session storage of its own
    assert eventually(lambda: "Experiments" in browser.find_element("id", "part").text)
    return browser


def played(agent, decisions):
    generator = np.random.default_rng(0)

    def play(ledger):
        decision = ledger.ask()
        ledger.tell(decision, float(generator.random() < (0.8 if decision.arm == "b" else 0.2)))

    for _ in range(decisions // 5):
        agent.perform([play] * 5)


def test_a_wrong_token_is_refused(browser, running):
    browser.get(running.address)
    assert browser.find_elements("tag name", "table") == []
    log_in(browser, running, "wrong")
    assert eventually(lambda: "not the service's" in browser.find_element("id", "message").text)
    browser.get_log("browser")  # the refusal is noted there


def test_the_page_shows_an_experiment_with_its_arms(page, running, agent):
    played(agent, 600)
    page.find_element("link text", "default").click()
    assert eventually(lambda: len(page.find_elements("tag name", "svg")) == 3)
    assert not page.find_element("id", "login").is_displayed()
    text = page.find_element("tag name", "main").text
    for words in (
        "log-barrier-sgb (learning_rate = 0.5, eta = 20.0): 600 updates, 0 pending decisions",
        "<i>c",
        "'b' wins: its mean reward is the largest, at level 0.95.",
        "Share over time",
        "all hold at once and at all times",
    ):
        assert words in text
    rows = [row.text.split() for row in page.find_elements("tag name", "tr")][1:]
    assert rows[0][0] == "b"
    assert [float(row[1]) for row in rows] == [float(f"{p:.3f}") for p in sorted(agent.policy, reverse=True)]
    assert sum(int(row[2]) for row in rows) == 600
    lines = page.find_elements("css selector", "svg polyline")
    assert len(lines) == 4  # three arms, one mean reward
    for line in lines:
        assert line.rect["width"] > 100
        assert page.execute_script("return getComputedStyle(arguments[0]).stroke", line) != "none"
    assert len(page.find_elements("css selector", "svg circle")) == 3
    assert page.get_log("browser") == []


def test_an_experiment_is_paused_started_and_ended_from_the_page(page, agent):
    played(agent, 600)
    page.find_element("link text", "default").click()
    for word, state in (("Pause", "paused"), ("Start", "on")):
        assert eventually(lambda word=word: page.find_elements("xpath", f"//button[text()='{word}']"))
        page.find_element("xpath", f"//button[text()='{word}']").click()
        assert eventually(lambda state=state: agent.state == state)
    assert eventually(lambda: page.find_elements("xpath", "//button[text()='Pause']"))
    page.find_element("xpath", "//button[text()='End with b']").click()
    page.switch_to.alert.accept()
    assert eventually(lambda: agent.state == "ended")
    assert eventually(lambda: "ended: b" in page.find_element("id", "part").text)


def test_the_page_follows_the_agent(page, agent):
    page.find_element("link text", "default").click()
    assert eventually(lambda: "0 updates" in page.find_element("id", "part").text)
    agent.observe("a", 1.0)
    assert eventually(lambda: "1 updates" in page.find_element("id", "part").text)


def test_a_phone_does_not_scroll_sideways(page, agent):
    played(agent, 100)
    size = {"width": 380, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.find_element("link text", "default").click()
    assert eventually(lambda: len(page.find_elements("tag name", "svg")) == 3)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 380
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0.0183, 0.0217, [0.019, 0.02, 0.021]), (3, 1234, [500, 1000])],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


def test_a_chart_of_nothing_and_of_one_point():
    assert "Nothing to show yet" in chart([Line("a", [])], "x", "y")
    assert "nan" not in chart([Line("<a>", [(1.0, 2.0)])], "x", "y")
    assert "<a>" not in chart([Line("<a>", [(1.0, 2.0)])], "x", "y")
