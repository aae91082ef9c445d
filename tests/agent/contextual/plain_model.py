"""The model of a contextual agent, written plainly: every matrix is inverted again, every sum is taken from the start."""

from __future__ import annotations

import numpy as np

RIDGE, OPTIMISM, PRICE, FIRST = 2.0, 1.0, 0.03, 64
LIFE, THRESHOLD, DISPUTED_SHARE, AGE_SHARE = 128, 15.0, 0.25, 0.25


class PlainMemory:
    def __init__(self):
        self.rows, self.mean, self.noise, self.loss, self.evidence = [], 0.0, 0.0, 0.0, 0.0
        self.disputes = []  # for each reward of an arm that the long memory prefers

    def weights(self, arm, size):
        x = np.array([x for a, x, _ in self.rows if a == arm]).reshape(-1, size)
        r = np.array([r for a, _, r in self.rows if a == arm])
        A = RIDGE * np.eye(size) + x.T @ x
        return A, x, r

    def predicted(self, arm, x, mean):
        A, rows, r = self.weights(arm, len(x))
        return mean + x @ np.linalg.solve(A, rows.T @ (r - mean)), x @ np.linalg.solve(A, x)

    def observe(self, arm, x, reward):
        mean = self.mean if self.rows else reward
        value, q = self.predicted(arm, x, mean)
        error = reward - value
        self.rows.append((arm, x, reward))
        n = len(self.rows)
        self.mean = np.mean([r for _, _, r in self.rows])
        if n > 1:
            self.noise += 2 / (n + 1) * (error**2 / (1 + q) - self.noise)
            self.loss += 2 / (n + 1) * (error**2 - self.loss)
        return error, q


class PlainModel:
    """seen: raw contexts in order; pending: id -> (arm, index among the seen); rewarded: [(arm, index, reward)]."""

    def __init__(self, n_arms):
        self.arms, self.seen, self.pending, self.rewarded, self.restarts = list(range(n_arms)), [], {}, [], 0
        self.scale, self.long, self.candidate = 1.0, PlainMemory(), PlainMemory()

    def context(self, index):
        return np.concatenate([[1.0], self.seen[index] / self.scale])

    def see(self, raw):
        self.seen.append(raw)
        n = len(self.seen)
        if n <= FIRST and n in (1, 2, 4, 8, 16, 32, 64):
            self.scale = np.sqrt(np.mean(np.square(self.seen)))
            self.long, self.candidate = PlainMemory(), PlainMemory()
            for arm, index, reward in self.rewarded:
                self.learn(arm, index, reward)

    def policy(self, raw, arms):
        x = np.concatenate([[1.0], raw / self.scale])
        upper, errors = [], []
        for arm in arms:
            value, _ = self.long.predicted(arm, x, self.long.mean)
            B = self.long.weights(arm, len(x))[0]
            for other, index in self.pending.values():
                if other == arm:
                    B = B + np.outer(self.context(index), self.context(index))
            errors.append(np.sqrt(self.long.noise * (x @ np.linalg.solve(B, x))))
            upper.append(value + OPTIMISM * errors[-1])
        upper = np.array(upper)
        paid = PRICE * errors[int(np.argmax(upper))]
        gaps = (upper.max() - upper) * (len(arms) / paid if paid > 0 else 0.0)
        low, high = 1.0, float(len(arms))
        for _ in range(54):
            middle = (low + high) / 2
            low, high = (middle, high) if np.sum(1 / (middle + gaps)) > 1 else (low, middle)
        return 1 / (low + gaps)

    def tell(self, identity, reward):
        arm, index = self.pending.pop(identity)
        self.rewarded.append((arm, index, reward))
        self.learn(arm, index, reward)

    def learn(self, arm, index, reward):
        if arm not in self.arms:
            return
        x, loss, long, candidate = self.context(index), self.long.loss, self.long, self.candidate
        other = max(long.predicted(each, x, long.mean)[0] for each in self.arms if each != arm)
        error, _ = long.observe(arm, x, reward)
        own, q = candidate.observe(arm, x, reward)
        if reward - error >= other - 1e-12:
            candidate.disputes.append(reward - own < other - 1e-12)
            if candidate.disputes[-1] and loss > 0:
                candidate.evidence += min((error**2 - own**2) / (2 * loss * (1 + q)), 1.0)
        is_sound = sum(candidate.disputes) >= DISPUTED_SHARE * len(candidate.disputes)
        is_sound = is_sound and len(candidate.rows) <= AGE_SHARE * len(long.rows)
        if is_sound and candidate.evidence > THRESHOLD:
            self.long, self.candidate, self.restarts = candidate, PlainMemory(), self.restarts + 1
        elif len(candidate.rows) >= LIFE and not (is_sound and candidate.evidence > 0):
            self.candidate = PlainMemory()
