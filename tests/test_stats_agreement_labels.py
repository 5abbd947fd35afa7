"""Dawid-Skene and MACE: the worked example of 1979, a plain implementation, laws, and real labels."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.stats import agreement

#: Dawid & Skene 1979, Table 1: 45 patients, three judgements by the first observer, then one by each of four others.
ANAESTHETISTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212
1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111
1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111
2322222 1211111 2222222
"""
KEY = ["segment", "annotator", "label"]


def test_dawid_skene_gives_what_its_authors_print():
    words = enumerate(ANAESTHETISTS.split())
    said = pd.DataFrame([(n, "1112345"[k], label) for n, word in words for k, label in enumerate(word)], columns=KEY)
    found = agreement.dawid_skene(said, item=("segment",))
    assert found.shares.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    first = found.errors.loc["1"].round(2).to_numpy().tolist()
    assert first == [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]


def plain(judged, iterations):
    """Run Dawid-Skene as the paper writes it, one number at a time."""
    items, people, names = (sorted(judged[name].unique()) for name in KEY)
    said = {(i, a): [row.label for row in rows.itertuples()] for (i, a), rows in judged.groupby(KEY[:2])}
    truth = {}
    for i in items:
        every = [label for a in people for label in said.get((i, a), [])]
        truth[i] = {t: every.count(t) / len(every) for t in names}
    for _ in range(iterations):
        share = {t: sum(truth[i][t] for i in items) / len(items) for t in names}
        error = {}
        for a in people:
            for t in names:
                counts = {g: sum(truth[i][t] * said.get((i, a), []).count(g) for i in items) for g in names}
                total = sum(counts.values())
                error[a, t] = {g: counts[g] / total if total else 1 / len(names) for g in names}
        evidence = 0.0
        for i in items:
            joint = {t: share[t] for t in names}
            for t in names:
                for a in people:
                    for g in said.get((i, a), []):
                        joint[t] *= error[a, t][g]
            total = sum(joint.values())
            evidence += math.log(total)
            truth[i] = {t: joint[t] / total for t in names}
    return evidence, np.array([[truth[i][t] for t in names] for i in items])


def drawn(rng, *, items=25, people=4, labels="xyz", right=0.7):
    truth = rng.integers(0, len(labels), items)
    wrong = rng.integers(0, len(labels), (items, people))
    said = np.where(rng.random((items, people)) < right, truth[:, None], wrong)
    there = rng.random((items, people)) < 0.85
    there[:, 0] = True
    rows = [(i, f"a{p}", labels[said[i, p]]) for i in range(items) for p in range(people) if there[i, p]]
    return pd.DataFrame(rows, columns=KEY), truth


@pytest.mark.parametrize("seed", range(4))
def test_dawid_skene_equals_a_plain_implementation(seed):
    judged, _ = drawn(np.random.default_rng(seed))
    found = agreement.dawid_skene(judged, item=("segment",))
    evidence, truth = plain(judged, len(found.log_likelihood))
    assert found.log_likelihood[-1] == pytest.approx(evidence, abs=1e-8)
    np.testing.assert_allclose(found.posterior.to_numpy(), truth, atol=1e-8)


@given(st.integers(0, 10_000), st.sampled_from([agreement.dawid_skene, agreement.mace]))
def test_the_likelihood_never_falls_and_probabilities_are_probabilities(seed, fit):
    judged, _ = drawn(np.random.default_rng(seed), items=12, people=3)
    found = fit(judged, item=("segment",), tolerance=1e-4)
    assert (np.diff(found.log_likelihood) > -1e-9).all()
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(found.errors.sum(axis=1), 1)
    assert found.annotators["accuracy"].between(0, 1 + 1e-12).all()


@given(st.integers(0, 10_000), st.permutations(["x", "y", "z"]))
def test_names_of_labels_and_the_order_of_rows_do_not_matter(seed, names):
    judged, _ = drawn(np.random.default_rng(seed), items=12, people=3)
    other = dict(zip("xyz", names))
    renamed = judged.assign(label=judged["label"].map(other)).sample(frac=1, random_state=seed)
    one, two = (agreement.dawid_skene(table, item=("segment",), tolerance=1e-4) for table in (judged, renamed))
    np.testing.assert_allclose(one.posterior.rename(columns=other)[two.posterior.columns], two.posterior, atol=1e-6)


def test_mace_recovers_who_knows_and_its_likelihood_is_that_of_its_errors():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 3000)
    competence, habit = [0.9, 0.6, 0.3, 0.0], [1, 2, 3, 4]
    rows = []
    for a, (knows, favourite) in enumerate(zip(competence, habit)):
        spam = np.where(rng.random(3000) < 0.7, favourite - 1, rng.integers(0, 4, 3000))
        said = np.where(rng.random(3000) < knows, truth, spam)
        rows.append(pd.DataFrame({"segment": np.arange(3000), "annotator": f"a{a}", "label": said}))
    judged = pd.concat(rows)
    found = agreement.mace(judged, item=("segment",), restarts=3)
    # competence is a proportion of 3,000 items, a third of them uninformative: four standard errors are about 0.06
    np.testing.assert_allclose(found.annotators["competence"], competence, atol=0.06)
    wide = judged.pivot(index="segment", columns="annotator", values="label")
    joint = np.full((3000, 4), 0.25)
    for name in wide:
        joint *= found.errors.loc[name].to_numpy()[:, wide[name]].T
    assert found.log_likelihood[-1] == pytest.approx(np.log(joint.sum(axis=1)).sum(), rel=1e-9)
    assert (found.labels.to_numpy() == truth).mean() > (wide.mode(axis=1)[0].to_numpy() == truth).mean()


@pytest.mark.parametrize("fit", [agreement.dawid_skene, agreement.mace])
def test_tables_without_labels_and_too_few_iterations_are_told(fit):
    judged, _ = drawn(np.random.default_rng(1))
    for table, word in ((judged.drop(columns="label"), "label"), (judged.assign(label=None), "missing")):
        with pytest.raises(DataError, match=word):
            fit(table, item=("segment",))
    with pytest.raises(DataError, match="none"):
        fit(judged.iloc[:0], item=("segment",))
    with pytest.raises(DataError, match="2 iterations"):
        fit(judged, item=("segment",), iterations=2)
