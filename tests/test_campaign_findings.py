"""What a report concludes, by key: one golden campaign, edges, limits at which verdicts turn; and the wording of it all."""

import ast
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evalkit import ROOT
from evalkit.campaign import first_page
from evalkit.campaign.findings import SIGNS, WORDING, finding
from evalkit.campaign.paperwork import markup
from evalkit.campaign.quality import Equivalence
from evalkit.data import compared, simulate
from evalkit.human.annotators import Caliper
from tests.makers import SOURCE, comparisons, finished
from tests.pages import errors_in, numbers, page, plain


@pytest.fixture(scope="module")
def golden():
    """A campaign with quality control, calibration items, times and marked errors: every analysis can be made."""
    design = simulate.Design(systems=3, documents=12, annotators=6, judgements=2, calibration=20)
    table = simulate.campaign(design=design, control=simulate.Control(copies=2))
    table["position"] = table.groupby("annotator").cumcount()
    table["copy"] = table["item_type"].isin(["degraded", "repeat"])
    table.attrs["source"] = SOURCE
    spans = errors_in(table[table["item_type"].eq("system")].iloc[::3])
    return page(table, spans, resamples=100)


def test_the_verdicts_of_a_golden_campaign(golden):
    assert golden.verdicts == {
        "apart": "look",
        "enough": "look",
        "evenly": "look",
        "others": "not known",
        "neighbours": "not known",
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
    shift, context, ranked, rivals = found.calibration, found.context, found.ranking, found.plan
    size = len(collected.annotators), len(collected.systems)
    means = profiles["mean"].round()
    strict = shift.strictness["mean"].round(2)
    marked = found.errors.by_system["per_segment"].round(2)
    expected = {
        "collection": [*size, collected.segments, collected.cells, collected.judged, collected.several],
        "agreement": [found.agreement.items, found.agreement.shared],
        "profiles": [means.min(), means.max()],
        "quality": [quality.passed, quality.tested, quality.repeated, round(quality.again)],
        "context": [context.before, context.after, round(context.p, 3), round(context.equivalence.low, 1)],
        "calibration": [strict.min(), strict.max(), round(100 * shift.share)],
        "ranking": [100, round(100 * ranked.best), round(100 * ranked.method.kept)],
        "errors": [found.errors.errors, found.errors.judgements, marked.min(), marked.max()],
        "cost": [times.judgements, round(times.hours, 1)],
        "plan": [*np.round(rivals.gaps, 2), *np.round(rivals.errors, 2)],
    }
    for part, values in expected.items():
        assert {*map(float, values)} <= {*numbers(golden.told(part))}, part
    assert {*np.round([ranked.means[name] for name in ranked.names[:2]], 2)} <= {
        *numbers(" ".join(first_page.figures(ranked)))
    }


def nested():
    """Each annotator judges one system, so that nothing says who of them is strict."""
    frame = plain(systems=3, people=6, documents=10)
    return frame[frame["annotator"].str[1:].astype(int) % 3 == frame["system"].str[1:].astype(int)]


def without_names():
    frame = plain(systems=3, people=1, documents=20)
    return frame.assign(annotator="average")


def preferred(pairs, strengths=(1.5, 0.0, -1.0, -2.0)):
    table = comparisons(strengths=strengths, pairs=pairs, people=6, documents=20)
    return finished(compared.as_judgements(table.astype("str")), (0.0, 1.0))


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


def other_pair():
    other = plain(people=2).assign(tgt_lang="fra", score=np.random.default_rng(3).integers(0, 101, 120))
    return pd.concat([plain(people=2, documents=12), other])


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
    "three people": (plain(people=3), {"others": "not known"}, ["S0 is better", "these 3 annotators"], []),
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
    "another pair": (other_pair(), {"agreement": "fine", "elsewhere": "problem", "languages": "not known"}, [], []),
    "a person first": (translated("human", 0), {}, ["human is better than every system"], ["human may be"]),
    "a person amid": (
        translated("refA", 2),
        {},
        ["human translation refA is better than S4", "may be as good as it"],
        [],
    ),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_have_their_verdicts_and_their_names(edge):
    table, verdicts, there, absent = EDGES[edge]
    shown = page(table)
    assert {key: shown.verdicts.get(key) for key in verdicts} == verdicts
    assert [words for words in there if words not in shown.headline] == []
    assert [words for words in absent if words in shown.headline] == []
    assert len(numbers(shown.headline)) <= 8
    checks = [*shown.checks.values()]
    assert len(first_page.answers(checks)) == sum(check.verdict != "fine" for check in checks) + (
        "fine" in shown.verdicts.values()
    )


THERE, REMOVED = Caliper(3, 2, 0.6), Caliper(30, 0, 0.0002)


ALIKE, DIFFERENT, OPEN = (Equivalence(1.0, 0.5, 1.5, verdict) for verdict in ("equivalent", "different", "undecided"))
#: Key of a check, the analysis it looks at, names of what is changed there, and a line a case: its values, the verdict.
LIMITS = [
    ("agreement", "agreement", "estimate low", [0.40, 0.01, "fine"]),
    ("agreement", "agreement", "estimate low", [0.39, 0.01, "look"]),
    ("agreement", "agreement", "estimate low", [0.39, 0.0, "problem"]),
    ("agreement", "agreement", "estimate low", [None, 0.0, "not known"]),
    ("agreement", "agreement", "estimate low", [0.5, np.nan, "not known"]),
    ("steady", "quality", "again repeated", [10, 10, "fine"]),
    ("steady", "quality", "again repeated", [10.1, 10, "look"]),
    ("steady", "quality", "again repeated", [20, 10, "look"]),
    ("steady", "quality", "again repeated", [20.1, 10, "problem"]),
    ("steady", "quality", "again repeated", [5, 9, "not known"]),
    ("steady", "quality", "again repeated", [None, 0, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 0, THERE, "fine"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a",), 0, THERE, "look"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a", "b"), 0, THERE, "problem"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 0, REMOVED, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a",), 0, REMOVED, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [10, ("a", "b"), 0, REMOVED, "problem"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 7, THERE, "fine"]),
    ("attention", "quality", "tested failed undecided caliper", [10, (), 8, THERE, "not known"]),
    ("attention", "quality", "tested failed undecided caliper", [1, (), 0, THERE, "not known"]),
    ("neighbours", "context", "equivalence p", [ALIKE, 0.6, "fine"]),
    ("neighbours", "context", "equivalence p", [DIFFERENT, 0.6, "look"]),
    ("neighbours", "context", "equivalence p", [OPEN, 0.6, "not known"]),
    ("neighbours", "context", "equivalence p", [OPEN, 0.04, "look"]),
    ("neighbours", "context", "equivalence p", [OPEN, None, "not known"]),
    ("neighbours", "context", "equivalence p", [None, 0.01, "not known"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [3, 2, (), "S0", "fine"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [3, 1, (), "S0", "not known"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [10, 10, ("x",), "S0", "fine"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [9, 9, ("x",), "S0", "look"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [10, 10, ("x",), "S1", "look"]),
    ("odd", "screening", "annotators looked_at proposed first_without", [10, 10, ("x",), "", "look"]),
    ("odd", "screening", "rules", [(), "not known"]),
    ("twice", "collection", "duplicates", [0, "fine"]),
    ("twice", "collection", "duplicates", [1, "look"]),
    ("languages", "calibration", "by share", ["pair", 0.7, "fine"]),
    ("languages", "calibration", "by share", ["pair", 0.5, "look"]),
    ("languages", "calibration", "by share", ["pair", None, "not known"]),
    ("languages", "calibration", "by share", ["annotator", 0.7, "not known"]),
]


@pytest.mark.parametrize(("key", "part", "names", "case"), LIMITS, ids=range(len(LIMITS)))
def test_verdicts_turn_at_the_limits_that_are_stated(key, part, names, case, golden):
    found = golden.found
    if key == "languages":
        both = pd.concat([found.campaign.ratings, found.campaign.ratings.assign(pair="eng-fra")])
        found = replace(found, campaign=replace(found.campaign, ratings=both))
    found = replace(found, screening=replace(found.screening, first="S0", unknown=()))
    *values, verdict = case
    changed = replace(getattr(found, part), **dict(zip(names.split(), values, strict=True)))
    assert page(replace(found, **{part: changed})).verdicts[key] == verdict


@pytest.mark.parametrize(("segments", "verdict"), [(100, "fine"), (99, "look"), (30, "look"), (29, "problem")])
def test_segments_are_enough_from_a_hundred_on_and_too_few_below_thirty(segments, verdict):
    assert page(plain(documents=segments, length=1)).verdicts["enough"] == verdict


REGISTERS = {"ask", "do", "elsewhere", "say", "title", "verdict"}
GROUPS = {name: group for name, group in WORDING.items() if name != "odds"}
KEYS = {f"{name}.{variant}" for name, group in GROUPS.items() for variant in group if variant not in REGISTERS}


def named():
    """Patterns of the keys that the code names; what an f-string fills in may be anything."""
    for path in (ROOT / "evalkit" / "campaign").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.escape(node.value)
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+" for part in node.values
                )


def test_every_sentence_is_used():
    patterns = {pattern for pattern in named() if re.match(r"\w+\\\.", pattern)}
    used = {key for key in KEYS for pattern in patterns if re.fullmatch(pattern, key)}
    assert KEYS - used == set()


def test_checks_ask_and_claim_and_say_what_to_do():
    for name, group in GROUPS.items():
        variants = {variant: entry for variant, entry in group.items() if isinstance(entry, dict)}
        if not variants:
            continue
        assert group["ask"].endswith("?"), name
        for variant, entry in variants.items():
            verdict = entry.get("verdict", variant)
            assert verdict in SIGNS, (name, variant)
            assert not entry["title"].endswith("."), (name, variant)
            assert verdict == "fine" or entry.get("do", group.get("do")), (name, variant)


def test_citations_are_of_the_bibliography_and_names_cite_nothing():
    assert {*re.findall(r"@(\w+)", str(WORDING))} <= {*markup.REFERENCES}
    text = str(finding("agreeing.gwet", row=SimpleNamespace(coefficient="[@holm1979] AC1", estimate=0.5)))
    assert markup.plain(text) == "[@holm1979] AC1 (Gwet 2008) is 0.50."
    assert markup.latex(text) == "[@holm1979] AC1 \\citep{gwet2008} is 0.50."
    assert markup.bibtex(["gwet2008", "of nobody"]).startswith("@article{gwet2008,")
