"""The campaign's sentences and checks, each from a result made by hand: no analysis is run here."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evalkit.campaign import Campaign, Method, Missing, paperwork, run_checks, tabulate
from evalkit.campaign import sentences as told
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.checks import CALLED, FINE, LOOK, PROBLEM, UNKNOWN, Check
from evalkit.campaign.collection import Collection
from evalkit.campaign.people.agreement import Agreement
from evalkit.campaign.people.annotators import Profiles, Screening
from evalkit.campaign.people.calibration import RAW, Calibration
from evalkit.campaign.people.context import Context, Equivalence
from evalkit.campaign.people.quality import QualityControl
from evalkit.campaign.planning.cost import Cost
from evalkit.campaign.planning.more import ANY, CAUTIOUS, FOUND, NOT_FOUND, NOT_TOLD, OBSERVED, Basis, Plan
from evalkit.campaign.sentences import say
from evalkit.campaign.systems.errors import Errors
from evalkit.campaign.systems.normalization import Normalization
from evalkit.campaign.systems.ranking import Ranking
from evalkit.human.annotators import Caliper

NOTHING = pd.DataFrame()
GONE = Missing("there is nothing.", "Collect something.")
ALL_THERE, REMOVED = Caliper(3, 2, 0.6), Caliper(30, 0, 0.0002)
RATINGS = pd.DataFrame(
    {
        "pair": "eng-deu",
        "system": ["A", "B"] * 6,
        "doc": "d",
        "segment": [str(n // 2) for n in range(12)],
        "annotator": ["p", "p", "q", "q", "r", "r"] * 2,
        "score": [70.0, 60.0] * 6,
        "item_type": "system",
    }
)
RATINGS.attrs["source"] = {"name": "mine", "source": "real", "origin": "mine.csv", "digest": "0"}
CAMPAIGN = Campaign(RATINGS, RATINGS, "eng-deu", None, (0.0, 100.0), True, ("doc", "segment"))
METHOD = Method("score", "for a reason", ("annotator",), "so it was", ("system", "repeat"), ("doc", "segment"))


def ranking(names="AB", beaten="", by_z=False, unsure="", first=1, ahead="", behind="", human=""):
    """Make a ranking of systems whose first one is better than those named.

    human: the name of a human translation; ahead, behind: systems better and worse than it.
    """
    scores = [70.0] * first + [60.0 - n for n in range(len(names) - first)]
    table = pd.DataFrame(
        {"system": list(names), "rank": 1, "cluster": 1, "score": scores, "mean": scores, "best": 0.31}
    )
    pairwise = [
        {"better": names[0], "worse": name, "adjusted_p": 0.5, "significant": name in beaten} for name in names[1:]
    ]
    method = replace(METHOD, column="normalized" if by_z else "score")
    humans = pd.DataFrame({"system": [human] * bool(human), "score": 65.0, "mean": 65.0})
    duels = [{"better": name, "worse": human, "significant": True} for name in ahead]
    duels += [{"better": human, "worse": name, "significant": True} for name in behind]
    duels = pd.DataFrame(duels, columns=["better", "worse", "significant"])
    return Ranking(
        "eng-deu",
        (0.0, 100.0),
        method,
        table,
        pd.DataFrame(pairwise),
        humans,
        duels,
        20.0 if by_z else 1.0,
        500,
        unsure,
    )


V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0, "taste": 6.0}
BASIS = Basis(V, "campaign", 10, 200, FOUND, True, 9, 5)
COUNTS = (
    "people_needed",
    "judgements_each",
    "segments_needed",
    "segments_now",
    "worth_now",
    "more_people",
    "more_segments",
    "more_judgements",
)


def planned(compares, difference, points, counts):
    """Make a row of a plan; counts: in the order of ``COUNTS``, None where no campaign finds the difference."""
    counts = counts or (None, None, None, 400, None, None, None, None)
    return {"compares": compares, "difference": difference, "points": points, **dict(zip(COUNTS, counts, strict=True))}


#: Ten people for 500 segments, of which four people's 200 are there.
SIX = (10, 100, 500, 400, 200, 6, 300, 600)


def plan(gap=SIX, cautious=None, basis=BASIS, **facts):
    """Make a plan for the two best systems. gap, cautious: counts for the observed difference and the lower one."""
    rows = [planned("A – B", OBSERVED, 1.5, gap)]
    rows += [planned("A – B", CAUTIOUS, 0.6, cautious)] if cautious else []
    rows += [
        planned(ANY, "1% of the scale", 1.0, None),
        planned(ANY, "5% of the scale", 5.0, (2, 20, 20, 400, 200, 0, 0, 0)),
    ]
    table = pd.DataFrame(rows).astype(dict.fromkeys(COUNTS, "Int64"))
    return Plan("eng-deu", table, NOTHING, basis, (("A", "B"),), (1.5,), (1.1,), False, **facts)


COLLECTION = Collection(
    "eng-deu",
    NOTHING,
    NOTHING,
    NOTHING,
    pd.DataFrame({"system": ["A", "B"], "segments": [100, 100], "share_of_segments": 1.0}),
    pd.DataFrame({"annotator": ["p", "q"], "judgements": [1200, 34]}),
    100,
    200,
    190,
    50,
    0,
    (),
    None,
)
AGREEMENT = Agreement("eng-deu", NOTHING, NOTHING, NOTHING, 0.5, 0.4, 0.6, "interval", 50, 3)
SCREENING = Screening("eng-deu", ("sd < 5",), {}, NOTHING, NOTHING, (), 3, 3, (), 0.0, "A", "A")
QUALITY = QualityControl(
    "eng-deu", NOTHING, True, 10, (), 0, 8.0, ALL_THERE, False, 5.0, 0.2, 40, 3, True, (90.0, 70.0)
)
CONTEXT = Context("eng-deu", NOTHING, NOTHING, 60, 30, 30, 1.0, 2.0, 0.9, 0.6, Equivalence(1.0, 0.5, 1.5, "equivalent"))
CALIBRATION = Calibration(
    (0.0, 100.0),
    "pair",
    pd.DataFrame({"pair": ["eng-deu", "eng-fra"], "items": 50, "mean": [60.0, 70.0]}),
    pd.DataFrame(
        {
            "form": [RAW, RAW, "simple shift", "simple shift"],
            "pair": ["eng-deu", "eng-fra"] * 2,
            "system": "A",
            "rank": [1, 2, 2, 1],
        }
    ),
    NOTHING,
    "",
    0,
    pd.DataFrame({"form": ["simple shift"]}),
    0.7,
    0.6,
    0.8,
)
NORMALIZATION = Normalization(
    "eng-deu",
    NOTHING,
    {"raw scores": ["A"], "ranks": ["A"]},
    pd.DataFrame({"moved": [0], "beyond_noise": [0]}),
    NOTHING,
)
COST = Cost("eng-deu", pd.DataFrame({"mean_seconds": [20.0, 40.0]}), 100, 0, 1.0, 3.0, "by stamps", 12.0, "EUR", 2)
ERRORS = Errors("eng-deu", pd.DataFrame({"system": ["A", "B"], "per_segment": [0.5, 1.25]}), NOTHING, 90, 120, -0.4)
PROFILES = Profiles("eng-deu", pd.DataFrame({"annotator": ["p"], "mean": [61.0]}), ("with_others", "seconds"), RATINGS)
ANALYSIS = Analysis(
    CAMPAIGN,
    COLLECTION,
    AGREEMENT,
    PROFILES,
    SCREENING,
    QUALITY,
    GONE,
    GONE,
    NORMALIZATION,
    ranking(),
    NOTHING,
    GONE,
    GONE,
    plan(),
)


@pytest.mark.parametrize(
    ("question", "part", "results", "verdicts"),
    [
        (
            "Do annotators agree beyond chance?",
            "agreement",
            [
                replace(AGREEMENT, estimate=estimate, low=low)
                for estimate, low in ((0.40, 0.01), (0.39, 0.01), (0.39, 0.0), (None, 0.0), (0.5, np.nan))
            ]
            + [GONE],
            "fine look problem unknown unknown unknown",
        ),
        (
            "Are annotators steady with themselves?",
            "quality",
            [
                replace(QUALITY, again=again, repeated=repeated)
                for again, repeated in ((10, 10), (10.1, 10), (20, 10), (20.1, 10), (5, 9), (30, 9), (None, 0))
            ],
            "fine look look problem unknown unknown unknown",
        ),
        (
            "Do annotators notice degraded translations?",
            "quality",
            [
                replace(QUALITY, tested=tested, failed=tuple("abc"[:failed]), undecided=few, caliper=caliper)
                for tested, failed, few, caliper in (
                    (10, 0, 0, ALL_THERE),
                    (10, 1, 0, ALL_THERE),
                    (10, 2, 0, ALL_THERE),
                    (10, 0, 0, REMOVED),
                    (10, 1, 0, REMOVED),
                    (10, 2, 0, REMOVED),  # even those left fail too often
                    (10, 0, 8, ALL_THERE),
                    (10, 0, 9, ALL_THERE),
                    (1, 0, 0, ALL_THERE),
                    (0, 0, 0, ALL_THERE),
                )
            ],
            "fine look problem unknown unknown problem fine unknown unknown unknown",
        ),
        (
            "Did scores stay the same beside degraded segments?",
            "context",
            [
                replace(CONTEXT, p=p, equivalence=verdict and Equivalence(1.0, 0.5, 1.5, verdict))
                for verdict, p in (
                    ("equivalent", 0.6),
                    ("both", 0.01),
                    ("different", 0.6),
                    ("undecided", 0.6),
                    ("undecided", 0.04),
                    ("undecided", None),
                    (None, 0.6),
                    (None, 0.01),
                )
            ],
            "fine fine look unknown look unknown unknown unknown",
        ),
        (
            "Does the result stay the same without odd annotators?",
            "screening",
            [
                *(
                    replace(SCREENING, unknown=unknown, looked_at=looked_at)
                    for unknown, looked_at in (((), 3), ((), 2), ((), 1), (("sd < 5",), 0))
                ),
                *(
                    replace(SCREENING, annotators=everyone, proposed=("x",), first_without=without)
                    for everyone, without in ((10, "A"), (9, "A"), (10, "B"), (10, ""))
                ),
                replace(SCREENING, rules=()),
                GONE,
            ],
            "fine fine unknown unknown fine look look look unknown unknown",
        ),
        (
            "Does the first system stay first however scores are treated?",
            "normalization",
            [
                replace(NORMALIZATION, tops={"raw scores": ["A"], way: [top]})
                for way, top in (("ranks", "A"), ("ranks", "C"), ("z per annotator", "B"), ("z per annotator", "C"))
            ],
            "fine look look problem",
        ),
        (
            "Does the first system stand apart?",
            "ranking",
            [ranking(), ranking(beaten="B"), ranking("ABC", "C")],
            "look fine look",
        ),
        ("Are there systems to compare?", "ranking", [ranking("A")], "problem"),
        ("Can the systems be ranked?", "ranking", [GONE], "problem"),
        (
            "Was nothing counted twice by accident?",
            "collection",
            [replace(COLLECTION, duplicates=duplicates) for duplicates in (0, 1)],
            "fine look",
        ),
    ],
)
def test_verdicts_follow_from_the_numbers_and_turn_at_the_limits_that_are_stated(question, part, results, verdicts):
    for result, word in zip(results, verdicts.split(), strict=True):
        checks = run_checks(replace(ANALYSIS, **{part: result}))
        [check] = [check for check in checks if check.question == question]
        assert check.verdict.endswith({"unknown": "not known"}.get(word, word)), result
        places = [list(CALLED).index(check.verdict) for check in checks]
        assert places == sorted(places)


def test_language_pairs_can_be_compared_where_calibrating_does_more_good_than_harm():
    both = pd.concat([RATINGS, RATINGS.assign(pair="eng-fra")], ignore_index=True)
    two = replace(CAMPAIGN, ratings=both)
    cases = (GONE, UNKNOWN), (CALIBRATION, FINE), (replace(CALIBRATION, share=0.5), LOOK)
    cases += ((replace(CALIBRATION, share=None), UNKNOWN), (replace(CALIBRATION, by="annotator"), UNKNOWN))
    for calibration, verdict in cases:
        checks = run_checks(replace(ANALYSIS, campaign=two, calibration=calibration))
        [check] = [check for check in checks if check.question.startswith("Can scores of different language pairs")]
        assert check.verdict == verdict


def test_a_table_of_checks_says_nothing_is_to_be_done_where_nothing_is():
    shown = tabulate([Check("a", FINE, "b"), Check("c", LOOK, "d", "e.")])
    assert shown.to_numpy().tolist() == [["a", FINE, "b", "nothing"], ["c", LOOK, "d", "e."]]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ranking(beaten="B"), "eng-deu: A is better than B, the only other system."),
        (ranking("ABC", "BC"), "eng-deu: A is better than each of the 2 other systems."),
        (ranking(), "eng-deu: A and B cannot be distinguished."),
        (
            ranking("ABC", "C"),
            "eng-deu: no clear winner. A has the highest mean score, but B may be as good. It is better than C.",
        ),
        (
            ranking("ABCDEFGH", "FGH"),
            "eng-deu: no clear winner. A has the highest mean score, but 4 others may be as "
            "good. It is better than 3 others.",
        ),
        (
            ranking("ABC", first=2),
            "eng-deu: no system can be called the best. A and B have the highest mean score, but "
            "none of the others is surely worse.",
        ),
        (
            ranking("ABC", first=3),
            "eng-deu: all systems have the same mean score, 70.00 on the scale from 0 to 100, so none is better.",
        ),
        (
            ranking("A"),
            "eng-deu: only A was judged, with a mean score of 70.00 on the scale from 0 to 100. Which system is "
            "better can be said when a second one is judged on the same segments.",
        ),
    ],
)
def test_the_first_page_says_which_system_is_better(found, expected):
    assert told.better(found) == expected
    assert bool(told.figures(found)) == (len(found.first) < len(found.names))


def test_the_two_best_scores_are_told_with_what_orders_them():
    assert told.figures(ranking()) == [
        "A has a mean score of 70.00 on the scale from 0 to 100, B, the next, one of 60.00: they are 10.00 points "
        "apart."
    ]
    assert told.figures(ranking(by_z=True))[0].endswith(
        "one of 60.00. Some annotators are stricter than others, so systems are ordered by scores with that taken out "
        "(z-scores). By these the two are 200.00 points apart; this difference is tested and planned for."
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ranking(), []),
        (ranking(human="refA"), ["No system is distinguished from the human translation refA."]),
        (ranking(human="refA", behind="AB"), ["The human translation refA is better than every system."]),
        (
            ranking("ABC", human="refA", ahead="A", behind="C"),
            ["A is better than the human translation refA, B is not distinguished from it and C is worse than it."],
        ),
        (
            ranking("ABCDE", human="refA", behind="BCDE"),
            ["A is not distinguished from the human translation refA and 4 systems are worse than it."],
        ),
        (ranking("A", human="refA"), ["It is not distinguished from refA, a human translation."]),
        (ranking("A", human="refA", ahead="A"), ["It is better than refA, a human translation."]),
    ],
)
def test_human_translations_stand_beside_the_systems_and_never_win(found, expected):
    assert told.beside_humans(found) == expected
    assert "refA" not in told.better(found)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ranking(), ["With other annotators, A would come first in 31% of cases, B in 31%."]),
        (ranking(beaten="B"), ["With other annotators, A would come first in 31% of cases."]),
        (
            replace(ranking(), method=replace(METHOD, unit=("doc",))),
            ["With other documents, A would come first in 31% of cases, B in 31%."],
        ),
        (ranking(first=2), []),
        (ranking("A"), []),
        (ranking(unsure="Too few."), []),
    ],
)
def test_how_sure_the_first_place_is_stands_in_one_sentence(found, expected):
    assert told.sure(found) == expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([FINE], "Yes, for these texts and these annotators: no check found anything."),
        ([UNKNOWN, FINE], "With care: the data cannot answer “s0”."),
        ([LOOK, UNKNOWN], "With care: look at “s0”."),
        ([PROBLEM] * 4 + [LOOK], "Not yet: the answer is no to “s0”, “s1”, “s2” and more."),
    ],
)
def test_trust_is_decided_by_the_worst_verdict(verdicts, expected):
    checks = [Check(f"s{n}", verdict, "") for n, verdict in enumerate(verdicts)]
    assert told.trust(checks) == f"Can you rely on it? {expected}"


def test_problems_come_before_the_plan_and_the_plan_before_the_rest():
    from evalkit.campaign.checks import APART

    checks = [
        Check("a", PROBLEM, "", "Add people."),
        Check("b", LOOK, "", APART),
        Check("c", LOOK, "", "Look."),
        Check("d", UNKNOWN, "", "Look."),
    ]
    asked = "about 600 more judgements, by 6 more people who give 100 each"
    chance = f"Treat A and B as equally good, or collect {asked}, to distinguish them."
    assert told.steps(ANALYSIS, checks) == ["Add people.", chance, "Look."]
    likely = told.steps(replace(ANALYSIS, plan=plan(cautious=SIX)), checks)
    assert likely[1] == f"To tell A from B, collect {asked}, or treat them as equally good."
    segments = replace(BASIS, over_annotators=False)
    hopeless = told.steps(replace(ANALYSIS, plan=plan(None, basis=segments)), checks)
    assert hopeless[1].endswith("to distinguish them takes more than 20,000 segments.")
    assert told.steps(replace(ANALYSIS, plan=plan(None)), checks)[1].endswith("segments or 1,000 people.")
    clear = told.steps(replace(ANALYSIS, ranking=ranking(beaten="B")), checks)
    assert clear == ["Add people.", APART, "Look."]
    assert told.steps(ANALYSIS, [])[0].startswith("Treat A and B as equally good")
    enough = replace(ANALYSIS, plan=plan((10, 100, 500, 400, 700, 0, 0, 0)))
    assert told.steps(enough, []) == ["Publish scores, intervals and this report's signature."]
    assert told.steps(replace(ANALYSIS, plan=GONE), []) == ["Publish scores, intervals and this report's signature."]
    assert told.headline(ANALYSIS, checks) == (
        "eng-deu: A and B cannot be distinguished. With other annotators, A would come first in 31% of cases, B in "
        "31%. We ran 4 checks: 2 need a look, 1 is a problem, 1 could not be done."
    )
    assert told.headline(replace(ANALYSIS, ranking=GONE), checks[:0]) == (
        "eng-deu: the systems cannot be ranked. There is nothing. No check speaks against it."
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (GONE, ["There is nothing. Collect something."]),
        (Missing("eng-deu has none.", ""), ["eng-deu has none."]),
        (
            COLLECTION,
            [
                "eng-deu: 1,234 judgements by 2 annotators, of 2 systems and 100 segments.",
                "Cells (a segment by a system): 200. Judged: 190, by several annotators: 50. Not judged: 10 (5%).",
                "No annotator judged the same item twice, but for items marked as repeats.",
            ],
        ),
        (
            replace(AGREEMENT, estimate=None, reason="4 items were judged by two annotators or more"),
            [
                "No estimate for eng-deu: 4 items were judged by two annotators or more. To measure agreement, "
                "let two or more annotators judge the same items: 10 at the very least, better 100, drawn at random over all "
                "systems."
            ],
        ),
        (
            PROFILES,
            [
                "1 annotator, with a mean score of 61 points of 100. Here and in the rules, every scale is stretched to 0 to "
                "100.",
                "How close annotators are to the others: let them share at least 10 items with somebody; how "
                "long a judgement takes: record when it started and ended.",
            ],
        ),
        (
            replace(SCREENING, rules=(), aside={"sd < 5": "it is odd"}),
            [
                "Not applied, standard deviation of scores below 5 points: it is odd.",
                "No rule is left that fits this scale. Write one, such as 'sd < 5'.",
            ],
        ),
        (
            replace(SCREENING, proposed=("p", "q"), share=0.25, unknown=("qc_p >= 0.05",)),
            [
                "The rules name 2 of 3 annotators, who gave 25% of the judgements: p and q. Talk to them before you leave "
                "anybody out: most often there was a misunderstanding, and who agrees with nobody may be the one who is right.",
                "Rule that could be applied to nobody, for lack of data: p-value (t) of degraded items against their originals "
                "at least 0.05.",
            ],
        ),
        (
            replace(QUALITY, tested=0, degraded=True, again=None, means=None, references=True),
            [
                "There are degraded items, but no annotator judged two of them beside their originals. Put the "
                "original of each degraded item into the same annotator's work. No items shown twice. Show some documents a "
                "second time to the same annotator and give the second showing the item_type 'repeat'; ten an annotator tell "
                "whether they are steady.",
            ],
        ),
        (
            replace(QUALITY, failed=("p",), undecided=1, caliper=REMOVED),
            [
                "Degraded items score 8 points of 100 below their originals in the median annotator. 8 of 10 annotators pass "
                "WMT's test (paired t-test, p below 0.05); 1 annotator judged too few degraded items to tell; not p.",
                "30 annotators pass narrowly (p from 0.025 to 0.05) and 0 fail as narrowly (to 0.075), where at least a "
                "quarter of all these would if nobody had been removed (binomial p 0.0002). So those who failed seem to have "
                "been taken out before, and that the others pass shows nothing.",
                "40 items were scored twice or more by the same annotator (3 annotators in all); the two scores lie 5 points "
                "of 100 apart in the median, and are equal in 20%.",
                "Human references score 90 points of 100, outputs of systems 70.",
            ],
        ),
        (
            replace(CONTEXT, within=None, p=None, equivalence=None),
            [
                "60 unchanged segments were scored in the original document and in a copy; 30 stand before and 30 after the "
                "first degraded segment of the copy.",
                "After it, the second showing scores 1.0 points of 100 lower than before it. No document has both, so nothing "
                "can be tested.",
            ],
        ),
        (
            CALIBRATION,
            [
                "50 calibration items rated by 2 language pairs: their means on them run from 60.00 to 70.00 on a scale from "
                "0 to 100. Whoever has a low mean is strict, and their scores go up.",
                "A (eng-deu) first by raw scores; A (eng-fra) first by simple shift. Places that differ from those by raw "
                "scores, over all forms: 2.",
                "There is no two-point line, because it also needs human references, rated by everybody.",
                "Learned on one half of the calibration items, 70% of a shift shows on the other half (95 % interval 60% to "
                "80%). A shift does more good than harm.",
            ],
        ),
        (
            replace(NORMALIZATION, tops={"raw scores": ["A", "B"], "ranks": ["A"]}, problem="Too few."),
            [
                "The same judgements, treated in 2 ways: A and B first by raw scores; A first by ranks.",
                "How much of it is chance cannot be told: Too few.",
            ],
        ),
        (
            ranking("ABC", "C"),
            [
                "Systems are ranked by mean score: for a reason.",
                "What could have come out otherwise: so it was. So every interval, place and test here asks what other "
                "annotators would bring.",
                "Compared by t-tests with that uncertainty (one-sided, at 0.05, corrected by Holm for 2 pairs of systems), A "
                "has a higher mean score than 1 of 2 others. It cannot be distinguished from B.",
                "With annotators drawn anew 500 times, A comes out first in 31% of draws.",
            ],
        ),
        (
            ERRORS,
            [
                "90 errors in 120 judgements. A has the fewest, 0.50 a judgement; B the most, 1.25.",
                "The rank correlation of an item's score with its number of errors is -0.40 (−1: more errors always mean a "
                "lower score).",
                "Annotators stated no types of errors.",
            ],
        ),
        (
            COST,
            [
                "eng-deu: 100 judgements with times took 1.0 hours, 36 seconds each on average (by stamps). The median "
                "annotator takes 30 seconds for one.",
                "At 12 EUR an hour that is 12 EUR, or 0.12 EUR a judgement.",
                "All language pairs together took 3.0 hours, or 36 EUR.",
            ],
        ),
        (
            plan(cautious=(40, 100, 2000, 400, 200, 36, 1800, 3600), by_z=True),
            [
                "To tell A from B (1.50 points apart, standard error 1.10): about 600 more judgements, by 6 more people who "
                "give 100 each, in about 300 more segments, if they truly differ by as much; if by 0.60, the lower end of its "
                "50 % interval, about 3,600 more judgements, by 36 more people who give 100 each.",
                "Or treat them as equally good. Observed differences tend to be too large, and one that is hardly larger than "
                "its standard error may well be chance: a plan for it disappoints. Better say first which difference would "
                "matter to you, and plan for that.",
                "Between any two systems judged as these were, 1 point (1% of the scale) takes more than 20,000 segments or "
                "1,000 people; 5 points (5% of the scale) take nothing more.",
                "People like systems differently here (a variance of liking of 6 squared points). More segments do not average "
                "out one person's favourites, only more people do, so the plan is in people, and what each of them judges.",
                "The plan asks for a chance of 80% to find a true difference between two systems at p below 0.05 (two-sided, "
                "over annotators; ranking many systems takes more). New judgements are taken to be made in the best way: "
                "whoever judges a segment judges it by both systems, each translation once, in documents of 10 segments. What "
                "scatters was measured on the best 5 systems.",
                "Systems are ranked by z-scores here, so points are z-scores times a usual standard deviation.",
            ],
        ),
    ],
)
def test_each_result_is_told_as_it_is(found, expected):
    assert say(found) == expected


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (plan(), "That may be chance alone: the lower end of its 50 % interval is no difference at all."),
        (
            plan(None),
            "A and B are 1.50 points apart. To find so small a difference takes more than 20,000 segments or "
            "1,000 people: treat them as equally good.\nObserved differences tend to be too large",
        ),
        (
            plan((10, 100, 500, 400, 700, 0, 0, 0)),
            "is enough to find a difference of this size. It was not found all the "
            "same, so the true one may be smaller.",
        ),
        (
            plan((3, 190, 280, 400, 100, 0, 180, 360), basis=replace(BASIS, over_annotators=False, liking=NOT_FOUND)),
            "about 360 more judgements, by the same people, in about 180 more segments, if",
        ),
        (plan(basis=replace(BASIS, over_annotators=False, liking=NOT_TOLD)), "engage more people than it names."),
        (
            plan((30, 190, 2850, 400, 100, 21, 2750, 5500), basis=replace(BASIS, liking=NOT_FOUND)),
            "about "
            "5,500 more judgements, by 21 more people, in about 2,800 more segments, if they truly differ by as much.",
        ),
        (
            plan(basis=replace(BASIS, liking=NOT_FOUND)),
            "so the same people may give more; nobody is asked for more than 200 judgements.",
        ),
    ],
)
def test_a_plan_says_whom_it_counts_and_when_a_difference_may_be_chance(found, said):
    assert said in "\n".join(say(found))


@pytest.mark.parametrize(
    ("held", "meant"),
    [
        ("equivalent", "so small that it may count as none."),
        ("different", "surely there."),
        ("both", "not zero, yet so small that it may count as none."),
        ("undecided", "neither surely there nor surely small: the data cannot tell."),
    ],
)
def test_an_effect_that_was_not_found_is_not_called_absent(held, meant):
    assert say(replace(CONTEXT, equivalence=Equivalence(1.0, 0.5, 1.5, held)))[-1].endswith(f"the effect is {meant}")


def test_one_thing_is_told_in_the_singular():
    one = replace(
        COLLECTION,
        annotators=COLLECTION.annotators.tail(1),
        systems=COLLECTION.systems.head(1),
        segments=1,
        cells=1,
        judged=1,
    )
    assert say(one)[0] == "eng-deu: 34 judgements by 1 annotator, of 1 system and 1 segment."
    told_of = [*say(one), *say(ranking("A")), *say(replace(CAMPAIGN, renamed=1))]
    assert not any(
        wrong in text for text in told_of for wrong in (" 1 systems", " 1 annotators", " 1 segments", "all 1")
    )


def test_the_methods_claim_and_cite_only_what_was_done():
    plain = paperwork.methods(ANALYSIS, resamples=500, seed=7)
    assert "12 judgements of 100 segments translated by 2 systems (eng-deu), on a scale from 0 to 100" in plain.text
    assert "for A and B, the first two, p = 0.500" in plain.text
    assert any(reference.startswith("Krippendorff") for reference in plain.references)
    assert "Licht" not in plain.text, "there is no calibration here"
    moved = paperwork.methods(replace(ANALYSIS, calibration=CALIBRATION, plan=GONE), resamples=500, seed=7)
    assert "items that language pairs have in common (simple shift) (Licht et al. 2022)" in moved.text
    assert any(reference.startswith("Licht") for reference in moved.references)
    assert not any(reference.startswith("Henderson") for reference in moved.references)
    nothing = replace(ANALYSIS, ranking=GONE, agreement=GONE, quality=replace(QUALITY, tested=0, again=None), plan=GONE)
    assert paperwork.methods(nothing, resamples=500, seed=7).references == []
    assert "could not be estimated: there is nothing." in paperwork.methods(nothing, resamples=500, seed=7).text


def test_what_the_page_said_to_do_is_not_said_again_beside_the_checks():
    checks = [Check("Is it?", LOOK, "not quite: b", "Go."), Check("Or?", UNKNOWN, "not known: c", "Stay.")]
    assert told.answers(checks, steps=["Go."]) == [
        "! look – Is it? Not quite: b.",
        "? not known – Or? Not known: c. To do: Stay.",
    ]
