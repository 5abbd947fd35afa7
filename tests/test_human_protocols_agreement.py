"""Agreement under several protocols: every statistic is another library's, under any weighting of the items."""

import itertools

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
import sklearn.metrics
from scipy import stats
from statsmodels.stats import inter_rater

from evalkit import DataError
from evalkit.human import mqm
from evalkit.human.protocols import agreement, coefficients, criterion, hands, marks
from evalkit.show.plots.protocols import agreement as draw
from tests.makers import laid_out

SYSTEMS = ("a", "b", "c", "d")


def table(*, seed=0, segments=24, protocols=("ESA-1", "ESA-2"), systems=SYSTEMS):
    """Draw judgements of systems and a reference, each segment's and each person's scores alike."""
    rng = np.random.default_rng(seed)
    names = ("ref", *systems)
    quality = rng.normal(0, 10, (segments, len(names))) - 4 * np.arange(len(names))
    rows = []
    for protocol, (segment, place) in itertools.product(protocols, np.ndindex(quality.shape)):
        score = np.clip(80 + quality[segment, place] + rng.normal(0, 12), 0, 100).round()
        document, kind = segment // 3, "system" if place else "reference"
        who, hit = f"{protocol}-p{document % 4}", f"{protocol}{document % 4:02d}"
        rows.append((protocol, names[place], f"d{document}", segment, who, hit, kind, score))
    return laid_out(rows, "protocol system doc segment annotator hit item_type score")


def flat(frame, *names):
    wide = frame.pivot(index=["segment", "system"], columns="protocol", values="score")
    return [wide[name].to_numpy() for name in names]


# between


def test_collections_correlate_as_scipy_says():
    frame = table(protocols=("ESA-1", "MQM-1")).drop(index=[3, 17, 200])  # gaps on either side
    [row] = agreement.between(frame, resamples=5).to_dict("records")
    wide = frame.pivot(index=["segment", "system"], columns="protocol", values="score").dropna()
    x, y = wide["ESA-1"], wide["MQM-1"]
    assert row["n"] == len(wide)
    assert row["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert row["kendall_b"] == pytest.approx(stats.kendalltau(x, y).statistic)
    assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    means = wide.drop("ref", level="system").groupby("system").mean()
    assert row["system_pearson"] == pytest.approx(stats.pearsonr(means["ESA-1"], means["MQM-1"]).statistic)
    assert row["low"] <= row["high"]


def test_nobody_is_drawn_who_is_not_known_and_nothing_may_be_judged_twice():
    frame = table(segments=1).assign(annotator=None)
    found = agreement.between(frame, resamples=20).iloc[0]
    assert found[["low", "high"]].tolist() == pytest.approx([found["pearson"]] * 2)
    with pytest.raises(DataError, match="twice"):
        agreement.lay(pd.concat([frame, frame[:1]]))


def test_the_same_person_on_both_sides_is_drawn_once():
    laid = agreement.lay(table())
    shared = {"ESA-2": "ESA-1"}
    pairs = [("ESA-1", "ESA-2"), ("ESA-1",)]
    drawn = agreement.redrawn(laid, pairs, [lambda counts: counts] * 2, resamples=10, seed=1, same=shared)
    np.testing.assert_array_equal(drawn[0].draws, drawn[1].draws)


# every coefficient, under any weighting


def runs(seed, rows=60):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, rows).astype(float)
    y = np.clip(x + rng.integers(-3, 4, rows), 0, 9).astype(float)
    z = x + rng.normal(0, 3, rows)
    classes = pd.DataFrame({"A": np.digitize(x, [3, 6]), "B": np.digitize(y, [3, 6])}).astype(float)
    segment = rng.integers(0, 12, rows)
    names = pd.MultiIndex.from_arrays([segment.astype(str), np.arange(rows).astype(str)])
    who = {"A": rng.integers(0, 3, rows), "B": rng.integers(0, 4, rows), "LLM": np.zeros(rows, int)}
    frame = pd.DataFrame({"A": x, "B": y, "LLM": z}, index=names)
    laid = agreement.Laid(frame, segment, segment // 2, who, names.get_level_values(1).to_numpy(), np.ones(rows, bool))
    lengths = rng.integers(3, 30, rows)
    on = {"": lengths, "A": rng.random(lengths.sum()) < 0.3, "B": rng.random(lengths.sum()) < 0.3}
    on["B"] |= on["A"] & (rng.random(lengths.sum()) < 0.5)
    own = {"": lengths, "A": on["A"] & (rng.random(lengths.sum()) < 0.5)}
    return laid, classes, on, own, rng.multinomial(rows, np.full(rows, 1 / rows)).astype(float)


def ac1(first, second, categories=3):
    """Gwet 2008, equations 7 to 9, for two raters."""
    share = np.array([(np.mean(first == k) + np.mean(second == k)) / 2 for k in range(categories)])
    by_chance = (share * (1 - share)).sum() / (categories - 1)
    return (np.mean(first == second) - by_chance) / (1 - by_chance)


def fleiss(first, second):
    counts, _ = inter_rater.aggregate_raters(np.column_stack([first, second]).astype(int))
    return inter_rater.fleiss_kappa(counts)


def of_libraries(laid, classes, on, own, times):
    """Compute every coefficient with other libraries, on the rows repeated."""
    rows = np.repeat(np.arange(len(times)), times.astype(int))
    x, y, z = laid.scores.iloc[rows].to_numpy().T
    a, b = classes.iloc[rows].to_numpy().T
    begin = np.concatenate([[0], np.cumsum(on[""])])
    cut = np.concatenate([np.arange(begin[row], begin[row + 1]) for row in rows])
    absent = np.zeros(begin[-1], bool)
    marked = [(given["A"][cut].astype(int), given.get("B", absent)[cut].astype(int)) for given in (on, own)]
    frame = pd.DataFrame({"x": x, "y": y, "z": z})
    long = frame[["x", "y"]].reset_index(names="item").melt("item", var_name="rater", value_name="score")
    icc = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="score").set_index("Type")["ICC"]
    standard = []
    for name, values in (("A", laid.scores["A"].to_numpy()), ("B", laid.scores["B"].to_numpy())):
        who = laid.people[name]
        z_scores = np.array([(v - values[who == p].mean()) / values[who == p].std(ddof=1) for v, p in zip(values, who)])
        standard.append(z_scores[rows])
    signs = [
        (np.sign(x[i] - x[j]), np.sign(y[i] - y[j]))
        for i, j in itertools.combinations(range(len(x)), 2)
        if laid.segment[rows[i]] == laid.segment[rows[j]]
    ]
    sx, sy = np.array(signs).T
    alpha = krippendorff.alpha
    return {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "kendall_b": stats.kendalltau(x, y).statistic,
        "pearson_z": stats.pearsonr(*standard).statistic,
        "kendall_b_within": (sx * sy).sum() / np.sqrt((sx**2).sum() * (sy**2).sum()),
        "pearson_without_model": pingouin.partial_corr(frame, "x", "y", "z")["r"].iloc[0],
        "krippendorff_interval": alpha([x, y], level_of_measurement="interval"),
        "krippendorff_ordinal": alpha([x, y], level_of_measurement="ordinal"),
        "icc_agreement": icc["ICC(A,1)"],
        "icc_consistency": icc["ICC(C,1)"],
        "percent_agreement": (a == b).mean(),
        "fleiss_kappa": fleiss(a, b),
        "gwet_ac1": ac1(a, b),
        "error_kappa": fleiss(a > 0, b > 0),
        "characters_f1": sklearn.metrics.f1_score(*marked[0]),
        "characters_alpha": alpha(np.stack(marked[0]), level_of_measurement="nominal"),
        "characters_own_alpha": alpha(np.stack(marked[1]), level_of_measurement="nominal"),
    }


@pytest.mark.filterwarnings("ignore::Warning:pingouin")
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("drawn", [False, True])
def test_every_coefficient_is_that_of_another_library(seed, drawn):
    laid, classes, on, own, times = runs(seed)
    times = times if drawn else np.ones_like(times)
    made = coefficients.together(laid, classes, on, own, ("A", "B"))
    assert set(made) == set(coefficients.COEFFICIENTS)
    found = {name: float(each(times[None])[0]) for name, each in made.items()}
    assert found == pytest.approx(of_libraries(laid, classes, on, own, times), abs=1e-9)


def test_characters_agree_as_in_the_study_of_mqm():
    rng = np.random.default_rng(3)
    items = laid_out(np.zeros((1, 12)), "system segment")
    texts = items.assign(hypothesis="x" * 40, reference="y")
    start = rng.integers(0, 30, 50).astype(float)
    spans = items.iloc[rng.integers(0, 12, 50)].reset_index(drop=True)
    spans = spans.assign(start=start, end=start + rng.integers(1, 10, 50), protocol=rng.choice(["A", "B"], 50))
    spans = spans.assign(severity="minor", error_type="o", side="target", annotator=spans["protocol"])
    judged = pd.concat([items.assign(annotator=who) for who in "AB"])
    on = marks.characters(items[["system", "doc", "segment"]], spans, texts)
    alpha = coefficients.characters_of(on["A"], on["B"], on[""])["characters_alpha"](np.ones((1, 12)))[0]
    theirs = mqm.span_agreement(judged, spans, texts).set_index("compared").loc["any error", "characters"]
    assert alpha == pytest.approx(theirs)


# marks


def spans_of(frame, severity, **other):
    facts = {"start": 0.0, "end": 3.0, "side": "target", "src_lang": "eng", "tgt_lang": "deu", "item_type": "system"}
    return frame[["protocol", "system", "segment", "doc"]].assign(severity=severity, **{**facts, **other})


def test_a_translation_is_as_bad_as_its_worst_mark_and_degraded_copies_do_not_count():
    frame = table(segments=2, protocols=("ESA-1", "WMT-DASQM"))
    marked = [spans_of(frame[:1], "minor"), spans_of(frame[:1], "critical"), spans_of(frame[1:2], "unstated")]
    found = marks.worst(frame, pd.concat([*marked, spans_of(frame[2:3], "major", item_type="degraded")]))
    assert found[:4].tolist() == [2, 1, 0, 0]
    assert found[frame["protocol"] == "WMT-DASQM"].isna().all()
    with pytest.raises(DataError, match="minor or major"):
        marks.worst(frame, spans_of(frame[:1], "awful"))


def test_marks_are_laid_on_their_own_translation_and_cut_at_its_end():
    place = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "segment": "1"}
    items = pd.DataFrame({"system": ["b", "a", "ref"], "doc": "d", "segment": "1"})
    texts = pd.DataFrame({"system": ["a", "b"], "hypothesis": ["four", "fifteen letters"], "reference": "six xx"})
    rows = [("a", "system", 2, 9), ("a", "degraded", 0, 4), ("b", "system", 13, 15), ("b", "system", None, None)]
    marked = pd.DataFrame(rows, columns=["system", "item_type", "start", "end"])
    marked, texts = marked.assign(protocol="P", **place), texts.assign(**place)
    found = marks.characters(items, marked, texts)
    assert found[""].tolist() == [15, 4, 6]
    assert np.flatnonzero(found["P"]).tolist() == [13, 14, 17, 18]
    with pytest.raises(DataError, match="no text"):
        marks.characters(items.assign(segment="2"), marked, texts)
    own = marks.own(marked.assign(suggested=[True, False, True, False]))  # marks that nobody suggested
    assert own["start"].isna().tolist() == [True, False, True, True]


def test_wmts_marks_come_beside_the_others_and_those_in_the_source_lose_their_place():
    frame = table(segments=2, protocols=("MQM-1",))
    merged = spans_of(frame[:2], "major").assign(side=["source", "target"], annotator="merged")
    merged = pd.concat([merged, merged.assign(doc="elsewhere")]).drop(columns="protocol")
    both = marks.with_wmt(spans_of(frame, "minor", suggested=False), merged)
    wmt = both[both["protocol"] == "WMT-MQM"]
    assert len(wmt) == 2
    assert wmt["start"].isna().tolist() == [True, False]
    assert (~wmt["suggested"].astype(bool)).all()


# tables of coefficients


NAMES = tuple(dict.fromkeys(itertools.chain.from_iterable([*coefficients.WHOLE, *coefficients.PART])))


def all_coefficients(frame, **options):
    marked = spans_of(frame[(frame["score"] < 80) & (frame["protocol"] != "LLM")], "major", suggested=False)
    texts = table(protocols=("LLM",)).assign(hypothesis="x" * 9, reference="y")
    return coefficients.coefficients(frame, marked, texts, **options)


@pytest.fixture(scope="module")
def small():
    return all_coefficients(table(protocols=(*NAMES, "LLM")), resamples=40)


def test_a_set_holds_only_translations_that_all_of_its_runs_judged(small):
    frame = table(protocols=(*NAMES, "LLM"))
    fewer = frame[~(frame["protocol"].eq("WMT-MQM") & frame["segment"].isin(["0", "1"]))]
    found = all_coefficients(fewer, resamples=2)
    counts = found.groupby("protocol")["n"].first()
    assert counts[["ESA-1", "MQM-1", "ESA-IAA"]].tolist() == [22 * 5, 22 * 5, 24 * 5]
    kept = fewer[~fewer["segment"].isin(["0", "1"])]
    told = found.set_index(["protocol", "coefficient"])["estimate"]
    assert told["ESA-1", "kendall_b"] == pytest.approx(stats.kendalltau(*flat(kept, "ESA-1", "ESA-2")).statistic)
    assert small["n"].eq(120).all()


def test_shares_of_first_places_add_up_and_the_highest_comes_first(small):
    assert (small["low"] <= small["high"]).all()
    marked = small[small["coefficient"].ne("characters_own_alpha")]
    halves = marked.groupby([marked["protocol"].str.endswith("IAA"), "coefficient"])["first"].sum()
    assert (halves >= 1 - 1e-9).all()
    wide = coefficients.side_by_side(small).set_index("coefficient")
    best, row = coefficients.highest(small).set_index("coefficient"), wide.loc["pearson"]
    assert best.loc["pearson", "whole"] == row.iloc[:3].idxmax().split(" × ")[0]
    assert best.loc["pearson", "part"] == row.iloc[3:].idxmax().split(" × ")[0]


# who judged again


def accounts(spans):
    """Make the first and last judgement of accounts: (protocol, number, began, ended)."""
    rows = [(protocol, f"x{number}", when) for protocol, number, *both in spans for when in both]
    frame = pd.DataFrame(rows, columns=["protocol", "hit", "started"])
    return frame.assign(ended=frame["started"])


def test_accounts_of_one_person_follow_each_other_and_others_overlap():
    parts = list(enumerate(hands.AGAIN))
    one = [(part, f"{n:02d}", 9 * n + 3 * k, 9 * n + 3 * k + 2) for k, part in parts for n in range(6)]
    found = hands.overlaps(accounts(one), resamples=99)
    assert (found["numbers"], found["pairs"], found["overlapping"]) == (6, 18, 0)
    apart = accounts([(part, f"{n:02d}", 10 * n, 10 * n + 5) for _, part in parts for n in range(6)])
    found = hands.overlaps(apart, resamples=99)
    assert (found["overlapping"], found["p"]) == (18, 1)


def several():
    return table(protocols=("ESA-1", "ESA-2", "ESA-IAA", "ESAAI-1", "ESAAI-2", "ESAAI-IAA", "MQM-1", "MQM-IAA"))


def test_pairs_are_sorted_by_what_they_have_in_common():
    within, shared = hands.within(several(), resamples=30)
    kinds = within.set_index(["protocol", "again"])["kind"]
    pairs = ("ESA-1", "ESA-2"), ("ESAAI-1", "ESAAI-IAA"), ("ESA-IAA", "MQM-IAA"), ("ESA-1", "ESAAI-1")
    assert [kinds[pair] for pair in pairs] == [hands.KINDS[k] for k in (1, 2, 3, 0)]
    x, y = flat(several(), "ESA-1", "ESA-2")
    assert within.iloc[0]["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert shared["pairs"].sum() == len(within) == 28
    draw.hands(within, shared)
    with pytest.raises(DataError, match="ESAAI-2"):
        hands.within(table(protocols=("ESA-1", "ESA-2")))


# Licht's criterion


def test_differences_are_those_of_means_in_standard_deviations():
    frame = table(protocols=("ESA-1", "WMT-MQM"))
    order = criterion.wmt_order(frame)
    own = frame[frame["protocol"] == "ESA-1"]
    means = own.groupby("system")["score"].mean()
    spread = own.loc[own["system"] != "ref", "score"].std()
    found = criterion.criterion(frame, resamples=2).set_index("step")
    better, worse = means[order[:2]].mean(), means[order[2:]].mean()
    assert found.loc[criterion.STEPS[0], "difference"] == pytest.approx((means["ref"] - better) / spread)
    assert found.loc[criterion.STEPS[1], "difference"] == pytest.approx((better - worse) / spread)
    pairs = [means[a] > means[b] for a, b in itertools.combinations(order, 2)]
    assert found["in_order"].iloc[0] == pytest.approx(np.mean(pairs))
    with pytest.raises(DataError, match="WMT-DASQM"):
        criterion.wmt_order(frame, gold="nobody")
    draw.steps(found.reset_index(), {"ESA-1": "E"})
