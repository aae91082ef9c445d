"""What several tests need."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: tests run side by side, threads would only wait

import logbarrier as lb

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("fixed")

# A shell that starts the tests in the background has them ignore Ctrl-C, and every process they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG_TESTS = ("test_twenty_kill", "test_one_digest_on_a_generic_cpu", "test_after_warm_up", "test_a_running_cluster")


def pytest_collection_modifyitems(items):
    """Long tests come first, so that at the end no worker waits for another's."""
    items.sort(key=lambda item: not item.name.startswith(LONG_TESTS))


TWO_SCALAR_RULES = [
    lb.SGB(learning_rate=0.1),
    lb.SGB(learning_rate=lb.exponential_decay(0.5, 1e-3)),
    lb.BaselineSGB(learning_rate=lb.inverse_sqrt(0.3)),
    lb.EntropySGB(learning_rate=0.1, tau=0.2),
    lb.EntropySGB(learning_rate=lb.power_law(0.5, 0.3), tau=0.0),
    lb.LogBarrierSGB(learning_rate=0.1, eta=50),
    lb.AdaptiveLogBarrierSGB(learning_rate=0.1),
    lb.AdaptiveLogBarrierSGB(learning_rate=lb.inverse_sqrt(0.3), schedule="doubling"),
    lb.AutoLogBarrier(),
    lb.NPG(learning_rate=0.1),
    lb.BaselineNPG(learning_rate=0.05, schedule="constant"),
    lb.BaselineNPG(learning_rate=0.1, schedule="inverse_sqrt"),
    lb.BaselineNPG(learning_rate=0.1, schedule="mei", r_max=2.0),
    lb.ClippedLogBarrierSGB(),
    lb.TheorySGB(minimum_gap=1.5),
    lb.DecayingSGB(horizon=700),
    lb.StagedSGB(alpha0=0.3, first_stage=5),
    lb.DecayingEntropySGB(horizon=500, tau=0.2),
]
VECTOR_RULES = [
    lb.MiniBatchLogBarrierSGB(learning_rate=0.3, weight=0.1, batch=3),
    lb.MomentumLogBarrierSGB(weight=0.1),
    lb.TwoPhaseEntropySGB(tau=0.1, first_batch=5, first_updates=2, batch=2),
    lb.EntropyNPG(learning_rate=0.05, tau=0.2),
    lb.TsallisSGB(learning_rate=0.1, weight=0.05),
    lb.TsallisSGB(learning_rate=0.1, weight=0.0, order=0.9),
    lb.ExactPG(),
    lb.ExactEntropyPG(tau=0.1),
    lb.ExactLogBarrierPG(weight=0.1),
    lb.UCB1(),
    lb.ThompsonSampling(),
    lb.BetaThompsonSampling(),
    lb.SlidingWindowUCB(window=7),
    lb.DiscountedThompsonSampling(discount=0.9),
    lb.EpsilonGreedy(exploration=2.0),
    lb.EpsilonGreedy(exploration=0.0, floor=0.1),
    lb.InverseGapWeighting(),
    lb.OptimisticBarrier(),
    lb.EXP3(learning_rate=0.05, mixing=0.1),
    lb.EXP3(learning_rate=lb.inverse_sqrt(0.1), mixing=0.0),
    lb.KLUCB(),
    lb.TsallisINF(lowest=-1.0),
    lb.LBINF(horizon=700, lowest=-1.0),
    lb.EmpiricalThompsonSampling(),
]


def rule_id(rule: lb.Rule) -> str:
    return repr(rule)


@pytest.fixture(params=[*TWO_SCALAR_RULES, *VECTOR_RULES], ids=rule_id)
def rule(request: pytest.FixtureRequest) -> lb.Rule:
    """Every rule in turn."""
    return request.param


@pytest.fixture(params=TWO_SCALAR_RULES, ids=rule_id)
def two_scalar_rule(request: pytest.FixtureRequest) -> lb.TwoScalarRule:
    """Every rule of two scalars in turn."""
    return request.param


@pytest.fixture
def run_python():
    """Run a piece of Python in a process of its own, with extra environment variables; returns what it printed."""

    def run(code: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


BROWSER_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,900"
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium, where it is installed."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium with chromedriver found: install the packages chromium and chromium-driver to run this test")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in BROWSER_FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver)) as opened:
        yield opened
