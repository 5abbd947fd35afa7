"""The width of a difference of systems, as its definition says it: slow, and sharing no code with the package."""

import numpy as np
from scipy import stats


def few(shares):
    """Factor and degrees of freedom for few units; shares: units × systems, of those that a contrast weighs by ±1."""
    matrix = np.zeros((len(shares), len(shares)))
    for q in shares.T:
        matrix += np.outer(q, q) * (np.eye(len(q)) - q[:, None] - q[None, :] + (q**2).sum())
    return (shares**2).sum() / np.trace(matrix), np.trace(matrix) ** 2 / (matrix**2).sum()


def higher(difference, influence, work):
    """One-sided p of a difference over people: their influences on it, and their work on the two systems."""
    factor, freedom = few((work / work.sum()).to_numpy())
    return stats.t.sf(difference / np.sqrt(factor * (influence**2).sum()), freedom)
