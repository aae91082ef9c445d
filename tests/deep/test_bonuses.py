"""Each bonus against a slow NumPy version written from its definition, in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from logbarrier.deep.bonuses import (
    RND,
    Batch,
    CountBonus,
    EpisodicElliptical,
    FeatureMap,
    Fourier,
    OneHot,
    RandomFeatures,
    SpectralBonus,
)

STEPS, ENVIRONMENTS, SIZE = 12, 3, 7


class Linear(FeatureMap):
    """User-defined features that NumPy can compute too: W x / 2."""

    def __init__(self, size: int = SIZE) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("weight", torch.randn(4, size, generator=torch.Generator().manual_seed(5)) / 2)

    def forward(self, observations):
        return observations @ self.weight


def batches(count: int, logits: int = 0) -> list[Batch]:
    chance = torch.Generator().manual_seed(1)
    made = []
    for _ in range(count):
        scores = None
        if logits:
            pi = torch.rand(STEPS, ENVIRONMENTS, logits, generator=chance).softmax(-1)
            taken = torch.randint(logits, (STEPS, ENVIRONMENTS), generator=chance)
            scores = nn.functional.one_hot(taken, logits) - pi
        starts = torch.rand(STEPS, ENVIRONMENTS, generator=chance) < 0.2
        observations = torch.randn(STEPS, ENVIRONMENTS, 4, generator=chance)
        made.append(Batch(observations=observations, starts=starts, scores=scores))
    return made


def run(novelty, made: list[Batch]) -> list[np.ndarray]:
    found = []
    for batch in made:
        found.append(novelty.bonus(batch).numpy())
        novelty.update(batch)
    return found


def array(tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


@pytest.mark.parametrize("logits", [0, 3])
def test_the_spectral_bonus_is_the_leverage_against_the_forgetting_covariance(logits):
    features, made = Linear(), batches(4, logits)
    found = run(SpectralBonus(features, ridge=0.7, memory=0.9, logits=logits), made)
    gram = np.zeros(2 * (SIZE * max(1, logits),))
    for batch, values in zip(made, found, strict=True):
        rows = []
        for step in range(STEPS):
            for environment in range(ENVIRONMENTS):
                z = array(batch.observations[step, environment]) @ array(features.weight)
                rows.append(np.kron(array(batch.scores[step, environment]), z) if logits else z)
        gram = 0.9 * gram + sum(np.outer(row, row) for row in rows)
        inverse = np.linalg.inv(gram + 0.7 * np.eye(len(gram)))
        expected = np.array([row @ inverse @ row for row in rows]).reshape(STEPS, ENVIRONMENTS)
        assert values == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_report_of_the_spectral_bonus_sums_the_leverage_of_all_data():
    made = batches(3)
    novelty = SpectralBonus(Linear(), memory=1.0)
    run(novelty, made)
    z = np.vstack([array(batch.observations).reshape(-1, 4) @ array(Linear().weight) for batch in made])
    leverage = np.einsum("ni,ij,nj->n", z, np.linalg.inv(z.T @ z + np.eye(SIZE)), z)
    assert novelty.report()["effective_dimension"] == pytest.approx(leverage.sum(), rel=1e-5)


def test_directions_are_new_until_they_have_been_seen():
    novelty = SpectralBonus(OneHot(4), memory=1.0)
    starts = torch.zeros(4, 1, dtype=torch.bool)
    shares = []
    for states in ([0, 0, 0, 0], [0, 0, 0, 1], [2, 2, 1, 3]):
        novelty.update(Batch(observations=torch.tensor(states)[:, None], starts=starts))
        shares.append(novelty.report()["new_share"])
    assert shares == [1.0, 0.25, 0.75]


def test_the_elliptical_bonus_is_its_definition_across_episodes_and_batches():
    features, made = Linear(), batches(4)
    found = run(EpisodicElliptical(features, environments=ENVIRONMENTS, ridge=0.3), made)
    covariance = [0.3 * np.eye(SIZE) for _ in range(ENVIRONMENTS)]
    for batch, values in zip(made, found, strict=True):
        for step in range(STEPS):
            for environment in range(ENVIRONMENTS):
                if batch.starts[step, environment]:
                    covariance[environment] = 0.3 * np.eye(SIZE)
                z = array(batch.observations[step, environment]) @ array(features.weight)
                expected = z @ np.linalg.inv(covariance[environment]) @ z
                assert values[step, environment] == pytest.approx(expected, rel=1e-5, abs=1e-5)
                covariance[environment] += np.outer(z, z)


def test_the_elliptical_bonus_of_an_episode_longer_than_its_features_is_its_definition():
    chance = torch.Generator().manual_seed(3)
    novelty, covariance = EpisodicElliptical(Linear(), environments=1, ridge=0.1), 0.1 * np.eye(SIZE)
    for steps in (SIZE - 2, 1, 1, 500, 3):  # fewer rows than features, one less, as many, many more
        batch = Batch(observations=torch.randn(steps, 1, 4, generator=chance), starts=torch.zeros(steps, 1, dtype=torch.bool))
        (values,) = run(novelty, [batch])
        for step in range(steps):
            z = array(batch.observations[step, 0]) @ array(Linear().weight)
            assert values[step, 0] == pytest.approx(z @ np.linalg.inv(covariance) @ z, rel=1e-5, abs=1e-5)
            covariance += np.outer(z, z)


def elliptical(z: np.ndarray, starts: np.ndarray, ridge: float) -> np.ndarray:
    """E3B step by step, for features (steps, environments, size)."""
    size, bonus = z.shape[-1], np.zeros(starts.shape)
    for environment in range(starts.shape[1]):
        covariance = ridge * np.eye(size)
        for step, row in enumerate(z[:, environment]):
            if starts[step, environment]:
                covariance = ridge * np.eye(size)
            bonus[step, environment] = row @ np.linalg.solve(covariance, row)
            covariance += np.outer(row, row)
    return bonus


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1])
def test_the_elliptical_bonus_is_its_definition_in_long_batches_with_short_and_long_episodes(share):
    chance, size = torch.Generator().manual_seed(4), 40
    z = nn.functional.normalize(torch.randn(471, 5, size, generator=chance), dim=2)
    starts = torch.rand(471, 5, generator=chance) < share
    novelty = EpisodicElliptical(lambda x: x, environments=5, size=size)
    made = [
        Batch(observations=x, starts=s)
        for x, s in zip(z.split([20, 300, 1, 150]), starts.split([20, 300, 1, 150]), strict=True)
    ]
    expected = elliptical(array(z), starts.numpy(), 0.1)
    assert np.concatenate(run(novelty, made)) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_elliptical_bonus_goes_on_from_a_state_of_orthogonal_rows():
    z = torch.randn(9, 1, SIZE, generator=torch.Generator().manual_seed(6))
    starts = torch.zeros(9, 1, dtype=torch.bool)
    novelty = EpisodicElliptical(lambda x: x, environments=1, size=SIZE, ridge=0.5)
    before = array(z[:4, 0])
    lower = np.linalg.cholesky(before @ before.T + 0.5 * np.eye(4))
    novelty.load_state_dict({"_extra_state": [torch.tensor(np.linalg.solve(lower, before), dtype=torch.float32)]})
    found = run(novelty, [Batch(observations=x, starts=s) for x, s in zip(z[4:].split(2), starts[4:].split(2), strict=True)])
    assert np.concatenate(found) == pytest.approx(elliptical(array(z), starts.numpy(), 0.5)[4:], rel=1e-5)


def test_the_elliptical_bonus_goes_on_from_a_state_with_its_matrix():
    z = torch.randn(30, 1, SIZE, generator=torch.Generator().manual_seed(7))
    starts = torch.zeros(30, 1, dtype=torch.bool)
    novelty = EpisodicElliptical(lambda x: x, environments=1, size=SIZE, ridge=0.5)
    before = array(z[:20, 0])
    matrix = 0.5 * np.linalg.inv(before.T @ before + 0.5 * np.eye(SIZE))  # D = ridge (sum z z' + ridge I)^-1
    novelty.load_state_dict({"_extra_state": [torch.tensor(matrix, dtype=torch.float32)]})
    found = run(novelty, [Batch(observations=x, starts=s) for x, s in zip(z[20:].split(5), starts[20:].split(5), strict=True)])
    assert np.concatenate(found) == pytest.approx(elliptical(array(z), starts.numpy(), 0.5)[20:], rel=1e-4)


def forward(scale, weights: list[np.ndarray], x: np.ndarray) -> tuple[np.ndarray, ...]:
    """A random network for vectors in NumPy: inputs, hidden units, outputs before and after division by their norm."""
    if scale.count:
        x = np.clip((x - array(scale.mean)) / np.sqrt(array(scale.variance) + 1e-8), -5, 5)
    hidden = np.maximum(x @ weights[0].T + weights[1], 0.0)
    raw = hidden @ weights[2].T + weights[3]
    return x, hidden, raw, raw / np.linalg.norm(raw, axis=1, keepdims=True)


def weights_of(network: RandomFeatures) -> list[np.ndarray]:
    first, head = network.encoders[0][0], network.head
    return [array(weight).copy() for weight in (first.weight, first.bias, head.weight, head.bias)]


def test_random_features_standardise_by_the_moments_of_all_data_and_have_norm_one():
    features, made = RandomFeatures((4,), size=SIZE), batches(3)
    for batch in made:
        features.update(batch.flat())
    data = np.vstack([array(batch.flat()) for batch in made])
    scale = features.scales[0]
    assert array(scale.mean) == pytest.approx(data.mean(0), abs=1e-6)
    assert array(scale.variance) == pytest.approx(data.var(0), rel=1e-5)
    expected = forward(scale, weights_of(features), data[: STEPS * ENVIRONMENTS])[3]
    assert array(features(made[0].flat())) == pytest.approx(expected, abs=1e-5)


def test_the_distillation_error_and_its_adam_steps_are_those_of_numpy():
    novelty, made = RND((4,), size=SIZE, learning_rate=0.01, mini_batch=1000), batches(3)
    scale, target, weights = novelty.target.scales[0], weights_of(novelty.target), weights_of(novelty.predictor)
    first, second = [0.0 * weight for weight in weights], [0.0 * weight for weight in weights]
    for moment, batch in enumerate(made, start=1):
        x = array(batch.flat())
        error = ((forward(scale, weights, x)[3] - forward(scale, target, x)[3]) ** 2).sum(1)
        assert novelty.bonus(batch).numpy().ravel() == pytest.approx(error, abs=1e-5)
        novelty.update(batch)
        assert scale.count == moment * len(x)
        inputs, hidden, raw, out = forward(scale, weights, x)  # by the moments that the training step has used
        slope = 2 * (out - forward(scale, target, x)[3]) / len(x)
        slope = (slope - out * (slope * out).sum(1, keepdims=True)) / np.linalg.norm(raw, axis=1, keepdims=True)
        back = (slope @ weights[2]) * (hidden > 0)
        for i, gradient in enumerate([back.T @ inputs, back.sum(0), slope.T @ hidden, slope.sum(0)]):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            step = first[i] / (1 - 0.9**moment) / (np.sqrt(second[i] / (1 - 0.999**moment)) + 1e-8)
            weights[i] = weights[i] - 0.01 * step
    for found, wanted in zip(weights_of(novelty.predictor), weights, strict=True):
        assert found == pytest.approx(wanted, abs=1e-5)


def test_counts_are_those_of_a_dictionary():
    chance = torch.Generator().manual_seed(2)
    novelty, counted = CountBonus(lambda x: (x * 2).round()), {}
    for _ in range(3):
        x = torch.randn(40, 2, 2, generator=chance)
        batch = Batch(observations=x, starts=torch.zeros(40, 2, dtype=torch.bool))
        keys = [tuple(row.tolist()) for row in (x * 2).round().reshape(-1, 2) + 0.0]
        for key in keys:
            counted[key] = counted.get(key, 0) + 1
        expected = np.array([counted[key] ** -0.5 for key in keys]).reshape(40, 2)
        assert novelty.bonus(batch).numpy() == pytest.approx(expected, rel=1e-6)
        novelty.update(batch)
    assert novelty.report() == {"keys": len(counted)}


def test_a_million_neighbouring_keys_have_different_hashes():
    grid = torch.stack(torch.meshgrid(torch.arange(1000), torch.arange(1000), indexing="ij"), -1)
    novelty = CountBonus()
    novelty.update(Batch(observations=grid, starts=torch.zeros(1000, 1000, dtype=torch.bool)))
    assert novelty.report() == {"keys": 1e6}


def test_fourier_features_approximate_the_gaussian_kernel():
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    z = Fourier(3, size=20_000, width=2.0)(x)
    expected = np.exp(-((array(x)[:, None] - array(x)[None]) ** 2).sum(-1) / (2 * 2.0**2))
    assert array(z @ z.T) == pytest.approx(expected, abs=0.04)  # standard error 0.007 in each of 1,225 entries


def test_one_hot_features_take_numbers_and_vectors():
    states = torch.tensor([2, 0, 1])
    wanted = torch.eye(3)[states]
    for observations in (states, states[:, None], wanted):
        assert torch.equal(OneHot(3)(observations), wanted)


def test_random_features_take_images_and_dictionaries():
    shapes = {"image": (3, 20, 24), "place": (2,)}
    observations = {"image": torch.rand(5, 3, 20, 24), "place": torch.randn(5, 2)}
    z = RandomFeatures(shapes, size=32)(observations)
    assert z.norm(dim=1).numpy() == pytest.approx(1.0, abs=1e-5)
    moved = {**observations, "place": observations["place"] + 1.0}
    changed = {**observations, "image": 1.0 - observations["image"]}
    assert (RandomFeatures(shapes, size=32)(moved) - z).norm(dim=1).min() > 0.01
    assert (RandomFeatures(shapes, size=32)(changed) - z).norm(dim=1).min() > 0.01


MAKERS = {
    "spectral": lambda: SpectralBonus(RandomFeatures((4,), size=SIZE)),
    "score": lambda: SpectralBonus(RandomFeatures((4,), size=SIZE), logits=2),
    "fourier": lambda: SpectralBonus(Fourier(4, size=SIZE)),
    "episodic": lambda: EpisodicElliptical(RandomFeatures((4,), size=SIZE), environments=ENVIRONMENTS),
    "rnd": lambda: RND((4,), size=SIZE, mini_batch=16),
    "count": lambda: CountBonus(torch.round),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_bonus_goes_on_from_its_state_dict(make):
    made = batches(4, logits=2)
    straight = run(make(), made)
    first, second = make(), make()
    run(first, made[:2])
    second.load_state_dict(first.state_dict())
    for found, expected in zip(run(second, made[2:]), straight[2:], strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_asking_for_the_bonus_changes_nothing(make):
    novelty, (batch,) = make(), batches(1, logits=2)
    assert torch.equal(novelty.bonus(batch), novelty.bonus(batch))


def test_half_a_million_steps_with_forgetting_stay_positive():
    novelty = SpectralBonus(OneHot(8), memory=0.95)
    starts = torch.zeros(500, 1, dtype=torch.bool)
    batch = Batch(observations=torch.zeros(500, 1, dtype=torch.long), starts=starts)
    for _ in range(1000):
        novelty.update(batch)
    assert novelty.bonus(batch).numpy() == pytest.approx(1 / (500 / 0.05 + 1), rel=1e-4)


STARTS = torch.zeros(2, 1, dtype=torch.bool)
HUGE = 1e4 + torch.arange(8.0).repeat(90, 1, 1)  # collinear vectors of norm 28,000


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: Batch(observations=torch.full((2, 1, 3), torch.nan), starts=STARTS), ValueError, "got 6 numbers that are not"),
        (lambda: Batch(observations=torch.zeros(3, 1), starts=STARTS), ValueError, r"must begin with the shape \(2, 1\)"),
        (lambda: Batch(observations=[1.0], starts=STARTS), TypeError, "observations must be a tensor, got list"),
        (lambda: SpectralBonus(torch.nn.Identity()), ValueError, "pass size, the number of features"),
        (lambda: SpectralBonus(OneHot(2), memory=1.5), ValueError, "memory must be between 0 and 1, got 1.5"),
        (lambda: SpectralBonus(OneHot(2), ridge=0.0), ValueError, "ridge must be positive and finite, got 0.0"),
        (lambda: SpectralBonus(OneHot(2), ridge="1"), TypeError, "ridge must be a positive number, got '1'"),
        (lambda: SpectralBonus(OneHot), TypeError, "features must be a module or function from observations"),
        (lambda: SpectralBonus(torch.nn.Identity(), size="4"), TypeError, "size must be a whole number, got '4'"),
        (lambda: RandomFeatures(4), TypeError, "shape must be a tuple of sizes"),
        (lambda: RandomFeatures((4,), size=64.5), ValueError, "size must be a whole number, got 64.5"),
        (lambda: OneHot(4)(torch.full((2, 4), 0.5)), ValueError, "one-hot vectors of 4 numbers"),
        (lambda: OneHot(4)(torch.tensor([0, 4])), ValueError, "integers from 0 to 3"),
        (
            lambda: SpectralBonus(torch.nn.Identity(), size=8).bonus(Batch(observations=HUGE, starts=STARTS[:1].repeat(90, 1))),
            ValueError,
            "^SpectralBonus: the Gram matrix of the features is singular in float32",
        ),
        (
            lambda: EpisodicElliptical(torch.nn.Identity(), environments=1, size=8).bonus(
                Batch(observations=HUGE, starts=STARTS[:1].repeat(90, 1))
            ),
            ValueError,
            "^EpisodicElliptical: the Gram matrix of the features is singular in float32",
        ),
        (
            lambda: CountBonus(lambda x: x.sum()).bonus(Batch(observations=torch.zeros(2, 1), starts=STARTS)),
            ValueError,
            "key must return one row for each of the 2 steps",
        ),
        (
            lambda: SpectralBonus(torch.nn.Identity(), size=2).bonus(Batch(observations=torch.zeros(2, 1, 3), starts=STARTS)),
            ValueError,
            r"features must have the shape \(2, 2\) for this batch, got \(2, 3\)",
        ),
        (
            lambda: SpectralBonus(OneHot(2), logits=3).bonus(Batch(observations=torch.zeros(2, 1), starts=STARTS)),
            ValueError,
            r"scores must have the shape \(2, 1, 3\), got None",
        ),
        (
            lambda: EpisodicElliptical(OneHot(2), environments=4).bonus(Batch(observations=torch.zeros(2, 1), starts=STARTS)),
            ValueError,
            "batches must have 4 environments, got 1",
        ),
        (lambda: CountBonus(7), TypeError, "key must be a function of the observations, got int"),
        (
            lambda: SpectralBonus(OneHot(2)).bonus(Batch(observations=torch.full((2, 1), 5), starts=STARTS)),
            ValueError,
            "observations must be integers from 0 to 1",
        ),
    ],
)
def test_bad_input_is_one_sentence(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
