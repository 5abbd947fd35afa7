"""Degraded context: labels known by hand, the paper's tests against scipy, laws of the robust ones, Appraise."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from evalkit import DataError
from evalkit.data import appraise
from evalkit.human import context


def document(hit, copy, original, *, copy_first=True, annotator=None, doc="d"):
    """Rows of one HIT with a copy (kind, score per segment) and its original (scores)."""
    shown = [(True, copy), (False, [("system", score) for score in original])]
    rows = []
    for is_copy, items in shown if copy_first else shown[::-1]:
        rows += [(hit, is_copy, str(k), kind, float(score)) for k, (kind, score) in enumerate(items)]
    frame = pd.DataFrame(rows, columns=["hit", "copy", "segment", "item_type", "score"])
    frame = frame.assign(position=range(len(frame)), annotator=annotator or hit, system="S", doc=doc)
    return frame.assign(src_lang="ces", tgt_lang="eng", z=frame["score"] / 10)


KINDS = ["repeat", "reference", "repeat", "degraded", "repeat", "degraded", "repeat"]
COPY = list(zip(KINDS, [70, 95, 60, 5, 50, 0, 40], strict=True))
ORIGINAL = [70, 71, 62, 73, 74, 75, 76]


def test_copies_are_labelled_by_what_had_been_seen():
    found = context.pairs(document("h", COPY, ORIGINAL))
    columns = ["segment", "group", "difference", "distance", "degraded_seen", "changed_seen"]
    assert found[columns].to_numpy().tolist() == [
        ["0", "before", 0.0, -3, 0, 0],
        ["2", "before", 2.0, -1, 0, 1],
        ["4", "after", 24.0, 1, 1, 2],
        ["6", "after", 36.0, 3, 2, 3],
    ]
    assert found["copy_first"].all()
    assert np.allclose(found["z_difference"], found["difference"] / 10)
    plain = [("repeat", 70), ("reference", 90)]
    assert context.pairs(document("h", plain, [70, 60]))["group"].tolist() == ["none"]
    example = context.label_example(document("h", COPY, ORIGINAL), segments=7)
    assert example["label"].tolist() == ["before", "", "before", "", "after", "", "after"]


def test_the_order_of_showing_and_of_rows_does_not_change_the_labels():
    one = context.pairs(document("h", COPY, ORIGINAL, copy_first=False))
    two = context.pairs(document("h", COPY, ORIGINAL, copy_first=False).sample(frac=1, random_state=3))
    assert not one["copy_first"].any()
    assert one["group"].tolist() == ["before", "before", "after", "after"]
    pd.testing.assert_frame_equal(one, two)


def test_other_hits_annotators_and_documents_are_never_mixed():
    tables = [document("h1", COPY, ORIGINAL), document("h2", COPY, [99] * 7), document("h1", COPY, [1] * 7, doc="e")]
    found = context.pairs(pd.concat(tables, ignore_index=True))
    highest = found.groupby(["hit", "doc"])["original"].max().to_dict()
    assert highest == {("h1", "d"): 76, ("h1", "e"): 1, ("h2", "d"): 99}
    assert found["document"].nunique() == 3


def test_copies_without_an_original_are_counted_and_two_originals_refused():
    table = document("h", COPY, ORIGINAL[:5])
    assert context.pairs(table).attrs["unpaired"] == 1
    with pytest.raises(DataError, match="twice"):
        context.pairs(pd.concat([table, table[~table["copy"]]]))
    with pytest.raises(DataError, match="column copy"):
        context.pairs(table.drop(columns="copy"))
    with pytest.raises(DataError, match="30 segments"):
        context.label_example(table, segments=30)


def campaign(seed, *, annotators=30, documents=6, effect=0.0, order=0.0, leniency=3.0):
    """Pairs with a known effect of degraded context and of order, and something that annotators share."""
    rng = np.random.default_rng(seed)
    rows = []
    for a in range(annotators):
        shared = rng.normal(0, leniency)
        for d in range(documents):
            first, of_document = rng.random() < 0.5, rng.normal(0, 2)
            for s in range(8):
                after = s >= 3
                loss = shared + of_document + effect * after + order * (first - 0.5) + rng.normal(0, 5)
                rows.append((f"a{a}", f"a{a}d{d}", "after" if after else "before", first, loss, s - 3 + after, s // 3))
    names = ["annotator", "document", "group", "copy_first", "difference", "distance", "degraded_seen"]
    return pd.DataFrame(rows, columns=names).assign(pair="ces-eng", changed_seen=0)


def test_the_papers_tests_are_scipys():
    table = campaign(1, effect=1)
    before, after = (table.loc[table["group"] == g, "difference"] for g in ("before", "after"))
    described = context.contrasts(table)
    row = described[(described["pair"] == "all") & (described["group"] == "after")].iloc[0]
    assert row["p_one_sample"] == stats.ttest_1samp(after, 0).pvalue
    assert (row["n"], row["mean"], row["median"]) == (len(after), after.mean(), after.median())
    expected = stats.ttest_ind(before, after, equal_var=False, alternative="less")
    told = context.welch(table).iloc[0]
    assert (told["t"], told["df"], told["p_less"]) == (expected.statistic, expected.df, expected.pvalue)


def test_order_is_told_apart_from_an_effect():
    order = context.order_effects(campaign(3, effect=4, order=6))
    assert order["order_low"].lt(6).all()
    assert order["order_high"].gt(6).all()


@pytest.mark.parametrize("effect", [1.5, -1.5])
def test_one_sided_p_values_are_scipys_and_statsmodels(effect):
    import statsmodels.formula.api as smf

    table = campaign(7, effect=effect).assign(z_difference=lambda t: t["difference"] / 20)
    told = context.robust(table, resamples=99, rng=np.random.default_rng(1)).set_index("method")
    before, after = (table.loc[table["group"] == g, "difference"] for g in ("before", "after"))
    welch = stats.ttest_ind(after, before, equal_var=False, alternative="greater")
    assert told.at["independent pairs (Welch)", "p_greater"] == pytest.approx(welch.pvalue, rel=1e-9)
    codes = pd.factorize(table["annotator"])[0]
    model = smf.ols("difference ~ I(1.0 * (group == 'after'))", table)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    row = told.loc["clustered by annotator"]
    assert row["p_greater"] == pytest.approx(stats.t.sf(fit.tvalues.iloc[1], codes.max()), rel=1e-9)
    assert row[["low", "high"]].tolist() == pytest.approx(fit.conf_int().iloc[1].tolist(), rel=1e-6)
    assert (told["p_greater"] < 0.05).all() == (effect > 0)
    assert (told["p_greater"] > 0.95).all() == (effect < 0)
    by_z = context.robust(table, resamples=99, rng=np.random.default_rng(1), scale="z").set_index("method")
    exact = [name for name in told.index if not name.startswith("mixed")]  # those stop where processors still agree
    assert np.allclose(by_z.loc[exact, "estimate"], told.loc[exact, "estimate"] / 20)
    assert np.allclose(by_z.loc[exact, "p_greater"], told.loc[exact, "p_greater"])


def test_repeats_without_context_are_described_as_the_paper_does():
    values = [0.0, 0, 3, -100, 5, 0]
    told = context.repeats(pd.DataFrame({"difference": values})).iloc[0]
    assert told[["n", "median", "mode", "largest", "outcome"]].tolist() == [6, 0, 0, 100, "not rejected"]
    assert told["p_one_sample"] == stats.ttest_1samp(values, 0).pvalue
    assert context.repeats(pd.DataFrame({"difference": [1.0, 1.1, 0.9, 1.0]}))["outcome"].iloc[0] == "rejected"


def test_permutation_is_the_estimate_with_a_constant_per_document_and_uniform_without_an_effect():
    import statsmodels.formula.api as smf

    table = campaign(4, annotators=5, effect=2)
    estimate, *_ = context.permutation(table, resamples=9, rng=np.random.default_rng(1))
    fit = smf.ols("difference ~ I(1.0 * (group == 'after')) + C(document)", table).fit()
    assert estimate == pytest.approx(fit.params.iloc[-1])
    draws = [campaign(seed, annotators=3, documents=3) for seed in range(60)]
    p = [context.permutation(table, resamples=39, rng=np.random.default_rng(k))[1] for k, table in enumerate(draws)]
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_equivalence_is_statsmodels_for_one_pair_an_annotator():
    table = campaign(5).assign(annotator=lambda t: [str(k) for k in range(len(t))])
    told = context.equivalence(table, margin=0.5).set_index("effect")
    for group in ("before", "after"):
        values = table.loc[table["group"] == group, "difference"]
        expected = DescrStatsW(values).ttost_mean(-0.5, 0.5)[0]
        assert told.at[f"mean {group}", "p_equivalent"] == pytest.approx(expected)
    wide = context.equivalence(table, margin=50)
    assert wide["verdict"].isin(["equivalent", "both"]).all()
    z = context.equivalence(table.assign(z_difference=table["difference"] / 20), margin=0.5 / 20, scale="z")
    assert np.allclose(told["p_equivalent"], z["p_equivalent"])
    assert np.allclose(told["low"], z["low"] * 20)


def test_doses_leave_nothing_out():
    table = campaign(6)
    for by in ("distance", "degraded_seen"):
        found = context.dose(table, by=by)
        assert found["n"].sum() == len(table)


APPRAISE = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"


def snippet(account, doc, kinds, scores, start, *, order=None, whole="TGT", into="jpn"):
    """Rows of one showing of a snippet in Appraise, then its document score."""
    rows, clock = [], start
    for k in order or range(len(kinds)):
        rows.append(f"{account},S,{k},{kinds[k]},eng,{into},{scores[k]},{doc},False,{clock:.3f},{clock + 1:.3f}")
        clock += 2
    return [*rows, f"{account},S,{len(kinds)},{whole},eng,{into},50,{doc},True,{clock:.3f},{clock + 1:.3f}"]


@pytest.fixture
def exported(tmp_path):
    """Load rows in the format of WMT22's document-level file."""

    def load(rows):
        (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        (tmp_path / "header.csv").write_text(APPRAISE, encoding="utf-8")
        return appraise.documents([tmp_path / "scores.csv", tmp_path / "header.csv"])

    return load


@pytest.mark.parametrize("mark", ["", "#bad"])
@pytest.mark.parametrize("copy_first", [True, False])
def test_appraise_copies_are_told_from_originals(mark, copy_first, exported):
    kinds = ["TGT", "TGT", "BAD", "TGT"]
    copy = snippet("acc1", "talk#1-4" + mark, kinds, [80, 70, 3, 40], 100 if copy_first else 300, whole="BAD")
    original = snippet("acc1", "talk#1-4", ["TGT"] * 4, [80, 71, 72, 73], 300 if copy_first else 100)
    found = context.pairs(exported([*copy, *original]))
    assert found["segment"].tolist() == ["0", "1", "3"]
    assert found["group"].tolist() == ["before", "before", "after"]
    assert found["difference"].tolist() == [0, 1, 33]
    assert found["copy_first"].eq(copy_first).all()
