r"""The likeliest label of each item, and how each annotator errs, from labels alone: Dawid-Skene and MACE.

Both are small EM algorithms over counts (items × annotators × labels). crowd-kit has them too, but installs a
deep-learning stack beside (transformers, tokenizers and a dozen more), and version 1.4.2 stops too early: what it
watches is not the likelihood and may fall, so that on Dawid & Skene's own data it ends after 4 iterations, short of the
maximum. Iteration by iteration the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from evalkit import DataError


@dataclass(frozen=True)
class LabelModel:
    """What a model of labels found.

    posterior: items × labels, the probability of each item's true label. errors: index annotator, true label; columns
    given label; the probability of what the annotator says. shares: how frequent each true label is. annotators: one
    row each with labels given and accuracy, the probability of saying the true label. log_likelihood: per iteration.
    """

    posterior: pd.DataFrame
    errors: pd.DataFrame
    shares: pd.Series
    annotators: pd.DataFrame
    log_likelihood: np.ndarray

    @property
    def labels(self) -> pd.Series:
        """Return the likeliest label of each item."""
        return self.posterior.idxmax(axis=1).rename("label")


@dataclass(frozen=True)
class _Counts:
    """Labels as patterns × annotators × labels, how many items have each pattern, and which pattern each item has."""

    counts: np.ndarray
    times: np.ndarray
    pattern: np.ndarray
    items: pd.Index
    people: pd.Index
    names: pd.Index


def dawid_skene(
    judged: pd.DataFrame,
    *,
    item: tuple[str, ...] = ("doc", "segment"),
    tolerance: float = 1e-6,
    iterations: int = 10_000,
) -> LabelModel:
    r"""Estimate true labels and each annotator's error rates by maximum likelihood.

    With true label t of frequency :math:`p_t`, annotator a says l with probability :math:`\pi^{(a)}_{tl}`,
    independently of the others. judged: one row per label given, with annotator, ``label`` and the columns of ``item``,
    all of one language pair; an annotator may label an item repeatedly. EM starts at each item's shares of labels and
    stops when the log-likelihood grows by less than ``tolerance``. Raises DataError when it does not stop in time.
    Source: Dawid & Skene 1979.  Caveat: with three annotators and seven labels it has more parameters than the data can
    hold; "true" means what explains the agreement of these annotators, and shared mistakes count as truth.

    >>> rows = [(i, a, "xy"[i % 2]) for i in range(20) for a in "AB"] + [(i, "C", "x") for i in range(20)]
    >>> found = dawid_skene(pd.DataFrame(rows, columns=["segment", "annotator", "label"]), item=("segment",))
    >>> found.annotators["accuracy"].round(2).to_dict()
    {'A': 1.0, 'B': 1.0, 'C': 0.5}
    """
    found = _counts(judged, item)
    counts, times, names = found.counts, found.times, found.names
    posterior = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
    path: list[float] = []
    while len(path) < iterations:
        shares = times @ posterior / times.sum()
        errors = _said(found, posterior)
        total = errors.sum(axis=2, keepdims=True)
        errors = np.divide(errors, total, out=np.full_like(errors, 1 / len(names)), where=total > 0)
        joint = _log(shares) + _of_labels(counts, errors)
        evidence = logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - evidence)
        path.append(float(times @ evidence[:, 0]))
        if len(path) > 1 and path[-1] - path[-2] < tolerance:
            return _model(found, posterior, errors, shares, path)
    raise DataError(f"Dawid-Skene did not settle in {iterations} iterations. Raise iterations, or the tolerance.")


def mace(
    judged: pd.DataFrame,
    *,
    item: tuple[str, ...] = ("doc", "segment"),
    tolerance: float = 1e-6,
    iterations: int = 10_000,
    restarts: int = 10,
    seed: int = 7,
) -> LabelModel:
    r"""Estimate true labels and each annotator's competence: who knows the label says it, who spams says anything.

    Annotator a knows with probability :math:`\theta_a`; otherwise the label comes from a's own habits
    :math:`\xi_a`, whatever the item. All true labels are equally likely beforehand. EM from ``restarts`` random
    starts, the highest likelihood wins; arguments otherwise as in ``dawid_skene``. ``annotators`` has the column
    competence as well; errors follow from it: :math:`\theta_a [t = l] + (1 - \theta_a) \xi_{al}`.
    Source: Hovy et al. 2013, the variant without priors.  Caveat: who agrees with the others by the same habits
    looks competent.

    >>> rows = [(i, a, "xy"[i % 2]) for i in range(20) for a in "AB"] + [(i, "C", "x") for i in range(20)]
    >>> found = mace(pd.DataFrame(rows, columns=["segment", "annotator", "label"]), item=("segment",))
    >>> found.annotators["competence"].round(2).to_dict()
    {'A': 1.0, 'B': 1.0, 'C': 0.0}
    """
    found = _counts(judged, item)
    rng = np.random.default_rng(seed)
    runs = [_mace_run(found, tolerance, iterations, rng) for _ in range(restarts)]
    posterior, errors, knows, path = max(runs, key=lambda run: run[3][-1])
    model = _model(found, posterior, errors, found.times @ posterior / found.times.sum(), path)
    model.annotators.insert(1, "competence", knows)
    return model


def _mace_run(
    found: _Counts, tolerance: float, iterations: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[float]]:
    """Run EM once: posterior, errors, competence and the log-likelihoods."""
    _, people, labels = found.counts.shape
    knows = np.asarray(rng.uniform(0.3, 0.9, people))
    habit = rng.dirichlet(np.ones(labels) * 5, people)
    path: list[float] = []
    while len(path) < iterations:
        guess = ((1 - knows)[:, None] * habit)[:, None, :]
        errors = knows[:, None, None] * np.eye(labels) + guess
        joint = _of_labels(found.counts, errors) - np.log(labels)
        evidence = logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - evidence)
        path.append(float(found.times @ evidence[:, 0]))
        if len(path) > 1 and path[-1] - path[-2] < tolerance:
            return posterior, errors, knows, path
        said = _said(found, posterior)
        known = np.divide(knows[:, None, None] * np.eye(labels), errors, out=np.zeros_like(errors), where=errors > 0)
        by_knowledge, by_habit = (said * known).sum(axis=(1, 2)), (said * (1 - known)).sum(axis=1)
        knows = by_knowledge / said.sum(axis=(1, 2))
        spent = by_habit.sum(axis=1, keepdims=True)
        habit = np.divide(by_habit, spent, out=np.full_like(by_habit, 1 / labels), where=spent > 0)
    raise DataError(f"MACE did not settle in {iterations} iterations. Raise iterations, or the tolerance.")


def _log(probability: np.ndarray) -> np.ndarray:
    """Return logarithms, with one for 0 that is low enough to rule a label out and still finite."""
    return np.log(np.maximum(probability, 1e-300))


def _of_labels(counts: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of each item's labels under each true label, items × labels."""
    return np.tensordot(counts, _log(errors), axes=([1, 2], [0, 2]))


def _said(found: _Counts, posterior: np.ndarray) -> np.ndarray:
    """Count how often each annotator said each label of each true one, annotators × true × given."""
    return np.einsum("it,ial->atl", posterior * found.times[:, None], found.counts, optimize=True)


def _counts(judged: pd.DataFrame, item: tuple[str, ...]) -> _Counts:
    """Count labels; items that all annotators labelled alike share one pattern."""
    if lacking := [name for name in (*item, "annotator", "label") if name not in judged]:
        raise DataError(
            f"No column {lacking[0]}; there are {', '.join(map(str, judged.columns))}. Name the item's columns."
        )
    if judged.empty or judged[[*item, "annotator", "label"]].isna().any(axis=None):
        raise DataError("Labels are missing, or there are none. Drop rows without a label, an item or an annotator.")
    where = judged.groupby(list(item))
    people, names = (pd.Index(sorted(judged[name].unique()), name=name) for name in ("annotator", "label"))
    counts = np.zeros((where.ngroups, len(people), len(names)))
    np.add.at(counts, (where.ngroup(), people.get_indexer(judged["annotator"]), names.get_indexer(judged["label"])), 1)
    patterns, pattern, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    return _Counts(patterns, times.astype(float), pattern.reshape(-1), where.size().index, people, names)


def _model(
    found: _Counts, posterior: np.ndarray, errors: np.ndarray, shares: np.ndarray, path: list[float]
) -> LabelModel:
    """Name the axes of what was found."""
    true = found.names.rename("true")
    rows = pd.MultiIndex.from_product([found.people, true])
    given = (found.times @ found.counts.sum(axis=2)).astype(int)
    accuracy = np.einsum("att,t->a", errors, shares)
    return LabelModel(
        posterior=pd.DataFrame(posterior[found.pattern], index=found.items, columns=true),
        errors=pd.DataFrame(errors.reshape(-1, len(true)), index=rows, columns=found.names.rename("given")),
        shares=pd.Series(shares, index=true, name="share"),
        annotators=pd.DataFrame({"labels": given, "accuracy": accuracy}, index=found.people),
        log_likelihood=np.array(path),
    )
