"""Critical-error labels: taxonomy, matching, shares, assessments by label, contrasts, agreement of pairs, print."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from evalkit import DataError
from evalkit.data import labels as files
from evalkit.papers import claims
from evalkit.papers.sudoh2021 import labels as assessed
from evalkit.papers.sudoh2021 import printed

SUDOH = "004"


def made(n=400, *, sentences=None, people="AB", dimension="adequacy", seed=0):
    """Draw labelled translations whose sentences recur, with scores that depend on label and sentence."""
    rng = np.random.default_rng(seed)
    names = np.array(assessed.categories(dimension))
    sentence = rng.integers(0, sentences or n, n)
    common = {"src_lang": np.where(np.arange(n) % 2, "ces", "deu"), "segment": np.arange(1, n + 1).astype(str)}
    common["reference"] = np.char.add("sentence ", sentence.astype(str))
    frames = []
    for who in people:
        label = rng.integers(0, len(names), n)
        z = 0.3 * label + rng.normal(0, 0.3, n) + 0.4 * rng.normal(size=(sentences or n))[sentence]
        frames.append(pd.DataFrame(common | {"annotator": who, "label": names[label], "z": z}))
    told = {"tgt_lang": "eng", "doc": "newstest2016", "dimension": dimension, "hypothesis": "x", "split": "train"}
    return pd.concat(frames, ignore_index=True).assign(**told)


def judged(rows):
    """Make labels from (segment, annotator, code)."""
    frame = pd.DataFrame(rows, columns=["segment", "annotator", "label"]).astype("str")
    return frame.assign(src_lang="ces", tgt_lang="eng", doc="newstest2016", dimension="adequacy")


def texts(n):
    frame = pd.DataFrame({"segment": [str(i) for i in range(1, n + 1)]})
    frame = frame.assign(src_lang="ces", tgt_lang="eng", doc="newstest2016", split="train", hypothesis="a")
    return frame.assign(reference="b", z=np.linspace(-1, 1, n))


# The taxonomy


def test_explanations_and_codes_are_the_papers(paper):
    lines = [line.replace("<i>", "").replace("</i>", "") for line in paper(SUDOH).splitlines()]
    for table in assessed.TAXONOMIES.values():
        for row in table.itertuples():
            assert f"{row.category} ({row.code})\t{row.explanation}" in lines


def test_the_order_of_severity_is_that_of_footnote_14(paper):
    text = paper(SUDOH).replace("*", "")
    for dimension in ("fluency", "adequacy"):
        assert f"{' < '.join(assessed.categories(dimension, order='severity'))} for {dimension}" in text


def test_codes_are_those_of_the_files_and_print_order_is_theirs():
    for dimension, known in files.LABELS.items():
        assert assessed.TAXONOMIES[dimension].set_index("code")["category"].to_dict() == known
        assert list(assessed.places(dimension, order="print")) == list(known)
        assert sorted(assessed.places(dimension).values()) == list(range(1, len(known) + 1))
    assert not assessed.TAXONOMIES["fluency"]["critical"].any()


# Labels beside translations


THREE = judged([(i, "A", "S") for i in (1, 2, 3)])


def test_rows_of_all_test_sets_fit_their_scores_and_one_row_off_they_do_not(real):
    labels = pd.concat([real("sudoh-labels"), real("sudoh-labels-wmt17")])
    labelled = assessed.joined(labels, real("sudoh-translations"))
    aligned = assessed.alignment(labelled)
    assert len(aligned) == 17
    assert aligned["correlation"].min() > 0.7
    assert aligned["shifted"].abs().max() < 0.15


# Shares


def test_intervals_of_shares_are_statsmodels_wilson_and_widen_when_sentences_recur_with_their_labels():
    once = made(200)
    once["reference"] = once["segment"]
    once = once[once["label"] != "Unrelated"]
    found = assessed.shares(once)
    for row in found.itertuples():
        low, high = proportion_confint(row.count, row.n, method="wilson")
        assert (row.low, row.high) == pytest.approx((low, high), abs=1e-12)
    assert np.allclose(found.groupby("annotator")["share"].sum(), 1)
    assert (found[found["label"] == "Unrelated"]["share"] == 0).all(), "a label that nobody gave has a row"
    twice = pd.concat([once, once.assign(doc="newstest2015")])
    plain = assessed.shares(pd.concat([once, once.assign(doc="newstest2015", reference=once["reference"] + "'")]))
    wide = assessed.shares(twice)
    common = plain["count"] > 0
    assert (wide["high"] - wide["low"])[common].gt((plain["high"] - plain["low"])[common]).all()


# Assessments by label, and contrasts


def test_means_and_deviations_are_those_of_numpy():
    part = made(300)
    found = assessed.da_by_label(part).set_index(["annotator", "label"])
    for key, some in part.groupby(["annotator", "label"]):
        assert found.loc[key, "mean"] == pytest.approx(some["z"].mean())
        assert found.loc[key, "sd"] == pytest.approx(np.std(some["z"]))
        assert found.loc[key, "n"] == len(some)
    assert (found["of"] == 300).all()


def clustered(part, formula, label, against):
    """Fit a contrast with statsmodels, errors clustered by sentence without its correction for parameters."""
    groups = pd.factorize(part["reference"])[0]
    options = {"groups": groups, "use_correction": False}
    fitted = smf.ols(formula, part).fit(cov_type="cluster", cov_kwds=options)
    prefix = f"C(label, Treatment('{against}'))[T.{label}]"
    size = groups.max() + 1
    return fitted.params[prefix], fitted.bse[prefix] * np.sqrt(size / (size - 1))


MODELS = [("all rows", ""), ("same test set", " + C(src_lang)"), ("same sentence", " + C(reference)")]


@pytest.mark.parametrize(("model", "more"), MODELS)
def test_contrasts_are_statsmodels_regressions_with_clustered_errors(model, more):
    part = made(240, sentences=60, people="A")
    found = assessed.contrasts(part, models=[model]).set_index(["label", "against"])
    for label, against in assessed.FINDING:
        formula = f"z ~ C(label, Treatment('{against}')){more}"
        difference, error = clustered(part, formula, label, against)
        row = found.loc[(label, against)]
        assert row["difference"] == pytest.approx(difference, abs=1e-9)
        assert row["difference"] / row["t"] == pytest.approx(error, rel=1e-6)
        assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["t"]), row["df"]))


def test_without_recurring_sentences_the_error_is_welchs_but_for_its_small_sample_factors():
    part = made(500, people="A")
    part["reference"] = part["segment"]
    row = assessed.contrasts(part, pairs=[("Good", "Fair")], models=["all rows"]).iloc[0]
    one, other = (part.loc[part["label"] == name, "z"] for name in ("Good", "Fair"))
    variance = (one.var(ddof=0) / len(one) + other.var(ddof=0) / len(other)) * 500 / 499
    assert row["difference"] / row["t"] == pytest.approx(np.sqrt(variance))
    assert row["superior"] == pytest.approx((one.to_numpy()[:, None] > other.to_numpy()).mean())


@given(shift=st.floats(-3, 3), scale=st.floats(0.1, 5), seed=st.integers(0, 50))
def test_contrasts_ignore_a_shift_and_follow_the_scale(shift, scale, seed):
    part = made(120, sentences=50, people="A", seed=seed)
    options = {"pairs": [("Serious", "Incomprehensible")], "models": ["all rows"]}
    moved = part.assign(z=part["z"] * scale + shift)
    before, after = (assessed.contrasts(each, **options).iloc[0] for each in (part, moved))
    assert after["difference"] == pytest.approx(before["difference"] * scale, abs=1e-8)
    assert after["t"] == pytest.approx(before["t"], rel=1e-5, abs=1e-7)
    assert after["superior"] == pytest.approx(before["superior"])


def test_under_no_difference_p_values_are_not_small_too_often():
    small = 0
    for seed in range(100):
        part = made(160, sentences=60, people="A", seed=seed)
        rng = np.random.default_rng(seed)
        effect = rng.normal(0, 0.5, 60)[part["reference"].str.split().str[1].astype(int)]
        part["z"] = effect + rng.normal(0, 0.3, len(part))
        small += assessed.contrasts(part, pairs=[("Good", "Fair")], models=["all rows"])["p"].iloc[0] < 0.05
    assert small <= 12  # 5 expected; above 12 has probability below 0.002


def test_a_label_that_hardly_occurs_leaves_a_gap_and_no_p_value_counts_for_it():
    part = made(200, people="A")
    part = part[part["label"] != "Unrelated"]
    found = assessed.contrasts(part, models=["all rows"]).set_index(["label", "against"])
    assert np.isnan(found.loc[("Serious", "Unrelated"), "p"])
    known = found["p"].notna()
    assert known.sum() == 2
    assert found.loc[known, "p_holm"].max() <= 2 * found.loc[known, "p"].max()


# Pairs of annotators


def test_kappa_and_concordance_are_scikit_learns(real):
    labels = pd.concat([real("sudoh-labels"), real("sudoh-labels-wmt17")])
    found = assessed.pairwise(labels, resamples=50).set_index(["dimension", "pair"])
    for dimension, part in labels.groupby("dimension"):
        wide = part.pivot(index=assessed.KEY, columns="annotator", values="label")
        for pair, n in (("A-B", 9280), ("A-C", 5360), ("B-C", 5360)):
            both = wide[pair.split("-")].dropna().to_numpy().T
            row = found.loc[(dimension, pair)]
            assert row["n"] == n == both.shape[1]
            assert row["kappa"] == pytest.approx(cohen_kappa_score(*both))
            assert row["concordance"] == pytest.approx((both[0] == both[1]).mean())
            assert row["kappa_low"] < row["kappa"] < row["kappa_high"]


def test_shared_rows_are_those_that_all_annotators_labelled():
    rows = [(i, who, "SF"[i % 2]) for i in range(1, 9) for who in "AB"] + [(i, "C", "SF"[i % 2]) for i in range(1, 5)]
    labels = judged(rows)
    assert assessed.pairwise(labels, resamples=10)["n"].tolist() == [8, 4, 4]
    assert assessed.pairwise(labels, resamples=10, shared=True)["n"].tolist() == [4, 4, 4]


def test_confusion_counts_and_shares_by_row():
    labels = judged([(1, "A", "S"), (1, "B", "A"), (2, "A", "S"), (2, "B", "S"), (3, "A", "C"), (3, "B", "F")])
    found = assessed.confusion_between(labels, pair="A-B").set_index(["first", "second"])
    assert found["count"].sum() == 3
    assert found.loc[("Excellent", "Good"), "share"] == 0.5
    assert found.loc[("Contradiction", "Serious"), "count"] == 1
    assert np.isnan(found.loc[("Fair", "Fair"), "share"])
    turned = assessed.confusion_between(labels, pair="B-A").set_index(["second", "first"])["count"]
    assert turned.reindex(found.index).tolist() == found["count"].tolist()


# Print


def test_what_rests_on_fewer_rows_is_not_compared_with_print_and_reasons_stand_where_numbers_differ():
    table = pd.DataFrame({"label": "Good", "annotator": ["A", "C"], "share": [0.2329, 0.2554], "n": [9280, 5360]})
    table = pd.concat([table, table[:1].assign(label="Excellent", share=0.5)]).assign(
        dimension="adequacy", rows="WMT15"
    )
    found = claims.compare("sudoh2021", {"shares": printed.whole(table, ["share"], 9280)}, items="Table 5")
    found = found.set_index("cell").loc[["Good, A", "Good, C", "Excellent, A"]]
    assert found["computed"].tolist() == [0.2329, None, 0.5]
    assert found["lacking"].tolist() == ["", "annotator C's WMT17 labels never released", ""]
    assert found["note"].tolist()[:2] == ["", "On WMT15: 0.255."]
    assert "differ in a few rows" in found.at["Excellent, A", "note"]


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("style", lambda: assessed.places("style")),
        ("alphabet", lambda: assessed.places("adequacy", order="alphabet")),
        ("'D' is no label", lambda: assessed.named(pd.DataFrame({"dimension": ["adequacy"], "label": ["D"]}))),
        ("3 labels for 2 translations", lambda: assessed.joined(THREE, texts(2))),
        ("3 labels for 4 translations", lambda: assessed.joined(THREE, texts(4))),
        ("'Poor' is no label", lambda: assessed.contrasts(made(20), pairs=[("Poor", "Good")])),
        ("same year", lambda: assessed.contrasts(made(20), models=["same year"])),
        ("No two", lambda: assessed.pairwise(judged([(1, "A", "S"), (2, "B", "S")]), resamples=10)),
        ("'A-Z'", lambda: assessed.confusion_between(THREE, pair="A-Z")),
    ],
)
def test_what_is_not_known_or_does_not_fit_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()
