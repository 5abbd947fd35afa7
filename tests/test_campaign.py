"""A campaign is opened, looked at and judged: one golden campaign, edges, limits at which verdicts turn, wording."""

import itertools
import re
import warnings
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from evalkit import ROOT, DataError, campaign, data
from evalkit.campaign import first_page, paperwork, plan
from evalkit.campaign.findings import SIGNS, WORDING, Missing, Result, finding
from evalkit.campaign.opening import LONGEST
from evalkit.campaign.paperwork import markup
from evalkit.campaign.ranking import beside_human
from evalkit.data import importing, simulate
from evalkit.human import calibration
from evalkit.human.annotators import Caliper
from evalkit.reports import execute
from evalkit.reports.studies import Study
from evalkit.show import figures as draw
from evalkit.stats import agreement
from tests import widths_by_hand as widths
from tests.makers import SOURCE, as_judgements, changed, comparisons, finished
from tests.pages import errors_in, numbers, opened, page, plain

PARTS = (
    *("collection", "agreement", "profiles", "screening", "quality", "calibration", "normalization"),
    *("ranking", "errors", "cost", "plan"),
)


def test_agreement_takes_the_coefficient_that_fits_the_scale():
    five = plain(people=2).assign(score=lambda t: t["score"].div(25).round().clip(1, 4))
    two = five.assign(score=five["score"].gt(2).astype(float))
    levels = [campaign.measure_agreement(opened(table), resamples=20).level for table in (five, two)]
    assert levels == ["ordinal", "nominal"]
    mine = opened(plain())
    scores, alpha = agreement.score_matrix(mine.part), [("krippendorff_alpha", "interval")]
    expected = agreement.coefficients(scores, measures=alpha, resamples=20, seed=7).iloc[0]
    found = campaign.measure_agreement(mine, resamples=20)
    assert [found.estimate, found.low, found.high] == pytest.approx(expected[["estimate", "low", "high"]].tolist())


def test_agreement_leaves_calibration_items_out_where_there_are_enough_others():
    table = plain(people=2)
    known = plain(systems=["cal"], documents=8, people=2, seed=8, doc="c", item_type="calibration")
    several, one = pd.concat([table, known]), pd.concat([table[table["annotator"].eq("p0")], known])
    mixed, alone, rest = (campaign.measure_agreement(opened(rows), resamples=20) for rows in (several, table, one))
    assert (mixed.items, mixed.estimate, mixed.calibration) == (60, alone.estimate, False)
    assert (rest.items, rest.calibration) == (40, True)


def test_rules_that_do_not_fit_the_data_are_set_aside():
    def applied(table, scale=(0.0, 100.0)):
        return campaign.screen_annotators(opened(finished(table, scale))).rules

    five = plain().assign(score=lambda t: t["score"].div(25).round().clip(1, 4))
    assert "unique_scores < 6" not in applied(five, (1.0, 5.0))
    assert "sd < 5" not in applied(plain(), None)
    timed = plain(started=lambda t: np.arange(len(t)) * 20.0, ended=lambda t: t["started"] + 9.0)
    stamps = timed.assign(ended=timed["started"] + np.where(np.arange(len(timed)) % 2, 0.001, 9.0))
    assert {"sd < 5", "with_others < 0.1", "unique_scores < 6", "seconds < 2"} <= {*applied(timed)}
    assert "seconds < 2" not in applied(stamps), "stamps are no lengths of judgements"
    assert "seconds" not in campaign.profile_annotators(opened(stamps)).table


#: Every system's documents have names of their own.
OF_EACH = plain(doc=lambda t: t["system"] + t["doc"])


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda mine: campaign.analyse(mine, score="best"), "score"),
        (lambda mine: campaign.analyse(mine, resamples=3), "resamples"),
        (lambda mine: campaign.analyse(mine, rules=["sdd < 5"]), "no such measure"),
        (lambda mine: opened(plain(), pair="eng-xxx"), "Choose one of: eng-deu"),
        (lambda mine: campaign.choose_method(mine, unit="people"), "auto, annotators, documents, segments"),
        (lambda mine: campaign.choose_method(mine, lines="wmt_26"), "Did you mean 'wmt26'"),
        (lambda mine: campaign.choose_method(opened(OF_EACH), unit="documents"), "other names for each system"),
        (lambda mine: campaign.example("wmt22-calibration-mapping", fallback=True), "holds no judgements"),
        (lambda mine: data.open_campaign("absent.parquet"), "absent"),
    ],
)
def test_wrong_options_are_refused(ask, word):
    with pytest.raises(DataError, match=word):
        ask(opened(plain()))


def test_what_the_data_do_not_allow_is_missing():
    mine = opened(plain(people=1))
    analyses = (campaign.calibrate, campaign.count_errors, campaign.measure_cost)
    assert not any(analysis(mine) for analysis in (*analyses, campaign.normalize_scores))
    assert not campaign.measure_cost(mine, hourly_pay=-1)
    assert not campaign.screen_annotators(mine, rules=["speed < 1"])


def test_lower_is_better_turns_scores_round_on_their_scale():
    table = plain(gap=15)
    mine = opened(table, higher_is_better=False)
    assert campaign.rank_systems(mine, resamples=20).top == "S1"
    np.testing.assert_allclose(mine.part["score"], 100 - table["score"])


def test_segments_numbered_throughout_are_known_by_their_number_alone():
    anew = plain(doc=lambda t: t["system"] + t["segment"].astype(int).floordiv(5).astype("str"))
    restarting = anew.assign(segment=(anew["segment"].astype(int) % 5).astype("str"))
    names = [opened(table).segment for table in (plain(), anew, restarting)]
    assert names == [("doc", "segment"), ("segment",), ("doc", "segment")]
    assert opened(anew).shared_segments == 1.0


def test_hours_count_every_second_once_and_breaks_not():
    rng = np.random.default_rng(5)
    start = rng.uniform(0, 5000, 60).round()
    part = pd.DataFrame({"annotator": "a", "started": start, "ended": start + rng.integers(1, 900, 60)})
    signs = sorted({*start, *part["ended"]})
    worked = np.zeros(10_000, bool)
    for one, other in itertools.pairwise(signs):
        worked[int(one) : int(other)] = other - one <= plan.PAUSE
    assert plan.hours(part)[0]["hours"].iloc[0] * 3600 == pytest.approx(worked.sum())
    stamps = np.array([0.0, 40.0, 100.0, 100.0 + plan.PAUSE, 5000.0, 5030.0])
    found, how = plan.hours(pd.DataFrame({"annotator": "a", "started": stamps, "ended": stamps}))
    assert found[["judgements", "mean_seconds"]].to_numpy().tolist() == [[6, (100 + plan.PAUSE + 30) / 6]]
    assert found["median_seconds"].iloc[0] == np.median([40, 60, plan.PAUSE, 30]), "reading between stamps counts"
    assert "10 minutes" in how
    one = pd.DataFrame({"annotator": ["a"], "started": [5.0], "ended": [5.0]})
    assert plan.hours(one)[0].empty, "a single stamp tells no time"


def test_calibration_items_of_language_pairs_give_all_four_forms():
    parts, scale = [], (1.0, 5.0)
    for shift, target in ((0, "deu"), (-1, "jpn"), (1, "hin")):
        own = plain(documents=2, length=6, seed=len(parts), tgt_lang=target)
        own["score"] = (own["score"] / 25 + shift + 0.5).round().clip(1, 5)
        known = plain(systems=["cal"], documents=4, tgt_lang=target, doc="c", item_type="calibration")
        known["score"] = (known["segment"].astype(int) % 5 + 1 + shift * 0.5).round().clip(1, 5)
        human = own[own["system"].eq("S0")].assign(item_type="reference", system="human")
        human["score"] = np.where(human.index % 3, 5.0, 4.0)
        parts += [own, known, human]
    table = finished(pd.concat(parts, ignore_index=True), scale)
    found = campaign.calibrate(opened(table), resamples=30)
    assert found.by == "pair"
    direct = calibration.calibrate(table, by="pair", scale=scale, resamples=30, seed=7)
    for name in ("raw", "adjusted", "se", "low", "high"):
        np.testing.assert_array_equal(found.groups[name], direct[name])
    options = {"by": "pair", "within": None, "splits": 50, "resamples": 30, "seed": 7}
    told = calibration.held_out(table, scale=scale, **options)[1].iloc[0]
    assert [found.share, found.low, found.high] == pytest.approx(told[["slope", "low", "high"]].tolist(), nan_ok=True)
    assert found.strictness["pair"].iloc[0] == "eng-jpn"
    assert found.strictness["shift"].iloc[0] > 0


def test_long_and_unseen_names_are_shortened_and_never_meet():
    long, other, turned = "L" * 2000, "L" * 1999 + "M", f"a{chr(0x202E)}b"
    table = plain(systems=[long, other, turned, "a b"])
    mine = opened(table, errors_in(table.drop(columns="item_type").iloc[::3]).astype("category"))
    assert (len(mine.systems), mine.renamed) == (4, 3)
    assert max(map(len, mine.systems)) <= LONGEST
    assert campaign.count_errors(mine).by_system["errors"].sum() == len(table.iloc[::3])
    assert campaign.rank_systems(mine, resamples=20).means["a b"] == pytest.approx(
        table.groupby("system")["score"].mean()["a b"]
    )


def test_errors_of_degraded_items_and_of_references_are_no_systems_errors():
    frame = plain(documents=3, length=4, people=1)
    bad, human = frame.assign(item_type="degraded", score=5.0), frame[frame["system"] == "S0"]
    human = human.assign(system="refA", item_type="reference")
    marked = pd.concat([frame[frame["system"] == "S1"], bad, bad.assign(system="S0"), human])
    found = campaign.count_errors(opened(pd.concat([frame, bad, human]), errors_in(marked)))
    assert found.by_system.set_index("system")["errors"].to_dict() == {"S0": 0, "S1": 12}
    assert (found.errors, found.judgements) == (12, 24)


def test_nothing_is_fetched_for_a_file_of_ones_own(tmp_path):
    (tmp_path / "mine.csv").write_text("x", encoding="utf-8")
    study = Study("campaign", ROOT / "notebooks" / "studies" / "campaign.ipynb", "t", data=("wmt22-mturk",))
    file, against = {"file": "mine.csv"}, {"against": "mine.csv"}
    tasks = [execute.bound(replace(study, parameters=own), {}, tmp_path) for own in ({}, file, against, file | against)]
    assert [task.data for task in tasks] == [("wmt22-mturk",), (), ("wmt22-mturk",), ()]
    assert tasks[1].parameters["file"] == str(tmp_path / "mine.csv")


@pytest.fixture(scope="module")
def japanese(here):
    """The example's Japanese to English."""
    here("wmt22-mturk")
    return campaign.from_ratings(*campaign.example("wmt22-mturk"), pair="jpn-eng", example=True)


@pytest.mark.slow
def test_the_example_by_z_is_the_official_ranking_to_its_printed_digits(real, japanese):
    """Our z-scores, from raw scores alone, against the system scores that WMT22 published, where counts agree."""
    official = real("wmt22-mturk-ranking")
    shown = campaign.rank_systems(japanese, score="z", resamples=20).systems.set_index("system")["z"]
    printed = official[official["src_lang"].eq("jpn") & official["tgt_lang"].eq("eng")].set_index("system")["z"]
    equal = (shown[printed.index] - printed.astype(float)).abs() <= 0.0005 + 1e-9
    assert (len(printed), equal.sum()) == (14, 12)


SIDES = "google/wmt-mqm-human-evaluation/*/generalMT2023/ende/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"
#: Campaign -> language pair in detail, people's translations, whether z-scores rank, what names a segment.
REAL = {
    "wmt22-mturk": ("zho-eng", ["HUMAN-B.12"], True, ["segment"]),
    "wmt24-esa": ("eng-jpn", ["refA"], False, ["doc", "segment"]),
    "side by side": ("eng-deu", ["refA"], False, ["doc", "segment"]),
}


def plainly(judged, pair, humans, by_z, segment):
    """Rank systems by hand: means of segments' means, and who is worse than the first by people's differences."""
    part = judged[(judged["src_lang"].astype(str) + "-" + judged["tgt_lang"].astype(str)) == pair].copy()
    for name in ("system", "annotator", *segment):
        part[name] = part[name].astype(str)
    spread = part.groupby("annotator")["score"].transform("std")
    z = (part["score"] - part.groupby("annotator")["score"].transform("mean")) / spread
    part["value"] = z.where(spread > 0, 0.0) if by_z else part["score"]
    named = part.loc[part["item_type"] == "system", "system"].unique()
    own = part["item_type"].isin(["system", "repeat"]) & part["system"].isin(named)
    part = part[own | (part["item_type"].eq("reference") & part["system"].isin(set(humans) - set(named)))]
    cell = ["system", *segment]
    part["share"] = 1 / part.groupby(cell)["value"].transform("size")
    means = part.groupby(cell)[["score", "value"]].mean().groupby("system").mean()
    part["residual"] = (part["value"] - part["system"].map(means["value"])) * part["share"]
    work = part.groupby(["annotator", "system"])["share"].sum().unstack(fill_value=0)
    influence = part.groupby(["annotator", "system"])["residual"].sum().unstack(fill_value=0) / work.sum()

    def p(a, b):
        return widths.higher(means["value"][a] - means["value"][b], influence[a] - influence[b], work[[a, b]])

    return means.sort_values("value", ascending=False), p


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
@pytest.mark.usefixtures("own_salt")
def test_the_first_page_of_real_judgements_says_what_plain_computation_finds(name, real, mirrored, tmp_path):
    """One campaign by z, one as it is, and an imported one; the freeze has the numbers of others, too."""
    pair, humans, by_z, segment = REAL[name]
    if name == "side by side":
        importing.import_campaign([mirrored(SIDES)], tmp_path / "c.parquet", keep_names=True)
        judged, _ = data.open_campaign(tmp_path / "c.parquet")
    else:
        judged = real(name)
    means, p = plainly(judged, pair, humans, by_z, segment)
    mine = campaign.from_ratings(judged, pair=pair)
    ranked = campaign.rank_systems(mine, score="z" if by_z else "raw", unit="annotators", resamples=100)
    assert list(mine.humans) == humans
    assert ranked.method.by_z == by_z
    assert ranked.method.unit == ("annotator",)
    systems = [system for system in means.index if system not in humans]
    assert ranked.names == systems
    assert [ranked.means[system] for system in systems] == pytest.approx(means.loc[systems, "score"].tolist())
    assert ranked.table["score"].tolist() == pytest.approx(means.loc[systems, "value"].tolist())
    pairs = [(a, b) for place, a in enumerate(systems) for b in systems[place + 1 :]]
    worse = dict(zip(pairs, multipletests([p(*two) for two in pairs], alpha=0.05, method="holm")[0], strict=True))
    beaten = [other for other in systems[1:] if worse[systems[0], other]]
    assert ranked.beaten == beaten
    two_kinds = [(a, b) for place, a in enumerate(means.index) for b in means.index[place + 1 :]]
    mixed = [(a, b) for a, b in two_kinds if (a in humans) != (b in humans)]
    if mixed:
        sure = dict(zip(mixed, multipletests([p(*two) for two in mixed], alpha=0.05, method="holm")[0], strict=True))
        for human in humans:
            losers = {two[1] for two, is_so in sure.items() if is_so and two[0] == human}
            winners = {two[0] for two, is_so in sure.items() if is_so and two[1] == human}
            said = {system: beside_human(system, human, ranked.duels) for system in systems}
            assert {system for system, how in said.items() if how.startswith("worse")} == losers
            assert {system for system, how in said.items() if how.startswith("better")} == winners


# What a report concludes, by key: one golden campaign, edges, limits at which verdicts turn; and the wording of it all.


@pytest.fixture(scope="module")
def golden():
    """A campaign with quality control, calibration items, times and marked errors: every analysis can be made."""
    design = simulate.Design(systems=3, documents=12, annotators=6, judgements=2, calibration=20, copies=2)
    table = simulate.campaign(design)
    table["position"] = table.groupby("annotator").cumcount()
    table.attrs["source"] = SOURCE
    spans = errors_in(table[table["item_type"].eq("system")].iloc[::3])
    return page(table, spans, resamples=100)


def test_the_verdicts_of_a_golden_campaign(golden):
    says_true_things(golden)
    assert golden.verdicts == {
        "apart": "look",
        "enough": "look",
        "evenly": "look",
        "others": "not known",
        "odd": "fine",
        "segments": "fine",
        "treatments": "fine",
        "agreement": "fine",
        "steady": "fine",
        "attention": "fine",
        "room": "fine",
        "twice": "fine",
    }
    assert golden.headline.endswith(golden.trust)
    assert golden.trust.startswith("Rely on this with care: ")


def test_sentences_of_a_golden_campaign_tell_the_numbers_of_their_results(golden):
    found = golden.found
    collected, profiles, quality, times = found.collection, found.profiles.table, found.quality, found.cost
    shift, ranked, rivals = found.calibration, found.ranking, found.plan
    size = len(collected.annotators), len(collected.systems)
    means = profiles["mean"].round()
    strict = shift.strictness["mean"].round(2)
    marked = found.errors.by_system["per_segment"].round(2)
    expected = {
        "collection": [*size, collected.segments, collected.cells, collected.judged, collected.several],
        "agreement": [found.agreement.items, found.agreement.shared],
        "profiles": [means.min(), means.max()],
        "quality": [quality.passed, quality.tested, quality.repeated, round(quality.again)],
        "calibration": [strict.min(), strict.max(), round(100 * shift.share)],
        "ranking": [100, round(100 * ranked.best), round(100 * ranked.method.kept)],
        "errors": [found.errors.errors, found.errors.judgements, marked.min(), marked.max()],
        "cost": [times.judgements, round(times.hours, 1)],
        "plan": np.round(rivals.table["points"].head(len(rivals.rivals)), 2),
    }
    for part, values in expected.items():
        assert {*map(float, values)} <= {*numbers(golden.told(part))}, part
    assert {*np.round([ranked.means[name] for name in ranked.names[:2]], 2)} <= {
        *numbers(" ".join(first_page.figures(ranked)))
    }


def results_in(found):
    """Yield a result and those that it holds."""
    yield found
    for value in vars(found).values():
        if isinstance(value, Result) and not isinstance(value, Missing):
            yield from results_in(value)


def test_docstrings_name_what_results_hold(golden):
    """A misspelt attribute would otherwise pass for the class's default."""
    for one in results_in(golden.found):
        said = " ".join(str(kind.__doc__) for kind in type(one).__mro__)
        given = {name for name in vars(one) if not isinstance(getattr(type(one), name, None), cached_property)}
        assert {name for name in given if not re.search(rf"\b{name}\b", said)} == set(), type(one)


def nested():
    """Each annotator judges one system, so that nothing says who of them is strict."""
    frame = plain(systems=3, people=6, documents=10)
    return frame[frame["annotator"].str[1:].astype(int) % 3 == frame["system"].str[1:].astype(int)]


def without_names():
    frame = plain(systems=3, people=1, documents=20)
    return frame.assign(annotator="average")


def preferred(pairs, strengths=(1.5, 0.0, -1.0, -2.0)):
    table = comparisons(strengths=strengths, pairs=pairs, people=6, documents=20)
    return finished(as_judgements(table.astype("str")), (0.0, 1.0))


def constant(many):
    frame = plain(people=6)
    return frame.assign(score=frame["score"].mask(frame["annotator"].str[1:].astype(int) < many, 50.0))


def twins():
    frame = plain(people=6)
    return pd.concat([frame, frame[frame["system"].eq("S0")].assign(system="twin")])


def half():
    frame = plain(systems=4, people=6, documents=12)
    return frame[np.random.default_rng(1).random(len(frame)) < 0.3]


def heavy():
    frame = plain(people=6, documents=20)
    return frame[(frame["annotator"] == "p0") | (frame["segment"].astype(int) % 20 == 7)]


def translated(name, place):
    """A human translation among five systems, in one of their places."""
    frame = plain(systems=5, people=6, documents=12, gap=(10, 5, 5, 0, -10), spread={"residual": 20.0})
    return frame.assign(system=frame["system"].replace({f"S{place}": name}))


#: An edge -> its table, verdicts by key (None: the check is not made), what the headline has, and what it has not.
EDGES = {
    "one annotator": (
        plain(people=1),
        {"others": "problem", "agreement": "not known", "apart": "fine", "odd": None},
        ["S0 is better than S1", "this one annotator"],
        [],
    ),
    "three people": (plain(people=3), {"others": "not known"}, ["S0 is better"], []),
    "one system": (plain(systems=1), {"systems": "problem", "apart": None}, ["only S0"], ["S0 is better"]),
    "three judgements": (plain(people=1).head(3), {"systems": "problem", "enough": "problem"}, ["only S0"], []),
    "no names": (
        without_names(),
        {"named": "not known", "others": None, "agreement": None, "odd": None, "twice": None, "apart": "fine"},
        ["S0 is better than each of the 2 other", "does not name who judged"],
        ["annotators"],
    ),
    "nested annotators": (nested(), {"ranked": "problem", "evenly": "problem"}, ["cannot be ranked"], ["better"]),
    "comparisons": (
        preferred([("S0", "S1"), ("S1", "S2")]),
        {"apart": "fine", "connected": None, "segments": None, "room": None},
        ["S0 is better"],
        [],
    ),
    "comparisons of two groups": (
        preferred([("S0", "S1"), ("S2", "S3")]),
        {"connected": "problem", "apart": None},
        ["never compared", "S0, S1; S2, S3"],
        ["S0 is better", "no outputs"],
    ),
    "one score": (
        plain(systems=3).assign(score=50.0),
        {"apart": "problem", "room": "fine"},
        ["50.00"],
        ["better than"],
    ),
    "a floor": (plain().assign(score=lambda t: t["score"] / 25), {"room": "look"}, [], []),
    "twins": (twins(), {"twins": "look", "apart": "look"}, ["twin may be as good", "better than S1"], []),
    "a constant person": (constant(1), {"constant": "problem", "odd": "look"}, [], []),
    "most are constant": (constant(4), {"constant": "problem"}, [], []),
    "half is lacking": (half(), {"segments": "look", "apart": "fine"}, ["S0 is better than each of the 3 other"], []),
    "one does most": (heavy(), {"others": "look"}, [], []),
    "a person first": (translated("human", 0), {}, ["human is better than every system"], ["human may be"]),
    "a person amid": (
        translated("refA", 2),
        {},
        ["human translation refA is better than S4", "may be as good as it"],
        [],
    ),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_have_a_whole_report_with_their_verdicts_and_their_names(edge):
    table, verdicts, there, absent = EDGES[edge]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = page(table)
        says_true_things(shown)
    assert {key: shown.verdicts.get(key) for key in verdicts} == verdicts
    said = f"{shown.headline} {shown.sure}"
    assert [words for words in there if words not in said] == []
    assert [words for words in absent if words in said] == []
    assert len(numbers(said)) <= 8
    checks = [*shown.checks.values()]
    assert len(first_page.answers(checks)) == sum(check.verdict != "fine" for check in checks) + (
        "fine" in shown.verdicts.values()
    )


def says_true_things(shown):
    """Demand of a report: no gap in a sentence, no caption twice, figures that can be drawn, means that are plain."""
    found, mine = shown.found, shown.found.campaign
    results = [found, *(one for one in vars(found).values() if isinstance(one, Result))]
    captions = [one["caption"] for result in results for one in result.tables]
    assert len({*captions}) == len(captions)
    told = [f"{shown.headline} {shown.sure}", shown.trust, paperwork.methods(found, resamples=20, seed=7).text]
    for text in [*told, *captions, *(shown.told(part) for part in PARTS)]:
        assert text
        assert not {"nan", "None", "<NA>"} & set(text.split()), text
    verdicts = [check.verdict for check in shown.checks.values()]
    assert verdicts == sorted(verdicts, key=list(SIGNS).index)
    assert found.collection.pairs["judgements"].sum() == len(mine.ratings)
    if found.profiles and found.profiles.scores["score"].nunique() > 1:
        draw.score_strips(found.profiles.busiest).canvas.draw()
    if ranked := found.ranking:
        looks = {"low": "low", "high": "high", "series": "stands"}
        draw.forest(ranked.standings, x="score", y="system", **looks).canvas.draw()
        rows = mine.judged.groupby(["system", *mine.segment])["score"].mean().groupby("system").mean()
        assert ranked.means == pytest.approx(rows[ranked.names].to_dict())
        assert mine.compares or ranked.method.by_z or rows[ranked.top] == pytest.approx(rows[ranked.names].max())
        assert sorted([ranked.top, *ranked.level, *ranked.beaten]) == sorted(ranked.names) == mine.systems


THERE, REMOVED = Caliper(3, 2, 0.6), Caliper(30, 0, 0.0002)


#: Key of a check, the analysis it looks at, names of what is changed there, and a line a case: its values, the verdict.
LIMITS = [
    ("agreement", "agreement", "estimate low", [0.40, 0.01, "fine"]),
    ("agreement", "agreement", "estimate low", [0.39, 0.01, "look"]),
    ("agreement", "agreement", "estimate low", [0.39, 0.0, "problem"]),
    ("agreement", "agreement", "estimate low", [0.5, np.nan, "not known"]),
    ("steady", "quality", "again repeated", [10, 10, "fine"]),
    ("steady", "quality", "again repeated", [10.1, 10, "look"]),
    ("steady", "quality", "again repeated", [20.1, 10, "problem"]),
    ("steady", "quality", "again repeated", [5, 9, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 0, THERE, "fine"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a",), 0, THERE, "look"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a", "b"), 0, THERE, "problem"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 0, REMOVED, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a", "b"), 0, REMOVED, "problem"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 7, THERE, "fine"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 8, THERE, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [1, (), 0, THERE, "not known"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [3, 2, (), "S0", "fine"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [3, 1, (), "S0", "not known"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [10, 10, ("x",), "S0", "fine"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [9, 9, ("x",), "S0", "look"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [10, 10, ("x",), "S1", "look"]),
    ("odd", "screening", "rules", [(), "not known"]),
    ("twice", "collection", "duplicates", [0, "fine"]),
    ("twice", "collection", "duplicates", [1, "look"]),
]


@pytest.mark.parametrize(("key", "part", "names", "case"), LIMITS, ids=range(len(LIMITS)))
def test_verdicts_turn_at_the_limits_that_are_stated(key, part, names, case, golden):
    found = golden.found
    found = changed(found, screening=changed(found.screening, first="S0", unknown=()))
    *values, verdict = case
    other = changed(getattr(found, part), **dict(zip(names.split(), values, strict=True)))
    assert page(changed(found, **{part: other})).verdicts[key] == verdict


@pytest.mark.parametrize(("segments", "verdict"), [(100, "fine"), (99, "look"), (30, "look"), (29, "problem")])
def test_segments_are_enough_from_a_hundred_on_and_too_few_below_thirty(segments, verdict, golden):
    collection = golden.found.collection
    other = changed(collection, systems=collection.systems.assign(segments=segments))
    assert page(changed(golden.found, collection=other)).verdicts["enough"] == verdict


GROUPS = {name: group for name, group in WORDING.items() if name != "odds"}


def test_every_part_that_a_sentence_calls_for_is_there():
    for name, group in GROUPS.items():
        for variants in re.findall(r":\?([\w|]+)}", str(group)):
            assert {*filter(None, variants.split("|"))} <= group.keys(), name


def test_citations_are_of_the_bibliography_and_names_cite_nothing():
    assert {*re.findall(r"@(\w+)", str(WORDING))} <= {*markup.REFERENCES}
    text = str(finding("agreeing.gwet", row=SimpleNamespace(coefficient="[@holm1979] AC1", estimate=0.5)))
    assert markup.plain(text) == "[@holm1979] AC1 (Gwet 2008) is 0.50."
    assert markup.latex(text) == "[@holm1979] AC1 \\citep{gwet2008} is 0.50."
    assert markup.bibtex(["gwet2008", "of nobody"]).startswith("@article{gwet2008,")
