"""The service: every call over HTTP, its refusals, its limits, its description."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import logbarrier as lb
from logbarrier.agent.durable.wal import is_wal_empty
from logbarrier.base.addresses import is_local
from logbarrier.service.app import description, make_app
from logbarrier.service.calls import LARGEST_BODY
from logbarrier.service.server import token_beside


def test_decide_and_reward_are_those_of_an_agent_in_memory(client, agent):
    twin = lb.Agent(agent.file.ledgers["default"].agent.rule, arms=["a", "b", "<i>c"], seed=0)
    for t in range(20):
        ours, theirs = client.post("/decide").json(), twin.ask()
        assert ours == {"id": theirs.id, "arm": theirs.arm, "probability": theirs.probability}
        assert client.post("/reward", json={"id": ours["id"], "reward": t % 3}).json() == {"result": "told"}
        twin.tell(theirs, t % 3)
    assert client.get("/policy").json()["policy"] == twin.policy.tolist()


def test_a_reward_counts_once(client):
    identity = client.post("/decide", json={"available": ["a", "b"]}).json()["id"]
    answers = [client.post("/reward", json={"id": identity, "reward": reward}) for reward in (1, 1.0, 2)]
    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert [answer.json() for answer in answers[:2]] == [{"result": "told"}, {"result": "duplicate"}]
    assert answers[2].json() == {"error": "DurableAgent.tell: decision 0 was told 1.0 already, got 2.0"}


def test_forgetting_again_changes_nothing_and_a_decision_with_a_reward_is_not_forgotten(client, agent):
    first, second = (client.post("/decide").json()["id"] for _ in range(2))
    answers = [client.post("/forget", json={"id": first}) for _ in range(2)]
    assert [answer.json() for answer in answers] == [{"result": "forgotten"}, {"result": "duplicate"}]
    assert [answer.status_code for answer in answers] == [200, 200]
    client.post("/reward", json={"id": second, "reward": 1})
    state = agent.state_dict()
    refused = client.post("/forget", json={"id": second})
    assert refused.status_code == 409
    assert refused.json() == {"error": "DurableAgent.forget: decision 1 was told 1.0 already"}
    assert agent.state_dict() == agent.replayed().state_dict() == state


def test_false_is_not_the_arm_zero(client):
    client.post("/arms", json={"arm": 0})
    assert client.post("/arms/remove", json={"arm": False}).status_code == 400
    assert client.get("/arms").json() == {"arms": ["a", "b", "<i>c", 0]}


def test_the_scheme_of_the_token_is_in_any_case(client, running):
    for scheme in ("bearer", "BEARER", "Bearer "):
        assert client.get("/arms", headers={"Authorization": f"{scheme} {running.token}"}).status_code == 200
    for wrong in (f"Bearer{running.token}", "bearer", f"bearer {running.token.upper()}"):
        assert client.get("/arms", headers={"Authorization": wrong}).status_code == 401


def test_arms_come_and_go(client):
    assert client.post("/arms", json={"arm": "d", "probability": 0.1}).json() == {"arms": ["a", "b", "<i>c", "d"]}
    assert client.get("/policy").json()["policy"][3] == pytest.approx(0.1, rel=1e-12)
    assert client.post("/arms/remove", json={"arm": "a"}).json() == {"arms": ["b", "<i>c", "d"]}
    assert client.get("/arms").json() == {"arms": ["b", "<i>c", "d"]}
    assert client.post("/observe", json={"arm": "d", "reward": 1, "probability": 0.5}).json() == {"result": "observed"}
    assert client.post("/forget", json={"id": client.post("/decide").json()["id"]}).json() == {"result": "forgotten"}


WRONG_REQUESTS = [
    ("/reward", b'{"id": 7, "reward": 1}', 404, "decision 7 was never asked"),
    ("/reward", b'{"id": 99999999999999999999, "reward": 1}', 404, "decision 99999999999999999999 was never asked"),
    ("/reward", b'{"id": true, "reward": 1}', 400, "id must be a whole number of at least 0, got true"),
    ("/reward", b'{"id": -1, "reward": 1}', 400, "id must be a whole number of at least 0, got -1"),
    ("/reward", b'{"id": 0.5, "reward": 1}', 400, "id must be a whole number of at least 0, got 0.5"),
    ("/forget", b'{"id": 0}', 404, "decision 0 was never asked"),
    ("/reward", b'{"id": 0, "reward": NaN}', 400, "reward must be finite"),
    ("/reward", b'{"id": 0, "reward": "1"}', 400, "reward must be a number"),
    ("/reward", b'{"id": 0}', 400, "the body lacks the field 'reward'"),
    ("/reward", b'{"id": 0, "reward": 1, "more": 2}', 400, "unknown field 'more'"),
    ("/reward", b"[0, 1]", 400, "the body must be a JSON object"),
    ("/reward", b"{", 400, "the body must be JSON"),
    ("/reward", b"\xff\xfe", 400, "the body must be JSON"),
    ("/reward", b"[" * 60_000, 400, "the body must be JSON"),
    ("/decide", b'{"available": "a"}', 400, "available must be a list of arms"),
    ("/decide", b'{"available": [["a"]]}', 400, "available must be a list of arms"),
    ("/decide", b'{"available": null}', 400, "available must be a list of arms, got null"),
    ("/observe", b'{"arm": "a", "reward": 1, "probability": null}', 400, "probability must be a number, got null"),
    ("/observe", b'{"arm": "a", "reward": true}', 400, "reward must be a number, got true"),
    ("/decide", b'{"available": []}', 400, "available must name at least one arm"),
    ("/arms", b'{"arm": null}', 400, "arm must be a string or a number, got null"),
    ("/arms", b'{"arm": NaN}', 400, "the name of an arm must be a string or a finite number"),
    ("/arms", b'{"arm": "d", "probability": null}', 400, "probability must be a number, got null"),
    ("/arms/remove", b'{"arm": false}', 400, "arm must be a string or a number, got false"),
    ("/arms", b'{"arm": "a"}', 400, "arm 'a' exists already"),
    ("/arms", b'{"arm": "\\ud800"}', 400, "the name of an arm must be text that UTF-8 can hold"),
    ("/decide", b" " * (LARGEST_BODY + 1), 413, "at most 65536 bytes"),
]


def test_wrong_requests_are_refused_in_one_sentence_and_change_nothing(client, agent):
    before = agent.state_dict()
    for path, content, status, message in WRONG_REQUESTS:
        answer = client.post(path, content=content)
        assert (answer.status_code, message in answer.json()["error"]) == (status, True), (path, content, answer.json())
        assert agent.state_dict() == before


def test_the_wrong_method_is_told_the_right_ones(client):
    answer = client.get("/decide")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert answer.json() == {"error": "service: /decide takes POST, got GET"}
    assert client.put("/arms").headers["Allow"] == "GET, POST"
    nowhere, log = client.get("/nowhere"), client.post("/log")
    assert (nowhere.status_code, nowhere.json()) == (404, {"error": "service: there is nothing at /nowhere"})
    assert (log.status_code, log.json()) == (405, {"error": "service: /log does not take POST"})


def test_a_load_balancer_may_ask_for_the_head_of_health(client):
    answer = client.head("/health")
    assert (answer.status_code, answer.content) == (200, b"")


def test_without_the_token_nothing_but_health_is_answered(client):
    for path, methods in description()["paths"].items():
        for method in methods:
            for header in ({"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}):
                answer = client.request(method.upper(), path, headers=header)
                assert answer.status_code == (200 if path == "/health" else 401)
                assert path == "/health" or answer.headers["WWW-Authenticate"] == "Bearer"


def test_an_empty_token_is_refused(agent):
    with pytest.raises(ValueError, match="token must not be empty"):
        make_app(agent.file, "")


def test_the_description_has_every_route_and_no_other(client, running):
    calls = {(method.lower(), path) for path, methods in running.app.table.items() for method in methods}
    routes = calls | {("get", route.path) for route in running.app.texts.routes}
    described = {(method, path) for path, methods in client.get("/openapi.json").json()["paths"].items() for method in methods}
    of_the_page = {
        ("get", path) for path in ("/", "/page.css", "/page.js", "/overview", "/experiments/{name}/picture", "/openapi.json")
    }
    assert routes == described | of_the_page


def test_the_log_is_json_lines_with_propensities(client, agent):
    for _ in range(3):
        client.post("/decide")
    client.post("/reward", json={"id": 1, "reward": 0.5})
    rows = [json.loads(line) for line in client.get("/log").text.splitlines()]
    assert rows == list(agent.log())
    assert [json.loads(line)["id"] for line in client.get("/log?after=0").text.splitlines()] == [1, 2]
    for query in ("after=x", "after=--1", "after=", "after=1&after=2", "aftr=1", "after=9007199254740992"):
        assert client.get(f"/log?{query}").status_code == 400
    assert client.get("/log?after=-1").text == client.get("/log").text


def test_metrics_are_prometheus_text(client):
    client.post("/arms", json={"arm": 'quote " and \\'})
    for _ in range(2):
        client.post("/reward", json={"id": client.post("/decide").json()["id"], "reward": 1})
    client.post("/reward", json={"id": 0, "reward": 1})
    text = client.get("/metrics").text
    for line in text.splitlines():
        assert re.fullmatch(
            r'# (HELP|TYPE) logbarrier_\w+ .+|logbarrier_\w+(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? [0-9.e+-]+', line
        ), line
    assert "logbarrier_decisions_total 2\n" in text
    assert 'logbarrier_rewards_total{result="told"} 2\n' in text
    assert 'logbarrier_rewards_total{result="duplicate"} 1\n' in text
    assert r'arm="quote \" and \\"' in text


def test_every_arm_has_a_series_of_its_own(client):
    for arm in ("1", 1, 2.5):
        client.post("/arms", json={"arm": arm})
    lines = [line for line in client.get("/metrics").text.splitlines() if line.startswith("logbarrier_arm_probability")]
    series = dict(line.rsplit(" ", 1) for line in lines)
    shown = [
        float(series[f'logbarrier_arm_probability{{experiment="default",{labels}}}'])
        for labels in ('arm="1"', 'arm="1",type="number"')
    ]
    assert shown == client.get("/policy").json()["policy"][3:5]
    assert len(series) == len(lines) == 6


def test_many_clients_share_writes_and_count_once(client, agent):
    commits = []
    journal = agent.file.ledgers["default"]._journal
    write = journal.write
    journal.write = lambda events, **rest: (commits.append(len(events)), write(events, **rest))[1]

    def work(_):
        decision = client.post("/decide").json()
        return decision["id"], client.post("/reward", json={"id": decision["id"], "reward": 1}).json()["result"]

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(work, range(40)))
    assert sorted(identity for identity, _ in done) == list(range(40))
    assert {result for _, result in done} == {"told"}
    assert sum(commits) == 80
    assert (agent.replayed().policy == agent.policy).all()


@pytest.mark.parametrize("keep", [0.0])
def test_what_was_closed_long_ago_is_dropped_while_serving(client):
    answers = [client.post("/decide").json()["id"] for _ in range(3)]
    client.post("/reward", json={"id": answers[1], "reward": 1})

    def logged():
        return [json.loads(line)["id"] for line in client.get("/log").text.splitlines()]

    deadline = time.monotonic() + 30
    while logged() != [0, 2]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    refused = client.post("/reward", json={"id": 1, "reward": 1})
    assert refused.status_code == 409
    assert "its record was dropped" in refused.json()["error"]


def test_the_write_ahead_log_is_empty_after_an_idle_second(client, agent):
    client.post("/decide", json={})
    until = time.monotonic() + 30
    while not is_wal_empty(agent.path) and time.monotonic() < until:
        time.sleep(0.05)
    assert is_wal_empty(agent.path)
    assert client.post("/decide", json={}).json()["id"] == 1


def test_a_full_disk_is_told_and_nothing_is_done(client, agent):
    agent.file._file.connection.execute("PRAGMA max_page_count = 1")
    before = agent.file.ledgers["default"].agent.state_dict()
    names = [f"a long name {i} " * 300 for i in range(4)]
    answers = [client.post("/arms", json={"arm": name}) for name in names]
    assert answers[0].status_code == 503
    assert "database or disk is full" in answers[0].json()["error"]
    assert client.post("/arms/remove", json={"arm": names[1]}).status_code == 200  # the limit went with the connection
    assert before["asked"] == 0
    assert names[0] not in client.get("/arms").json()["arms"]


def test_an_experiment_that_cannot_be_read_is_unavailable_and_listed(client, agent):
    agent.file.unreadable["titles"] = "its rule is not given"
    refused = client.post("/experiments/titles/decide", json={})
    assert refused.status_code == 503
    assert refused.json() == {"error": "Experiments: experiment 'titles' cannot be read: its rule is not given"}
    assert client.get("/experiments").json()["unreadable"] == {"titles": "its rule is not given"}
    assert client.post("/decide", json={}).status_code == 200


def test_the_token_is_made_once_and_for_its_owner_alone(tmp_path):
    token, file = token_beside(tmp_path / "agent.db")
    assert len(token) > 40
    assert file.stat().st_mode & 0o777 == 0o600
    assert token_beside(tmp_path / "agent.db") == (token, file)
    file.write_text("")
    with pytest.raises(ValueError, match="is empty"):
        token_beside(tmp_path / "agent.db")


def test_only_loopback_is_local():
    assert [is_local(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1")] == [True] * 3 + [False] * 2


def test_the_command_serves_until_it_is_stopped(tmp_path):
    command = [sys.executable, "-m", "logbarrier", "serve", str(tmp_path / "agent.db"), "--port", "0"]
    words = ["--arms", "a,b", "--rule", "sgb", "--learning-rate", "0.1"]
    environment = {**os.environ, "LOGBARRIER_TOKEN": "word"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command + words, env=environment, **pipes)
    try:
        address = json.loads(process.stdout.readline())["address"]
        assert address.startswith("http://127.0.0.1:")
        headers = {"Authorization": "Bearer word"}
        assert httpx.post(f"{address}/decide", headers=headers, trust_env=False).json()["arm"] in ("a", "b")
        second = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        assert (second.returncode, second.stdout) == (2, "")
        assert re.fullmatch(r"logbarrier: DurableAgent: .*agent.db is in use by process \d+; .*\n", second.stderr)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    assert all(set(json.loads(line)) == {"time", "level", "message"} for line in errors.splitlines())
    assert not (tmp_path / "agent.db.token").exists()
    with lb.DurableAgent(tmp_path / "agent.db") as agent:
        assert agent.pending == (0,)
