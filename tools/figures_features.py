"""Plot the pictures of docs/features.md: `python tools/figures_features.py`."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csr_array

from logbarrier import mdps
from logbarrier.mdps import exact
from logbarrier.plots.style import panels
from looks import WIDTH, page_style, save

BLUE, ORANGE = "#0072B2", "#D55E00"
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def ellipses() -> Figure:
    """Centred features and their ellipse, under a nearly greedy policy and at the maximum."""
    mdp, phi = mdps.RandomMDPs(40, 4).problem(0, 5), np.random.default_rng(4).normal(size=(40, 4, 2))
    best = exact.maximise(mdp, mdps.FeatureSpectral(features=phi, eta=300.0))
    figure, axes = panels(1, 2, size=(WIDTH, 3.4), sharex=True, sharey=True)
    share = best.performance / mdp.optimal_performance
    policies = {"0.98 optimal, 0.02 uniform": 0.98 * mdp.optimal_policy + 0.005, f"maximum, J = {share:.3f} J*": best.policy}
    for panel, (title, policy) in zip(axes, policies.items(), strict=True):
        g = phi - np.einsum("sa,sam->sm", policy, phi)[:, None]
        mu = mdp.occupancy(policy)[:, None] * policy
        sizes, directions = np.linalg.eigh(np.einsum("sa,sam,san->mn", mu, g, g))
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        curve = (directions * np.sqrt(2.0 * sizes)) @ np.array([np.cos(angle), np.sin(angle)])
        panel.scatter(g[..., 0], g[..., 1], s=400 * mu + 1, color=BLUE, alpha=0.5, linewidth=0)
        panel.plot(curve[0], curve[1], color=ORANGE)
        panel.set(title=title, xlabel="first centred feature", aspect="equal")
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("second centred feature")
    return figure


def grid(n: int, gamma: float) -> mdps.FiniteMDP:
    """n x n cells, four moves; the far corner pays 1 per step."""
    row, column = np.divmod(np.arange(n * n), n)
    to = np.array([np.clip(row + down, 0, n - 1) * n + np.clip(column + right, 0, n - 1) for down, right in MOVES])
    P = csr_array((np.ones(4 * n * n), to.T.ravel(), np.arange(4 * n * n + 1)), shape=(4 * n * n, n * n))
    R = np.zeros((n * n, 4))
    R[-1] = 1.0
    return mdps.FiniteMDP(P=P, R=R, rho=np.eye(1, n * n)[0], gamma=gamma, shape=(n, n))


def occupancies() -> Figure:
    """Occupancy at the maximum of the table and of nine blocks, at the same bound on the bias."""
    n, blocks = 14, 3
    mdp = grid(n, 0.97)
    row, column = np.divmod(np.arange(n * n), n)
    z = np.eye(blocks**2)[(row * blocks // n) * blocks + column * blocks // n]
    phi = np.einsum("sp,ab->sabp", z, np.eye(4)[:, :3]).reshape(n * n, 4, -1)
    bound = 0.3 * mdp.optimal_performance
    table = exact.maximise(mdp, mdps.Spectral(eta=3 * n * n / bound))
    few = exact.maximise(mdp, mdps.FeatureSpectral(features=phi, eta=phi.shape[2] / bound), tolerance=0.05)
    figure, axes = panels(1, 2, size=(WIDTH, 3.4))
    for panel, best, label in zip(axes, (table, few), ("table, 588 dimensions", "27 features, 9 blocks"), strict=True):
        cells = np.log10(np.maximum(best.occupancy.reshape(n, n), 1e-6))
        image = panel.imshow(cells, vmin=-5, vmax=-1, cmap="viridis")
        panel.set(title=f"{label}\nJ = {best.performance / mdp.optimal_performance:.2f} J*", xticks=[], yticks=[])
    figure.colorbar(image, ax=axes, label="log10 occupancy", shrink=0.8)
    return figure


FIGURES = {"features-ellipses.png": ellipses, "features-grid.png": occupancies}
PICTURES = {"features-ellipses.png": (ellipses,), "features-grid.png": (occupancies, grid)}


if __name__ == "__main__":
    for name, plot in FIGURES.items():
        with page_style():
            figure = plot()
        print(save(figure, name, PICTURES[name]))
