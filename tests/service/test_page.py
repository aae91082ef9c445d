"""The page in a real browser: it asks for the token, shows policy and rewards, and lets no name become markup."""

from __future__ import annotations

import time

import numpy as np

from logbarrier.service.chart import Line, chart


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


def test_the_page_shows_policy_and_rewards_over_time(browser, running, agent):
    generator = np.random.default_rng(0)

    def play(ledger):
        decision = ledger.ask()
        ledger.tell(decision, float(generator.random() < (0.8 if decision.arm == "b" else 0.2)))

    for _ in range(120):
        agent.perform([play] * 5)
    browser.get(running.address)
    assert browser.find_elements("tag name", "svg") == []
    log_in(browser, running, "wrong")
    assert eventually(lambda: "not the service's" in browser.find_element("id", "message").text)
    browser.get_log("browser")  # the refusal is noted there
    browser.find_element("id", "token").clear()
    log_in(browser, running, running.token)
    assert eventually(lambda: len(browser.find_elements("tag name", "svg")) == 2)
    assert not browser.find_element("id", "login").is_displayed()
    text = browser.find_element("tag name", "main").text
    for words in (
        "log-barrier-sgb (learning_rate = 0.5, eta = 20.0): 600 updates, 0 pending decisions",
        "<i>c",
        "Policy over time",
    ):
        assert words in text
    rows = [row.text.split() for row in browser.find_elements("tag name", "tr")]
    assert rows[0][0] == "b"
    shown = [float(row[-1]) for row in rows]
    assert shown == [float(f"{p:.4f}") for p in sorted(agent.policy, reverse=True)]
    lines = browser.find_elements("css selector", "svg polyline")
    assert len(lines) == 4  # three arms, one mean reward
    for line in lines:
        assert line.rect["width"] > 100
        assert browser.execute_script("return getComputedStyle(arguments[0]).stroke", line) != "none"
    assert browser.get_log("browser") == []


def test_the_page_follows_the_agent(browser, running, agent):
    browser.get(running.address)
    browser.execute_script("sessionStorage.clear()")
    browser.refresh()
    log_in(browser, running, running.token)
    assert eventually(lambda: "0 updates" in browser.find_element("id", "picture").text)
    agent.observe("a", 1.0)
    assert eventually(lambda: "1 updates" in browser.find_element("id", "picture").text)


def test_a_narrow_window_does_not_scroll_sideways(browser, running):
    browser.get(running.address)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_chart_of_nothing_and_of_one_point():
    assert "Nothing to show yet" in chart([Line("a", [])], "x", "y")
    assert "nan" not in chart([Line("<a>", [(1.0, 2.0)])], "x", "y")
    assert "<a>" not in chart([Line("<a>", [(1.0, 2.0)])], "x", "y")
