"""Plans follow from differences between systems: twins of a pilot that hold the same ones plan alike, and components,
standard errors and plans are right on average over campaigns that are drawn here."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest

from evalkit import campaign
from evalkit.human import components, planning
from evalkit.show import tables
from tests.makers import COMPONENTS, ratings

TRUE = {"document": 0.0, "item": 0.0, "annotator": 25.0, "block": 8.0, "residual": 60.0, "taste": 4.0}
#: Design -> how many of twelve people judge each document by all systems.
DESIGNS = {"whole documents": 1, "three a document": 3, "crossed": 12}
KEYS = {name: ["segment" if factor == "place" else factor for factor in key] for name, key in COMPONENTS.items()}


def drawn(seed, *, each=1, docs=48, **true):
    """Draw a campaign with known components; whoever judges a document judges it by all systems."""
    spread = {name: value**0.5 for name, value in {**TRUE, "text": 20.0, "segment": 15.0, **true}.items()}
    sizes = {"documents": docs, "length": 4, "people": 12, "each": each}
    table = ratings(seed, **sizes, gap=-2, level=50, spread=spread, scale=None)
    place = table["segment"].astype(int) % 4 + 1  # counted in its document
    return table.assign(segment=place.astype(str), score=table["score"].round(1))


def moved(table, what, *, seed=1, by=12.0):
    """Add a constant to each document, segment or annotator, the same for all systems."""
    codes = table.groupby(KEYS[what]).ngroup()
    added = np.random.default_rng(seed).uniform(-by, by, codes.max() + 1).round(1)
    return table.assign(score=(table["score"] + added[codes]).round(1))


def written(table, path):
    """Write a table as a stranger would."""
    table.drop(columns="item_type").to_csv(path, index=False)
    return path


def planned(path, layout):
    """Return the cheapest design, without and with liking, on whatever scale."""
    pilot = campaign.read_pilot(str(path), layout=layout, scale=(-50, 150))
    found = [components.estimate(pilot.ratings, layout=pilot.layout, taste=taste) for taste in (False, True)]
    limits = planning.Limits(most_segments=10_000)
    return pd.concat(planning.by_pair(table, delta=1.5, limits=limits) for table in found).drop(columns="power")


@pytest.fixture(scope="module")
def unmoved(tmp_path_factory):
    """Plans of a campaign as it was drawn, by layout and by how many people judge each document: made once each."""

    @functools.cache
    def plans(layout, each):
        return planned(written(drawn(5, each=each, docs=12), tmp_path_factory.mktemp("plain") / "plain.csv"), layout)

    return plans


SHARED = ("text", "segment", "annotator")
#: Layout, how many people judge each document, and what all systems share; who judged is unknown in the last ones.
TWINS = [
    *itertools.product(["campaign"], DESIGNS.values(), SHARED),
    *itertools.product(["numbered", "calibration"], [DESIGNS["three a document"]], SHARED),
    *itertools.product(["unnamed"], [DESIGNS["three a document"]], SHARED[:2]),
]


@pytest.mark.parametrize(("layout", "each", "what"), TWINS)
def test_a_constant_that_all_systems_share_changes_no_plan(tmp_path, unmoved, layout, each, what):
    table = drawn(5, each=each, docs=12)
    changed = written(moved(table, what), tmp_path / "moved.csv")
    pd.testing.assert_frame_equal(unmoved(layout, each), planned(changed, layout))


def test_constants_of_documents_that_are_named_anew_for_each_system_change_no_plan(tmp_path):
    """As Mechanical Turk's files have it: a segment's number is what systems share."""
    table = drawn(6, each=3, docs=24)
    paths = []
    for k, rows in enumerate([table, moved(table, "segment")]):
        number = rows.groupby(KEYS["segment"]).ngroup().astype(str)
        paths.append(written(rows.assign(segment=number, doc=rows["doc"] + rows["system"]), tmp_path / f"{k}.csv"))
    plans = [planned(path, "numbered") for path in paths]
    pd.testing.assert_frame_equal(*plans)


MISSING = [pd.array([pd.NA, pd.NA], kind) for kind in ("Int64", "Float64", "boolean", "string")]
MISSING += [[np.nan] * 2, [None] * 2, [pd.NaT] * 2, pd.array([pd.NA, 30_000], "Int64")]


@pytest.mark.parametrize("cells", MISSING)
@pytest.mark.parametrize("name", ["segments", "p", "p_value"])
def test_a_table_may_lack_any_number(cells, name):
    shown = tables.markup(pd.DataFrame({name: cells}), caption="a table", name="a table")
    assert shown.count("–") == pd.isna(pd.Series(cells)).sum()


def anova(table):
    """Work out block, taste and residual where each document is judged by one person, by mean squares."""
    y = table["score"] - table.groupby(KEYS["segment"])["score"].transform("mean")
    y = y - y.groupby(table["system"]).transform("mean")
    by_person, by_document = (
        y.groupby([table[k] for k in KEYS[name]]).transform("mean") for name in ("taste", "block")
    )
    people, systems, docs = (table[name].nunique() for name in ("annotator", "system", "doc"))
    length, each = table["segment"].nunique(), docs // people
    free = systems - 1
    tastes = (by_person**2).sum() / ((people - 1) * free)
    blocks = ((by_document - by_person) ** 2).sum() / ((docs - people) * free)
    noise = ((y - by_document) ** 2).sum() / (docs * (length - 1) * free)
    return {"block": (blocks - noise) / length, "taste": (tastes - blocks) / (length * each), "residual": noise}


def test_components_of_a_balanced_campaign_are_those_of_the_analysis_of_variance():
    table = next(table for table in map(drawn, range(40)) if min(anova(table).values()) > 0)
    found = components.estimate(table, layout="campaign", taste=True).iloc[0]
    assert {name: found[name] for name in anova(table)} == pytest.approx(anova(table), rel=1e-6)
    assert np.isnan(found["annotator"]), "nobody judged what others judged"


def test_what_cannot_be_told_of_people_is_not_planned_with():
    """Strictness cannot be told from documents that are hard where each has one judge: it is no 0."""
    table = drawn(3)
    variances = components.of_pair(components.estimate(table, layout="campaign"), "eng-deu")
    designs = planning.plan(variances, delta=3)
    assert set(designs["arrangement"]) == {"same"}
    known = planning.plan(variances | {"annotator": 25.0}, delta=3)
    assert set(known["arrangement"]) == {"same", "mixed", "separate"}
    pd.testing.assert_frame_equal(known[known["arrangement"] == "same"].reset_index(drop=True), designs)


@pytest.mark.nightly
@pytest.mark.parametrize("each", DESIGNS.values(), ids=DESIGNS)
def test_components_and_standard_errors_are_recovered(each):
    """Their means over campaigns are the truth, and the predicted variance of a difference is what campaigns have."""
    docs, raw, predicted, none = 24 if each > 3 else 48, [], [], 0
    told = ["block", "taste", *(["document", "item"] if each > 1 else [])]
    for seed in range(80):
        table = drawn([each, seed], each=each, docs=docs)
        codes = {name: table.groupby(KEYS[name]).ngroup() for name in KEYS}
        held = [table["system"], codes["segment"], codes["annotator"]]
        raw.append(components.equate(table["score"], {name: codes[name] for name in told}, fixed=held).solve(told))
        found = components.estimate(table, layout="campaign", taste=True)
        none += found["taste"].iloc[0] == 0
        variances = components.of_pair(found, "eng-deu")
        predicted.append(components.contrast_variance(table, variances, first="S0", second="S1"))
    found = pd.DataFrame(raw)
    for name, error in (found.std() / len(found) ** 0.5).items():
        assert abs(found[name].mean() - TRUE[name]) < 3.5 * error, name
    means = pd.DataFrame(
        drawn([9, each, seed], each=each, docs=docs).groupby("system")["score"].mean() for seed in range(400)
    )
    variance = (means["S1"] - means["S0"]).var()
    assert np.mean(predicted) == pytest.approx(variance, rel=3.5 * (2 / len(means)) ** 0.5)
    assert none < 20, "of 80 campaigns, in which people do like systems differently"
