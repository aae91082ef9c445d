"""Contextual experiments in a file: exactly once, replayed to the bit, with contexts in the log."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.agent.durable import sqlite_file

FEATURES = {"age": "number", "device": ["phone", "desktop"], "country": "category"}
WORKER = """
import sys, numpy as np, logbarrier as lb
path, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
agent = lb.DurableAgent(path)
for identity in agent.pending:
    agent.tell(identity, 0.5)
while True:
    decision = agent.ask(context=rng.normal(size=4))
    print("asked", decision.id, repr(decision.probability), flush=True)
    if rng.random() < 0.8:
        agent.tell(decision, float(rng.normal()))
        print("told", decision.id, flush=True)
"""


def test_kills_lose_nothing_and_the_replay_equals_the_agent_to_the_bit(tmp_path):
    path, rng = tmp_path / "agent.db", random.Random(0)
    lb.DurableAgent(path, arms=["a", "b", "c"], features=4).close()
    asked, told = {}, set()
    for kill in range(4):
        worker = subprocess.Popen([sys.executable, "-c", WORKER, path, str(kill)], stdout=subprocess.PIPE, text=True)
        for _ in range(rng.randrange(30, 120)):
            words = worker.stdout.readline().split()
            if words[0] == "asked":
                asked[int(words[1])] = float(words[2])
            else:
                told.add(int(words[1]))
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()
    with lb.DurableAgent(path) as agent:
        assert agent.replayed().state_dict() == agent.state_dict()
        log = {row["id"]: row for row in agent.log()}
        assert agent.asked == len(log)
    assert {identity: log[identity]["probability"] for identity in asked} == asked
    assert all(log[identity]["outcome"] == "told" for identity in told)
    assert all(len(row["context"]) == 4 for row in log.values())


def test_an_experiment_with_features_restarts_summarises_segments_and_is_evaluated_off_policy(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")
    path, rng = tmp_path / "decisions.db", np.random.default_rng(0)
    with lb.Experiments(path) as experiments:
        shop = experiments.create("shop", arms=["a", "b"], features=FEATURES, floor=0.2, ttl=1e6)
        for i in range(400):
            phone = bool(rng.random() < 0.5)
            context = {"age": float(rng.normal(40, 10)), "device": "phone" if phone else "desktop", "country": f"c{i % 3}"}
            decision = shop.ask(context=context, subject=f"user {i}")
            shop.tell(decision, float((decision.arm == "a") == phone))
        assert shop.ask(subject="user 1").id == 1
        shop.observe("a", 1.0, context={"device": "phone", "age": np.float64("nan")})
        state = shop.state_dict()
        segments = shop.segments("device")
    with lb.Experiments(path) as experiments:
        shop = experiments["shop"]
        assert shop.state_dict() == state == shop.replayed().state_dict()
        rows = list(shop.log())
    verdicts = {name: (summary.verdict, summary.leader) for name, summary in segments.items()}
    assert verdicts == {"phone": ("winner", "a"), "desktop": ("winner", "b")}
    log = lb.Log.from_rows(rows)
    best = lb.doubly_robust(log, lambda context: "a" if context["device"] == "phone" else "b", features=FEATURES)
    assert best.low <= 1.0 <= best.high + 0.02
    assert lb.inverse_propensity(log, {"a": 1.0}).low < 0.5 < lb.inverse_propensity(log, {"a": 1.0}).high + 0.1


def test_contexts_where_there_are_none_and_none_where_there_must_be_get_one_sentence(tmp_path):
    with lb.Experiments(tmp_path / "decisions.db") as experiments:
        plain = experiments.create("plain", arms=["a", "b"])
        shop = experiments.create("shop", arms=["a", "b"], features=FEATURES)
        for call, message in (
            (lambda: plain.ask(context={"age": 3}), "context must be left out"),
            (lambda: shop.ask(), "context must be a dict"),
            (lambda: shop.ask(context={"agee": 3}), "did you mean age"),
            (lambda: shop.add_arm("c", probability=0.1), "probability must be left out"),
            (
                lambda: experiments.create("x", arms=["a", "b"], features=2, rule=lb.SGB(learning_rate=0.1)),
                "rule must be left out",
            ),
        ):
            with pytest.raises((ValueError, TypeError), match=message):
                call()
        assert shop.asked == plain.asked == 0


def test_offered_actions_are_in_the_journal_and_replay_to_the_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")
    path, rng = tmp_path / "decisions.db", np.random.default_rng(0)
    alone = lb.ContextualAgent(actions=3, features=2, seed=4)
    with lb.Experiments(path) as experiments:
        items = experiments.create("items", actions=3, features=2, seed=4)
        for i in range(120):
            x, table = rng.normal(size=2), rng.normal(size=(7, 3)).astype(np.float32)
            actions = table if i % 2 else {f"item {i}": row for i, row in enumerate(table)}
            decision = items.ask(context=x, actions=actions)
            assert decision == alone.ask(x, actions=actions)
            if i % 4:
                items.tell(decision, float(x[0]))
                alone.tell(decision, float(x[0]))
        items.observe(table[0], 1.0, context=x)
        first = items.ask(context=x, actions={"a": table[0], "b": table[1]}, subject="u")
        assert items.ask(context=x, actions={"a": table[0], "b": table[2]}, subject="u") == first
        assert items.ask(context=x, actions={"c": table[0]}, subject="u").arm == "c"
        state = items.state_dict()
        with pytest.raises(ValueError, match="has no arms"):
            items.summary()
    with lb.Experiments(path) as experiments:
        items = experiments["items"]
        assert items.state_dict() == state == items.replayed().state_dict()
        row = next(items.log())
    assert (row["available"], np.shape(row["actions"]), row["arm_set"]) == ([f"item {i}" for i in range(7)], (7, 3), None)


def test_wrong_actions_get_one_sentence_and_change_nothing(tmp_path):
    with lb.Experiments(tmp_path / "decisions.db") as experiments:
        items, plain = experiments.create("items", actions=2), experiments.create("plain", arms=["a", "b"])
        before = items.state_dict()
        for call, message in (
            (lambda: items.ask(), "actions must be rows of 2 numbers"),
            (lambda: items.ask(actions=[]), "actions must be rows of 2 numbers"),
            (lambda: items.ask(actions={"a": [1.0]}), "actions must be rows of 2 numbers"),
            (lambda: items.ask(actions={"a": [1.0, 2.0], ("b",): [1.0, 2.0]}), "must be a string or a finite number"),
            (lambda: items.ask(actions=[[1.0, float("nan")]]), "actions must be"),
            (lambda: items.ask(actions=5), "actions must be rows of numbers"),
            (lambda: plain.ask(actions=[[1.0, 2.0]]), "actions must be left out"),
            (lambda: experiments.create("x", arms=["a", "b"], actions=2), "give either arms or actions"),
            (lambda: experiments.create("x"), "give either arms or actions"),
        ):
            with pytest.raises((ValueError, TypeError), match=message):
                call()
        assert items.state_dict() == before
        assert plain.asked == 0
