"""Plans: the smallest crew, what lacks, what cannot be planned; and what a designed campaign is said to distinguish."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, campaign, data
from evalkit.campaign import plan as plans
from evalkit.campaign.design import Texts, Wish, draw, expectation
from evalkit.campaign.design.drawing import MEASURED, PROTOCOLS
from evalkit.campaign.design.texts import read_texts
from evalkit.campaign.plan import hours
from evalkit.human import calibration, components, planning
from evalkit.reports import cli
from tests.makers import changed, finished, ratings
from tests.pages import telling

plan_more = telling(campaign.plan_more)
rank_systems = telling(campaign.rank_systems)

V = {"document": 5.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0, "taste": 6.0}
PLAIN = {**V, "taste": 0.0}


def reached(delta, variance, freedom):
    """Return the power of a t-test by another route: the square of a noncentral t is a noncentral F."""
    critical = stats.f.isf(0.05, 1, freedom)
    return stats.ncf.sf(critical, 1, freedom, delta**2 / variance)


def of_people(parts, people, documents, block):
    """Write down anew the variance of the mean of annotators' differences between two systems."""
    own = parts["taste"] + (parts["document"] + parts["block"]) / documents
    own += (parts["item"] + parts["residual"]) / (documents * block)
    return 2 * own / people


@settings(deadline=None, max_examples=15)
@example(3.0, 0.0, 10, 20)
@given(st.floats(1.0, 12.0), st.floats(0, 40.0), st.integers(1, 12), st.integers(4, 60))
def test_the_smallest_crew_is_the_cheapest_of_all_that_reach_the_power(delta, taste, block, capacity):
    parts, capacity, finding = {**V, "taste": taste}, capacity * 2 * block, 100
    options = {"block": block, "capacity": capacity, "over_annotators": True}
    found = planning.smallest_crew(parts, delta=delta, **options)
    best = np.inf
    for people in range(2, 120):  # brute force: every number of people, every number of documents
        most = min(capacity // (2 * block), 20000 // (people * block))
        affordable = [n for n in range(1, most + 1) if 2 * people * n * block + finding * people < best]
        each = np.array(affordable)
        if (
            len(each)
            and (enough := each[reached(delta, of_people(parts, people, each, block), people - 1) >= 0.8]).size
        ):
            best = 2 * people * enough[0] * block + finding * people
    if found is None or found.annotators >= 120:
        assert found is None or 2 * found.segments + finding * found.annotators <= best
        return
    each = found.segments_each // block
    assert found.segments == found.annotators * found.segments_each
    assert found.variance == pytest.approx(of_people(parts, found.annotators, each, block))
    assert reached(delta, found.variance, found.annotators - 1) >= 0.8 - 1e-6
    assert 2 * found.segments + finding * found.annotators == pytest.approx(best)
    assert 2 * found.segments_each <= capacity


@settings(deadline=None, max_examples=12)
@given(st.floats(0.8, 12.0), st.integers(1, 12))
def test_without_liking_the_smallest_crew_is_the_fewest_documents(delta, block):
    found = planning.smallest_crew(PLAIN, delta=delta, block=block, capacity=1000, over_annotators=False)
    spread = 2 * (5 + 20 + (40 + 60) / block)
    documents = np.arange(2, 20000 // block + 1)
    enough = documents[reached(delta, spread / documents, documents - 1) >= 0.8]
    if not enough.size:
        assert found is None
        return
    assert found.segments == enough[0] * block
    assert found.annotators * found.segments_each >= found.segments
    assert 2 * found.segments_each <= 1000
    assert planning.smallest_crew(PLAIN, delta=0, block=block, capacity=1000, over_annotators=False) is None


def collected(seed, *, people=6, documents=8, block=3, systems=2, parts=PLAIN):
    """Draw a campaign with known components, in which a document is one annotator's, for all systems."""
    spread = {name: np.sqrt(value) for name, value in parts.items()} | {"segment": 4.0}
    sizes = {"systems": systems, "documents": people * documents, "length": block, "people": people, "each": 1}
    frame = ratings(seed, **sizes, gap=0, level=50, spread=spread, scale=None)
    return finished(frame, (-100.0, 200.0))


def test_the_variance_of_an_observed_difference_is_that_of_campaigns_drawn_again_and_again():
    parts, rng = {**V, "taste": 30.0}, np.random.default_rng(5)
    design = collected(1, people=5, documents=6, parts=parts)
    design.loc[design["doc"].isin(["d01", "d02", "d03", "d12"]), "annotator"] = "p0"  # who judges more than others
    design = design[design["system"].ne("S1") | ~design["doc"].isin(["d00", "d01", "d02"])]
    design = pd.concat([design, design[design["doc"].eq("d05")].assign(annotator="p9")])  # judged twice
    keys = {
        "annotator": ["annotator"],
        "taste": ["annotator", "system"],
        "block": ["annotator", "system", "doc"],
        "item": ["system", "doc", "segment"],
    }
    codes = {name: design.groupby(key).ngroup().to_numpy() for name, key in keys.items()}
    first = design.groupby(keys["item"])["system"].first().eq("S0").to_numpy()
    differences = []
    for _ in range(2500):
        score = rng.normal(0, np.sqrt(parts["residual"]), len(design))
        for name, levels in codes.items():
            score = score + rng.normal(0, np.sqrt(parts[name]), levels.max() + 1)[levels]
        cells = np.bincount(codes["item"], score) / np.bincount(codes["item"])
        differences.append(cells[first].mean() - cells[~first].mean())
    expected = components.contrast_variance(design, parts, first="S0", second="S1")
    sure = stats.chi2.ppf([0.0005, 0.9995], 2499) / 2499
    assert sure[0] < np.var(differences, ddof=1) / expected < sure[1]
    assert expected == pytest.approx(components.contrast_variance(design, parts, first="S1", second="S0"))
    wrong = components.contrast_variance(design, {**parts, "taste": 0.0}, first="S0", second="S1")
    assert not sure[0] < np.var(differences, ddof=1) / wrong < sure[1], "an error of the liking would show"
    with pytest.raises(DataError, match="no judgements of S0 and nobody"):
        components.contrast_variance(design, parts, first="S0", second="nobody")


@settings(deadline=None, max_examples=60)
@given(st.floats(1.0, 9.0), st.floats(0.02, 60.0), st.sampled_from([0.0, 0.3, 4.0, 30.0]), st.booleans())
def test_what_is_asked_for_is_what_lacks_and_no_document_or_person_more(points, variance, taste, over):
    """What there is and what is asked for, weighed by how sure they are, reach the planned variance together."""
    parts = {**V, "taste": taste}
    liking = plans.FOUND if taste > 0 else plans.NOT_FOUND
    basis = plans.Basis(
        variances=parts,
        block=5,
        capacity=200,
        liking=liking,
        over_annotators=over or taste > 0,
        annotators=9,
        systems=5,
    )
    row = plans._row(basis, "a – b", "as observed", points, variance, 100)
    crew = basis.crew(points)
    if crew is None:
        assert pd.isna(row["segments_needed"])
        return
    unit = crew.segments_each if taste else 5

    def together(segments):
        return 1 / (1 / variance + segments / (crew.segments * crew.variance))

    assert together(row["more_segments"]) <= crew.variance * (1 + 1e-9)
    if row["more_segments"]:
        assert together(row["more_segments"] - unit) > crew.variance * (1 - 1e-6)
    assert row["more_judgements"] == 2 * row["more_segments"]
    assert row["worth_now"] == int(crew.segments * crew.variance / variance)
    if taste:
        assert row["more_segments"] == row["more_people"] * crew.segments_each
    elif row["more_segments"]:
        assert row["more_people"] == max(0, crew.annotators - 9), "without favourites the same people may give more"


@pytest.fixture(scope="module")
def liked():
    """A campaign whose annotators like systems differently, and its plan."""
    mine = campaign.from_ratings(collected(3, people=20, parts={**V, "taste": 60.0}, systems=4))
    ranked = rank_systems(mine, resamples=50)
    return mine, ranked, plan_more(mine, ranked)


def test_the_plan_counts_people_where_they_like_systems_differently(liked):
    found = liked[2]
    assert found.basis.liking == plans.FOUND
    assert found.basis.over_annotators
    rows = found.table.dropna(subset="segments_needed")
    assert len(rows)
    for row in rows.to_dict("records"):
        each = row["judgements_each"] // 2
        assert row["segments_needed"] == row["people_needed"] * each
        variance = of_people(
            dict(found.basis.variances), row["people_needed"], each / found.basis.block, found.basis.block
        )
        assert reached(row["points"], variance, row["people_needed"] - 1) >= 0.8 - 1e-6
        assert row["more_segments"] == row["more_people"] * each


def test_the_plan_compares_the_first_with_each_that_is_not_distinguished_from_it(liked):
    mine, ranked, found = liked
    assert found.rivals == tuple((ranked.top, name) for name in ranked.level or ranked.names[1:2])
    means = mine.judged.groupby("system")["score"].mean()  # every segment was judged once
    gaps = [means[first] - means[second] for first, second in found.rivals]
    assert found.table["points"].head(len(gaps)).tolist() == pytest.approx(gaps)
    assert found.table["compares"].tolist()[-3:] == [plans.ANY] * 3
    assert found.table["points"].tolist()[-3:] == pytest.approx([3.0, 6.0, 15.0])


def test_without_any_liking_the_plan_counts_segments():
    mine = campaign.from_ratings(collected(1, people=3, documents=30))
    found = plan_more(mine, rank_systems(mine, resamples=50))
    assert found.basis.liking == plans.NOT_FOUND
    assert not found.basis.over_annotators
    asked = found.table.dropna(subset="segments_needed")
    for row in asked.to_dict("records"):
        documents = row["segments_needed"] // 3
        spread = (
            found.basis.variances["block"] + (found.basis.variances["item"] + found.basis.variances["residual"]) / 3
        )
        assert reached(row["points"], 2 * spread / documents, documents - 1) >= 0.8 - 1e-6
        assert reached(row["points"], 2 * spread / (documents - 1), documents - 2) < 0.8
    once = plans.measure_basis(mine.judged, mine, over_annotators=True)
    assert once.over_annotators, "where the ranking draws annotators, the plan is over them, too"
    short = campaign.from_ratings(collected(4, people=12, documents=1))
    assert plan_more(short, rank_systems(short, resamples=50)).basis.liking == plans.NOT_TOLD


def test_hours_and_money_follow_from_the_median_time_of_a_judgement(liked, written):
    mine, ranked, _ = liked
    place = mine.ratings.groupby("annotator").cumcount()
    stamped = mine.ratings.assign(started=place * 60.0, ended=place * 60.0 + 45.0)
    timed = campaign.from_ratings(finished(stamped, mine.scale))
    found = plan_more(timed, ranked, hourly_pay=30.0, currency="EUR")
    asked = found.table.dropna(subset="more_judgements")
    assert asked["more_hours"].tolist() == pytest.approx((asked["more_judgements"] / 60).tolist())
    pilot = read_pilot(written(stamped.drop(columns="item_type")))
    assert pilot.seconds == pytest.approx(60.0)
    assert (pilot.price(18.0, 1.0), pilot.price(0.0, 1.0)) == (pytest.approx(0.3), 1.0)
    assert read_pilot(written(mine.ratings)).price(18.0, 1.0) == 1.0, "no times, no price"


def test_what_cannot_be_planned_is_missing(liked):
    mine, ranked, _ = liked
    with pytest.raises(DataError, match="Documents of 30 segments"):
        planning.smallest_crew(V, delta=3, block=30, capacity=50, over_annotators=True)
    one = campaign.from_ratings(mine.ratings[mine.ratings["system"] == "S0"])
    assert "one system" in plan_more(one, ranked).reason
    alone = changed(ranked, table=ranked.table.head(1))
    assert "one system" in plan_more(mine, alone).reason
    flat = campaign.from_ratings(finished(mine.ratings.assign(score=3.0), (0.0, 100.0)))
    assert "nothing scatters" in plan_more(flat, rank_systems(flat, resamples=20)).reason


read_pilot = telling(campaign.read_pilot)


def table(**options):
    """Draw a pilot in which everybody judges every translation."""
    return ratings(**{"systems": 2, "spread": {"residual": 10.0}, "step": 0.1} | options)


@pytest.fixture
def written(tmp_path):
    """Write a table as a file of a stranger's, and return its path."""

    def write(frame):
        frame.to_csv(tmp_path / "mine.csv", index=False)
        return str(tmp_path / "mine.csv")

    return write


def test_a_pilot_is_any_file_that_the_import_reads_or_has_read(written, tmp_path):
    frame = table()
    path, out = written(frame), str(tmp_path / "mine.parquet")
    assert cli.main(["import", path, "--out", out]) == 0
    for name in (path, out):
        found = read_pilot(name)
        assert (found.pair, found.layout, found.mine.scale) == ("eng-deu", "campaign", (0.0, 100.0))
        assert sorted(found.ratings["score"]) == pytest.approx(sorted(frame["score"]))
        assert not found.stretched


LAYOUTS = {
    "shared documents": (table(), "campaign"),
    "documents of each system": (table(doc=lambda t: t["system"] + t["doc"]), "numbered"),
    "no segment has two systems' translations": (table(segment=lambda t: t["system"] + t["segment"]), "calibration"),
    "nobody is named": (table(annotator="somebody", hit=lambda t: t.index.astype(str)), "unnamed"),
    "calibration items": (table(item_type="calibration"), "calibration"),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_the_layout_is_recognised_from_who_judged_what(case, written):
    frame, layout = LAYOUTS[case]
    assert read_pilot(written(frame)).layout == layout


def test_another_layout_can_be_set_and_one_system_is_enough_then(written):
    path = written(table(systems=1))
    told = read_pilot(path, layout="calibration")
    assert (told.layout, told.chosen) == ("calibration", False)
    assert components.of_pair(components.estimate(told.ratings), "eng-deu", shared=0.5)["residual"] > 0
    with pytest.raises(DataError, match="layout='cross' is not known"):
        read_pilot(path, layout="cross")


def test_another_scale_is_stretched_and_told(written):
    frame = table()
    plain = components.estimate(read_pilot(written(frame)).ratings, layout="campaign")
    low = frame.assign(score=1 + frame["score"] / 25)
    found = read_pilot(written(low), scale=(1, 5))
    assert found.mine.scale == (1.0, 5.0)
    assert found.own_points(3) == pytest.approx(0.12)
    moved = components.estimate(found.ratings, layout="campaign")
    for name in ("annotator", "block", "residual"):
        assert moved[name].iloc[0] == pytest.approx(plain[name].iloc[0], rel=1e-6)
    assert found.stretched
    assert plans.block_length(found.part) == 5


def test_where_low_is_good_scores_are_turned_between_the_ends_that_were_given(written):
    frame = table().rename(columns={"score": "errors"})
    frame["errors"] = (10 - frame["errors"] / 10).round()
    found = read_pilot(written(frame))
    means = found.ratings.groupby("system")["score"].mean()
    assert means["S0"] > means["S1"], "the system with fewer errors is better"
    assert found.ratings["score"].min() == 0
    assert found.ratings["score"].max() == pytest.approx(100)


def test_references_checks_and_repeats_are_kept_out(written):
    frame = table()
    others = [
        frame[frame["system"] == "S0"].assign(item_type=kind, system=name, score=99.0)
        for kind, name in (("reference", "HUMAN-B"), ("degraded", "S0"), ("repeat", "S0"))
    ]
    found = read_pilot(written(pd.concat([frame, *others])))
    assert len(found.ratings) == len(frame)
    assert set(found.ratings["system"]) == {"S0", "S1"}
    assert set(found.apart) == {"reference", "degraded", "repeat"}


def test_of_several_language_pairs_the_largest_is_planned_for_and_the_hopeless_are_named(written):
    parts = [table(), table(systems=3).assign(tgt_lang="jpn"), table().head(4).assign(tgt_lang="hin")]
    path = written(pd.concat(parts))
    found = read_pilot(path)
    assert found.pair == "eng-jpn"
    assert set(found.ratings["pair"]) == {"eng-jpn", "eng-deu"}
    with pytest.raises(DataError, match="too few to tell what scatters"):
        read_pilot(path, pair="eng-hin")
    with pytest.raises(DataError, match="there is no 'eng-fra' in these data"):
        read_pilot(path, pair="eng-fra")


CHOICES = pd.DataFrame({"segment": range(60), "annotator": ["p", "q"] * 30, "preference": ["A", "B", "tie"] * 20})
REFUSED = {
    "too few": table().head(3),
    "one person": table(people=1),
    "one system": table(systems=1),
    "nothing scatters": table(score=50.0),
    "no outputs of systems": table(item_type="reference"),
    "choices between": CHOICES.assign(system_a="X", system_b="Y"),
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_a_pilot_cannot_tell_is_refused(word, written):
    with pytest.raises(DataError, match=word):
        read_pilot(written(REFUSED[word]))


# What a designed campaign is said to distinguish: its assumptions, measured anew, and its smallest difference.

PARTS = ["document", "item", "annotator", "block", "residual"]


def measured(ratings, layout):
    """Medians over language pairs of the five variances."""
    table = components.estimate(ratings, layout=layout)
    found = pd.DataFrame([components.of_pair(table, pair) for pair in table["pair"]])
    return found[PARTS].median().to_dict()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "layout"),
    [
        pytest.param("wmt22-mturk", "numbered", marks=pytest.mark.nightly),
        ("wmt24-esa", "campaign"),
        ("wmt23-mqm", ""),
    ],
)
def test_what_is_assumed_is_what_public_data_show(real, name, layout):
    ratings = real(name)
    if not layout:  # merged scores of nobody in particular are no judgements
        ratings, layout = ratings[ratings["src_lang"].eq("zho")], "campaign"
    found = measured(ratings, layout)
    assert {part: round(value, 1) for part, value in found.items()} == MEASURED["variances"][name]
    if name in MEASURED["seconds"]:
        table, _ = hours(ratings)
        assert round(table["hours"].sum() * 3600 / table["judgements"].sum()) == MEASURED["seconds"][name]


def test_the_smallest_difference_is_found_with_the_chance_that_is_said():
    """Campaigns drawn here, score by score, and tested by scipy's own t-test over documents."""
    da, xsts = (expectation.usual(PROTOCOLS[name])["variances"]["residual"] for name in ("DA", "XSTS"))
    assert xsts == pytest.approx(da * (4 / 100) ** 2), "each on its own scale"
    variances = dict(zip(PARTS, [0.0, 40.0, 0.0, 20.0, 60.0]))
    found = expectation.smallest_difference(variances, segments=200, annotators=10, block=10, arrangement="same")
    rng = np.random.default_rng(5)
    draws, documents, block = 4000, 20, 10
    own = rng.normal(0, np.sqrt(20), (draws, documents, 2, 1)) + rng.normal(0, 10, (draws, documents, 2, block))
    means = own.mean(axis=3)
    share = (stats.ttest_1samp(found + means[..., 0] - means[..., 1], 0, axis=1).pvalue < 0.05).mean()
    assert abs(share - 0.8) < 3 * np.sqrt(0.8 * 0.2 / draws) + 0.005  # the grid of differences has steps of 1 %


@pytest.fixture
def judged(tmp_path):
    """Files of a test set, and a pilot of it: 40 segments by two systems, scored by three people, with times."""
    rng = np.random.default_rng(3)
    (tmp_path / "outputs").mkdir()
    for name in ("outputs/A.txt", "outputs/B.txt", "source.txt"):
        (tmp_path / name).write_text("".join(f"{name} line {number} of some words\n" for number in range(60)))
    (tmp_path / "documents.txt").write_text("".join(f"doc{number // 4}\n" for number in range(60)))
    rows = []
    for segment, system in ((segment, system) for segment in range(40) for system in "AB"):
        quality = rng.choice([2, 25, 50, 75, 98])
        for person in range(3):
            start = 1e9 + len(rows) * 40
            score = float(np.clip(round(quality + rng.normal(0, 4) + 2 * person), 0, 100))
            at = ("eng", "deu", system, f"doc{segment // 4}", str(segment + 1), f"person{person}")
            rows.append((*at, score, start, start + 25))
    names = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score (0-100)", "started", "ended"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "pilot.csv", index=False)
    return tmp_path


def test_a_pilot_tells_times_variances_and_the_calibration_set(judged):
    pilot, _ = data.open_campaign(judged / "pilot.csv")
    found = expectation.from_pilot(pilot, PROTOCOLS["DA"])
    table, _ = hours(pilot)
    assert found["seconds"] == pytest.approx(table["hours"].sum() * 3600 / table["judgements"].sum())
    assert found["variances"] == components.of_pair(components.estimate(pilot, layout="campaign"), "eng-deu")
    texts = read_texts([judged / "outputs"], source=judged / "source.txt", documents=judged / "documents.txt")
    drawn = draw(texts, Wish(PROTOCOLS["DA"], ("ann", "bob"), calibration=10), prior=pilot)
    levels = [0.0, 25.0, 50.0, 75.0, 100.0]
    chosen = calibration.choose_set(pilot, per_level=2, levels=levels, seed=7)
    wanted = {(row.system, row.segment) for row in chosen.itertuples()}
    for mine in drawn.screens:
        shown = [item for screen in mine if screen.kind == "calibration" for item in screen.items]
        assert {(item.systems[0], str(item.segment + 1)) for item in shown} == wanted
        others = {screen.doc for screen in mine if screen.kind != "calibration"}
        assert not others & {texts.docs[item.segment] for item in shown}
    with pytest.raises(DataError, match="from 0 to 100, and those of XSTS from 1 to 5"):
        expectation.from_pilot(pilot, PROTOCOLS["XSTS"])
    other = Texts(docs=["x"] * 4 + ["y"] * 4, sources=["s"] * 8, outputs={"C": ["t u v"] * 8, "D": ["u v w"] * 8})
    with pytest.raises(DataError, match="None of the earlier ratings"):
        draw(other, Wish(PROTOCOLS["DA"], ("ann", "bob"), calibration=10), prior=pilot)


# What the planner answers, in sentences


@pytest.mark.parametrize(
    ("taste", "typed", "told", "design"),
    [
        (2.0, False, "they have favourite systems", "crew"),
        (0.0, False, "No sign was found", "best"),
        (2.0, True, "with the variances typed in", "best"),
        ("beyond", False, "No campaign within these limits", None),
    ],
)
def test_the_planners_answer_tells_the_design_that_it_rests_on(here, taste, typed, told, design):
    here("wmt22-calibration-hits")
    mine = campaign.read_pilot("wmt22-calibration-hits", pair="eng-deu")
    rows = {"arrangement": "same", "calibration": 0, "segments": 120, "judgements_each": 1}
    best = rows | {"annotators": 3, "judgements": 240}
    crew = rows | {"annotators": 11, "judgements": 1540, "segments": np.nan if taste == "beyond" else 770}
    tastes = pd.DataFrame([{"pair": "eng-deu", "taste": 2.0 if taste == "beyond" else taste, **crew}])
    wanted = {"delta": 4.0, "target": 0.8, "typed": typed, "hourly_pay": 10.0, "currency": "EUR"}
    said = mine.answer(best, tastes, **wanted)
    assert told in said
    assert "4 points" in said
    assert ("1,540 judgements" in said) == (design == "crew")
    assert "240 judgements" in said, "the design itself, or what would do if nobody had favourites"
