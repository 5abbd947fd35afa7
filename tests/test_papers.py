"""Comparisons with print: claims and specifications, ESA, Knowles & Lo, and that each number stands once."""

import csv
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import ROOT, DataError, data
from evalkit.human import annotators as people
from evalkit.metrics import darr
from evalkit.papers import claims, esa, knowles2024, wmt
from evalkit.stats import verdicts
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
            assert f'printed[printed["study"] == "{study}"]' in source[study]


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
