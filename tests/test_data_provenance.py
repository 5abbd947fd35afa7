"""A lost source or scale stops a run: what pandas keeps, what it drops, who asks, and how tables are stacked."""

import ast
import functools
import json
import tempfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import ROOT, DataError, campaign, data, show
from evalkit.campaign.sentences import say
from evalkit.data import provenance, registry, schemas, simulate
from evalkit.data.indicmt import with_language
from evalkit.human import annotators, context, normalization, observed
from evalkit.human.calibration import held_out
from evalkit.human.calibration import ratings as room
from evalkit.metrics import lexical
from evalkit.metrics.metaeval.scores import align
from evalkit.papers.licht2022 import table3
from evalkit.show.plots import annotators as draw_annotators
from evalkit.show.plots import context as draw_context
from evalkit.show.plots import normalization as draw_normalization
from evalkit.show.plots import profiles as draw_profiles

STUDIES = sorted((ROOT / "notebooks").glob("*/*.ipynb"))


def source(name="stars", kind="real", digest="git:1"):
    return {"name": name, "source": kind, "origin": f"{name}.csv", "digest": digest}


def stars(name="stars", kind="real", *, scale=(1, 5), people=4, digest="git:1"):
    """Draw ratings from 1 to 5 of a calibration set by a few annotators, labelled as loaded ones are."""
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product([range(people), range(24)], names=["a", "g"]).to_frame(index=False)
    quality = rng.integers(1, 6, 24)[index["g"]]
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "jpn",
            "system": "s",
            "doc": "d" + (index["g"] // 4).astype("str"),
            "segment": index["g"].astype("str"),
            "annotator": "p" + index["a"].astype("str"),
            "item_type": "calibration",
            "hit": "h",
            "score": (quality + rng.integers(-1, 2, len(index))).clip(1, 5).astype(float),
        }
    )
    return provenance.like(frame, frame, scale=scale, source=source(name, kind, digest))


def bare(frame):
    """Return what is left where pandas has dropped what a table knows of itself, as ``pd.concat`` of two sets does."""
    lost = pd.concat([frame, frame.assign(tgt_lang="deu").pipe(lambda f: provenance.like(f, f, source=source("b")))])
    assert lost.attrs == {}, "pandas would have kept it, and this test would show nothing"
    return lost[lost["tgt_lang"] == "jpn"]


# --- what pandas does, where the suite relies on it ----------------------------------------------------------------

KEPT = {
    "new column": lambda t: t.assign(z=1.0),
    "rows": lambda t: t[t["score"] > 2],
    "columns": lambda t: t[["score"]],
    "loc": lambda t: t.loc[t["score"] > 2, ["score"]],
    "query": lambda t: t.query("score > 2"),
    "sorted": lambda t: t.sort_values("score"),
    "numbered anew": lambda t: t.reset_index(drop=True),
    "renamed": lambda t: t.rename(columns={"score": "mark"}),
    "group": lambda t: next(iter(t.groupby("doc")))[1],
    "a copy": lambda t: t.copy(),
    "types": lambda t: t.astype({"score": str}),
    "dropped": lambda t: t.drop(columns="hit"),
    "parts of one table": lambda t: pd.concat([t.head(3), t.tail(3)]),
    "first": lambda t: t.drop_duplicates("segment"),
    "drawn": lambda t: t.sample(5, random_state=1),
    "head of groups": lambda t: t.groupby("doc").head(1),
}
DROPPED = {
    "two tables": lambda t: pd.concat([t, stars("other")]),
    "merged": lambda t: t.merge(pd.DataFrame({"doc": ["d1"]})),
    "simulated beside real": lambda t: pd.concat([t, stars(kind="simulated")]),
    "aggregated": lambda t: t.groupby("doc").agg(n=("score", "size"), mean=("score", "mean")),
    "a new frame": lambda t: pd.DataFrame(t),
    "arranged": lambda t: t.pivot(index="segment", columns="annotator", values="score"),
}


@pytest.mark.parametrize("way", KEPT)
def test_pandas_keeps_what_a_table_knows_where_the_suite_relies_on_it(way):
    table = KEPT[way](stars(kind="simulated"))
    assert provenance.source_of(table)["source"] == "simulated"
    assert provenance.scale_of(table) == (1, 5)


@pytest.mark.parametrize("way", DROPPED)
def test_what_pandas_drops_is_an_error_that_names_the_table_and_the_remedy(way):
    table = DROPPED[way](stars())
    size = f"{len(table)} row"
    for ask, remedy in (
        (provenance.source_of, "Load it with evalkit.data"),
        (provenance.scale_of, "Pass scale="),
        (provenance.declared_scale, "Pass scale="),
        (show.provenance, "Load it with evalkit.data"),
    ):
        with pytest.raises(DataError, match=f"The table of {size}.*{remedy}.*provenance.stack"):
            ask(table)


# --- who asks ------------------------------------------------------------------------------------------------------

#: Everything that needs the ends of the scale, on a table that may have lost them.
SCALED = {
    "normalize": lambda t, **o: normalization.normalize(t, method="ticks", ticks=5, **o),
    "held_out": lambda t, **o: normalization.held_out(t, methods=("none", "ticks"), ticks=5, splits=4, **o),
    "usage": annotators.usage,
    "profiles": lambda t, **o: annotators.profiles(t, tick_marks=(1.0, 3.0, 5.0), within=0.1, **o),
    "grids": annotators.scale_grid,
    "ticks": lambda t, **o: annotators.ticks(t, tick_marks=(1.0, 3.0, 5.0), within=0.1, **o),
    "binned": lambda t, **o: observed.binned(t, 5, **o),
    "calibration.held_out": lambda t, **o: held_out.held_out(t, splits=4, resamples=4, **o),
    "own_standard": lambda t, **o: room.own_standard(t, **o),
    "calibrate": lambda t, **o: room.calibrate(
        pd.concat([t, t.assign(item_type="system", segment="t" + t["segment"])]), resamples=4, **o
    ),
    "ridges": lambda t, **o: draw_profiles.ridges(t, **o),
    "two_distributions": lambda t, **o: draw_profiles.two_distributions(t, t, ["p0"], **o),
}


@pytest.mark.parametrize("name", SCALED)
def test_a_lost_scale_stops_whoever_needs_it_unless_it_is_given(name):
    lost = bare(stars())
    with pytest.raises(DataError, match=r"does not say where its scale ends\. Pass scale="):
        SCALED[name](lost)
    with pytest.raises(DataError, match="The table stars does not say where its scale ends"):
        SCALED[name](stars(scale=None))
    given, own = SCALED[name](lost, scale=(1, 5)), SCALED[name](stars())
    for found in (given, own):
        assert found is not None
    if isinstance(own, pd.DataFrame):
        pd.testing.assert_frame_equal(given.reset_index(drop=True), own.reset_index(drop=True))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: annotators.screen(t, ["at_ends > 0.5"]),
        lambda t: annotators.intra_annotator_consistency(t, t),
        lambda t: draw_annotators.score_strips(t),
        lambda t: draw_annotators.score_grid(t, ["p0"]),
        lambda t: draw_context.degraded_scores(t),
        lambda t: draw_profiles.histograms(t, pd.DataFrame()),
        lambda t: observed.by_bins({"one": t}, bins=[3], resamples=0, seed=1),
        campaign.from_ratings,
    ],
)
def test_so_do_those_that_take_none(call):
    with pytest.raises(DataError, match="does not say where its scale ends"):
        call(bare(stars()))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: draw_annotators.score_strips(t),
        lambda t: draw_annotators.score_grid(t, ["p0"]),
        lambda t: draw_context.degraded_scores(t),
        lambda t: draw_profiles.histograms(t, pd.DataFrame()),
    ],
)
def test_a_picture_made_for_0_to_100_is_not_drawn_of_stars(call):
    with pytest.raises(DataError, match="The table stars has scores from 1 to 5, and this is made for 0 to 100"):
        call(stars())


def test_scores_of_two_sets_land_on_the_ticks_of_their_own_scale():
    both = provenance.stack([stars("a"), stars("b", digest="git:2")])
    assert normalization.normalize(both, method="ticks", ticks=5)["normalized"].tolist() == both["score"].tolist()
    swapped = normalization.normalize(both, method="ticks", ticks=5, scale=(0, 100))
    assert swapped["normalized"].eq(0).all(), "the given scale goes before the table's own"


def test_marks_that_lie_off_the_scale_are_told():
    with pytest.raises(DataError, match="Tick marks from 0 to 100 do not fit a scale from 1 to 5"):
        annotators.ticks(stars())


def test_at_ends_means_the_ends_of_the_tables_own_scale():
    found = annotators.screen(stars(), ["at_ends > 2"]).set_index("annotator")["value"]
    expected = stars().assign(end=lambda t: t["score"].isin([1, 5])).groupby("annotator")["end"].mean()
    pd.testing.assert_series_equal(found, expected, check_names=False)
    assert 0 < expected.min() <= expected.max() < 1


def test_scores_moved_to_bins_have_the_scale_of_bins():
    assert provenance.scale_of(observed.binned(stars(), 9)) == (0, 8)


SOURCED = {
    "show.source": show.source,
    "show.signature": show.signature,
    "merged": provenance.merged,
    "stack": lambda t: provenance.stack([t, stars()]),
    "nothing": lambda t: provenance.merged([]) and None,
    "campaign.say": lambda t: say(campaign.from_ratings(provenance.like(t, t, scale=(1, 5)))),
    "align": lambda t: align(*[t[t["annotator"] == "p0"].assign(metric="m")] * 2),
    "compare": lambda t: show.compare(pd.DataFrame(), data=t, caption="c"),
    "compare several": lambda t: show.compare(pd.DataFrame(), data=[stars(), t], caption="c"),
}


@pytest.mark.parametrize("name", SOURCED)
def test_a_lost_source_stops_whoever_needs_it(name):
    with pytest.raises(DataError, match=r"does not say where it comes from|No table is named"):
        SOURCED[name](bare(stars()))


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: normalization.mean_distances(pd.DataFrame({"level": ["HIT"]})), "'reference'"),
        (lambda: observed.coefficients({"x": pd.DataFrame({"a": [1.0]})}, resamples=0, seed=1), "'named'"),
        (lambda: observed.collapsed({"x": pd.DataFrame({"a": [1.0]})}, resamples=0, seed=1), "'categories'"),
        (lambda: table3.reanalysed(bare(stars()), resamples=0, seed=1), "'truth'"),
        (
            lambda: draw_normalization.order_picture(
                {"n": pd.DataFrame(normalization.normalize(stars()))}, pair="eng-jpn", annotator="p0"
            ),
            "'normalization'",
        ),
    ],
)
def test_other_facts_that_numbers_rest_on_are_not_guessed_either(call, what):
    with pytest.raises(DataError, match=f"has lost its {what}"):
        call()


# --- stacking ------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(provenance.KINDS), min_size=1, max_size=5), st.randoms())
def test_the_whole_is_as_weak_as_its_weakest_part_in_whatever_order(kinds, chance):
    tables = [stars(f"t{n}", kind, digest=f"git:{n}") for n, kind in enumerate(kinds)]
    whole = provenance.stack(tables)
    told = provenance.source_of(whole)
    assert told["source"] == next(kind for kind in ("simulated", "published", "real") if kind in kinds)
    assert told["digest"].split("+") == [f"git:{n}" for n in range(len(kinds))]
    assert len(whole) == sum(map(len, tables))
    assert whole.index.equals(pd.RangeIndex(len(whole)))
    assert provenance.scale_of(whole) == (1, 5)
    chance.shuffle(tables)
    assert provenance.merged(tables)["source"] == told["source"]


def test_parts_of_one_table_put_together_are_that_table():
    table = stars()
    whole = provenance.stack([table.head(30), table.iloc[30:]])
    pd.testing.assert_frame_equal(whole, table)
    assert whole.attrs == table.attrs


@pytest.mark.parametrize("other", [(0, 100), None, (1, 6)])
def test_different_scales_are_not_stacked(other):
    with pytest.raises(DataError, match=r"The table a has scores from 1 to 5, and the table b from .*one scale"):
        provenance.stack([stars("a"), stars("b", scale=other)])


def test_what_was_left_out_is_added_up_and_what_differs_is_not_kept():
    a, b = stars("a"), stars("b", kind="simulated")
    a.attrs |= {"excluded": {"document scores": 3}, "notes": ["one"], "seed": 1, "same": 5}
    b.attrs |= {"excluded": {"document scores": 2, "others": 1}, "notes": ["two", "one"], "seed": 2, "same": 5}
    b.attrs["why_simulated"] = "The file is not here."
    whole = provenance.stack([a, b]).attrs
    assert whole["excluded"] == {"document scores": 5, "others": 1}
    assert whole["notes"] == ["one", "two"]
    assert whole["why_simulated"] == "The file is not here."
    assert whole["same"] == 5
    assert "seed" not in whole


@pytest.mark.parametrize("scale", [(5, 1), (3, 3)])
def test_a_scale_upside_down_is_refused(scale):
    with pytest.raises(DataError, match="Give its lowest score first"):
        provenance.scale_of(stars(), given=scale)


def test_a_kind_of_source_that_nobody_knows_is_refused():
    odd = stars(kind="imagined")
    with pytest.raises(DataError, match="'imagined' is none of simulated, published, real"):
        provenance.source_of(odd)
    del odd.attrs["source"]["digest"]
    with pytest.raises(DataError, match=r"The table stars: .* lacks digest"):
        provenance.source_of(odd)


def test_simulated_ratings_know_their_scale_without_being_loaded():
    drawn = [
        simulate.calibration_hits(),
        simulate.xsts_campaign(),
        simulate.wmt21_mturk(),
        simulate.wmt24_esa(),
        simulate.wmt_slt22(),
        simulate.mlqe_pe(),
    ]
    for table in drawn:
        low, high = provenance.scale_of(table)
        assert low <= table["score"].min() < table["score"].max() <= high


@pytest.fixture(scope="module")
def drawn():
    """Load data sets of which no file is here, so that each is simulated."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as empty:
        for name in ("EVALKIT_DATA_MIRROR", "EVALKIT_DATA_DIR"):
            patched.setenv(name, empty)
        patched.setenv("EVALKIT_OFFLINE", "1")
        yield {
            name: data.load(name, fallback=True)
            for name in (
                "wmt22-calibration-hits",
                "wmt22-calibration-mapping",
                "wmt21-mturk",
                "indicmt-mqm",
                "sudoh-labels",
                "sudoh-labels-wmt17",
                "nllb-xsts",
            )
        }


FLOWS = {
    "annotators who are kept": lambda d: annotators.keep(
        d["wmt22-calibration-hits"],
        annotators.accounts(d["wmt22-calibration-hits"], d["wmt22-calibration-mapping"], complete_at=100),
    ),
    "one HIT and another": lambda d: annotators.two_hits(d["wmt21-mturk"])[1],
    "normalised": lambda d: normalization.normalize(d["wmt22-calibration-hits"]),
    "moved to bins": lambda d: observed.binned(d["wmt22-calibration-hits"], 7),
    "pairs of showings": lambda d: context.pairs(d["wmt21-mturk"]),
    "half plays the task": lambda d: room.with_task(d["wmt22-calibration-hits"], seed=7),
    "stacked labels": lambda d: provenance.stack([d["sudoh-labels"], d["sudoh-labels-wmt17"]]),
    "with its language": lambda d: with_language(d["indicmt-mqm"]),
    "with scores of metrics": lambda d: lexical.scores(d["indicmt-mqm"].head(20), metrics=["TER"]),
    "with its pair": lambda d: schemas.with_pair(d["nllb-xsts"]),
    "a campaign": lambda d: campaign.from_ratings(d["nllb-xsts"]).judged,
    "a campaign on 0 to 100": lambda d: campaign.from_ratings(d["nllb-xsts"]).hundred,
}


@pytest.mark.parametrize("flow", FLOWS)
def test_simulated_tables_stay_simulated_on_their_way_through_a_study(flow, drawn):
    assert {provenance.source_of(table)["source"] for table in drawn.values()} == {"simulated"}
    table = FLOWS[flow](drawn)
    assert provenance.source_of(table)["source"] == "simulated"
    assert table.attrs["why_simulated"]
    row = {
        "paper": "P",
        "item": "1",
        "cell": "c",
        "printed": "5",
        "computed": 5.0,
        "note": "",
        "basis": "definition",
        "lacking": "",
        "place": "",
    }
    assert verdicts_of(pd.DataFrame([row]), [table, stars()]) == ["not reproducible"]
    assert verdicts_of(pd.DataFrame([row]), stars()) == ["match"]


def verdicts_of(rows, tables):
    """Return the verdicts that a comparison would show."""
    with pytest.MonkeyPatch.context() as patched:
        told = []
        patched.setattr(show, "_emit", lambda payload, **_: told.extend(payload["rows"]))
        show.compare(rows, data=tables, caption="c")
    return [row["verdict"] for row in told]


# --- nobody reads past the accessors -------------------------------------------------------------------------------

#: Facts that are told to a reader where they are there, and on which no number rests.
TOLD = {"excluded", "notes", "corrected", "why_simulated", "unpaired", "signatures", "seed", "own"}
TOLD |= {"hit", "system", "doc", "copy_first"}  # which document ``context.label_example`` shows


@functools.cache
def code():
    """Name and syntax tree of every module but the accessors' own, and of every notebook's code."""
    trees = {}
    for path in sorted((ROOT / "evalkit").rglob("*.py")):
        if path.name != "provenance.py":
            trees[str(path.relative_to(ROOT))] = ast.parse(path.read_text(encoding="utf-8"))
    for path in STUDIES:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        trees[path.name] = ast.parse(text)
    return trees


def read_past(tree):
    """Yield the facts that code reads from ``attrs`` itself: by index, by ``get``, or by a name it computes."""
    for node in ast.walk(tree):
        inner, keys = None, []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            inner, keys = node.value, [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            inner, keys = node.func.value, node.args[:1]
        if isinstance(inner, ast.Attribute) and inner.attr == "attrs":
            yield from (key.value if isinstance(key, ast.Constant) else "a computed name" for key in keys)


def test_facts_that_numbers_rest_on_are_read_through_the_accessors():
    past = {name: facts for name, tree in code().items() if (facts := set(read_past(tree)) - TOLD)}
    assert past == {}, "these read attrs past evalkit.data.provenance"


def test_no_function_on_ratings_has_a_default_scale():
    tables = {"ratings", "above", "frame", "rows"}
    for name, tree in code().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and {a.arg for a in node.args.args} & tables:
                given = dict(zip([a.arg for a in node.args.kwonlyargs], node.args.kw_defaults, strict=True))
                default = given.get("scale")
                assert not isinstance(default, ast.Tuple), f"{name}: {node.name} takes a scale for granted"


def loaded_names(tree):
    """List the names that a notebook gives to single loaded data sets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "data.load(" in ast.unparse(node.value):
            for target in node.targets:
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_comparison_with_print_names_all_tables_that_it_rests_on(path):
    """Where a study loads several data sets, one of them alone would hide that another is simulated."""
    tree = code()[path.name]
    single = set(loaded_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("show.compare", "claims.look_up"):
            given = next(word.value for word in node.keywords if word.arg == "data")
            assert ast.unparse(given) not in single or len(single) == 1, f"data={ast.unparse(given)} is one of {single}"


# Dates


def timed(kind="real", origin="my.csv", name="my", **columns):
    frame = pd.DataFrame(columns)
    frame.attrs["source"] = {"name": name, "source": kind, "origin": origin, "digest": "d"}
    return frame


def test_a_table_is_dated_by_its_registry_entry_and_by_its_time_stamps():
    url = registry.entry("wmt22-calibration-hits").files[0].url
    hits = {"name": "wmt22-calibration-hits", "origin": url}
    day = 1_662_595_200.0  # 8 September 2022, 00:00 UTC
    assert provenance.dates_of(timed(started=[day + 5], ended=[day + 86_400], **hits)) == {
        "released": "2022-11-03",
        "dated_by": "file name",
        "judged": ["2022-09-08", "2022-09-09"],
    }
    assert provenance.dates_of(timed(score=[1.0])) == {}
    assert provenance.dates_of(timed(name=hits["name"], score=[1.0])) == {}, "a file of one's own with that name"
    assert provenance.dates_of(timed("simulated", started=[day], **hits)) == {}


def test_times_that_do_not_count_from_1970_are_no_dates():
    assert provenance.dates_of(timed(started=[0.0, 40.0], ended=[35.0, float("nan")])) == {}
    assert provenance.dates_of(timed(started=[float("nan")], ended=[1.7e9]))["judged"] == ["2023-11-14", "2023-11-14"]
