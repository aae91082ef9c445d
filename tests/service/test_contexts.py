"""Contexts over HTTP."""

from __future__ import annotations

FEATURES = {"device": ["phone", "desktop"], "age": "number"}


def test_an_experiment_with_features_decides_by_context(client):
    made = client.post("/experiments", json={"name": "shop", "arms": ["a", "b"], "features": FEATURES})
    assert made.json()["features"] == FEATURES
    for i in range(60):
        device = "phone" if i % 2 else "desktop"
        decision = client.post("/experiments/shop/decide", json={"context": {"device": device, "age": i}}).json()
        reward = float((decision["arm"] == "a") == (device == "phone"))
        assert client.post("/experiments/shop/reward", json={"id": decision["id"], "reward": reward}).status_code == 200
    refused = client.post("/experiments/shop/decide", json={"context": {"device": "watch"}})
    assert (refused.status_code, "must be one of phone, desktop" in refused.json()["error"]) == (400, True)
    segments = client.post("/experiments/shop/segments", json={"feature": "device"}).json()["segments"]
    assert {arm["arm"]: arm["decisions"] for arm in segments["phone"]["arms"]}.keys() == {"a", "b"}
    assert sum(arm["decisions"] for arm in segments["phone"]["arms"]) == 30
    assert "chosen by context" in client.get("/experiments/shop/summary").json()["sentence"]
    assert "chosen by context" in client.get("/experiments/shop/picture").text
    assert client.get("/experiments/shop/policy").status_code == 200
    assert client.get("/metrics").status_code == 200


def test_openfeature_attributes_become_features(client):
    client.post("/experiments", json={"name": "shop", "arms": ["a", "b"], "features": FEATURES})
    context = {"targetingKey": "user 1", "device": "phone", "plan": "unknown to the experiment"}
    answer = client.post("/ofrep/v1/evaluate/flags/shop", json={"context": context})
    assert answer.json()["value"] in ("a", "b")
    (line,) = client.get("/experiments/shop/log").text.splitlines()
    assert '"context": {"device": "phone"}' in line or '"context":{"device":"phone"}' in line
    wrong = client.post("/ofrep/v1/evaluate/flags/shop", json={"context": {"targetingKey": "u", "age": "old"}})
    assert (wrong.status_code, wrong.json()["errorCode"]) == (400, "INVALID_CONTEXT")


def test_an_experiment_with_actions_draws_one_of_those_offered(client):
    made = client.post("/experiments", json={"name": "items", "actions": 2})
    assert (made.json()["actions"], made.json()["arms"]) == (2, [])
    chosen = []
    for i in range(150):
        offered = {f"item {i}": [1.0, 0.0], f"item {i + 1}": [0.0, 1.0]}
        decision = client.post("/experiments/items/decide", json={"actions": offered}).json()
        chosen.append(offered[decision["arm"]][1])
        client.post("/experiments/items/reward", json={"id": decision["id"], "reward": chosen[-1]})
    assert sum(chosen[-50:]) > 45
    for body, sentence in (
        ({}, "actions must be rows of 2 numbers"),
        ({"actions": {"a": [1.0]}}, "actions must be rows of 2 numbers"),
        ({"actions": {"a": "x"}}, "actions must be an object"),
    ):
        refused = client.post("/experiments/items/decide", json=body)
        assert (refused.status_code, sentence in refused.json()["error"]) == (400, True)
    assert client.post("/experiments", json={"name": "none"}).status_code == 400
    assert client.get("/experiments/items/summary").status_code == 400
    for page in ("/experiments", "/metrics", "/experiments/items/log", "/experiments/items/policy"):
        assert client.get(page).status_code == 200
