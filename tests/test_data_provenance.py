"""A lost source or scale stops a run, broken rules are told with line and remedy, and simulated tables are as the real ones."""

import re
import tempfile
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from statsmodels.stats.inter_rater import fleiss_kappa

from evalkit import DataError, campaign, data, show
from evalkit.data import provenance, registry, simulate, stand_ins
from evalkit.data.indicmt import with_language
from evalkit.data.schemas import HITS, RATINGS, check
from evalkit.data.simulate import Design
from evalkit.human import annotators, calibration, context, normalization, preferences
from evalkit.metrics import lexical
from evalkit.metrics.scores import align


def stars(name="stars", kind="real", *, scale=(1, 5), people=4, digest="git:1"):
    """Draw ratings from 1 to 5 of a calibration set by a few annotators, labelled as loaded ones are."""
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, 24)
    score = (quality + rng.integers(-1, 2, (people, 24))).clip(1, 5).astype(float)
    rows = [(f"d{g // 4}", str(g), f"p{a}", score[a, g]) for a in range(people) for g in range(24)]
    frame = pd.DataFrame(rows, columns=["doc", "segment", "annotator", "score"])
    frame = frame.assign(src_lang="eng", tgt_lang="jpn", system="s", item_type="calibration", hit="h")
    source = {"name": name, "source": kind, "origin": f"{name}.csv", "digest": digest}
    return provenance.like(frame, frame, scale=scale, source=source)


def bare(frame):
    """Return what is left where pandas has dropped what a table knows of itself, as ``pd.concat`` of two sets does."""
    lost = pd.concat([frame, stars("b").assign(tgt_lang="deu")])
    assert lost.attrs == {}, "pandas would have kept it, and this test would show nothing"
    return lost[lost["tgt_lang"] == "jpn"]


# What pandas does, where the suite relies on it

DROPPED = {
    "two tables": lambda t: pd.concat([t, stars("other")]),
    "merged": lambda t: t.merge(pd.DataFrame({"doc": ["d1"]})),
    "simulated beside real": lambda t: pd.concat([t, stars(kind="simulated")]),
    "aggregated": lambda t: t.groupby("doc").agg(n=("score", "size"), mean=("score", "mean")),
}


@pytest.mark.parametrize("way", DROPPED)
def test_what_pandas_drops_is_an_error_that_names_the_table_and_the_remedy(way):
    table = DROPPED[way](stars())
    size = f"{len(table)} row"
    for ask, remedy in ((provenance.source_of, "evalkit.data"), (provenance.scale_of, "scale=")):
        with pytest.raises(DataError, match=f"The table of {size}.*{remedy}.*provenance.stack"):
            ask(table)


# Who asks: what needs the ends of the scale, or the source, of a table that may have lost them, and what is said then
ASKING = {
    "normalize": (lambda t: normalization.normalize(t, method="ticks", ticks=5), "where its scale ends"),
    "profiles": (lambda t: annotators.profiles(t, tick_marks=(1.0, 3.0, 5.0), within=0.1), "where its scale ends"),
    "held_out": (lambda t: calibration.held_out(t, splits=4, resamples=4), "where its scale ends"),
    "screen": (lambda t: annotators.screen(t, ["at_ends > 0.5"]), "where its scale ends"),
    "campaign": (campaign.from_ratings, "where its scale ends"),
    "show.source": (show.source, "where it comes from"),
    "stack": (lambda t: provenance.stack([t, stars()]), "where it comes from"),
    "align": (lambda t: align(*[t[t["annotator"] == "p0"].assign(metric="m")] * 2), "where it comes from"),
    "compare": (lambda t: show.compare(pd.DataFrame(), data=[stars(), t], caption="c"), "where it comes from"),
}


@pytest.mark.parametrize("name", ASKING)
def test_what_a_table_has_lost_stops_whoever_needs_it(name):
    ask, told = ASKING[name]
    with pytest.raises(DataError, match=told):
        ask(bare(stars()))


def test_scores_of_two_sets_land_on_the_ticks_of_their_own_scale():
    both = provenance.stack([stars("a"), stars("b", digest="git:2")])
    assert normalization.normalize(both, method="ticks", ticks=5)["normalized"].tolist() == both["score"].tolist()
    swapped = normalization.normalize(both, method="ticks", ticks=5, scale=(0, 100))
    assert swapped["normalized"].eq(0).all(), "the given scale goes before the table's own"


# Stacking


@given(st.lists(st.sampled_from(provenance.KINDS), min_size=1, max_size=5), st.randoms())
def test_the_whole_is_as_weak_as_its_weakest_part_in_whatever_order(kinds, chance):
    tables = [stars(f"t{n}", kind, digest=f"git:{n}") for n, kind in enumerate(kinds)]
    whole = provenance.stack(tables)
    told = provenance.source_of(whole)
    again = provenance.stack([whole.head(30), whole.iloc[30:]])
    pd.testing.assert_frame_equal(again, whole)
    assert again.attrs == whole.attrs, "parts of one table are that table"
    assert told["source"] == next(kind for kind in ("simulated", "published", "real") if kind in kinds)
    assert told["digest"].split("+") == [f"git:{n}" for n in range(len(kinds))]
    assert len(whole) == sum(map(len, tables))
    assert whole.index.equals(pd.RangeIndex(len(whole)))
    assert provenance.scale_of(whole) == (1, 5)
    chance.shuffle(tables)
    assert provenance.merged(tables)["source"] == told["source"]


@pytest.mark.parametrize("other", [(0, 100), None, (1, 6)])
def test_different_scales_are_not_stacked(other):
    with pytest.raises(DataError, match=r"The table a has scores from \(1, 5\), and The table b from .*one scale"):
        provenance.stack([stars("a"), stars("b", scale=other)])


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: provenance.scale_of(stars(), given=(5, 1)), "lowest score first"),
        (lambda: provenance.scale_of(stars(), given=(3, 3)), "lowest score first"),
        (lambda: provenance.source_of(provenance.like(stars(), stars(), source={"name": "x"})), "where it comes from"),
        (lambda: annotators.on_marks(stars()), "do not fit a scale from 1 to 5"),
    ],
)
def test_scales_and_sources_that_are_none_are_refused(ask, told):
    with pytest.raises(DataError, match=told):
        ask()


def test_what_tables_share_is_kept_and_what_differs_is_not():
    a, b = stars("a"), stars("b", kind="simulated")
    a.attrs |= {"seed": 1, "same": 5}
    b.attrs |= {"seed": 2, "same": 5}
    b.attrs["why_simulated"] = "The file is not here."
    whole = provenance.stack([a, b]).attrs
    assert whole["why_simulated"] == "The file is not here."
    assert whole["same"] == 5
    assert "seed" not in whole


SIMULATED = "wmt22-calibration-hits wmt21-mturk indicmt-mqm sudoh-labels sudoh-labels-wmt17 nllb-xsts"


@pytest.fixture(scope="module")
def drawn():
    """Load data sets of which no file is here, so that each is simulated."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as empty:
        for name in ("EVALKIT_DATA_MIRROR", "EVALKIT_DATA_DIR"):
            patched.setenv(name, empty)
        patched.setenv("EVALKIT_OFFLINE", "1")
        return {name: data.load(name, fallback=True) for name in SIMULATED.split()}


FLOWS = {
    "normalised": lambda d: normalization.normalize(d["wmt22-calibration-hits"]),
    "pairs of showings": lambda d: context.pairs(d["wmt21-mturk"]),
    "half plays the task": lambda d: calibration.with_task(d["wmt22-calibration-hits"], seed=7),
    "stacked labels": lambda d: provenance.stack([d["sudoh-labels"], d["sudoh-labels-wmt17"]]),
    "with its language": lambda d: with_language(d["indicmt-mqm"]),
    "with scores of metrics": lambda d: lexical.scores(d["indicmt-mqm"].head(20), metrics=["TER"]),
    "a campaign on 0 to 100": lambda d: campaign.from_ratings(d["nllb-xsts"]).hundred,
}


@pytest.mark.slow
@pytest.mark.parametrize("flow", FLOWS)
def test_simulated_tables_stay_simulated_on_their_way_through_a_study(flow, drawn):
    assert {provenance.source_of(table)["source"] for table in drawn.values()} == {"simulated"}
    table = FLOWS[flow](drawn)
    assert provenance.source_of(table)["source"] == "simulated"
    assert table.attrs["why_simulated"]


# Dates


def timed(kind="real", origin="my.csv", name="my", **columns):
    frame = pd.DataFrame(columns)
    frame.attrs["source"] = {"name": name, "source": kind, "origin": origin, "digest": "d"}
    return frame


def test_a_table_is_dated_by_its_registry_entry_and_by_its_time_stamps():
    url = registry.entry("wmt22-calibration-hits").files[0].url
    hits = {"name": "wmt22-calibration-hits", "origin": url}
    day = 1_662_595_200.0  # 8 September 2022, 00:00 UTC
    known = {"released": "2022-11-03", "dated_by": "file name", "judged": ["2022-09-08", "2022-09-09"]}
    assert provenance.dates_of(timed(started=[day + 5], ended=[day + 86_400], **hits)) == known
    assert provenance.dates_of(timed(name=hits["name"], score=[1.0])) == {}, "a file of one's own with that name"
    assert provenance.dates_of(timed("simulated", started=[day], **hits)) == {}
    assert provenance.dates_of(timed(started=[0.0, 40.0])) == {}, "times that do not count from 1970"


# --- Every broken rule is told once, with file, line, column, value and remedy; good tables pass unharmed


ROW = {"src_lang": "eng", "tgt_lang": "jpn", "system": "007", "doc": "d", "segment": "0", "annotator": "a"}
ROW |= {"score": "90", "item_type": "system"}


def table(*changes, **columns):
    """Build a valid table of distinct segments, then change its rows one by one."""
    rows = [ROW | {"segment": str(n)} | change for n, change in enumerate(changes or ({}, {}, {}))]
    return pd.DataFrame(rows).assign(**columns)


def complaint(frame, schema=RATINGS, **options):
    """Return the message that ``check`` raises."""
    with pytest.raises(DataError) as problem:
        check(frame, schema, **{"origin": "my.csv", "scale": (0, 100)} | options)
    return str(problem.value)


def test_a_good_table_keeps_its_rows_and_gets_its_types():
    frame = check(table(hit=7, started="1.5", note="x"), RATINGS, origin="my.csv", scale=(0, 100))
    assert frame["system"].tolist() == ["007"] * 3
    assert frame["hit"].tolist() == ["7"] * 3
    assert frame["score"].tolist() == [90.0] * 3
    assert frame["started"].tolist() == [1.5] * 3
    assert frame["note"].tolist() == ["x"] * 3


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([{}, {"score": 104}], "line 3, column score: 104 is outside 0-100"),
        ([{}, {"score": "good"}], "line 3, column score: 'good'"),
        ([{"score": "inf"}], "line 2, column score: 'inf'"),
        ([{"score": "-1e50"}], "line 2, column score: '-1e50'"),
        ([{"score": "nan"}], "line 2, column score: 'nan'"),
        ([{"score": None}], "line 2, column score: is empty"),
        ([{"score": True}], "column score: True"),  # it was once a score of 1
        ([{"score": 10**400}, {"score": [1]}, {"score": pd.NaT}], "line 2, column score: "),
        ([{}, {}, {"system": ""}], "line 4, column system: is empty"),
        ([{"segment": ""}, {"segment": ""}], r"line 2, column segment: is empty.*\(and 1 more, up to line 3\)\.$"),
        ([{"item_type": "sytem"}], "column item_type: 'sytem' is none of system, reference, degraded, repeat, calibr"),
        ([{}, {"started": "soon"}], "line 3, column started: 'soon'"),
        ([{"probability": 0.0}], "line 2, column probability"),
        ([{"probability": 1.01}], "line 2, column probability"),
        ([{"segment": "1"}, {}], "line 3, columns src_lang, .*item_type: the same as line 2"),
        ([{"segment": "1", "score": 5, "started": None}, {"started": None}], "line 3, .*the same as line 2"),
        ([{"system": "s" * 99, "score": "x" * 99}], "'x{56}[.]{3}"),
        ([{"score": 101}, {"score": 102}, {}, {"score": 103}], r"line 2, column score: 101 .*2 more, up to line 5"),
    ],
)
def test_each_broken_rule_is_told(changes, told):
    assert re.search(told, complaint(table(*changes)))


@pytest.mark.parametrize(
    ("frame", "options", "told"),
    [
        (table().drop(columns=["score", "item_type"]), {}, "columns score, item_type; it has src_lang"),
        (pd.DataFrame(), {}, "it has none"),
        (table().head(0), {}, "no rows"),
        (pd.concat([table(), table()[["score"]]], axis=1), {}, "score twice"),
        (table({}, {"score": 104}), {"first_line": 1}, "line 2,"),
        (table({}, {"score": 104}).set_axis(pd.Index([17, 41], name="line")), {}, "line 41,"),
        (table({"score": 0}), {"scale": (1, 5)}, "outside 1-5"),
        (pd.DataFrame({"hit": ["h1", "h2", "h1"], "annotator": [*"aab"]}), {"schema": HITS}, "line 4, columns hit"),
    ],
)
def test_tables_of_another_form_are_told_with_the_line_of_their_file(frame, options, told):
    assert told in complaint(frame, **options)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(
    st.lists(st.tuples(NAMES, NAMES, st.floats(0, 100)), min_size=1, max_size=8, unique_by=lambda row: row[:2]),
    st.randoms(use_true_random=False),
)
def test_checking_is_idempotent_and_blind_to_the_order_of_rows(rows, random):
    frame = pd.DataFrame([ROW | {"system": s, "annotator": a, "score": y} for s, a, y in rows])
    once = check(frame, RATINGS, origin="x", scale=(0, 100))
    assert_frame_equal(check(once, RATINGS, origin="x", scale=(0, 100)), once)
    order = random.sample(range(len(rows)), len(rows))
    shuffled = check(frame.iloc[order], RATINGS, origin="x", scale=(0, 100))
    assert_frame_equal(shuffled, once.iloc[order].reset_index(drop=True))


@given(st.lists(st.floats(-50, 150, allow_nan=False), min_size=1, max_size=12))
def test_a_table_passes_exactly_when_every_score_is_on_the_scale(scores):
    frame = table(*[{"score": score} for score in scores])
    if all(0 <= score <= 100 for score in scores):
        assert check(frame, RATINGS, origin="x", scale=(0, 100))["score"].tolist() == scores
    else:
        first = 2 + int(np.flatnonzero([not 0 <= score <= 100 for score in scores])[0])
        assert f"line {first}, column score" in complaint(frame)


# The simulated tables have the shape of the real ones and follow the equations that they state.


STAND_INS = [name for name, entry in registry.entries().items() if entry.stand_in]
#: Those that lack texts or times, which no study reads of them.
PARTIAL = ["contrastive-esa"]
#: Those that are as large as the real ones.
SIZED = ["wmt22-calibration-hits", "sudoh-labels", "mlqe-pe", "wmt-slt22"]


#: Before a change is taken one data set of each maker is drawn; the others, which it makes alike, at night.
FIRST = {
    (own["maker"], own.get("split"), own.get("part")): name
    for name in reversed(STAND_INS)
    if (own := stand_ins.recipes()[name])
}
DRAWN = [name if name in FIRST.values() else pytest.param(name, marks=pytest.mark.nightly) for name in STAND_INS]


def test_each_data_set_that_is_stood_in_for_has_a_recipe():
    assert {*stand_ins.recipes()} == {*STAND_INS, "tasks"}


@pytest.mark.parametrize("name", [*DRAWN, "a campaign", "post-edits"])
def test_the_seed_alone_decides_a_table_that_has_the_columns_of_the_real_one_and_names_of_its_own(name, real):
    draw = {"a campaign": simulate.campaign, "post-edits": simulate.post_edited}.get(name)
    draw = draw or partial(stand_ins.stand_in, name)
    drawn = draw(seed=3)
    assert drawn.equals(draw(seed=3))
    assert not drawn.equals(draw(seed=4))
    assert drawn.attrs["seed"] == 3
    for column in {"system", "annotator", "hit"} & set(drawn):
        names = "\n".join(drawn[column].dropna().unique())
        assert re.fullmatch(r"((sim-.*|place-\d|unnamed|refA|human|mt|agreed|merged)(\n|$))*", names)
    known = registry.entries().get(name)
    truth = real(name) if known and not known.optional else drawn
    assert name not in SIZED or len(drawn) == pytest.approx(len(truth), rel=0.15)
    assert name in PARTIAL or set(truth) <= set(drawn)
    if "tgt_lang" in truth:
        assert set(drawn["tgt_lang"].unique()) <= set(truth["tgt_lang"].unique())
    if "item_type" in truth:
        assert set(drawn["item_type"].unique()) <= set(truth["item_type"].unique())


# The generative models hit what they promise: kappas, and campaigns part by part


STILL = {"sd_bias": 0, "sd_gain": 0, "sd_noise": 0}


@pytest.mark.parametrize(
    ("kappa", "marginal"),
    [(0.0, [0.5, 0.5]), (0.09, [0.1, 0.2, 0.7]), (0.64, [0.25] * 4), (0.99, [0.9, 0.1])],
)
def test_what_is_drawn_follows_the_model(kappa, marginal):
    size = 40_000
    codes = simulate.categories(kappa, marginal=marginal, items=size, annotators=3, rng=np.random.default_rng(3))[0]
    counts = np.stack([(codes == k).sum(1) for k in range(len(marginal))], axis=1)
    assert np.bincount(codes.ravel()) / codes.size == pytest.approx(marginal, abs=0.01)
    # the agreement of an item lies in 0-1, so a mean over `size` items has a standard error of at most .0025
    assert fleiss_kappa(counts) == pytest.approx(kappa, abs=4 * 0.0025 / (1 - np.square(marginal).sum()))


# --- campaigns


def test_a_campaign_without_noise_shows_the_truth_alone():
    true = 70 + np.arange(8.0)[:, None, None] * np.ones((8, 12, 8))
    ratings = simulate.campaign(Design(systems=8, **STILL), true=true)
    means = ratings.groupby("system")["score"].agg(["min", "max"])
    assert means["min"].tolist() == means["max"].tolist() == [*range(70, 78)]


def drop(ratings):
    """Tell how much lower each annotator's last five scores are than the first five."""
    by = ratings.groupby("annotator")["score"]
    return by.agg(lambda scores: scores.iloc[:5].mean() - scores.iloc[-5:].mean())


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        ({"sd_bias": 6.0}, lambda r: r.groupby("annotator")["score"].mean().std() > 2),
        ({"drift": -20.0}, lambda r: drop(r).min() > 12),
        ({"ticks": 7}, lambda r: r["score"].nunique() <= 7),
        ({"sd_gain": 0.4}, lambda r: r.groupby("annotator")["score"].std().std() > 3),
    ],
)
def test_each_part_of_the_behaviour_does_what_it_says_and_is_off_otherwise(change, moved):
    flat = {"sd_system": 0, "sd_document": 0, "sd_segment": 0}
    spread = {"ticks": flat | {"mean": 100, "sd_segment": 30}, "sd_gain": {"mean": 50}}
    still = Design(judgements=5, **STILL, **spread.get(next(iter(change)), flat))
    assert not moved(simulate.campaign(still))
    assert moved(simulate.campaign(replace(still, **change)))


def test_degraded_context_moves_clean_copies_after_the_first_spoilt_segment_by_its_effect():
    control = {"copies": 2, "degraded": 0.4, "loss": 30, "context": 5}
    ratings = simulate.campaign(Design(documents=40, mean=50, **control, **STILL))
    keys = ["annotator", "hit", "system", "doc", "segment"]
    originals = ratings[ratings["item_type"] == "system"].set_index(keys)["score"]
    copies = ratings[ratings["item_type"] != "system"]
    before = originals.loc[list(copies[keys].itertuples(index=False, name=None))].to_numpy()
    copies = copies.assign(difference=copies["score"] - before)
    spoilt = copies["item_type"].eq("degraded")
    seen = spoilt.groupby([copies[name] for name in keys[:4]]).cumsum() > 0
    inside = (before >= 31) & (before <= 94)
    assert set(copies[spoilt & inside]["difference"].round()) <= {-30.0, -31.0, -29.0}
    assert copies[~spoilt & ~seen]["difference"].abs().max() == 0
    assert set(copies[~spoilt & seen & inside]["difference"]) <= {4.0, 5.0, 6.0}
    assert 0.3 < spoilt.mean() < 0.5


def test_hits_hold_documents_of_one_system_within_their_size_and_each_document_has_its_judgements():
    ratings = simulate.campaign(Design(hit=24, judgements=3))
    assert ratings.groupby("hit").size().max() <= 24
    assert ratings.groupby("hit")["system"].nunique().max() == 1
    assert (ratings.groupby(["system", "doc", "segment"])["annotator"].nunique() == 3).all()


def drawn_categories(kappa, marginal):
    return simulate.categories(kappa, marginal=marginal, items=5, annotators=3, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: simulate.campaign(Design(judgements=9)),
        lambda: drawn_categories(1.1, [0.5, 0.5]),
        lambda: drawn_categories(-0.1, [0.25] * 4),
        lambda: drawn_categories(0.5, [0.5, 0.6]),
    ],
)
def test_what_no_model_can_draw_is_refused(draw):
    with pytest.raises(DataError):
        draw()


def test_literary_preferences_have_the_strengths_that_were_stated():
    drawn = [stand_ins.stand_in("literary-preferences", seed=seed) for seed in range(40)]
    stated = {"sim-para": 0.8, "sim-para_sent": 0.1, "sim-sent": -0.1, "sim-gtr": -0.8}
    fitted = preferences.fit(pd.concat(drawn, ignore_index=True))
    found = dict(zip(fitted.cells.systems, fitted.strength))
    assert found == pytest.approx(stated, abs=0.13)  # four standard errors of 7,200 comparisons a pair
    assert drawn[0].groupby(["doc", "segment", "tgt_lang"]).size().eq(3).all()
