"""E3B (Henaff et al. 2022): novelty within the episode.

At step t of an episode the bonus is z_t^T C^-1 z_t, where C = ridge I + sum of z_i z_i^T over the earlier steps of the
episode. All steps of an episode follow from one Cholesky factor of the Gram matrix of its features Z:

    L L^T = ridge I + Z Z^T        gives        bonus_t = L_tt^2 / ridge - 1,

because L_tt^2 is the Schur complement of the earlier steps. More steps Y of the episode add rows to Z and L:

    W = L^-1 Z Y^T,        M M^T = ridge I + Y Y^T - W^T W,        Z <- [Z; Y],        L <- [L 0; W^T M].

A long episode is stored as D = ridge C^-1, in float64. Then

    M M^T = ridge I + Y D Y^T,        D <- D - N^T N,        N = M^-1 Y D.

Rows in float32 cost less than D while they are fewer than twice the features. They lose digits where |z|^2 is large against
the ridge, and the bonus is small once there are more rows than features. Such episodes are stored as D from there on.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...base import validate
from .batch import Batch, Bonus, FeatureMap, features_of, size_of, upper_factor

CHUNK = 128  # longer batches are cut, since the cost of a step grows with the steps that share a factor
NARROWEST = 16  # pieces of 1 to 16 steps are factorised together, as are those of 17 to 32, and so on
PRECISE = 11.0  # up to this |z|^2 / ridge, float32 rows give a bonus within 1e-5 of the definition

Episode = tuple[Tensor, Tensor]
"""Z (n, p) and L (n, n) of the steps so far; D (p, p) and an empty tensor where n is large."""


class EpisodicElliptical(Bonus):
    """The elliptical bonus of an episode's own features; memory of at most six p x p matrices per environment.

    >>> from logbarrier.deep.bonuses import OneHot
    >>> novelty = EpisodicElliptical(OneHot(2), environments=1, ridge=1.0)
    >>> starts = torch.tensor([[True], [False], [False], [True]])
    >>> novelty.bonus(Batch(observations=torch.tensor([[0], [0], [1], [0]]), starts=starts)).flatten()
    tensor([1.0000, 0.5000, 1.0000, 1.0000])
    """

    def __init__(self, features: Any, *, environments: int, size: int | None = None, ridge: float = 0.1) -> None:
        super().__init__()
        self.features, self.ridge = features, validate.positive("EpisodicElliptical", "ridge", ridge)
        environments = validate.integer("EpisodicElliptical", "environments", environments, 1)
        self.size = size_of("EpisodicElliptical", features, size)
        self.episodes: list[Episode] = [(torch.empty(0, self.size), torch.empty(0, 0)) for _ in range(environments)]
        self._last: tuple[Batch, Tensor, list[Episode]] | None = None

    @torch.no_grad()
    def bonus(self, batch: Batch) -> Tensor:
        """Return the bonus of every step, (steps, environments)."""
        return self._result(batch)[1].clone()

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """Carry each environment's last episode on."""
        _, _, self.episodes = self._result(batch)
        self._last = None
        if isinstance(self.features, FeatureMap):
            self.features.update(batch.flat())

    def _result(self, batch: Batch) -> tuple[Batch, Tensor, list[Episode]]:
        """Return the batch, its bonus and the episodes after it; those of the same batch are computed once."""
        if self._last is None or self._last[0] is not batch:
            count = len(self.episodes)
            if batch.shape[1] != count:
                raise ValueError(f"EpisodicElliptical: batches must have {count} environments, got {batch.shape[1]}")
            z = features_of("EpisodicElliptical", self.features, batch, self.size)
            episodes, values = [(rows.to(z.device), factor.to(z.device)) for rows, factor in self.episodes], []
            for part, starts in zip(z.split(CHUNK * count), batch.starts.split(CHUNK), strict=True):
                bonus, episodes = self._chunk(part, starts, episodes)
                values.append(bonus)
            self._last = batch, torch.cat(values), episodes
        return self._last

    def _chunk(self, z: Tensor, starts: Tensor, episodes: list[Episode]) -> tuple[Tensor, list[Episode]]:
        """Return the bonus of z (steps * environments, size), and the episodes after it.

        Every environment's steps are cut into pieces of one episode each. Pieces of similar length share a batched
        factorisation. They are padded with any steps: a row of a Cholesky factor depends on the rows above it alone.
        """
        steps, count = starts.shape
        carried = {i * steps: episode for i, episode in enumerate(episodes) if len(episode[0]) and not starts[0, i]}
        row_of = torch.arange(steps * count, device=z.device).view(steps, count).T.flatten()  # place: row of z
        largest = float(torch.linalg.vector_norm(z, dim=1).max()) ** 2
        most_rows = self.size if largest > PRECISE * self.ridge else 2 * self.size
        diagonals, after = {}, list(episodes)
        for pieces in _groups(starts):
            first = torch.tensor([p for p, _ in pieces], device=z.device)
            place = first[:, None] + torch.arange(max(n for _, n in pieces), device=z.device)
            chosen = row_of[place.clamp_(max=steps * count - 1)]
            rows = z.index_select(0, chosen.flatten()).view(*chosen.shape, self.size)
            gram = rows @ rows.mT
            gram.diagonal(dim1=-2, dim2=-1).add_(self.ridge)
            links = {p: self._link(carried[p], rows[i], gram[i]) for i, (p, _) in enumerate(pieces) if p in carried}
            factor = upper_factor("EpisodicElliptical", gram).mT
            for i, ((p, n), diagonal) in enumerate(zip(pieces, factor.diagonal(dim1=-2, dim2=-1), strict=True)):
                diagonals[p] = diagonal[:n]
                if p % steps + n == steps:
                    last = rows[i, :n], factor[i, :n, :n], most_rows
                    after[p // steps] = self._extended(carried.get(p), links.get(p), *last)
        bonus = torch.cat([diagonals[p] for p in sorted(diagonals)]).square() / self.ridge - 1.0
        return bonus.clamp(min=0.0).view(count, steps).T, after

    def _link(self, episode: Episode, rows: Tensor, gram: Tensor) -> Tensor:
        """Turn ridge I + Y Y^T into M M^T, in place, and return W^T or Y D."""
        stored, lower = episode
        if not len(lower):
            damped = rows.double() @ stored
            gram.copy_(damped @ rows.T.double()).diagonal().add_(self.ridge)
            return damped
        link = torch.linalg.solve_triangular(lower.T, rows @ stored.T, upper=True, left=False)
        gram.addmm_(link, link.T, alpha=-1.0)
        return link

    def _extended(self, episode: Episode | None, link: Tensor | None, rows: Tensor, factor: Tensor, most_rows: int) -> Episode:
        """Return an episode with more steps, from its link to them and their factor M."""
        if episode is None or link is None:
            stored, lower = rows.clone(), factor.clone()
        elif len(episode[1]):
            before, n = len(episode[0]), len(rows)
            stored, lower = torch.cat([episode[0], rows]), rows.new_zeros(before + n, before + n)
            lower[:before, :before], lower[before:, :before], lower[before:, before:] = episode[1], link[:n], factor
        else:
            more = torch.linalg.solve_triangular(factor.double(), link[: len(rows)], upper=False)
            return episode[0] - more.T @ more, episode[1]
        if len(stored) < most_rows:
            return stored, lower
        inverse = stored.T.double() @ stored.double() / self.ridge
        inverse.diagonal().add_(1.0)
        return torch.linalg.inv(inverse), lower[:0, :0]

    def get_extra_state(self) -> list[Episode]:
        """Return the episodes, whose sizes vary, for `state_dict`."""
        return self.episodes

    def set_extra_state(self, state: list[Episode] | list[Tensor]) -> None:
        """Set the episodes; with another number of environments, reset all of them.

        Earlier states hold N where it has fewer rows than features, or D.
        """
        self._last, eye, none = None, torch.eye(self.size), torch.empty(0, 0)
        if len(state) != len(self.episodes):
            self.episodes = [(torch.empty(0, self.size), none) for _ in self.episodes]
            return
        self.episodes = [
            e if not isinstance(e, Tensor) else ((eye.to(e.device) - e.T @ e if len(e) < self.size else e).double(), none)
            for e in state
        ]


def _groups(starts: Tensor) -> list[list[tuple[int, int]]]:
    """Return the place and the length of every piece, by similar length; places count environments, then steps."""
    cut = starts.T.clone()
    cut[:, 0] = True
    begins = cut.flatten().nonzero()[:, 0].tolist()
    groups: dict[int, list[tuple[int, int]]] = {}
    for begin, end in zip(begins, [*begins[1:], starts.numel()], strict=True):
        groups.setdefault((end - begin - 1) // NARROWEST, []).append((begin, end - begin))
    return list(groups.values())
