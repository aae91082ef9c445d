"""Families of problems: a fresh instance for every run, from random numbers that depend on seed, run and arm alone."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np

from ...base import validate
from ...engine.compiled import compiled, from_python
from ...engine.random import INSTANCE, philox, stream_key, uniform
from .bandit import Bandit


class Family:
    """The base of families. Subclasses name the distribution and draw its parameters, in `instance`.

    bandit  the class of an instance, such as GaussianBandit

    A subclass keeps in its attributes the arguments that make it again, which studies need. Run number i of a seed faces the
    same instance whatever the rule.
    """

    bandit: ClassVar[type[Bandit]]
    noise: Any
    reward_of: Any
    n_arms: int

    def __init_subclass__(cls) -> None:
        cls.noise, cls.reward_of = staticmethod(cls.bandit.noise), staticmethod(cls.bandit.reward_of)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (P, K) that run number `run` faces; row 0 holds the mean rewards."""
        raise NotImplementedError

    def problem(self, seed: int, run: int) -> Bandit:
        """Return the instance that run number `run` of `seed` faces, as a problem in itself."""
        owner = f"{type(self).__name__}.problem"
        key = stream_key(validate.integer(owner, "seed", seed, 0))
        return self.bandit.of(self.instance(key, validate.integer(owner, "run", run, 0, 2**32 - 1)))

    def arguments(self) -> dict[str, Any]:
        """Return plain JSON values that make it again."""
        return dict(vars(self))

    def to_dict(self) -> dict[str, Any]:
        """Return what a record keeps of it."""
        return {"problem": type(self).__name__, **self.arguments()}

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={getattr(self, name):g}" for name in inspect.signature(type(self)).parameters)
        return f"{type(self).__name__}({arguments})"


@compiled
def fill_uniforms(uniforms, run, key):
    """Fill uniforms (n, 2) with the random numbers of a run's instance."""
    for i in range(uniforms.shape[0]):
        high, low = philox(i, 0, run, INSTANCE, key)
        uniforms[i, 0], uniforms[i, 1] = uniform(high), uniform(low)


def instance_uniforms(key: np.ndarray, run: int, n_arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two uniforms (2,) for places among the arms, and two for each arm (2, K)."""
    uniforms = np.empty((1 + n_arms, 2))
    from_python(fill_uniforms)(uniforms, run, key)
    return uniforms[0], uniforms[1:].T


def around(centre: float, spread: float, uniforms: np.ndarray) -> np.ndarray:
    """Return one number per arm, uniform on centre (1 - spread) .. centre (1 + spread)."""
    return np.asarray(centre * (1.0 + spread * (2.0 * uniforms - 1.0)))
