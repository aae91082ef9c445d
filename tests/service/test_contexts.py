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
