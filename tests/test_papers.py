"""Comparisons with print: each transcription beside its paper, claims and specifications, ESA, Knowles & Lo, Sai et al."""

import csv
import itertools
import json
import re
from collections import Counter

import hypothesis
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from scipy import stats

from evalkit import ROOT, DataError, data
from evalkit.data import simulate
from evalkit.data.schemas import map_tables
from evalkit.data.typology import SCHEMES, TYPOLOGIES
from evalkit.human import annotators as people
from evalkit.human import context
from evalkit.metrics import darr, lexical
from evalkit.neural import scorer
from evalkit.papers import claims, esa, knowles2024, wmt
from evalkit.papers.sai2023 import metrics, printed, release
from evalkit.stats import agreement, verdicts
from tests import makers
from tests.makers import read

# --- Printed claims stand in their papers' words, and find their computed counterparts, or say which one does not


STANCHEV = "002"
#: Lists of claims, and the paper that each quotes.
LISTS = {
    "licht2022_prose": "000",
    "knowles2024_prose": "001",
    "knowles2024_context": "001",
    "stanchev2020_claims": STANCHEV,
    "sai2023_prose": "003",
    "sudoh2021_claims": "004",
}


def from_source(frame, source="real", name="d"):
    """Say of a table where it comes from."""
    frame.attrs["source"] = {"name": name, "source": source, "origin": "P, a place", "digest": "git:0"}
    return frame


# What is transcribed


def holds(quote, word):
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\d|\.\d)", quote)


@pytest.mark.parametrize("name", LISTS)
def test_every_claim_is_quoted_from_its_paper_and_holds_the_number_that_is_printed(paper, name):
    text, listed = " ".join(paper(LISTS[name]).split()), data.published(name)
    assert not listed.duplicated(["item", "cell"]).any()
    for claim in listed.to_dict("records"):
        quote = " ".join(claim["quote"].split())
        assert quote in text, quote
        words = claim["printed"].lstrip("<").replace(", ", " ").split() if claim["how"] != "count" else []
        assert all(holds(quote, word) for word in words if re.search(r"\d", word)), (claim["printed"], quote)


@pytest.mark.parametrize("name", esa.LISTS)
def test_numbers_of_esa_stand_in_what_is_quoted_and_say_where_it_was_read(name):
    listed = data.published(name)
    assert not listed.duplicated(["item", "cell"]).any()
    for claim in listed.to_dict("records"):
        poster = f"misc/poster_{name.split('_')[1].upper()}.svg"
        assert re.match(poster if claim["item"].startswith("Poster") else "README.md|https://", claim["source"])
        assert claim["printed"] in ("most", "one") or holds(claim["quote"], claim["printed"]), claim["quote"]


@pytest.mark.parametrize(
    ("table", "title"), [("4a", "(a) No tie"), ("4b", "(b) Soft"), ("4c", "(c) Hard"), ("5", "Table 5:")]
)
def test_matrices_are_transcribed_as_printed(paper, table, title):
    before = paper(STANCHEV).split(title)[0].rstrip().splitlines()
    block = [line.split("\t") for line in before if line.split("\t")[0] in ("Human", "") and line.count("\t") == 4][-3:]
    listed = data.published("stanchev2020_claims").query(f"item == 'Table {table}'")
    assert listed["printed"].tolist() == [cell for row in block for cell in row[2:]]
    assert listed["cell"].tolist() == [f"human {row[1]}, metric {order}" for row in block for order in "<=>"]


# How a claim finds its value

USAGE = from_source(pd.DataFrame({"annotator": list("abc"), "unique": [5, 40, 47], "mean": [85.0, 70.5, 61.0]}))
CLAIM = {
    **{
        "paper": "P",
        "item": "1",
        "cell": "c",
        "remark": "r",
        "printed": "",
        "table": "usage",
        "where": "",
        "column": "",
    },
    **{"how": "only", "basis": "recomputed from data", "lacking": "labels"},
}


def look_up(claim, *, listed=from_source, table=USAGE):
    """Look up one claim, written as table, where, column, how."""
    table_name, where, column, how = (part.strip() for part in claim.split("|"))
    row = CLAIM | {"table": table_name, "where": where, "column": column, "how": how}
    return claims.look_up(listed(pd.DataFrame([row])), {"usage": USAGE}, data=table)["computed"].iloc[0]


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("usage | annotator=b | mean | only", 70.5),
        ("usage | annotator!=a; mean<70 | annotator | only", "c"),
        ("usage | | unique | min", 5),
        ("usage | | unique | max", 47),
        ("usage | | mean | median", 70.5),
        ("usage | unique>=40 | unique | sum", 87),
        ("usage | unique>5 | | count", 2),
        ("usage | unique>99 | | count", 0),
        ("usage | | annotator | distinct", 3),
        ("usage | | unique>=40 | most", "most"),
        ("usage | | unique<40 | most", "not most"),
        ("usage | | mean>60 | all", "all"),
        ("usage | | mean>61 | all", "not all"),
        ("usage | | unique<40 | some", "some"),
        ("usage | | unique<5 | some", "not some"),
        (" | | | only", None),
    ],
)
def test_a_claim_finds_its_value(claim, value):
    assert look_up(claim) == value


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("usages | | | only", "'usages'.* usage"),
        ("usage | | median | only", "'median'.* annotator, unique, mean"),
        ("usage | annotator=z | mean | only", "no row of usage has annotator=z"),
        ("usage | unique>5 | mean | only", "2 rows of usage"),
        ("usage | | mean | average", "how='average'"),
        ("usage | annotator~a | mean | only", "'annotator~a'"),
        ("usage | mean>high | mean | only", "float"),
    ],
)
def test_a_claim_that_leads_nowhere_is_named(claim, words):
    with pytest.raises(DataError, match=f"Claim 1, c: .*{words}"):
        look_up(claim)


def test_on_simulated_data_nothing_is_looked_up():
    assert look_up("usage | annotator=z | mean | only", table=from_source(USAGE.copy(), "simulated")) is None


def test_without_provenance_nothing_is_compared_with_print():
    """Two loaded tables stacked say no longer that one of them was simulated."""
    stacked = pd.concat([USAGE, from_source(USAGE.copy(), "simulated")])
    for lost in ({"listed": pd.DataFrame}, {"table": stacked}):
        with pytest.raises(DataError, match="where it comes from"):
            look_up("usage | annotator=a | mean | only", **lost)


PRINTED = from_source(pd.DataFrame({"pair": list("abc"), "tau": ["0.10", "0.20", "0.30"], "r": list("123")}), name="t")


def test_claims_of_stanchev_match_or_rest_on_archives_that_could_not_be_had():
    printed = data.published("stanchev2020_claims")
    rows = claims.look_up(printed, darr.claim_tables(printed), data=data.published("wmt20_darr"))
    told = Counter((row["verdict"], row.get("lacking")) for row in verdicts.judge(rows))
    assert told == {("match", None): 50, ("not reproducible", "file not here: WMT19's archives"): 35}


# What a paper's file says

PART = {"item": "T", "printed": "t", "on": ["pair"], "values": {"tau": "x"}, "computed": "ours", "basis": "definition"}


@pytest.fixture
def planned(monkeypatch):
    """Compare the printed table above as a specification of the test's own says."""
    monkeypatch.setattr(claims.data, "published", lambda name: PRINTED)

    def compared(ours, part, **lists):
        plan = {"names": {}, "notes": {}, "gaps": {}, "compare": [PART | part]} | lists
        monkeypatch.setattr(claims, "_plan", lambda paper: plan)
        return claims.compare("p", {"ours": pd.DataFrame(ours)})

    return compared


def test_cells_find_their_values_by_names_and_say_why_they_lack_one(planned):
    part = {"spelt": ["pair"], "values": {"tau": "x", "r": "y"}, "note": "n.", "because": "gone.", "lacking": "labels"}
    part |= {"notes": ["files"], "gaps": ["models"], "within": 0.05}
    files = [{"where": "pair=A|c; verdict=differs", "text": "{x:.1f} here."}, {"text": "All."}]
    models = [{"where": "pair=b", "because": "no {pair}", "lacking": "a model"}]
    ours = {"pair": ["c", "A"], "x": [0.25, 0.1], "y": [3, np.nan]}
    made = planned(ours, part, names={"a": "A"}, notes={"files": files}, gaps={"models": models})
    assert made["cell"].tolist() == ["a, tau", "b, tau", "c, tau", "a, r", "b, r", "c, r"]
    assert made["computed"].tolist() == [0.1, None, 0.25, None, None, 3]
    assert made["note"].tolist() == ["All. n.", "no b", "0.2 here. All. n.", "gone.", "no b", "All. n."]
    assert made["lacking"].tolist() == ["", "a model", "", "labels", "a model", ""]
    assert made["high"].tolist() == pytest.approx([0.15, np.nan, 0.3, np.nan, np.nan, 3.05], nan_ok=True)
    assert made["place"].tolist() == [f"t:{line}:{column}" for column in ("tau", "r") for line in (2, 3, 4)]


def test_chosen_rows_keep_their_places_and_names_may_be_numbers(planned, monkeypatch):
    part = {"rows": "pair!=a", "cell": "pair {pair}", "on": ["r"], "bounds": ["x", "y"]}
    made = planned({"r": [3, 2], "x": [0.3, 0.2], "y": [0.4, 0.3]}, part)
    assert made[["cell", "computed", "low", "high", "place"]].to_numpy().tolist() == [
        ["pair b", 0.2, 0.2, 0.3, "t:3:tau"],
        ["pair c", 0.3, 0.3, 0.4, "t:4:tau"],
    ]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"computed": "theirs"}, "T: no table is called 'theirs'; there are ours"),
        ({"values": {"tau": "z"}}, "T: no column is called 'z'"),
        ({"rows": "pairs=a"}, "T: no column is called 'pairs'"),
        ({}, "T: several computed rows are called a"),
    ],
)
def test_a_specification_that_leads_nowhere_is_named(planned, part, words):
    with pytest.raises(DataError, match=words):
        planned({"pair": ["a", "a" if not part else "b"], "x": [1, 2]}, part)


def test_an_unknown_paper_or_item_is_named():
    with pytest.raises(DataError, match=r"'sai'.* sai2023"):
        claims.compare("sai", {})
    with pytest.raises(DataError, match="'Table 11'"):
        claims.compare("sai2023", {}, items="Table 11")


@pytest.mark.parametrize("path", sorted((ROOT / "data" / "published").glob("*.toml")), ids=lambda path: path.stem)
def test_what_a_papers_file_names_is_there(path):
    """Also of parts whose study no test runs."""
    plan = claims._plan(path.stem)
    for part in plan["compare"]:
        printed = claims._chosen(data.published(part["printed"]), part.get("rows", ""))
        assert len(printed), part
        assert {*part["on"], *part["values"], *part.get("spelt", []), *([] if "item" in part else ["item"])} <= {
            *printed
        }
        assert "computed" in part or isinstance(part["values"], list), part
        assert isinstance(part["values"], dict) or part.get("because") or part.get("gaps"), part
        for kind in ("notes", "gaps"):
            assert {*part.get(kind, [])} <= {*plan[kind]}, part


# --- What the papers on ESA and ESA^AI print is recomputed by their authors' rules, checked against scipy and by hand


NAMES = ("wmt23-protocols", "wmt23-protocols-spans", "wmt23-protocols-released", "wmt23-human")


@pytest.fixture
def frames(real):
    return [real(name) for name in NAMES], real("wmt23-mqm-spans")


@pytest.mark.slow
def test_without_marks_that_have_no_severity_the_printed_time_per_mark_comes_out(frames):
    (judged, marked, *_), _ = frames
    own = marked[marked["item_type"] != "degraded"].astype({"severity": "str"})
    undecided = own[~own["severity"].isin(["minor", "major", "critical"])]
    keys = ["protocol", "hit", "system", "segment"]
    lost = undecided.astype(dict.fromkeys(keys, "str")).groupby(keys).size().rename("lost").reset_index()
    fewer = judged.astype(dict.fromkeys(keys, "str")).merge(lost, on=keys, how="left").fillna({"lost": 0})
    assert fewer.loc[fewer["item_type"] != "degraded", "lost"].sum() == len(undecided) > 0
    fewer["errors"] -= fewer["lost"].where(fewer["item_type"] != "degraded", 0)
    now, without = (esa.effort(esa.seconds(one)).set_index("kind")["per_error"] for one in (judged, fewer))
    assert [f"{one:.1f}" for one in now[["ESA", "ESAAI"]]] == ["70.4", "31.0"]
    assert f"{without['ESA']:.1f}" == "70.8"


@pytest.mark.slow
def test_what_remarks_say_of_the_release_holds(frames):
    (judged, marked, released, human), wmt_marked = frames
    side = esa.grids(judged, marked, released, human, wmt_marked)
    assert (len(side.scores), len(side.common()), len(side.everywhere())) == (2691, 156 * 13, 743)
    on_common = esa.filtering(esa.Grids(*(grid.loc[side.common()] for grid in side)))
    assert round(on_common["agreed"].iloc[0]) == 90
    shown = marked[marked["suggested"] & (marked["item_type"] != "degraded")].astype({"segment": str, "system": str})
    nothing = side.scores.index[side.scores["LLM"].eq(0)]
    assert not nothing.isin(pd.MultiIndex.from_frame(shown[["segment", "system"]])).any(), "0 means: nothing suggested"


@pytest.fixture
def side():
    """Scores of 40 translations under all collections, many of them tied and some missing, with marks."""
    rng = np.random.default_rng(5)
    index = pd.MultiIndex.from_product([[str(n) for n in range(10)], list("abcd")], names=["segment", "system"])
    collections = "ESA-1 ESA-2 ESAAI-1 ESAAI-2 MQM-1 WMT-MQM WMT-DASQM ESA-IAA ESAAI-IAA MQM-IAA LLM"
    names = collections.split()
    errors = pd.DataFrame(rng.poisson(0.7, (40, 11)).astype(float), index, names)
    scores = pd.DataFrame(rng.integers(0, 12, (40, 11)).astype(float), index, names)
    scores.iloc[:8, 5] = scores.iloc[5:20, 7] = np.nan
    return esa.Grids(scores, -errors * 2, errors)


@pytest.mark.parametrize("items", ["all", "judged everywhere"])
def test_coefficients_are_scipys(side, items):
    made = esa.agreement(side).query("items == @items").set_index(["kind", "when", "rests"])
    rows = side.scores.index if items == "all" else side.scores.dropna().index
    for kind, when, one, other in (
        ("ESA", "again", "ESA-1", "ESA-IAA"),
        ("MQM", "between", "MQM-1", "WMT-MQM"),
        ("ESAAI", "between", "ESAAI-1", "ESAAI-2"),
    ):
        both = side.scores.loc[rows, [one, other]].dropna()
        x, y = both.to_numpy().T
        found = made.loc[(kind, when, "scores")]
        assert found["n"] == len(both)
        assert found["tau_c"] == pytest.approx(stats.kendalltau(x, y, variant="c")[0])
        assert found["pearson"] == pytest.approx(stats.pearsonr(x, y)[0])
        assert found["spearman"] == pytest.approx(stats.spearmanr(x, y)[0])
        marked = (side.errors.loc[both.index, [one, other]] > 0).sum(axis=1)
        assert found["alike"] == pytest.approx(100 * (marked != 1).sum() / len(both))
    assert ("MQM", "again", "marks") not in made.index
    x, y = (side.weighed.loc[rows, name] for name in ("ESA-1", "ESA-2"))
    assert made.loc[("ESA", "between", "marks"), "spearman"] == pytest.approx(stats.spearmanr(x, y)[0])


def test_standing_is_that_of_plain_loops(side):
    made = esa.standing(side).set_index("protocol")
    assert "WMT-MQM" not in made.index
    there = side.scores[side.scores["WMT-MQM"].notna()]
    gold, own = ({s: there.xs(s, level="system")[name].mean() for s in "abcd"} for name in ("WMT-MQM", "WMT-DASQM"))
    pairs = [(a, b) for a in "abcd" for b in "abcd" if a < b]
    alike = sum((gold[a] - gold[b]) * (own[a] - own[b]) > 0 for a, b in pairs)
    assert made.loc["WMT-DASQM", "accuracy"] == pytest.approx(100 * alike / 6)
    expected = stats.spearmanr([gold[s] for s in "abcd"], [own[s] for s in "abcd"])[0]
    assert made.loc["WMT-DASQM", "rho"] == pytest.approx(expected)


def test_a_long_time_becomes_the_persons_median_and_people_count_alike():
    judged = read("""
        protocol annotator hit started errors item_type
        ESA-1 p a 0 1 system
        ESA-1 p a 40 0 system
        ESA-1 p a 60 0 degraded
        ESA-1 p a 80 1 reference
        ESA-1 p a 480 2 system
        ESA-2 q b 7 3 system
        ESA-IAA r c 7 90 system""")
    timed = esa.seconds(judged.sample(frac=1, random_state=3))
    assert sorted(timed["seconds"]) == [0, 0, 0, 20, 20, 40, 400]
    [made] = esa.effort(timed).to_dict("records")
    # p: 0, 40, 20 and 400, whose median 30 stands for 400; q: 0
    assert made == {"kind": "ESA", "people": 2, "seconds": 22.5 / 2, "errors": 2.0, "per_error": 22.5 / 4}


@pytest.mark.parametrize(("nothing", "words"), [(3, "30.0%"), (0, "0.0%")])
def test_translations_without_suggestions_count_as_100(nothing, words):
    index = pd.MultiIndex.from_product([[str(n) for n in range(5)], ["a", "b"]], names=["segment", "system"])
    score = [50.0, 60.0] * 5  # b is better, until a's without suggestions count as 100
    llm = pd.Series([-1.0] * 10, index)
    llm.iloc[: 2 * nothing : 2] = 0.0
    scores = pd.DataFrame({"ESAAI-1": score, "LLM": llm}, index)
    errors = pd.DataFrame({"ESAAI-1": [0.0, 1, 2, 0, 0, 0, 0, 0, 0, 0]}, index)
    [made] = esa.filtering(esa.Grids(scores, scores, errors)).to_dict("records")
    assert (made["share"], made["words"], made["mismatched"]) == (10 * nothing, words, int(nothing > 0))
    assert nothing == 0 or made["agreed"] == pytest.approx(200 / 3)


def test_grids_leave_out_degraded_copies_and_other_languages_and_count_marks_that_cost_nothing():
    item = {"src_lang": "eng", "tgt_lang": "deu", "system": "a", "doc": "d", "segment": "1"}
    own = item | {"protocol": "ESA-1", "annotator": "p", "hit": "h"}
    judged = read("item_type score errors\nsystem 70.0 2.0\ndegraded 5.0 9.0", **own)
    marked = read("item_type severity\nsystem major\nsystem undecided\ndegraded major", **own)
    released = pd.DataFrame([item | {"protocol": "LLM", "score": -1.0}])
    human = pd.DataFrame([item | {"metric": "mqm", "score": 0.0}])
    wmt_marked = pd.DataFrame([item | {"weight": 0.0}, item | {"tgt_lang": "eng", "weight": 1.0}])
    made = esa.grids(judged, marked, released, human, wmt_marked)
    assert made.scores.loc[("a", "d", "1")].to_dict() == {"ESA-1": 70.0, "LLM": -1.0, "WMT-MQM": 0.0}
    assert made.weighed.loc[("a", "d", "1"), "ESA-1"] == -5.0
    assert made.errors.loc[("a", "d", "1")].to_dict() == {"ESA-1": 2.0, "WMT-MQM": 1}


def test_on_simulated_data_nothing_is_compared():
    nothing = pd.DataFrame()
    nothing.attrs["source"] = {"name": "wmt23", "source": "simulated", "origin": "a test", "digest": "none"}
    assert esa.compare(*[nothing] * 4, wmt_marked=nothing)["computed"].isna().all()


# --- Knowles & Lo 2024: its numbers and claims have one row each, and what is built for them is right


OF_KNOWLES = ("knowles2024_prose", "knowles2024_context")


@pytest.fixture(scope="module")
def claimed():
    return pd.concat([data.published(name).fillna("") for name in OF_KNOWLES], ignore_index=True)


def test_each_claim_belongs_to_one_study_that_holds_no_others(claimed):
    notebooks = {path.stem: json.loads(path.read_text()) for path in (ROOT / "notebooks" / "studies").glob("*.ipynb")}
    source = {name: "".join("".join(cell["source"]) for cell in book["cells"]) for name, book in notebooks.items()}
    for name in OF_KNOWLES:
        own = set(data.published(name)["study"])
        users = {study for study, text in source.items() if f'data.published("{name}")' in text}
        assert users == own
        for study in own if len(own) > 1 else ():
            assert re.search(rf'"study"\] == "{study}"|query\("study == \'{study}\'"\)', source[study]), study


def test_two_claims_that_fail_are_counted(real):
    """Oracle: plain pandas on the calibration HITs, all of whose 17 annotators of eng-jpn are kept."""
    ratings = real("wmt22-calibration-hits")
    accounts = people.accounts(ratings, real("wmt22-calibration-mapping"), complete_at=100)
    kept = people.keep(ratings, accounts)
    japanese = kept[kept["tgt_lang"] == "jpn"].groupby("annotator")["score"]
    distinct, spread = japanese.nunique().drop("engjpn1614"), japanese.std()
    assert (len(distinct), (distinct >= 40).sum()) == (16, 3)
    assert spread.rank()["engjpn1611"] == 6
    beside = knowles2024.beside(people.usage(kept), "engjpn1611").set_index("annotator")
    expected = (spread - spread["engjpn1611"]).drop("engjpn1611")
    pd.testing.assert_series_equal(beside["sd_above"], expected, check_names=False)


def test_who_has_the_lowest_correlation_is_explained_by_either_of_the_two():
    extremes = pd.DataFrame({"pair": "p", "statistic": ["r", "s", "t"], "min_between": ["a b", "c b", "c d"]})
    profiles = pd.DataFrame({"pair": "p", "annotator": list("abcd"), "min": [52.0, 0, 50, 10]})
    table = knowles2024.lowest_between(extremes, profiles.assign(grid=["none", "none", "none", "7"]))
    assert table["high_only"].tolist() == [True, False, False]
    assert table["coarse"].tolist() == [False, False, True]
    assert table["explained"].tolist() == [True, False, True]


# Knowles & Lo and WMT on drawn campaigns, by plain pandas and scipy


@pytest.fixture(scope="module")
def crowd():
    """Two language pairs as WMT's crowds judge them: copies with degraded segments, z-scores of rounded statistics."""
    return from_source(simulate.stand_in("wmt22-mturk", pairs={"ces-eng": {}, "deu-eng": {}}), name="wmt22-mturk")


def spread_apart(crowd, by):
    """Standardise scores within groups by plain pandas, and say how far from the published z-scores that is."""
    scores = crowd.groupby(by)["score"]
    off = ((crowd["score"] - scores.transform("mean")) / scores.transform("std") - crowd["z"]).abs()
    return off.groupby(crowd["src_lang"] + "-" + crowd["tgt_lang"])


def test_published_z_scores_follow_from_rounded_statistics_of_a_worker_and_from_nothing_else(crowd):
    found = knowles2024.compare_with_published(crowd)
    assert found[found["equal"]]["variant"].tolist() == ["as WMT"] * 2
    by_variant = found.set_index(["variant", "pair"])
    hits = spread_apart(crowd, ["hit", "annotator"])
    assert by_variant.loc["statistics per HIT", "median"].to_dict() == pytest.approx(hits.median().to_dict(), rel=1e-4)
    worker = ["src_lang", "tgt_lang", "annotator"]
    size = crowd.groupby(worker)["score"].transform("size")
    wider = (crowd["z"].abs() * (np.sqrt(size / (size - 1)) - 1)).groupby(crowd["src_lang"] + "-eng").max()
    assert by_variant.loc["sd with ddof 0", "largest"].to_dict() == pytest.approx(wider.to_dict(), rel=1e-4)
    shuffled = crowd.sample(frac=1, random_state=1).replace({"annotator": {"sim-ces-eng-1": "someone else"}})
    pd.testing.assert_frame_equal(knowles2024.compare_with_published(shuffled), found)


def test_tables_behind_claims_about_degraded_context_hold_their_data_sets(crowd):
    sets = {"one": crowd, "other": crowd[crowd["src_lang"] == "deu"]}
    paired = {name: context.pairs(table) for name, table in sets.items()}
    tables = knowles2024.of_context(sets, *(map_tables(paired, one) for one in (context.contrasts, context.welch)))
    for name, table in sets.items():
        bad = table[table["item_type"] == "degraded"]
        medians = tables[f"{name} degraded by annotator"].set_index("annotator")["median"]
        assert medians.to_dict() == {who: np.median(part["score"]) for who, part in bad.groupby("annotator")}
        assert len(tables[f"{name} degraded"]) == len(bad)
        before, after = (paired[name].loc[paired[name]["group"] == side, "difference"] for side in ("before", "after"))
        test = stats.ttest_ind(before, after, equal_var=False, alternative="less")
        own = tables[f"{name} welch"].query("pair == 'all' and scale == 'raw'")
        assert own["p_less"].item() == pytest.approx(test.pvalue, rel=1e-12)
        gap = tables[f"{name} gap"].set_index("scale")["before_minus_after"]
        assert gap["raw"] == pytest.approx(before.mean() - after.mean(), rel=1e-12)


def test_earlier_years_are_put_together_by_the_context_that_annotators_saw(crowd):
    alone = crowd["segment"].astype(int) % 2 == 0
    years = {f"wmt{year}-mturk": crowd.assign(context=np.where(alone, "sentence", "document")) for year in (18, 19, 20)}
    tables = knowles2024.of_earlier_years(years)
    apart = context.pairs(crowd[alone])["difference"]
    repeats = tables["wmt18-20 repeats"].iloc[0]
    assert (repeats["n"], repeats["mean"]) == (3 * len(apart), pytest.approx(apart.mean()))
    inside = pd.concat([context.pairs(crowd[~alone])] * 2)
    before, after = (inside.loc[inside["group"] == side, "difference"] for side in ("before", "after"))
    p = stats.ttest_ind(before, after, equal_var=False, alternative="less").pvalue
    own = tables["wmt19-20 welch"].query("pair == 'all' and scale == 'raw'").iloc[0]
    assert own["p_less"] == pytest.approx(p, rel=1e-12)
    assert own["outcome"] == ("significant" if p < 0.05 else "not significant")
    assert set(knowles2024.of_earlier_years({"wmt19-mturk": years["wmt19-mturk"]})) == set()


def test_additional_hits_are_held_against_the_calibration_set(crowd):
    ordinary = crowd[crowd["item_type"].isin(["system", "repeat"])]
    calibration = ordinary[ordinary["doc"] == "sim-doc-01"].assign(item_type="calibration")
    tables = knowles2024.of_additional(crowd, calibration)
    steady = tables["wmt22-da-sqm steadiness"]
    assert set(steady.loc[steady["range"], "use"]) == {"min", "max"}
    amounts = tables["wmt22-da-sqm segments"]
    assert amounts.set_index("annotator")["judgements"].to_dict() == crowd["annotator"].value_counts().to_dict()
    assert amounts["median_magnitude"].unique().tolist() == [100]
    known = calibration.groupby("annotator")["score"].mean()
    counted = crowd[~crowd["item_type"].eq("degraded") & crowd["annotator"].isin(known.index)]
    for pair, own in counted.groupby("src_lang"):
        row = tables["wmt22-da-sqm means"].set_index("pair").loc[f"{pair}-eng"]
        for level, by in (("annotator", ["annotator"]), ("HIT", ["annotator", "hit"])):
            means = own.groupby(by)["score"].mean()
            far = (means - means.index.get_level_values("annotator").map(known)).abs()
            assert row[level] == pytest.approx(far.median(), rel=1e-12)
        assert row["hits_further"] == (row["HIT"] > row["annotator"])
    order = tables["wmt22-da-sqm order"]
    assert len(order) == crowd["annotator"].nunique()


def test_tables_of_the_calibration_hits_count_and_compare_people():
    hits = simulate.stand_in(
        "wmt22-calibration-hits", pairs={"eng-ces": simulate.recipes()["wmt22-calibration-hits"]["pairs"]["eng-ces"]}
    )
    usage = people.usage(hits)
    given = {
        "usage": usage,
        "grids": pd.DataFrame({"annotator": ["a", "b"], "ticks": [7, 4]}),
        "correlations": agreement.correlations(hits),
        "profiles": usage.assign(grid="none"),
        "accounts": people.accounts(hits, hits, complete_at=100),
    }
    tables = knowles2024.derived(hits, given)
    scores = hits.groupby("annotator")["score"]
    ranges = tables["usage"].set_index("annotator")["range"]
    assert ranges.to_dict() == (scores.max() - scores.min()).to_dict()
    assert tables["grids"]["marks"].tolist() == ["seven ticks", "others"]
    assert tables["counts"]["judgements"].sum() == len(hits)
    assert tables["beside engjpn1611"].empty
    wide = hits[hits["item_type"] == "calibration"].pivot(
        index=["system", "doc", "segment"], columns="annotator", values="score"
    )
    lowest = wide.corr().stack().idxmin()
    named = tables["lowest pairs"].query("statistic == 'pearson'")["min_between"].item()
    assert set(named.split()) == set(lowest)
    assert knowles2024.imagined(hits)["outcome"].unique().tolist() == ["undefined"], "one score each"


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_scores_that_lack_judgements_are_those_of_trying_every_way(seed):
    """Spread the missing zeros over segments in all possible ways, at most one a segment."""
    rng = np.random.default_rng(seed)
    sizes, absent, pulled = rng.integers(1, 4, 6), int(rng.integers(0, 3)), int(rng.integers(0, 4))
    rows = [("S", f"{k}", f"p{n}", float(rng.integers(20, 100))) for k, size in enumerate(sizes) for n in range(size)]
    ratings = makers.laid_out(rows)
    segments = ratings.groupby("segment")["score"]
    counts = {"official_judgements": len(rows) + absent + pulled, "official_segments": 6 + absent}
    here = {
        "pair": "eng-deu",
        "system": "S",
        "judgements": len(rows),
        "segments": 6,
        "recomputed": segments.mean().mean(),
    }
    scores = []
    for chosen in itertools.combinations(segments.groups, pulled):
        lengthened = segments.sum() / (segments.size() + [name in chosen for name in segments.groups])
        scores.append(lengthened.sum() / (6 + absent))
    compared = pd.DataFrame([here | counts | {"official": scores[0]}])
    found = wmt.explain_missing(ratings, compared, scale="raw")
    if not absent + pulled:
        assert found.empty
        return
    assert found[["lowest", "highest"]].iloc[0].tolist() == pytest.approx([min(scores), max(scores)], rel=1e-12)
    assert found[["missing_judgements", "missing_segments"]].iloc[0].tolist() == [absent + pulled, absent]
    assert found["explained"].item()
    far = wmt.explain_missing(ratings, compared.assign(official=max(scores) + 0.1), scale="raw")
    assert not far["explained"].item()


def test_official_scores_average_segments_before_systems_and_those_that_count_more_are_listed(crowd):
    counted, key = crowd[crowd["item_type"].isin(["system", "repeat"])], ["src_lang", "tgt_lang", "system"]
    segments = counted.groupby([*key, "doc", "segment"])[["score", "z"]].mean().groupby(key)
    official = segments.mean().assign(segments=segments.size(), judgements=counted.groupby(key).size()).reset_index()
    official = official.assign(raw=official["score"].map("{:.1f}".format), z=official["z"].map("{:.3f}".format))
    official.loc[3, "judgements"] += 1
    found = wmt.official_scores({"crowd": crowd}, {"crowd": official})
    assert len(found) == 20
    assert found["equal"].all()
    assert found["recomputed"].tolist() == pytest.approx([*segments.mean()["z"], *segments.mean()["score"]])
    counts = wmt.tally(found)
    assert counts[["scale", "pair", "systems", "equal", "missing_judgements"]].values.tolist() == [
        ["z", "ces-eng", 5, 5, 1],
        ["z", "deu-eng", 5, 5, 0],
        ["raw", "ces-eng", 5, 5, 1],
        ["raw", "deu-eng", 5, 5, 0],
    ]
    moved = found["moved"].ne(0).groupby([found["scale"], found["pair"]], sort=False).sum()
    assert counts["systems_that_move"].tolist() == moved.tolist()
    bounded = wmt.missing_scores({"crowd": crowd}, found)
    assert bounded[["scale", "system", "missing_judgements"]].values.tolist() == [
        ["z", official.at[3, "system"], 1],
        ["raw", official.at[3, "system"], 1],
    ]


def test_wins_lines_and_p_values_are_held_against_published_ones(crowd):
    best = crowd[crowd["item_type"] == "system"].groupby(["src_lang", "system"])["z"].mean()
    pair, segment = "ces-eng", ["system", "doc", "segment"]
    own = crowd[(crowd["src_lang"] == "ces") & crowd["item_type"].isin(["system", "repeat"])]
    means = own.groupby(segment)["z"].mean()
    order = means.groupby("system").mean().sort_values(ascending=False).index
    tests = [
        (pair, a, b, stats.mannwhitneyu(means[a], means[b], alternative="greater", method="asymptotic").pvalue)
        for a, b in itertools.combinations(order, 2)
    ]
    published = pd.DataFrame(tests, columns=["pair", "better", "worse", "p"]).astype({"p": "str"})
    found = wmt.compare_p_values(crowd, published)
    assert found["off"].max() < 1e-9
    assert found["significant"].equals(found["official"] < 0.05)
    wins = published.astype({"p": float}).query("p < .05").groupby("better").size().reindex(order, fill_value=0)
    below = np.arange(len(order))[::-1]
    lines = pd.DataFrame({"data": "d", "pair": pair, "system": order, "wins": wins.to_numpy().astype(str)})
    lines["line"] = (wins.to_numpy() == below).astype(str)
    compared = wmt.compare_clusters({"d": crowd}, lines)
    assert compared["equal_wins"].all()
    plain, *_, strict = wmt.by_test(crowd[crowd["src_lang"] == "ces"])["wins"]
    assert (plain, strict <= plain) == (wins.sum(), True)
    assert compared["system"].tolist() == order.tolist()
    assert best.size == 10


def test_people_without_spread_are_counted_with_the_scores_that_they_gave():
    workers = pd.DataFrame(
        [("ces", "a", 70.0, 3.0), ("ces", "b", 100.0, 0.0), ("ces", "c", 55.0, np.nan), ("deu", "a", 50.0, 9.0)],
        columns=["src_lang", "annotator", "mean", "sd"],
    )
    found = wmt.flat_annotators(workers.assign(tgt_lang="eng"))
    assert found.to_numpy().tolist() == [["ces-eng", 3, 2, "55, 100"], ["deu-eng", 1, 0, ""]]


def test_a_scale_of_ranks_goes_from_one_to_one_more_than_the_systems():
    drawn = np.random.default_rng(2).normal(size=(2, 7))
    scores = pd.DataFrame({"pair": "p", "system": list("ABCDEFG"), "metricx": drawn[0], "cometkiwi": drawn[1]})
    found = wmt.auto_rank(scores)
    each = [1 + 7 * (one - one.min()) / np.ptp(one) for one in drawn]
    assert found["autorank"].tolist() == pytest.approx(np.mean(each, axis=0).tolist())
    gaps = np.diff(np.sort(found["autorank"]))
    past = np.sort(found["autorank"])[1:][gaps > wmt.GAP]
    assert found["past_cutoff"].tolist() == (found["autorank"] >= (past.min() if len(past) else np.inf)).tolist()
    moved = wmt.auto_rank(scores.assign(metricx=3 * scores["metricx"] - 5))
    assert moved["autorank"].tolist() == pytest.approx(found["autorank"].tolist()), "units of metrics do not matter"


@pytest.mark.parametrize(("year", "scale", "equal"), [(21, "z", 80), (22, "z", 68), (21, "raw", 77), (22, "raw", 58)])
def test_official_scores_are_rows_and_each_difference_has_its_reason(year, scale, equal, real):
    ratings, official = real(f"wmt{year}-mturk"), real(f"wmt{year}-mturk-ranking")
    rows = wmt.compare_scores(ratings, official, scale=scale, paper=f"WMT{year}, official ranking")
    judged = pd.DataFrame(verdicts.judge(rows))
    assert len(judged) == len(official)
    assert (judged["verdict"] == "match").sum() == equal
    assert judged.loc[judged["verdict"] == "differs", "note"].str.contains("with 0 for these the score becomes").all()
    absent = rows[judged["verdict"] == "not reproducible"]
    assert set(absent["lacking"]) == ({"scores not here: WMT21 zho-eng"} if year == 21 else set())
    assert judged.set_index(["item", "cell"]).index.is_unique


# --- Each printed number stands in one row of one study: the transcribed tables walked against the reference results


#: Columns that hold what a paper prints as a result, where that is not the column "printed", and the tables that have
#: them; the other columns name a row or describe it.
COLUMNS = {
    "avg rank": "licht2022_averages",
    "kappa": "licht2022_table3",
    "training_size": "licht2022_table4",
    "raw cs ht cs_ht": "licht2022_table5",
    "pearson kendall": "sai2023_table1 sai2023_table2 sai2023_table3",
    "kendall": "sai2023_table4",
    "value": "sai2023_table7 sudoh2021_table8",
    "min max": "sai2023_table8",
    "mean_score": "sai2023_table9",
    "fluency accuracy": "sai2023_table10",
    "bleu chrf bertscore bleurt": "sudoh2021_table1",
    "share": "sudoh2021_table4 sudoh2021_table5",
    "mean sd": "sudoh2021_table6 sudoh2021_table7",
    "count": "sudoh2021_table9 sudoh2021_table10 sudoh2021_table11 sudoh2021_table13",
    "precision recall f1": "sudoh2021_table12 sudoh2021_table14",
    "pairs tau": "wmt20_darr",
    "p": "wmt22_pvalues",
    "score z wins line": "wmt23_clusters",
    "autorank past_cutoff": "wmt24_autorank",
    "wins line": "wmt_clusters",
    # these describe: nothing in them is a result
    "": "licht2022_figure1 licht2022_protocols licht2022_table1 licht2022_table2 metric_entries metric_tasks metric_tests"
    " spbleu_flores sudoh2021_labels",
}
OF_TABLE = {name: columns.split() for columns, names in COLUMNS.items() for name in names.split()}
RESULTS = {path.stem: OF_TABLE.get(path.stem, ["printed"]) for path in (ROOT / "data" / "published").glob("*.csv")}


def transcribed(name):
    """Return the printed numbers of a table: place -> what is printed."""
    with (ROOT / "data" / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        f"{name}:{line}:{column}": row[column]
        for line, row in enumerate(rows, start=2)
        for column in RESULTS[name]
        if row[column] != ""
    }


@pytest.fixture(scope="module")
def compared():
    """Every row of every study's comparison with print."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "data" / "reference").glob("*.json")]
    return [row for report in reports for row in report["published"]]


@pytest.mark.parametrize("name", sorted(name for name, columns in RESULTS.items() if columns))
def test_each_printed_number_stands_as_it_is_printed_in_exactly_one_row_of_one_study(name, compared):
    rows = [row for row in compared if row.get("place", "").startswith(f"{name}:")]
    assert {place: n for place, n in Counter(row["place"] for row in rows).items() if n > 1} == {}
    assert {row["place"]: row["printed"] for row in rows} == transcribed(name)


def test_no_number_without_a_place_is_compared_twice(compared):
    """Official results stand in data files; their rows have names instead."""
    loose = [row for row in compared if "place" not in row]
    assert {row["basis"] for row in loose} <= {"official result"}
    assert max(Counter((row["paper"], row["item"], row["cell"]) for row in loose).values(), default=1) == 1


def test_each_row_says_what_it_rests_on_and_what_it_lacks(compared):
    for row in compared:
        assert row["basis"] in verdicts.BASES
        assert (row["verdict"] == "not reproducible") == ("lacking" in row), row
        assert row["verdict"] == verdicts.verdict(row["printed"], row["computed"]), row


# Each transcribed table is held against the paper's own text, cell by cell and in the printed order.

LICHT = "000"


def block_of(text, first, rows):
    """Cut a table's block out of the paper: ``rows`` lines of cells from the one that starts with ``first``."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith(first)]
    assert len(starts) == 1, f"{first!r} stands {len(starts)} times in the paper"
    block = lines[starts[0] : starts[0] + rows]
    assert all(block), "a blank line within the block"
    assert not lines[starts[0] + rows], "the table goes on after the block"
    return [re.sub(r"</?b>", "", line).rstrip("\t").split("\t") for line in block]


def cells(frame):
    """List a frame's rows as lists of text."""
    return [[str(cell) for cell in row] for row in frame.itertuples(index=False)]


def test_table1(paper):
    block = block_of(paper(LICHT), "Metric Study\t", 8)
    table = data.published("licht2022_table1")
    metric, calibration = (table.loc[table["study"] == study, "language"].tolist() for study in block[0])
    assert (len(metric), len(calibration)) == (6, 13)
    columns = [[*metric, ""], calibration[:7], [*calibration[7:], ""]]
    assert [list(row) for row in zip(*columns)] == [row + [""] * (3 - len(row)) for row in block[1:]]


def test_table2(paper):
    block = block_of(paper(LICHT), "Language\tMorphological", 7)
    table = data.published("licht2022_table2").drop(columns="language_code")
    assert [name.replace("_", " ").capitalize() for name in table] == block[0]
    assert cells(table) == block[1:]


def test_table3(paper):
    block = block_of(paper(LICHT), "X-English\t\t\t\t\t\t\t", 11)
    table, averages = data.published("licht2022_table3"), data.published("licht2022_averages")
    beside = averages.set_index(["direction", "protocol"])
    assert (len(table), len(averages)) == (8 * 6, 8)
    grid = []
    for direction, title in (("X-EN", "X-English"), ("EN-X", "English-X")):
        half = table[table["direction"] == direction]
        grid.append([title])
        if direction == "X-EN":
            grid.append(["", *half["language"].head(6), "AVG", "Rank"])
        for protocol, rows in half.groupby("protocol", sort=False):
            assert rows["language"].tolist() == table["language"].head(6).tolist()
            grid.append([protocol, *rows["kappa"], *beside.loc[(direction, protocol)]])
    assert grid == block


def test_table4(paper):
    block = block_of(paper(LICHT), "Language\tLanguage family\t", 15)
    table = data.published("licht2022_table4").drop(columns="language_code")
    table["training_size"] = [f"{int(size):,}" for size in table["training_size"]]
    assert block[0] == ["Language", "Language family", "Writing system", "Linguistic properties", "", "Training size"]
    assert cells(table) == block[1:]


def test_table5(paper):
    block = block_of(paper(LICHT), "X-English\t\t\t\tEnglish-X", 16)
    assert block[0] == ["X-English", "", "", "", "English-X"]
    assert block[1] == ["RAW", "CS", "HT", "CS+HT"] * 2
    table = data.published("licht2022_table5")
    columns = []
    for direction in ("X-EN", "EN-X"):
        half = table[table["direction"] == direction]
        for method in ("raw", "cs", "ht", "cs_ht"):
            rank = half[f"rank_{method}"].astype(int)
            assert sorted(rank) == list(range(1, 15))
            columns.append((half[method] + " " + half["language"]).iloc[rank.argsort()].tolist())
    assert [list(row) for row in zip(*columns)] == block[2:]
    assert table["rank_raw"].tolist() == [str(n) for n in range(1, 15)] * 2


def test_table6(paper):
    block = block_of(paper(LICHT), "Method\tPearson", 6)
    assert [cell for cell in block[0] if cell] == ["Method", "Pearson's R", "$r^2$", "LinReg"]
    table = data.published("licht2022_table6")
    assert table["statistic"].drop_duplicates().tolist() == ["pearson", "r2", "linreg"]
    rows = [[method, *rows["printed"]] for method, rows in table.groupby("method", sort=False)]
    assert rows == block[2:]
    order = table["direction"].tolist()
    assert order == ["X-EN", "EN-X", "both"] * 12
    assert order[:9] == block[1][1:]


def test_spbleu_is_the_collected_table(mirrored):
    path = mirrored("spbleu_flores.tsv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows[0] == ["lp", "testset", "model", "spbleu", "repo", "commit", "path"]
    table = data.published("spbleu_flores")
    assert list(table) == ["pair", "testset", "system", "spbleu", "repository", "commit", "path"]
    assert cells(table) == rows[1:]


def test_published_tables_say_where_they_come_from():
    table = data.published("licht2022_table5")
    source = table.attrs["source"]
    assert (source["name"], source["source"]) == ("licht2022_table5", "published")
    assert source["origin"] == "Licht et al. 2022, Table 5"
    assert re.fullmatch("sha256:[0-9a-f]{64}", source["digest"])
    assert data.published("licht2022_table6")["printed"].iloc[0] == ".897"
    with pytest.raises(DataError, match=r"no published table 'licht2022_tabel5'.*Did you mean licht2022_table5\?"):
        data.published("licht2022_tabel5")


SUDOH = "004"


def sudoh(paper, first, rows):
    """Cut a block of ``rows`` lines out of the paper, from the one that is ``first``, without mark-up."""
    lines = paper(SUDOH).splitlines()
    (start,) = [n for n, line in enumerate(lines) if line == first]
    block = [re.sub(r"</?[a-z]+>", "", line).split("\t") for line in lines[start : start + rows]]
    assert not lines[start + rows].strip(), "the table goes on after the block"
    return block


def wide(number, index, columns, values):
    """Lay a transcribed table of Sudoh et al. out as it is printed: a header, and a row per value of ``index``."""
    table = data.published(f"sudoh2021_table{number}")
    assert not table.duplicated([index, columns]).any()
    cells = table.pivot(index=index, columns=columns, values=values)
    cells = cells.loc[table[index].drop_duplicates(), table[columns].drop_duplicates()]
    return list(cells.columns), [[name, *row] for name, row in zip(cells.index, cells.to_numpy().tolist())]


def test_sudoh_table1(paper):
    head, *block = sudoh(paper, "ID\tHypothesis\tBLEU-4\tchrF\tBERTScore\tBLEURT", 11)
    assert [name.lower() for name in head] == ["id", "hypothesis", "bleu-4", "chrf", "bertscore", "bleurt"]
    joined = [[cell.replace("Mars .", "Mars.") for cell in row] for row in block]  # the text version cuts off one stop
    assert cells(data.published("sudoh2021_table1")) == joined


@pytest.mark.parametrize(("number", "rows"), [(4, 5), (5, 7)])
def test_sudoh_shares_of_labels(paper, number, rows):
    title = {4: "Fluency", 5: "Adequacy"}[number]
    head, *block = sudoh(paper, f"{title}\tA\tB\tC\tAve.", rows + 1)
    columns, found = wide(number, "label", "annotator", "share")
    assert [*columns[:3], columns[3].replace("average", "Ave.")] == head[1:]
    assert found == block


@pytest.mark.parametrize(("number", "rows"), [(6, 5), (7, 7)])
def test_sudoh_scores_by_label(paper, number, rows):
    head, *block = sudoh(paper, f"{ {6: 'Fluency', 7: 'Adequacy'}[number] }\tA\tB\tC", rows + 1)
    (columns, means), (_, deviations) = (wide(number, "label", "annotator", name) for name in ("mean", "sd"))
    assert columns == head[1:]
    pairs = zip(means, deviations)
    assert [[a[0], *(f"{m} ({s})" for m, s in zip(a[1:], b[1:]))] for a, b in pairs] == block


def test_sudoh_table8(paper):
    head, *block = sudoh(paper, "Metric\t\tA-B\tA-C\tB-C", 5)
    table = data.published("sudoh2021_table8")
    rows = [
        [dimension if statistic == "kappa" else "", {"kappa": "κ", "concordance": "r"}[statistic], *part["value"]]
        for (dimension, statistic), part in table.groupby(["dimension", "statistic"], sort=False)
    ]
    assert [[row[0].lower(), *row[1:]] for row in block] == rows
    assert table["pair"].tolist() == head[2:] * 4


@pytest.mark.parametrize(("number", "rows"), [(9, 5), (10, 7)])
def test_sudoh_counts_of_labels(paper, number, rows):
    _, *block = sudoh(paper, f"{ {9: 'Fluency', 10: 'Adequacy'}[number] }\tTraining\tDev.\tTest", rows + 1)
    columns, found = wide(number, "label", "split", "count")
    assert columns == ["train", "dev", "test"]
    assert found == block


@pytest.mark.parametrize(
    ("number", "head"),
    [(11, "ref \\ pred\tInc.\tPoor\tFair\tGood\tExc."), (13, "r\\p\tInc.\tUnr.\tCon.\tSer.\tFair\tGood\tExc.")],
)
def test_sudoh_confusion_matrices(paper, number, head):
    _, *block = sudoh(paper, head, head.count("\t") + 1)
    columns, found = wide(number, "true", "predicted", "count")
    assert found == block
    assert columns == [row[0] for row in block]
    assert all(name.startswith(short.rstrip(".")) for name, short in zip(columns, head.split("\t")[1:]))


@pytest.mark.parametrize(("number", "rows"), [(12, 6), (14, 8)])
def test_sudoh_precision_recall_and_f1(paper, number, rows):
    _, *block = sudoh(paper, f"{ {12: 'Fluency', 14: 'Adequacy'}[number] }\tPrecision\tRecall\tF1-score", rows + 1)[:]
    found = cells(data.published(f"sudoh2021_table{number}"))
    assert [[row[0].replace("average", "Ave."), *row[1:]] for row in found] == block


def test_every_claim_of_sudoh_quotes_the_paper(paper):
    text = paper(SUDOH)
    claims = data.published("sudoh2021_claims").fillna("")
    assert len(claims) > 40
    for claim in claims.to_dict("records"):
        assert claim["quote"] in text, claim["cell"]
        if claim["printed"].replace(".", "").replace(",", "").isdigit() and claim["item"] != "6":
            assert claim["printed"] in claim["quote"] or claim["how"] in ("min", "max"), claim["cell"]


# Sai et al. 2023: tables as the paper prints them, beside computed ones, and what the others would need.

SAI = "003"
LANGUAGES = ["gu", "hi", "mr", "ml", "ta"]


def lines_from(text, first, rows):
    lines = text.splitlines()
    (start,) = [n for n, line in enumerate(lines) if line.startswith(first)]
    return lines[start : start + rows]


def three_digits(text):
    """Give a number back the zeros at its end that print drops; names stay."""
    return re.sub(r"^-?\d\.\d{1,2}$", lambda number: number[0] + "0" * (5 - len(number[0].lstrip("-"))), text)


@pytest.mark.parametrize(
    ("table", "first", "rows", "name", "columns"),
    [
        ("table1", "BLEU 1 0.364", 23, "metric", ["pearson", "kendall"]),
        ("table2", "BLEU 1 0.927", 23, "metric", ["pearson", "kendall"]),
        ("table3", "COMET-DA 0.487", 5, "metric", ["pearson", "kendall"]),
        ("table4", "COMETDA 0.359", 3, "metric", ["kendall"]),
        ("table7", "batch size 16", 11, "hyperparameter", ["value"]),
        ("table8", "Human 0 25", 12, "metric", ["min", "max"]),
        ("table9", "lang IndicTrans", 7, "language", ["mean_score"]),
        ("table10", "BLEU-1 0.138", 21, "metric", ["fluency", "accuracy"]),
    ],
)
def test_a_table_is_as_printed(paper, table, first, rows, name, columns):
    """Print drops zeros at the end of some numbers with three digits; its languages stand in one order."""
    printed, transcribed = lines_from(paper(SAI), first, rows), data.published(f"sai2023_{table}")
    made = [" ".join([key, *part[columns].to_numpy().ravel()]) for key, part in transcribed.groupby(name, sort=False)]
    if table == "table9":
        head = "lang " + " ".join(transcribed["system"].drop_duplicates())
        made = [head, *(row.replace("average", "avg") for row in made)]
    elif name == "metric" and "language" in transcribed:
        printed = [" ".join(map(three_digits, line.split())) for line in printed]
        assert transcribed.groupby("metric")["language"].agg(lambda own: list(own)[:5] == LANGUAGES).all()
    assert made == printed


# Rows of Table 1 from vectors, a model and scores of this test's own making, which say nothing of the metrics


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def tamil(real):
    ratings = real("indicmt-mqm")
    return ratings[ratings["tgt_lang"] == "tam"].head(150).reset_index(drop=True)


@pytest.fixture
def drawn(tamil, tmp_path, cache):
    """Write a file of random vectors for the words of the references."""
    split = BLEU(tokenize="intl").tokenizer
    words = dict.fromkeys(word for text in tamil["reference"] for word in split(text).split())
    found = dict(zip(words, np.random.default_rng(7).normal(size=(len(words), 8)).round(3), strict=True))
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in found.items()]
    (tmp_path / "ta.vec").write_text(f"{len(found)} 8\n{''.join(lines)}", encoding="utf-8")
    return tmp_path / "ta.vec", found


def test_vectors_fill_their_rows_for_the_languages_that_have_them(tamil, drawn):
    path, found = drawn
    rows = metrics.table1(tamil, files={"tam": path})
    assert set(rows["basis"]) == {"recomputed from data"}
    assert rows["place"].str.fullmatch(r"sai2023_table1:\d+:(pearson|kendall)").all()
    assert sorted(rows["cell"]) == sorted(f"ta, {m}, {r}" for m in ("EA", "VE", "GM") for r in ("pearson", "kendall"))
    split, mean = BLEU(tokenize="intl").tokenizer, np.mean(list(found.values()), axis=0)
    sums = [
        [sum(found.get(word, mean) for word in split(text).split()) for text in tamil[side]]
        for side in ("hypothesis", "reference")
    ]
    ea = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in zip(*sums, strict=True)]
    computed = rows.set_index("cell")["computed"]
    gold = tamil["score"].clip(lower=0)
    assert computed["ta, EA, kendall"] == pytest.approx(stats.kendalltau(ea, gold).statistic)
    assert computed["ta, EA, pearson"] == pytest.approx(stats.pearsonr(ea, gold).statistic)


def test_a_model_and_scores_from_elsewhere_fill_theirs_and_five_languages_the_average(real, monkeypatch, cache):
    ratings = real("indicmt-mqm").groupby("tgt_lang", sort=False).head(60).reset_index(drop=True)
    scored = lexical.scores(ratings, metrics=["chrF"])["chrF"]
    monkeypatch.setattr(scorer, "scores", lambda table, **asked: table.assign(LaBSE=-scored))
    rows = metrics.table1(ratings.assign(PRISM=scored), models={"LaBSE": "a"}, columns=["PRISM"], python="p")
    computed = rows.set_index("cell")["computed"].astype(float)
    assert len(computed) == 2 * 6 * 2
    for column, correlation in (("kendall", stats.kendalltau), ("pearson", stats.pearsonr)):
        wanted = [
            correlation(scored[part.index], part["score"].clip(lower=0)).statistic
            for _, part in ratings.groupby("tgt_lang")
        ]
        assert computed[f"average, PRISM, {column}"] == pytest.approx(np.mean(wanted))
        assert computed[f"average, LabSE embs, {column}"] == pytest.approx(-np.mean(wanted))


def test_what_is_not_given_or_unknown_is_refused(tamil, drawn):
    for words, call in {
        "No word vectors, model or scores": lambda: metrics.table1(tamil),
        "'Prism'": lambda: metrics.table1(tamil, columns=["Prism"]),
        "'ta'.* tam": lambda: metrics.table1(tamil, files={"ta": drawn[0]}),
        "'PRISM'": lambda: metrics.table1(tamil, columns=["PRISM"]),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


# Printed tables of Sai et al. 2023 beside computed ones: each cell once, with its value or its reason


# What Sai et al.'s tables contradict by themselves, by plain arithmetic on the transcriptions


@pytest.fixture(scope="module")
def sai():
    return {f"table{number}": data.published(f"sai2023_table{number}") for number in (1, 2, 3, 4, 9, 10)}


def numbers(table, statistic):
    """Lay a printed statistic out as metrics × languages."""
    table = table[table["language"] != printed.AVERAGE]
    return table.astype({statistic: float}).pivot(index="metric", columns="language", values=statistic)


def listed(found, table, ending=""):
    cells = found.loc[found["table"] == table, "cell"]
    return set(cells[cells.str.endswith(ending)])


def test_taus_that_no_ranking_can_have_are_those_that_no_permutation_has(sai):
    possible = {}
    for systems in (6, 7):
        orders = itertools.permutations(range(systems))
        firsts = {sum(a > b for a, b in itertools.combinations(order, 2)) for order in orders}
        pairs = systems * (systems - 1) / 2
        possible[systems] = {f"{1 - 2 * swapped / pairs:.3f}" for swapped in firsts}
    cells = sai["table2"][sai["table2"]["language"] != printed.AVERAGE]
    wrong = {
        f"{row.metric}, {row.language}, kendall"
        for row in cells.itertuples()
        if f"{float(row.kendall):.3f}" not in possible[6 if row.language == "gu" else 7]
    }
    found = printed.misprints(sai)
    assert listed(found, "table2", "kendall") == wrong
    cut = found[found["evidence"].str.startswith("cut off")]
    assert cut["printed"].tolist() == [re.search(r"\d\.\d{3}", text)[0] for text in cut["evidence"]]


def test_averages_signs_wins_and_significance_are_those_of_the_cells(sai):
    found = printed.misprints(sai)
    assert {*found["table"]} <= {*sai}
    averages = set()
    for statistic in ("pearson", "kendall"):
        mean = numbers(sai["table1"], statistic).mean(axis=1)
        told = sai["table1"][sai["table1"]["language"] == printed.AVERAGE].set_index("metric")[statistic].astype(float)
        averages |= {
            f"{name}, average {statistic}" for name in mean.index[(mean - told[mean.index]).abs() > 0.001 + 1e-9]
        }
    assert {cell for cell in listed(found, "table1") if ", average " in cell} == averages
    pearson = numbers(sai["table1"], "pearson").stack()
    p = 2 * stats.t.sf(pearson.abs() * np.sqrt(1398 / (1 - pearson**2)), 1398)
    weak = found[found["evidence"].str.contains("called significant")]
    assert set(weak.loc[weak["cell"].str.endswith("pearson"), "cell"]) == {
        f"{metric}, {language}, pearson" for metric, language in pearson.index[p >= 0.05]
    }
    one, other = (numbers(sai[name], "pearson") for name in ("table1", "table2"))
    both = one.index.intersection(other.index)
    turned = both[(one.loc[both] > 0).all(axis=1) & (other.loc[both] < 0).all(axis=1)]
    assert listed(found, "table2", "all languages") == {f"{name}, all languages" for name in turned}
    third = {statistic: numbers(sai["table3"], statistic) for statistic in ("pearson", "kendall")}
    wins = {s: cells.loc["IndicCOMETMQM"] > cells.loc[["COMET-DA", "COMET-MQM"]].max() for s, cells in third.items()}
    told = found[found["table"] == "table3"].set_index("cell")["evidence"]
    for statistic, won in wins.items():
        assert (
            f"the cells give {won.sum()}: {', '.join(x for x in printed.LANGUAGES if won[x])}"
            in told.filter(like=statistic).item()
        )


def test_a_cell_that_is_changed_is_the_only_new_misprint(sai):
    before = printed.misprints(sai)
    for name, column, changed in (("table9", "mean_score", "12.345"), ("table10", "fluency", "0.999")):
        table = sai[name].copy()
        row = table.index[table["language"].eq("ta")][0]
        table.loc[row, column] = changed
        after = printed.misprints(sai | {name: table})
        new = after[~after["cell"].isin(before["cell"])]
        assert new["table"].tolist() == [name]
        assert new["cell"].str.startswith(table.at[row, "system" if name == "table9" else "metric"]).all()


def test_what_claims_say_of_printed_tables_follows_from_their_cells(sai):
    tables = printed.said_of_print(sai)
    fluency, accuracy = (numbers(sai["table10"], name).mean(axis=1) for name in ("fluency", "accuracy"))
    better = tables["print_subsets"].set_index("metric")["better"]
    assert better.to_dict() == (accuracy > fluency).to_dict()
    best = tables["print_best"].query("kind == 'any' and language != 'average'")
    for statistic, own in best.groupby("statistic"):
        assert own.set_index("language")["metric"].to_dict() == numbers(sai["table1"], statistic).idxmax().to_dict()
    learned = tables["print_learned"].query("table == 'table3'").set_index(["statistic", "language"])["gain"]
    third = numbers(sai["table3"], "kendall")
    gain = third.loc["IndicCOMETMQM"] - third.loc["COMET-MQM"]
    assert learned["kendall"].to_dict() == pytest.approx(gain.to_dict())
    means = tables["print_systems"]["mean_score"]
    assert means.tolist() == sorted(means, reverse=True)


def test_the_best_overlap_metric_and_its_gain_on_accuracy_errors_are_found():
    correlated = read("language metric pearson kendall_b\n gu chrF 0.3 0.2\n gu BLEU 0.1 0.25\n gu XLM 0.9 0.9")
    subsets = read(
        "language metric subset rule kendall_b\n gu chrF fluency authors 0.1\n gu chrF accuracy authors 0.2\n"
        "gu BLEU fluency authors 0.3\n gu BLEU accuracy authors 0.2\n gu BLEU accuracy literal 0.9"
    )
    correlated, subsets = (table.replace({"metric": {"BLEU": "BLEU-1 caption"}}) for table in (correlated, subsets))
    found = printed.said_of_data(correlated, subsets, pd.DataFrame())
    assert found["overlap_best"].set_index("statistic")["metric"].to_dict() == {
        "pearson": "chrF++",
        "kendall_b": "BLEU-1",
    }
    assert found["subset_gain"].set_index("metric")["better"].to_dict() == {"chrF": "yes", "BLEU-1 caption": "no"}


@pytest.fixture
def perfect():
    """Values for chrF that are exactly what is printed for chrF++, by language."""
    part = data.published("sai2023_table1")
    part = part[(part["metric"] == "chrF++") & (part["language"] != printed.AVERAGE)]
    part = part.astype({"pearson": "float", "kendall": "float"}).rename(columns={"kendall": "kendall_b"})
    return part[["language", "pearson", "kendall_b"]].assign(metric="chrF", systems=6)


EMPTY = pd.DataFrame(
    columns=["language", "metric", "system", "pearson", "kendall_b", "min", "max", "subset", "rule", "mean_score"]
)


def beside_print(item, **tables):
    """Compare one printed table with computed ones, by cell."""
    given = {name: tables.get(name, EMPTY) for name in ("segments", "systems", "ranges", "subsets", "means")}
    return claims.compare("sai2023", printed.computed(**given), items=item).set_index("cell")


def test_each_printed_cell_gets_its_value_or_its_reason(perfect):
    found = beside_print("Table 1", segments=perfect)
    whole = data.published("sai2023_table1")
    assert len(found) == 2 * len(whole) == len(found.index.unique())
    here = found[found["computed"].notna() & found["basis"].eq("recomputed from data")]
    assert len(here) == 12  # five languages and the average, two statistics
    assert here["note"].str.len().gt(0).all()
    assert found.loc["hi, chrF++, kendall", "computed"] == float(found.loc["hi, chrF++, kendall", "printed"])
    assert "Hindi's references are corrected" in found.loc["hi, chrF++, kendall", "note"]
    assert "Hindi" not in found.loc["ta, chrF++, kendall", "note"]
    mean = perfect["kendall_b"].mean()
    assert found.loc["average, chrF++, kendall", "computed"] == pytest.approx(mean)
    assert found.loc["ta, COMET-MQM, pearson", "lacking"] == "needs a neural model"
    average = found.loc["average, COMET-QE-DA, pearson"]
    assert average["computed"] == pytest.approx((0.417 + 0.535 + 0.551 + 0.386 + 0.531) / 5)
    assert average["low"] < average["computed"] < average["high"]
    assert average["basis"] == "follows from other printed numbers"


def test_system_level_numbers_are_computed_only_where_print_has_the_same_systems(perfect):
    second = beside_print("Table 2", systems=perfect)
    assert second.loc["gu, chrF++, pearson", "computed"] == perfect["pearson"].iloc[0]
    assert second.loc["hi, chrF++, pearson", "lacking"] == "mBART's outputs never released"
    assert second["computed"].notna().sum() == 2


def subset_rows(perfect):
    values = {"fluency": 0.1, "accuracy": 0.3}
    return pd.concat([perfect.assign(subset=name, rule="authors", kendall_b=v) for name, v in values.items()])


def test_zeros_that_print_drops_are_asked_for(perfect):
    """Table 10 prints .100 as 0.1: a value of .0743 is no match."""
    tenth = beside_print("Table 10", subsets=subset_rows(perfect))
    assert tenth.loc[["mr, chrF++, fluency", "mr, chrF++, accuracy"], "computed"].tolist() == [0.1, 0.3]
    assert tenth.loc["mr, chrF++, fluency", "printed"] == "0.171"
    assert tenth.loc["gu, chrF++, fluency", "printed"] == "0.100"
    told = [verdicts.verdict(tenth.loc["gu, chrF++, fluency", "printed"], value) for value in (0.1004, 0.0743, 0.1006)]
    assert told == ["match", "differs", "differs"]


def test_ranges_are_looked_up_alike():
    ranges = pd.DataFrame({"metric": ["human", "TER", "chrF", "chrF++"], "min": [0.0, 1, 0.97, 1.77]})
    ranges["max"] = [25.0, 361, 100, 100]
    eighth = beside_print("Table 8", ranges=ranges)
    assert eighth.loc[["Human, max", "TER, max", "TER, min"], "computed"].tolist() == [25, 361, 1]
    assert eighth.loc["chrF++, min", "computed"] == 0.97
    assert "With words, as the name says, the lowest is 1.770" in eighth.loc["chrF++, min", "note"]
    assert eighth["computed"].notna().sum() == 6


def test_readings_of_a_name_are_measured_by_both_metrics(perfect):
    first = pd.concat([perfect, perfect.assign(metric="chrF++", pearson=lambda t: t["pearson"] + 0.01)])
    tenth = pd.concat([subset_rows(perfect), subset_rows(perfect).assign(metric="chrF++")])
    ends = pd.DataFrame({"metric": ["chrF", "chrF++"], "min": [0.7, 1.7], "max": 100.0})
    found = printed.readings(first, tenth, ends).set_index(["table", "metric"])
    assert found.loc[("Table 1", "chrF"), ["mean_gap", "equal"]].tolist() == [0, 10]
    assert found.loc[("Table 1", "chrF++"), ["mean_gap", "equal"]].tolist() == pytest.approx([0.005, 5])
    assert found.loc[("Table 8", "chrF"), "largest_gap"] == pytest.approx(1)


# Challenge sets in ACES' format, and their Kendall-like tau

ROW = {"source": 'It "rains" in Pune.', "good-translation": "पुणे में बारिश है।", "phenomena": "antonym"}
ROW |= {"incorrect-translation": "पुणे में धूप है।", "reference": "पुणे में बारिश हो रही है।", "langpair": "en-hi"}


def scored(good, wrong, **columns):
    base = {"challenge": range(len(good)), "phenomena": "x", "source": [f"s{i}" for i in range(len(good))]} | columns
    sides = {"good": good, "incorrect": wrong}
    return pd.concat([pd.DataFrame(base | {"side": side, "m": m}) for side, m in sides.items()], ignore_index=True)


@hypothesis.given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_tau_counts_right_and_wrong_preferences_and_a_tie_is_wrong(pairs):
    good, wrong = zip(*pairs)
    row = metrics.kendall_like(scored(good, wrong), ["m"], resamples=20).iloc[0]
    right = sum(g > w for g, w in pairs)
    assert row["tau"] == pytest.approx((right - (len(pairs) - right)) / len(pairs))
    assert (row["n"], row["ties"]) == (len(pairs), sum(g == w for g, w in pairs))
    assert row["low"] <= row["tau"] + 1e-12
    turned = metrics.kendall_like(scored(good, wrong), ["m"], lower_is_better={"m"}, resamples=20).iloc[0]
    assert turned["tau"] + row["tau"] == pytest.approx(-2 * row["ties"] / row["n"])


def test_intervals_draw_sentences_and_groups_are_apart():
    rng = np.random.default_rng(7)
    good, wrong = rng.normal(0.3, 1, 200), rng.normal(0, 1, 200)
    each = metrics.kendall_like(scored(good, wrong), ["m"], resamples=2000).iloc[0]
    p = (each["tau"] + 1) / 2
    assert each["high"] - each["low"] == pytest.approx(2 * 1.96 * 2 * np.sqrt(p * (1 - p) / 200), rel=0.1)
    # the same judgements of ten sentences only: what is drawn are the sentences
    ten = metrics.kendall_like(scored(good, wrong, source=[f"s{i // 20}" for i in range(200)]), ["m"], resamples=500)
    assert ten.iloc[0]["tau"] == each["tau"]
    both = scored([1, 1, 0, 0], [0, 0, 1, 1], phenomena=["a", "a", "b", "b"])
    found = metrics.kendall_like(both, ["m"], resamples=10)
    columns = ["phenomena", "tau", "low", "high", "n"]
    assert found[columns].to_numpy().tolist() == [["a", 1, 1, 1, 2], ["b", -1, -1, -1, 2]]


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_a_file_in_aces_format_is_read_to_the_letter(tmp_path, suffix):
    path = tmp_path / f"set{suffix}"
    if suffix == ".tsv":
        path.write_text("\t".join(ROW) + "\n" + "\t".join(ROW.values()) + "\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(ROW, ensure_ascii=False) + "\n", encoding="utf-8")
    found = metrics.read_aces(path)
    assert found.to_dict("records") == [ROW | {"language": "hi"}]
    sides = metrics.two_sided(found)
    assert sides["hypothesis"].tolist() == [ROW["good-translation"], ROW["incorrect-translation"]]
    assert sides["side"].tolist() == ["good", "incorrect"]


SCORED = scored([1.0, 2], [0.0, 1])


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("langpair is not", {"langpair": "hi"}),
        ("challenge 2: reference is empty", {"reference": " "}),
        ("the same", {"incorrect-translation": ROW["good-translation"]}),
        ("source is empty", {"source": ""}),
    ],
)
def test_a_challenge_that_is_broken_is_named(words, broken, tmp_path):
    pd.DataFrame([ROW, ROW | broken]).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    with pytest.raises(DataError, match=words):
        metrics.read_aces(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("no column good-translation", lambda folder: metrics.read_aces(folder / "a.tsv")),
        ("no challenge set", lambda folder: metrics.read_aces(folder / "b.jsonl")),
        ("no file c.tsv", lambda folder: metrics.read_aces(folder / "c.tsv")),
        ("no challenges", lambda folder: metrics.read_aces(folder / "d.tsv")),
        ("no column m", lambda _: metrics.kendall_like(SCORED.drop(columns="m"), ["m"])),
        ("one good and one incorrect", lambda _: metrics.kendall_like(SCORED.iloc[:3], ["m"])),
        ("no score", lambda _: metrics.kendall_like(SCORED.assign(m=np.nan), ["m"])),
    ],
)
def test_a_challenge_set_that_is_none_is_refused(words, call, tmp_path):
    (tmp_path / "a.tsv").write_text("source\treference\nx\ty\n")
    (tmp_path / "b.jsonl").write_text("{no json\n")
    (tmp_path / "d.tsv").write_text("\t".join(ROW) + "\n")
    with pytest.raises(DataError, match=words):
        call(tmp_path)


# What Sai et al.'s released files hold


def translations(**changed):
    """Judgements of two systems: three sentences, of which the second system copies the first two."""
    rows = [("A", "1", "a b", 25.0), ("A", "2", "c d", 20.0), ("A", "3", "e f", 10.0)]
    rows += [("B", "1", "a  b", 24.0), ("B", "2", "cd", 20.0), ("B", "3", "x", 5.5)]
    table = pd.DataFrame(rows, columns=["system", "segment", "hypothesis", "score"])
    return table.assign(src_lang="eng", tgt_lang="hin", **changed)


def test_systems_with_the_same_letters_are_copies():
    found = release.copies(translations()).iloc[0]
    assert found[["system", "other", "sentences"]].tolist() == ["A", "B", 3]
    assert (found["same"], found["same_score"]) == (2 / 3, 1 / 3)
    apart = translations(hypothesis=[*"uvwxyz"])
    assert release.copies(apart).empty


def test_rows_of_the_splits_are_found_in_the_files_and_the_others_get_the_system_of_their_place():
    ours = translations(hypothesis=[*"uvwxyz"], own_score=1.0, reference="r")
    more = pd.DataFrame({"system": ["A", "B"], "segment": "4", "hypothesis": ["new", "newer"], "score": [7.0, 8.0]})
    theirs = pd.concat([ours, more.assign(tgt_lang="hin", own_score=1.0, reference="r")], ignore_index=True)
    theirs = theirs.sort_values(["segment", "system"], kind="stable").drop(columns=["system", "score"])
    theirs = theirs.assign(split="train", row=range(len(theirs)), formula_score=9.0)
    standing = release.places(ours, theirs)
    assert standing[["place", "system", "known", "share"]].to_numpy().tolist() == [[0, "A", 3, 1.0], [1, "B", 3, 1.0]]
    both = release.combined(ours, theirs)
    assert both.loc[both["fresh"], ["system", "segment", "score"]].to_numpy().tolist() == [["A", "4", 9], ["B", "4", 9]]
    counted = release.placement(both).iloc[0]
    assert counted[["judgements", "only_in_splits", "placed", "unknown_share"]].tolist() == [8, 2, 2, 0.0]
    cut = theirs[~((theirs["segment"] == "4") & (theirs["hypothesis"] == "newer"))]
    assert release.combined(ours, cut).query("fresh")["system"].tolist() == ["unknown"], "a place of two only"


@hypothesis.given(st.lists(st.integers(1, 40), min_size=6, max_size=6), st.integers(0, 2**32 - 1))
def test_numbers_of_judgements_behind_printed_means_are_among_those_that_fit(counts, seed):
    rng, systems = np.random.default_rng(seed), list(release.PRINTED.values())
    sums = {language: [rng.integers(1, 51, n).sum() / 2 for n in counts] for language in ("gu", "hi", "ta")}
    rows = [(k, s, f"{x / n:.3f}") for k, xs in sums.items() for s, x, n in zip(systems, xs, counts, strict=True)]
    printed = pd.DataFrame(rows, columns=["language", "system", "mean_score"])
    possible = release.denominators(printed).groupby("system")["n"].agg(set)
    assert all(n in possible[name] for name, n in zip(systems, counts, strict=True))


def test_the_release_scores_by_weights_that_its_single_errors_show(real):
    judged, errors = real("indicmt-mqm"), real("indicmt-mqm-spans")
    single = release.single_errors(judged, errors)
    other = single[single["kind"].eq("any other")].set_index("severity")["weight"]
    wanted = SCHEMES["release"].severities
    assert other.to_dict() == {name: wanted[name] for name in other.index}
    assert (single["agreeing"] <= single["n"]).all()
    equal = release.explain(judged, errors).groupby("scheme")[["rows_equal", "rows"]].sum()
    odd = release.odd_rows(judged, errors)
    assert equal.loc["release"].tolist() == [len(judged) - len(odd), len(judged)]
    assert equal["rows_equal"].idxmax() == "release"
    tables = release.claim_tables(judged, errors, release.system_means(judged, file_set="CSV files"))
    assert tables["sizes"].set_index("language")["rows"].to_dict()["all"] == len(judged)
    assert tables["typology"].set_index("group")["types"].pop("all") == len(TYPOLOGIES["Sai et al. 2023, Table 5"])
    assert (tables["non_translations"]["hits"] > 0).all()
