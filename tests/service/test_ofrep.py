"""OpenFeature: the real clients of Python and JavaScript, and the words of the protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "openfeature"
CACHE = Path(__file__).parents[2] / ".cache" / "openfeature"
NODE_SECONDS = 120


@pytest.fixture
def flags(client):
    """Four experiments: text, number and boolean arms, and one that is paused."""
    for name, arms in (
        ("checkout", ["short", "long"]),
        ("price", [9, 12]),
        ("banner", ["true", "false"]),
        ("paused", ["a", "b"]),
    ):
        assert (
            client.post("/experiments", json={"name": name, "arms": arms, "rule": "beta-thompson-sampling"}).status_code == 200
        )
    client.patch("/experiments/paused", json={"state": "paused"})
    return client


def check_what_a_client_saw(seen, log):
    """Values, variants, reasons and metadata, whatever the language of the client."""
    first, again = seen["first"], seen["again"]
    assert first == again
    assert first["value"] in ("short", "long")
    assert (first["variant"], first["reason"]) == (first["value"], "SPLIT")
    (row,) = log
    assert first["metadata"] == {"experiment": "checkout", "decision": row["id"], "propensity": row["probability"]}
    assert (row["subject"], row["arm"], row["reward"]) == ("user 1", first["value"], 1.0)
    assert seen["number"]["value"] in (9, 12)
    assert isinstance(seen["boolean"]["value"], bool)
    assert seen["reward"] == {"result": "told"}
    for case in ("paused", "unknown", "anonymous", "down"):
        assert seen[case]["value"] == "fallback"
    assert seen["unknown"]["error"] == "FLAG_NOT_FOUND"
    assert seen["anonymous"]["error"] == "TARGETING_KEY_MISSING"
    assert seen["down"]["error"] == "GENERAL"


def test_the_python_client_evaluates_sticks_rewards_and_falls_back(flags, running):
    pytest.importorskip("openfeature.contrib.provider.ofrep", reason="needs openfeature-provider-ofrep")
    from openfeature import api
    from openfeature.contrib.provider.ofrep import OFREPProvider
    from openfeature.evaluation_context import EvaluationContext

    def plain(details):
        error = None if details.error_code is None else details.error_code.value
        reason = getattr(details.reason, "value", details.reason)
        return {
            "value": details.value,
            "variant": details.variant,
            "reason": reason,
            "metadata": dict(details.flag_metadata),
            "error": error,
        }

    def provider(address):
        opened = OFREPProvider(address, headers_factory=lambda: {"Authorization": f"Bearer {running.token}"}, timeout=5)
        opened.session.trust_env = False
        return opened

    used = [provider(running.address), provider("http://127.0.0.1:9")]
    api.set_provider(used[0])
    client, context = api.get_client(), EvaluationContext("user 1", {"plan": "premium"})
    seen = {case: plain(client.get_string_details("checkout", "fallback", context)) for case in ("first", "again")}
    seen["number"] = plain(client.get_integer_details("price", -1, context))
    seen["boolean"] = plain(client.get_boolean_details("banner", False, context))
    for case in ("paused", "unknown"):
        seen[case] = plain(client.get_string_details(case, "fallback", context))
    seen["anonymous"] = plain(client.get_string_details("checkout", "fallback", EvaluationContext(attributes={"plan": "x"})))
    seen["reward"] = flags.post("/experiments/checkout/reward", json={"subject": "user 1", "reward": 1}).json()
    api.set_provider(used[1])
    seen["down"] = plain(api.get_client().get_string_details("checkout", "fallback", context))
    for each in used:
        each.session.close()
    api.clear_providers()
    assert seen["paused"]["reason"] == "DISABLED"
    check_what_a_client_saw(seen, [json.loads(line) for line in flags.get("/experiments/checkout/log").text.splitlines()])


def test_the_javascript_client_evaluates_sticks_rewards_and_falls_back(flags, running):
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("needs Node.js")
    if not (CACHE / "node_modules" / "@openfeature" / "ofrep-provider").is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "package.json", CACHE)
        installing = subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=CACHE, capture_output=True, text=True)
        if installing.returncode:
            pytest.skip("npm could not install the OpenFeature client")
    shutil.copy(HERE / "client.js", CACHE)
    words = ["node", "client.js", running.address, running.token]
    done = subprocess.run(words, cwd=CACHE, capture_output=True, text=True, timeout=NODE_SECONDS)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    for case, details in seen.items():
        if case != "reward":
            details["metadata"], details["error"] = details.pop("flagMetadata", {}), details.pop("errorCode", None)
    check_what_a_client_saw(seen, [json.loads(line) for line in flags.get("/experiments/checkout/log").text.splitlines()])


def test_bulk_evaluation_lists_every_flag_and_is_not_sent_twice(flags):
    body = {"context": {"targetingKey": "user 7"}}
    first = flags.post("/ofrep/v1/evaluate/flags", json=body)
    by_key = {flag["key"]: flag for flag in first.json()["flags"]}
    assert list(by_key) == ["default", "checkout", "price", "banner", "paused"]
    assert by_key["paused"] == {"key": "paused", "reason": "DISABLED", "variant": "off"}
    for key in ("checkout", "price", "banner"):
        assert flags.post(f"/ofrep/v1/evaluate/flags/{key}", json=body).json() == by_key[key]
    tag = first.headers["ETag"]
    for known in (tag, f'"other", {tag}'):
        unchanged = flags.post("/ofrep/v1/evaluate/flags", json=body, headers={"If-None-Match": known})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)
    flags.patch("/experiments/banner", json={"state": "ended", "winner": "true"})
    changed = flags.post("/ofrep/v1/evaluate/flags", json=body, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.json()["flags"][3] == {"key": "banner", "reason": "DISABLED", "variant": "true"}


@pytest.mark.parametrize(
    ("key", "content", "status", "code"),
    [
        ("unknown", b'{"context": {"targetingKey": "u"}}', 404, "FLAG_NOT_FOUND"),
        ("checkout", b'{"context": {}}', 400, "TARGETING_KEY_MISSING"),
        ("checkout", b'{"context": {"targetingKey": ""}}', 400, "TARGETING_KEY_MISSING"),
        ("checkout", b'{"context": {"targetingKey": 7}}', 400, "INVALID_CONTEXT"),
        ("checkout", b'{"context": {"targetingKey": "' + b"x" * 1001 + b'"}}', 400, "INVALID_CONTEXT"),
        ("checkout", b"{}", 400, "PARSE_ERROR"),
        ("checkout", b"{", 400, "PARSE_ERROR"),
    ],
)
def test_errors_have_the_codes_of_the_protocol(flags, key, content, status, code):
    answer = flags.post(f"/ofrep/v1/evaluate/flags/{key}", content=content)
    assert (answer.status_code, answer.json()["key"], answer.json()["errorCode"]) == (status, key, code)
    assert flags.get("/experiments/checkout").json()["decisions"] == 0


def test_experiments_are_managed_over_http(client):
    made = client.post("/experiments", json={"name": "e", "arms": ["a", "b"], "ttl": 60, "baseline": "b"})
    assert made.status_code == 200
    assert {key: made.json()[key] for key in ("state", "ttl", "baseline", "winner")} == {
        "state": "on",
        "ttl": 60.0,
        "baseline": "b",
        "winner": None,
    }
    assert client.post("/experiments", json={"name": "e", "arms": ["a", "b"]}).status_code == 400
    wrong = client.post("/experiments", json={"name": "f", "arms": ["a", "b"], "rule": "nothing"})
    assert (wrong.status_code, "rule must be one of" in wrong.json()["error"]) == (400, True)
    assert [each["name"] for each in client.get("/experiments").json()["experiments"]] == ["default", "e"]
    decision = client.post("/experiments/e/decide", json={"subject": "u"}).json()
    assert client.post("/experiments/e/decide", json={"subject": "u"}).json() == decision
    both = client.post("/experiments/e/reward", json={"subject": "u", "id": 0, "reward": 1})
    assert (both.status_code, "exactly one of" in both.json()["error"]) == (400, True)
    assert client.post("/experiments/e/reward", json={"subject": "u", "reward": 1}).json() == {"result": "told"}
    assert client.post("/experiments/e/reward", json={"id": decision["id"], "reward": 1}).json() == {"result": "duplicate"}
    summary = client.get("/experiments/e/summary").json()
    assert (summary["verdict"], summary["baseline"], sum(arm["rewards"] for arm in summary["arms"])) == ("undecided", "b", 1)
    assert client.patch("/experiments/e", json={"state": "ended", "winner": "a"}).json()["winner"] == "a"
    stopped = client.post("/experiments/e/decide")
    assert (stopped.status_code, stopped.json()["error"]) == (409, "Experiment.ask: the experiment is ended; its winner is 'a'")
    for method, path in (("GET", "/experiments/x"), ("POST", "/experiments/x/decide"), ("GET", "/experiments/x/log")):
        assert client.request(method, path).status_code == 404
    assert client.get("/policy").json()["updates"] == 0
