"""Metrics against human scores: slipped references, correlations with intervals, subsets of errors, spread, figures."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import alignment, correlation
from evalkit.papers.sai2023 import metrics as subsets
from tests.makers import read

WORDS = np.array(["na", "lomi", "katera", "vi", "suradanta", "ok", "belo"])


def aligned(rows, seed, *, repeats=0.3):
    """Make up a file of sources and references of like length, some with numbers, some sources more than once."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(rows):
        if pairs and rng.random() < repeats:
            pairs.append(pairs[rng.integers(len(pairs))])
            continue
        length = rng.integers(4, 40)
        number = f" {rng.integers(1, 3000)}" if rng.random() < 0.4 else ""
        source = " ".join(rng.choice(WORDS, length)) + number
        reference = " ".join(rng.choice(WORDS, max(2, round(length * rng.normal(1.1, 0.1))))) + number
        pairs.append((source, reference))
    return pd.DataFrame(pairs, columns=["source", "reference"]).assign(tgt_lang="hin")


def slipped(table, first, last, shift):
    """Move the references of a run of rows: each row then holds the one of the row ``shift`` places away."""
    reference = table["reference"].to_numpy(copy=True)
    reference[first : last + 1] = reference[first - shift : last + 1 - shift]
    return table.assign(reference=reference)


# Slipped references


@given(st.integers(0, 10_000), st.integers(10, 150), st.integers(40, 120), st.sampled_from([-2, -1, 1, 2]))
@settings(max_examples=25)
def test_a_run_of_slipped_references_is_found_where_it_is(seed, first, length, shift):
    whole = aligned(300, seed)
    found = alignment.runs(slipped(whole, first, first + length, shift))
    assert len(found) == 1
    run = found.iloc[0]
    assert run["shift"] == shift  # at one edge references are lost, at the other they stand twice: either row will do
    assert abs(run["first"] - (first + max(-shift, 0))) <= 3
    assert abs(run["last"] - (first + length - max(shift, 0))) <= 3
    assert run["evidence"] > 0


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5]))
@settings(max_examples=25)
def test_a_file_in_order_is_left_as_it_is(seed, repeats):
    whole = aligned(150, seed, repeats=repeats)
    assert alignment.runs(whole).empty
    mended = alignment.corrected(whole)
    assert mended["correction"].eq(alignment.KEPT).all()
    pd.testing.assert_frame_equal(mended.drop(columns="correction"), whole)


@given(st.integers(0, 10_000), st.sampled_from([-1, 1]))
@settings(max_examples=25)
def test_what_is_put_back_is_what_was_there(seed, shift):
    whole = aligned(200, seed)
    mended = alignment.corrected(slipped(whole, 60, 140, shift))
    assert (
        mended["reference"].eq(whole["reference"].loc[mended.index]).mean() > 0.98
    )  # at the edges a row or two cannot be told
    assert len(whole) - len(mended) == mended.attrs.get("excluded", {}).get("references lost", 0) <= 3


def test_hindi_alone_slipped_and_mending_makes_its_translations_fit(real):
    ratings = real("indicmt-mqm")
    found = alignment.runs(ratings)
    assert found[["tgt_lang", "first", "last", "rows", "shift"]].values.tolist() == [["hin", 142, 385, 244, -1]]
    mended = alignment.corrected(ratings)
    states = mended.groupby("tgt_lang")["correction"].value_counts().unstack().T
    assert states["hin"].to_dict() == {alignment.KEPT: 1155, alignment.SHIFTED: 210, alignment.BORROWED: 26}
    others = {"guj": 1400, "mal": 1400, "mar": 1400, "tam": 1399}
    assert states.drop(columns="hin").sum().to_dict() == states.loc[alignment.KEPT].drop("hin").to_dict() == others
    assert mended.attrs["excluded"] == {"references lost": 10}
    hindi = mended[mended["correction"].ne(alignment.KEPT)]
    assert hindi["row"].between(141, 385).all()


def test_a_reference_that_nobody_else_has_is_lost_and_counted():
    whole = aligned(200, 5, repeats=0)
    mended = alignment.corrected(slipped(whole, 60, 140, -1))
    assert mended.attrs["excluded"] == {"references lost": 1}
    assert len(mended) == 199
    assert (mended["reference"] == whole["reference"].loc[mended.index]).all()


def test_evidence_has_a_row_per_row_and_shift_and_one_choice_each():
    found = alignment.evidence(aligned(60, 3))
    assert len(found) == 60 * 7
    assert found.groupby("row")["chosen"].sum().eq(1).all()
    assert found.loc[found["chosen"], "shift"].eq(0).all()


# Correlations


def scored(seed, *, rows=60, sentences=20, languages=("tam",), systems=4):
    """Make up judgements with two metrics, ties and gaps."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"tgt_lang": np.repeat(languages, rows), "score": rng.integers(0, 26, len(languages) * rows)})
    table["segment"] = rng.integers(0, sentences, len(table)).astype(str)
    table["system"] = rng.integers(0, systems, len(table)).astype(str)
    table["chrF"] = table["score"] + rng.normal(0, 8, len(table)).round()
    table["TER"] = -table["score"] + rng.normal(0, 8, len(table)).round()
    return table.astype({"score": "float"})


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_segments_equal_scipy_and_ter_is_turned(seed):
    table = scored(seed, languages=("tam", "guj"))
    table.loc[3, "chrF"] = np.nan
    found = correlation.segments(table).set_index(["language", "metric"])
    assert found.index.get_level_values(0).unique().tolist() == ["gu", "ta"]  # the paper's order
    for (language, metric), row in found.iterrows():
        part = table[table["tgt_lang"] == {"gu": "guj", "ta": "tam"}[language]].dropna(subset=metric)
        x = part[metric] * (-1 if metric == "TER" else 1)
        assert row["pearson"] == pytest.approx(stats.pearsonr(x, part["score"])[0])
        assert row["kendall_b"] == pytest.approx(stats.kendalltau(x, part["score"])[0])
        assert row["n"] == len(part)


def test_intervals_hold_the_value_and_widen_with_fewer_sentences():
    wide, narrow = (correlation.segments(scored(1, rows=400, sentences=k), resamples=400) for k in (8, 400))
    for found in (wide, narrow):
        for name in ("pearson", "kendall_b"):
            assert (found[f"{name}_low"] < found[name]).all()
            assert (found[name] < found[f"{name}_high"]).all()
    same = scored(1, rows=40, sentences=40)
    copies = pd.concat([same] * 10, ignore_index=True)  # ten copies of a sentence know no more than one
    one, ten = (correlation.segments(table, resamples=400) for table in (same, copies))
    pd.testing.assert_series_equal(one["kendall_b_low"], ten["kendall_b_low"])


def test_the_same_seed_draws_the_same_and_a_rising_transform_changes_no_tau():
    table = scored(2)
    first, again = (correlation.segments(table, resamples=50, seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    bent = correlation.segments(table.assign(chrF=np.exp(table["chrF"] / 10)), resamples=50, seed=3)
    columns = ["kendall_b", "kendall_b_low", "kendall_b_high"]
    pd.testing.assert_frame_equal(first[columns], bent[columns])

    level = correlation.segments(table.assign(chrF=1.0), resamples=20).set_index("metric").loc["chrF"]
    assert level[["pearson", "kendall_b", "kendall_b_low"]].isna().all(), "what never varies has no correlation"


def test_systems_correlate_by_their_means():
    table = scored(5, rows=200, systems=6)
    means = table.groupby("system")[["score", "chrF", "TER"]].mean()
    found = correlation.systems(table).set_index("metric")
    for name in ("chrF", "TER"):
        assert found.loc[name, "pearson"] == pytest.approx(np.corrcoef(means[name], means["score"])[0, 1])
        assert found.loc[name, "kendall_b"] == pytest.approx(stats.kendalltau(means[name], means["score"]).statistic)
    assert found.loc["TER", "pearson"] < 0  # as it is, not turned
    assert found["systems"].eq(6).all()


# Subsets by family of error

KEY = {"src_lang": "eng", "doc": "d", "annotator": "a"}


def judged():
    """Six judgements: faultless; a fluency error; two; fluency and accuracy; accuracy and terminology; one untyped."""
    table = read(
        """
        segment score own_score chrF
        1 25 25 90
        2 24 20 50
        3 20 24 60
        4 15 15 55
        5 10 9 20
        6 24 8 70""",
        tgt_lang="tam",
        system="s",
        **KEY,
    )
    spans = read(
        """
        segment error_type
        2 fluency/grammar
        3 fluency/spelling
        3 fluency/grammar
        4 fluency/grammar
        4 accuracy/omission
        5 accuracy/addition
        5 terminology/inappropriate
        6 unstated""",
        tgt_lang="tam",
        system="s",
        **KEY,
    )
    return table.astype({"score": "float"}), spans


def test_errors_are_counted_by_judgement_and_family():
    found = subsets.count_errors(*judged())
    counts = found[["errors", "fluency", "accuracy", "terminology"]].to_numpy()
    assert ["".join(map(str, row)) for row in counts] == ["0000", "1100", "2200", "2110", "2011", "0000"]
    table, spans = judged()
    assert subsets.count_errors(table[1:], spans[3:])["errors"].tolist() == [0, 0, 2, 2, 0]


@pytest.mark.parametrize(
    ("rule", "fluency", "accuracy"),
    [
        ("authors", "1236", "156"),
        ("formula's score", "1236", "156"),
        ("terminology apart", "1236", "16"),
        ("without error-free", "23", "5"),
        ("literal", "23", ""),
        ("one error", "2", ""),
    ],
)
def test_rules_choose_the_judgements_they_describe(rule, fluency, accuracy):
    table = subsets.count_errors(*judged())
    for family, wanted in (("fluency", fluency), ("accuracy", accuracy)):
        assert "".join(table.loc[subsets.member(table, family, rule), "segment"]) == wanted


def test_correlations_within_a_subset_are_those_of_its_rows_and_of_the_rules_score():
    table = subsets.count_errors(*judged())
    found = subsets.correlations(table, metrics=["chrF"])
    taus = found[found["subset"] == "fluency"].set_index("rule")["kendall_b"]
    rows = table[table["segment"].isin(list("1236"))]
    assert taus["authors"] == pytest.approx(stats.kendalltau(rows["chrF"], rows["own_score"]).statistic)
    assert taus["formula's score"] == pytest.approx(stats.kendalltau(rows["chrF"], rows["score"]).statistic)
    assert taus["authors"] != taus["formula's score"]


def test_distances_to_print_keep_the_order_of_the_rules():
    """No rule is put first because it fits: a comparison with print must not choose by its outcome."""
    table = subsets.count_errors(*judged())
    found = subsets.correlations(table, metrics=["chrF"])
    tau = found.set_index(["rule", "subset"])["kendall_b"]
    cells = pd.DataFrame({"language": "ta", "metric": "chrF", "subset": ["fluency"], "printed": ["0.333"]})
    fit = subsets.fit(found, cells)
    assert fit["rule"].tolist() == list(subsets.RULES)
    gaps = [abs(tau[rule, "fluency"] - 0.333) for rule in fit["rule"]]
    assert fit["mean_gap"].tolist() == pytest.approx(gaps, nan_ok=True)
    with pytest.raises(DataError, match="both computed and printed"):
        subsets.fit(found, cells.assign(language="xx"))


def test_the_authors_rule_is_their_notebooks_loop(real, mirrored):
    """Cell 94, told anew: slots of the raw CSV file, whose types are counted by the word before the underscore."""
    commit = "d8a8666b7e79975d0c3490e433e3a2b98961e86e"
    raw = pd.read_csv(mirrored(f"AI4Bharat/IndicMT-Eval/{commit}/legacy/data/csv/Tamil.csv"))
    names = raw[[f"Error{slot}_Type" for slot in range(1, 6)]].map(lambda kind: kind.split("_")[0])
    none, fluency = names.eq("Default").sum(axis=1), names.eq("Fluency").sum(axis=1)
    accuracy = names.isin(["Accuracy", "Terminology"]).sum(axis=1)
    table = subsets.count_errors(real("indicmt-mqm"), real("indicmt-mqm-spans"))
    tamil = table[table["tgt_lang"] == "tam"]
    for family, of in (("fluency", fluency), ("accuracy", accuracy)):
        assert subsets.member(tamil, family, "authors").tolist() == (of + none).eq(5).tolist()


# Spread


def test_ranges_and_scales():
    table = pd.DataFrame({"tgt_lang": "tam", "score": [-100.0, 5, 25], "chrF": [10.0, 20, 60], "TER": [0.0, 50, 200]})
    assert correlation.ranges(table).values.tolist() == [
        ["human", -100, 25, 3],
        ["chrF", 10, 60, 3],
        ["TER", 0, 200, 3],
    ]
    normal = correlation.normalised(table).groupby("metric", sort=False)["value"].apply(list).to_dict()
    assert normal == {"human": [0, 0.2, 1], "chrF": [0.1, 0.2, 0.6], "TER": [0, 0.25, 1]}
    found = correlation.summary(correlation.normalised(table)).set_index("metric")
    assert found["lower_half"].round(6).to_dict() == {"human": 0.666667, "chrF": 0.666667, "TER": 0.666667}


def test_buckets_hold_their_upper_ends_and_all_judgements():
    table = pd.DataFrame({"tgt_lang": "mal", "score": [-3.0, 5, 5.5, 10, 20, 20.5, 25], "chrF": np.arange(7.0)})
    found = correlation.buckets(table)
    assert found["bucket"].astype(str).tolist() == ["0-5", "5-10", "10-20", "20-25"]
    assert found["n"].tolist() == [2, 2, 1, 2]
    assert found["median"].tolist() == [0.5, 2.5, 4, 5.5]


# Figures and refusals


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.axison]


TABLE, (ROWS, SPANS) = scored(6), judged()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("19 rows", lambda: alignment.runs(aligned(19, 1))),
        ("'mqm'", lambda: correlation.segments(TABLE, gold="mqm")),
        ("'BLEU-1'", lambda: correlation.segments(TABLE, metrics=["BLEU-1"])),
        ("no metric's scores", lambda: correlation.segments(TABLE.drop(columns=["chrF", "TER"]))),
        ("ta has 1 systems", lambda: correlation.systems(TABLE.assign(system="one"))),
        ("Two judgements", lambda: subsets.count_errors(pd.concat([ROWS, ROWS]), SPANS)),
        ("No error .*'9'", lambda: subsets.count_errors(ROWS, SPANS.assign(segment="9"))),
        ("fluency, accuracy", lambda: subsets.member(subsets.count_errors(ROWS, SPANS), "style", "literal")),
        ("TER is 3", lambda: correlation.normalised(TABLE.assign(TER=3.0))),
        ("score is 26", lambda: correlation.buckets(TABLE.assign(score=26.0))),
    ],
)
def test_what_cannot_be_computed_or_drawn_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()
