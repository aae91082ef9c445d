"""An inventory as an MDP: how much to order every morning, when what is left over costs and what is missing cannot be sold."""

import numpy as np
from scipy.stats import poisson

from logbarrier import mdps


def inventory(capacity: int = 20, demand: float = 6.0, price: float = 2.0) -> mdps.FiniteMDP:
    """Stock 0 .. capacity, orders 0 .. capacity at 1 each and 0.5 for the delivery; demand is Poisson, storage costs 0.1."""
    size = capacity + 1
    P, R = np.zeros((size, size, size)), np.zeros((size, size))
    wanted = np.arange(size)
    chances = np.append(poisson.pmf(wanted[:-1], demand), poisson.sf(capacity - 1, demand))  # the last: capacity or more
    for stock in range(size):
        for order in range(size):
            available = min(stock + order, capacity)
            sold = np.minimum(wanted, available)
            np.add.at(P[stock, order], available - sold, chances)
            R[stock, order] = price * chances @ sold - 0.1 * available - order - 0.5 * (order > 0)
    return mdps.FiniteMDP(P=P, R=R, rho=np.eye(size)[0], gamma=0.95, name="inventory")
