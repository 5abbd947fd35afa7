"""Protocols compared: agreement and rankings, each against scipy, krippendorff or loops over frames."""

import itertools
from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import inter_rater

from evalkit import DataError
from evalkit.human import mqm
from evalkit.human.protocols import agreement, rankings
from tests.makers import laid_out, ratings

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


def test_nobody_is_drawn_who_is_not_known():
    frame = table(segments=1).assign(annotator=None)
    found = agreement.between(frame, resamples=20).iloc[0]
    assert found[["low", "high"]].tolist() == pytest.approx([found["pearson"]] * 2)


def test_collections_may_be_compared_on_what_all_of_them_judged():
    frame = table(protocols=("ESA-1", "ESA-2", "MQM-1"))
    fewer = frame[~(frame["protocol"].eq("MQM-1") & frame["segment"].isin(["0", "1"]))]
    names = ["ESA-2", "ESA-1", "MQM-1"]
    found = agreement.between(fewer, among=names, resamples=5)
    assert found[["a", "b"]].to_numpy().tolist() == [list(pair) for pair in itertools.combinations(names, 2)]
    assert found["n"].eq(22 * 5).all()
    kept = fewer[~fewer["segment"].isin(["0", "1"])]
    assert found["pearson"].iloc[0] == pytest.approx(stats.pearsonr(*flat(kept, "ESA-2", "ESA-1")).statistic)


# every coefficient, under any weighting


def runs(seed, rows=60):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, rows).astype(float)
    y = np.clip(x + rng.integers(-3, 4, rows), 0, 9).astype(float)
    z = x + rng.normal(0, 3, rows)
    classes = pd.DataFrame({"A": np.digitize(x, [3, 6]), "B": np.digitize(y, [3, 6])}).astype(float)
    segment = rng.integers(0, 12, rows)
    names = pd.MultiIndex.from_arrays([segment.astype(str), np.arange(rows).astype(str)])
    frame = pd.DataFrame({"A": x, "B": y, "LLM": z}, index=names)
    laid = agreement.Laid(pd.DataFrame({"segment": segment}, names), frame, frame.astype(int))
    lengths = rng.integers(3, 30, rows)
    on = {"": lengths, "A": rng.random(lengths.sum()) < 0.3, "B": rng.random(lengths.sum()) < 0.3}
    on["B"] |= on["A"] & (rng.random(lengths.sum()) < 0.5)
    own = {"": lengths, "A": on["A"] & (rng.random(lengths.sum()) < 0.5)}
    return laid, classes, on, own, rng.multinomial(rows, np.full(rows, 1 / rows)).astype(float)


def in_bits(on):
    """Turn flags of all characters, one translation after another, into a number a translation."""
    cut = np.cumsum(on[""])[:-1]
    texts = {name: np.split(flags, cut) for name, flags in on.items() if name}
    bits = {name: [sum(1 << int(n) for n in np.flatnonzero(one)) for one in own] for name, own in texts.items()}
    return {"": on[""]} | {name: np.array(own, object) for name, own in bits.items()}


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
    frame, segment = pd.DataFrame({"x": x, "y": y, "z": z}), laid.items["segment"].to_numpy()
    signs = [
        (np.sign(x[i] - x[j]), np.sign(y[i] - y[j]))
        for i, j in itertools.combinations(range(len(x)), 2)
        if segment[rows[i]] == segment[rows[j]]
    ]
    sx, sy = np.array(signs).T
    alpha = krippendorff.alpha
    return {
        "pearson": stats.pearsonr(x, y).statistic,
        "kendall_b": stats.kendalltau(x, y).statistic,
        "kendall_b_within": (sx * sy).sum() / np.sqrt((sx**2).sum() * (sy**2).sum()),
        "pearson_without_model": pingouin.partial_corr(frame, "x", "y", "z")["r"].iloc[0],
        "krippendorff_ordinal": alpha([x, y], level_of_measurement="ordinal"),
        "fleiss_kappa": fleiss(a, b),
        "gwet_ac1": ac1(a, b),
        "characters_alpha": alpha(np.stack(marked[0]), level_of_measurement="nominal"),
        "characters_own_alpha": alpha(np.stack(marked[1]), level_of_measurement="nominal"),
    }


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("drawn", [False, True])
def test_every_coefficient_is_that_of_another_library(seed, drawn):
    laid, classes, on, own, times = runs(seed)
    times = times if drawn else np.ones_like(times)
    made = agreement.together(laid, classes, in_bits(on), in_bits(own), ("A", "B"))
    assert set(made) == set(agreement.COEFFICIENTS)
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
    on = agreement.characters(items[["system", "doc", "segment"]], spans, texts)
    alpha = agreement.characters_alpha(on, ("A", "B"))(np.ones((1, 12)))[0]
    theirs = mqm.span_agreement(judged, spans, texts).set_index("compared").loc["any error", "characters"]
    assert alpha == pytest.approx(theirs)


# marks


def spans_of(frame, severity, **other):
    facts = {"start": 0.0, "end": 3.0, "side": "target", "src_lang": "eng", "tgt_lang": "deu", "item_type": "system"}
    return frame[["protocol", "system", "segment", "doc"]].assign(severity=severity, **{**facts, **other})


def test_a_translation_is_as_bad_as_its_worst_mark_and_degraded_copies_do_not_count():
    frame = table(segments=2, protocols=("ESA-1", "WMT-DASQM"))
    marked = [spans_of(frame[:1], "minor"), spans_of(frame[:1], "critical"), spans_of(frame[1:2], "unstated")]
    found = agreement.worst(frame, pd.concat([*marked, spans_of(frame[2:3], "major", item_type="degraded")]))
    assert found[:4].tolist() == [2, 1, 0, 0]
    assert found[frame["protocol"] == "WMT-DASQM"].isna().all()
    with pytest.raises(DataError, match="minor or major"):
        agreement.worst(frame, spans_of(frame[:1], "awful"))


def test_marks_are_laid_on_their_own_translation_and_cut_at_its_end():
    place = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "segment": "1"}
    items = pd.DataFrame({"system": ["b", "a", "ref"], "doc": "d", "segment": "1"})
    texts = pd.DataFrame({"system": ["a", "b"], "hypothesis": ["four", "fifteen letters"], "reference": "six xx"})
    rows = [("a", "system", 2, 9), ("a", "degraded", 0, 4), ("b", "system", 13, 15), ("b", "system", None, None)]
    marked = pd.DataFrame(rows, columns=["system", "item_type", "start", "end"])
    marked, texts = marked.assign(protocol="P", **place), texts.assign(**place)
    found = agreement.characters(items, marked, texts)
    assert found[""].tolist() == [15, 4, 6]
    assert [bin(one) for one in found["P"]] == ["0b11" + 13 * "0", "0b1100", "0b0"]
    own = agreement.own_marks(marked.assign(suggested=[True, False, True, False]))  # marks that nobody suggested
    assert own["start"].isna().tolist() == [True, False, True, True]


# tables of coefficients


NAMES = tuple(dict.fromkeys(np.ravel([*agreement.SETS.values()]).tolist()))


def all_coefficients(frame, **options):
    marked = spans_of(frame[(frame["score"] < 80) & (frame["protocol"] != "LLM")], "major", suggested=False)
    texts = table(protocols=("LLM",)).assign(hypothesis="x" * 9, reference="y")
    return agreement.coefficients(frame, marked, texts, **options)


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


# Rankings under several protocols


RANKED = ("ESA-1", "ESA-2", "ESAAI-1", "MQM-1", "WMT-MQM", "WMT-DASQM", "LLM")


def campaigns(rng, *, names=RANKED, systems=5, documents=10, length=2, people=6, steps=3.0, noise=6.0):
    """One judgement a translation and protocol, by a person at random."""
    spread = {"segment": 0.0, "annotator": 0.0, "residual": noise}
    sizes = {"systems": systems, "documents": documents, "length": length, "people": people}
    options = {"each": 1, "dealt": "item", "gap": -steps, "level": 0.0, "scale": None, "spread": spread}
    parts = []
    for name in names:
        part = ratings(rng, **sizes, **options, protocol=name)
        parts.append(part.assign(annotator=None) if name.startswith(("WMT", "LLM")) else part)
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def scored():
    """Seven protocols whose systems are close enough to change places."""
    return campaigns(np.random.default_rng(4))


@pytest.fixture(scope="module")
def drawn(scored):
    """The same, drawn 200 times."""
    return rankings.draw_scores(scored, resamples=200)


def means(scored):
    """Return the means of systems, systems × protocols, by pandas alone."""
    return scored.pivot_table(index="system", columns="protocol", values="score")[list(RANKED)]


def test_without_gold_every_other_kind_has_one_vote(scored, drawn):
    found, wide = rankings.against(drawn).set_index("protocol"), means(scored)
    tau = {(a, b): stats.kendalltau(wide[a], wide[b]).statistic for a in RANKED for b in RANKED}
    of_kind = {"ESA": ["ESA-1", "ESA-2"], "AI": ["ESAAI-1"], "MQM": ["MQM-1", "WMT-MQM"], "DA": ["WMT-DASQM"]}
    for name, own in {"ESA-1": "ESA", "ESAAI-1": "AI", "WMT-MQM": "MQM", "LLM": "AI"}.items():
        kinds = [others for kind, others in of_kind.items() if kind != own]
        theirs = np.mean([np.mean([tau[name, other] for other in others]) for others in kinds])
        assert found.loc[name, "others"] == pytest.approx(theirs)
    assert found.loc["ESA-2", "gold"] == pytest.approx(tau["ESA-2", "WMT-MQM"])
    assert found.loc["WMT-MQM", ["gold", "gold_low", "gold_high"]].isna().all()
    alone = campaigns(np.random.default_rng(1), names=("MQM-1", "WMT-MQM"))
    assert rankings.against(rankings.draw_scores(alone, resamples=50))["others"].isna().all()


def test_campaigns_of_one_kind_are_compared_with_those_of_two(scored, drawn):
    difference, low, high = rankings.kinds_apart(drawn)
    wide = means(scored).drop(columns="LLM")
    tau = {pair: stats.kendalltau(wide[pair[0]], wide[pair[1]]).statistic for pair in combinations(wide, 2)}
    same = [tau["ESA-1", "ESA-2"], tau["MQM-1", "WMT-MQM"]]
    other = [value for pair, value in tau.items() if pair not in (("ESA-1", "ESA-2"), ("MQM-1", "WMT-MQM"))]
    assert difference == pytest.approx(np.mean(same) - np.mean(other))
    assert low < difference < high


def test_draws_vary_as_much_as_campaigns_do():
    """Judged once each, by people who only scatter: the error of a difference is known, √(2/n) times the noise."""
    options = {"systems": 4, "documents": 40, "length": 3, "people": 10, "steps": 0.0, "noise": 6.0}
    scored = campaigns(np.random.default_rng(3), names=("ESA-1", "WMT-MQM"), **options)
    drawn = rankings.draw_scores(scored, resamples=2000).draws
    first, second = np.triu_indices(4, 1)
    spread = (drawn[..., first] - drawn[..., second]).std(axis=0).mean(axis=1)
    np.testing.assert_allclose(spread, 6 * np.sqrt(2 / 120), rtol=0.15)


def of(scored, *names):
    return rankings.draw_scores(scored, protocols=names, resamples=5)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda s: rankings.draw_scores(s.query("protocol != 'MQM-1' or system != 'S2'")), "MQM-1 .* S2"),
        (lambda s: of(campaigns(np.random.default_rng(1), documents=1, people=20, length=1), "ESA-1"), "ESA-1"),
    ],
)
def test_what_cannot_be_compared_is_refused(scored, call, word):
    with pytest.raises(DataError, match=word):
        call(scored)


def by_all_splits(scored, share):
    """Average scipy's tau over every way to part documents into halves, and to take some of the first."""
    documents, found = range(scored["doc"].nunique()), []
    by = scored.groupby(["doc", "system"])["score"]
    total, count = (one.unstack("system").to_numpy() for one in (by.sum(), by.count()))
    for half in map(list, combinations(documents, len(documents) // 2)):
        rest = [document for document in documents if document not in half]
        for few in map(list, combinations(half, max(1, round(share * len(half))))):
            mine, theirs = (total[chosen].sum(0) / count[chosen].sum(0) for chosen in (few, rest))
            found.append(stats.kendalltau(mine, theirs).statistic)
    return np.mean(found)


def test_consistency_is_the_mean_over_all_splits(monkeypatch):
    monkeypatch.setattr(rankings, "SHARES", (0.5, 1.0))
    scored = campaigns(np.random.default_rng(9), names=("ESA-1", "WMT-MQM"), documents=6)
    found = rankings.subset_consistency(scored, splits=4000)
    assert found["segments"].tolist() == [4, 6] * 2
    for (name, part), share in itertools.product(scored.groupby("protocol"), rankings.SHARES):
        kendall = found.loc[(found["protocol"] == name), "kendall"].iloc[rankings.SHARES.index(share)]
        assert kendall == pytest.approx(by_all_splits(part, share), abs=0.03)
    np.testing.assert_allclose(found["agreement"], (1 + found["kendall"]) / 2)


@settings(max_examples=2)
@given(shift=st.floats(-50, 50), factor=st.sampled_from([0.25, 2.0, 8.0]), seed=st.integers(0, 99))
def test_the_unit_of_a_protocol_and_the_order_of_rows_change_nothing(shift, factor, seed):
    scored = campaigns(np.random.default_rng(seed), names=("ESA-1", "MQM-1", "WMT-MQM"), documents=12)
    other = scored.assign(score=scored["score"].where(scored["protocol"] != "MQM-1", factor * scored["score"] + shift))
    other = other.sample(frac=1, random_state=seed)
    found = [rankings.draw_scores(table, resamples=20, seed=seed) for table in (scored, other)]
    columns = ["protocol", "system", "rank", "rank_low", "rank_high"]
    pd.testing.assert_frame_equal(*(rankings.places(one)[columns] for one in found))
    pd.testing.assert_frame_equal(*(rankings.subset_consistency(one, splits=20) for one in (scored, other)))


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
