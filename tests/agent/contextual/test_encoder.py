"""Contexts as vectors: what each odd value becomes."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.agent.contextual.encoder import HASHED, ONE_HOT, NamedEncoder

FEATURES = {"age": "number", "member": "boolean", "country": "category", "device": ["phone", "desktop"]}


def test_a_missing_number_counts_as_the_mean_of_the_first_64():
    rng, agent = np.random.default_rng(0), lb.ContextualAgent(n_arms=2, features={"age": "number"}, seed=0)
    ages = rng.normal(40.0, 10.0, size=200)
    for age in ages:
        agent.tell(agent.ask({"age": float(age)}), float(age > 40))
    values = [agent.predict({"age": age})[0] for age in (None, float("nan"), float(ages[:64].mean()))]
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_allclose(values[0], values[2], rtol=1e-9)
    np.testing.assert_array_equal(agent.predict({})[0], values[0])
    far = agent.predict({"age": 1e9})[0]
    np.testing.assert_array_equal(far, agent.predict({"age": 40.0 + 10.0 * 50})[0])  # both are cut


def test_entries_of_booleans_and_categories():
    encoder = NamedEncoder("test", {name: FEATURES[name] for name in ("member", "country", "device")})
    words = [f"c{i}" for i in range(ONE_HOT)]
    for i, word in enumerate(words):
        vector = encoder.encode({"member": True, "country": word, "device": "desktop"})
        expected = np.zeros(1 + ONE_HOT + HASHED + 3)
        expected[[0, 1 + i, 1 + ONE_HOT + HASHED + 1]] = 1.0
        np.testing.assert_array_equal(vector, expected)
    late = encoder.encode({"member": False, "country": "new"})
    shared = ONE_HOT + zlib.crc32(b"new") % HASHED
    assert np.flatnonzero(late[1:]).tolist() == [shared, ONE_HOT + HASHED + 2]  # a hash; device is missing
    assert (late[0], encoder.encode({})[0]) == (-1.0, 0.0)
    assert encoder.encode({"country": 7})[1:].tolist() == encoder.encode({"country": "7"})[1:].tolist()


@pytest.mark.parametrize("context", [{"age": True}, {"age": "31"}, {"member": "yes"}, {"member": 1.0}, {"country": True}])
def test_a_changed_type_is_refused(context):
    with pytest.raises(TypeError, match=f"{next(iter(context))} must be"):
        NamedEncoder("test", FEATURES).encode(context)
