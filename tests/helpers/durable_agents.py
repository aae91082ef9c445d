"""What several tests of durable agents need."""

from __future__ import annotations

import logbarrier as lb

RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)
ARMS = ["a", "b", "c"]


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


def made(path, **options):
    return lb.DurableAgent(path, rule=RULE, arms=ARMS, **options)


def abandoned(agent):
    """What a kill leaves: the lock is dropped, nothing is closed."""
    agent.file._lock.release()
    agent.file._closed = True
