"""Random interleavings of every call, restarts and kills, against a plain NumPy model of what the agent should be."""

from __future__ import annotations

import itertools
import shutil

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.agent.durable import journaled_agent, ledger, sqlite_file
from logbarrier.engine.random import step_uniforms, stream_key

ALPHA, ETA = 0.5, 20.0
RULE = lb.LogBarrierSGB(learning_rate=ALPHA, eta=ETA)
SEQUENCES, CALLS, PIECES = 500, 24, 4


class Model:
    """Preferences by arm in a dict; every decision remembers its own policy in full."""

    def __init__(self, arms, seed, floor, ttl, default_reward):
        self.theta = dict.fromkeys(((name, 0) for name in arms), 0.0)  # (name, which of that name) -> preference
        self.key, self.floor, self.ttl, self.default_reward = stream_key(seed), floor, ttl, default_reward
        self.pending, self.told, self.asked, self.added = {}, {}, 0, 0
        self.closed_at, self.dropped, self.available = {}, set(), {}

    def softmax(self, arms):
        weights = np.exp([self.theta[arm] - max(self.theta[a] for a in arms) for arm in arms])
        return dict(zip(arms, weights / weights.sum(), strict=True))

    def floored(self, q):
        return {arm: self.floor / len(q) + (1 - self.floor) * p for arm, p in q.items()}

    def policy(self):
        return np.array(list(self.floored(self.softmax(list(self.theta))).values()))

    def ask(self, names, now):
        q = self.softmax([arm for arm in self.theta if names is None or arm[0] in names])
        b = self.floored(q)
        u = step_uniforms(self.asked, 0, self.key)[0]
        arm = list(b)[int(np.searchsorted(np.cumsum(list(b.values())), u, side="right"))]
        self.pending[self.asked] = (arm, q, b[arm], now)
        self.available[self.asked] = {name for name, _ in q}
        self.asked += 1
        return self.asked - 1, arm[0], b[arm]

    def learn(self, arm, q, propensity, reward):
        weight, n = q[arm] / propensity, len(q)
        lift, drain = weight * ALPHA * reward, weight * ALPHA * (reward + n / ETA)
        for other in q:
            if other in self.theta:
                self.theta[other] += lift * (other == arm) - drain * q[other] + (drain - lift) / n

    def tell(self, identity, reward, now):
        arm, q, propensity, _ = self.pending[identity]
        self.learn(arm, q, propensity, reward)
        self.forget(identity, now)
        self.told[identity] = reward

    def forget(self, identity, now):
        del self.pending[identity]
        self.closed_at[identity] = now

    def drop(self, until):
        self.dropped |= {identity for identity, closed_at in self.closed_at.items() if closed_at <= until}

    def observe(self, name, reward, probability):
        arm = next(arm for arm in self.theta if arm[0] == name)
        q = self.softmax(list(self.theta))
        self.learn(arm, q, self.floored(q)[arm] if probability is None else probability, reward)

    def add_arm(self, name, probability):
        p = 1 / (len(self.theta) + 1) if probability is None else probability
        values = np.array(list(self.theta.values()))
        self.added += 1
        self.theta[(name, self.added)] = np.log(np.exp(values - values.max()).sum()) + values.max() + np.log(p / (1 - p))

    def remove_arm(self, name):
        del self.theta[next(arm for arm in self.theta if arm[0] == name)]

    def expire(self, now):
        for identity, (_, _, _, asked_at) in list(self.pending.items()):
            if self.ttl is not None and asked_at < now - self.ttl:
                if self.default_reward is None:
                    self.forget(identity, now)
                else:
                    self.tell(identity, self.default_reward, now)
                    del self.told[identity]


class Walk:
    """One agent, one model, and a generator that decides what happens to both."""

    def __init__(self, path, seed):
        self.random = np.random.default_rng(seed)
        self.now, self.path = 1e6, path
        floor, ttl = self.random.choice([0.0, 0.3]), self.random.choice([None, 5.0])
        default_reward = self.random.choice([None, 0.25])
        arms = ["a", "b", "c", "d"][: self.random.integers(2, 5)]
        options = {"floor": floor, "ttl": ttl, "default_reward": default_reward}
        self.model = Model(arms, seed, **options)
        self.agent = lb.DurableAgent(path, rule=RULE, arms=arms, seed=seed, clock=lambda: self.now, **options)
        self.names = (f"new{i}" for i in itertools.count())

    def reopen(self):
        self.agent = lb.DurableAgent(self.path, clock=lambda: self.now)

    @property
    def ledger(self):
        return self.agent.file.ledgers["default"]

    def kill(self):
        if self.random.random() < 0.5:
            self.ledger.ask()  # begun, not written: it never happened
            self.ledger.drop(self.now)
        self.agent.file._lock.release()
        self.agent.file._closed = True
        self.agent.file._file.connection.close()
        self.reopen()

    def restart(self):
        self.agent.close()
        self.reopen()

    def arm(self):
        return str(self.random.choice(self.agent.arms))

    def ask(self):
        names = None
        if self.random.random() < 0.4:
            size = self.random.integers(1, len(self.agent.arms) + 1)
            names = [str(name) for name in self.random.choice(self.agent.arms, size=size, replace=False)]
        identity, arm, probability = self.agent.ask(names)
        assert (identity, arm, pytest.approx(probability, abs=1e-12)) == self.model.ask(names, self.ledger._time)

    def tell(self):
        if self.agent.pending:
            identity, reward = int(self.random.choice(self.agent.pending)), float(self.random.normal())
            assert self.agent.tell(identity, reward) == "told"
            self.model.tell(identity, reward, self.ledger._time)

    def tell_again(self):
        for identity in list(self.model.told)[-1:]:
            if identity in self.model.dropped:
                with pytest.raises(ledger.SettledError, match="its record was dropped"):
                    self.agent.tell(identity, self.model.told[identity])
                continue
            assert self.agent.tell(identity, self.model.told[identity]) == "duplicate"
            with pytest.raises(ledger.SettledError):
                self.agent.tell(identity, self.model.told[identity] + 1)

    def observe(self):
        arm, probability = self.arm(), self.random.choice([None, 0.4])
        self.agent.observe(arm, 0.5, probability=probability)
        self.model.observe(arm, 0.5, probability)

    def forget(self):
        if self.agent.pending:
            identity = int(self.random.choice(self.agent.pending))
            self.agent.forget(identity)
            self.model.forget(identity, self.ledger._time)

    def compact(self):
        keep = float(self.random.choice([0.0, 2.0, 10.0]))
        assert self.agent.pending is not None  # what is due is closed first
        self.model.expire(self.ledger._now())
        self.agent.compact(keep=keep)
        self.model.drop(self.ledger._now() - keep)

    def add_arm(self):
        name = next(self.names) if self.random.random() < 0.7 or "a" in self.agent.arms else "a"
        probability = self.random.choice([None, 0.05])
        self.agent.add_arm(name, probability=probability)
        self.model.add_arm(name, probability)

    def remove_arm(self):
        if len(self.agent.arms) > 2:
            arm = self.arm()
            self.agent.remove_arm(arm)
            self.model.remove_arm(arm)

    def wait(self):
        self.now += float(self.random.choice([0.5, 3.0, 20.0, -100.0]))

    def step(self):
        calls = [self.ask] * 6 + [self.tell] * 5 + [self.observe, self.forget, self.add_arm, self.remove_arm, self.wait]
        calls += [self.tell_again, self.compact, self.restart, self.kill]
        call = calls[self.random.integers(len(calls))]
        call()
        self.check()

    def check(self):
        assert self.agent.pending is not None  # a call, so that what is due is closed
        self.model.expire(self.ledger._now())
        assert self.agent.arms == tuple(name for name, _ in self.model.theta)
        assert self.agent.pending == tuple(self.model.pending)
        assert np.abs(self.agent.policy - self.model.policy()).max() <= 1e-12


@pytest.mark.parametrize("piece", range(PIECES))
def test_any_interleaving_is_what_the_model_says(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")  # kills here end no process
    monkeypatch.setattr(journaled_agent, "EVENTS_PER_SNAPSHOT", 8)
    monkeypatch.setattr(journaled_agent, "BYTES_PER_EVENT", 1000)
    monkeypatch.setattr(journaled_agent, "DROPPED_AT_ONCE", 2)
    for seed in range(piece, SEQUENCES, PIECES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        walk = Walk(folder / "agent.db", seed)
        for _ in range(CALLS):
            walk.step()
        replayed = walk.agent.replayed()
        assert replayed.state_dict() == walk.agent.state_dict()
        logged = {row["id"]: set(row["available"]) for row in walk.agent.log()}
        assert logged == {i: names for i, names in walk.model.available.items() if i not in walk.model.dropped}
        walk.agent.close()
        shutil.rmtree(folder)
