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
from evalkit.data import stand_ins
from evalkit.data.schemas import map_tables
from evalkit.data.typology import SCHEMES
from evalkit.human import context
from evalkit.metrics import darr, lexical
from evalkit.neural import scorer
from evalkit.papers import claims, esa, knowles2024, wmt
from evalkit.papers.sai2023 import metrics, printed, release
from evalkit.stats import verdicts
from tests import makers
from tests.makers import each

# --- Printed claims stand in their papers' words, and find their computed counterparts, or say which one does not


STANCHEV = "002"
#: Lists of claims, and the paper that each quotes.
LISTS = {"licht2022_prose": "000", "knowles2024_prose": "001", "knowles2024_context": "001"}
LISTS |= {"stanchev2020_claims": STANCHEV, "sai2023_prose": "003", "sudoh2021_claims": "004"}


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
CLAIM = {"paper": "P", "item": "1", "cell": "c", "remark": "r", "printed": "", "table": "usage", "where": ""}
CLAIM |= {"column": "", "how": "only", "basis": "recomputed from data", "lacking": "labels"}


def look_up(claim, *, listed=from_source, table=USAGE):
    """Look up one claim, written as table, where, column, how."""
    table_name, where, column, how = (part.strip() for part in claim.split("|"))
    row = CLAIM | {"table": table_name, "where": where, "column": column, "how": how}
    return claims.look_up(listed(pd.DataFrame([row])), {"usage": USAGE}, data=table)["computed"].iloc[0]


@each
def test_a_claim_finds_its_value(claim, value):
    assert look_up(claim) == value


@each
def test_a_claim_that_leads_nowhere_is_named(claim, words):
    with pytest.raises(DataError, match=f"Claim 1, c: .*{words}"):
        look_up(claim)


def test_on_simulated_data_nothing_is_looked_up():
    assert look_up("usage | annotator=z | mean | only", table=from_source(USAGE.copy(), "simulated")) is None
    assert look_up(" | | | only") is None, "nor where a claim names no table"


def test_without_provenance_nothing_is_compared_with_print():
    """Two loaded tables stacked say no longer that one of them was simulated."""
    stacked = pd.concat([USAGE, from_source(USAGE.copy(), "simulated")])
    for lost in ({"listed": pd.DataFrame}, {"table": stacked}):
        with pytest.raises(DataError, match="where it comes from"):
            look_up("usage | annotator=a | mean | only", **lost)


PRINTED = from_source(pd.DataFrame({"pair": list("abc"), "tau": ["0.10", "0.20", "0.30"], "r": list("123")}), name="t")


def test_claims_of_stanchev_match_or_rest_on_archives_that_could_not_be_had():
    listed = data.published("stanchev2020_claims")
    rows = claims.look_up(listed, darr.claim_tables(listed), data=data.published("wmt20_darr"))
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


def test_misprints_are_what_other_print_denies_by_more_than_rounding(planned):
    rows = planned({"pair": list("abc"), "x": [0.1, 0.25, 0.31]}, {"note": "why.", "within": 0.008})
    found = [("Table 0", "c", "p", "found by itself")]
    assert claims.misprints(found, rows).to_numpy().tolist() == [[*found[0]], ["T", "b", "0.20", "0.250: why."]]
    assert claims.misprints([], rows.assign(basis="recomputed from data")).empty
    assert claims.misprints([], rows.assign(computed=None)).empty, "a simulation has no counterpart of what is printed"


@each
def test_a_specification_that_leads_nowhere_is_named(planned, part, words):
    with pytest.raises(DataError, match=words):
        planned({"pair": ["a", "a" if not part else "b"], "x": [1, 2]}, part)


def test_an_unknown_paper_or_item_is_named():
    with pytest.raises(DataError, match=r"'sai'.* sai2023"):
        claims.compare("sai", {})
    with pytest.raises(DataError, match="'Table 11'"):
        claims.compare("sai2023", {}, items="Table 11")


# --- What the papers on ESA and ESA^AI print is recomputed by their authors' rules, checked by hand


def test_on_simulated_data_nothing_is_compared():
    nothing = pd.DataFrame()
    nothing.attrs["source"] = {"name": "wmt23", "source": "simulated", "origin": "a test", "digest": "none"}
    assert esa.compare(*[nothing] * 4, wmt_marked=nothing)["computed"].isna().all()


def test_pauses_become_the_persons_median_and_each_person_counts_the_same():
    timed = pd.DataFrame({"annotator": [*"aaabb"], "seconds": [10.0, 30, 400, 20, 40], "errors": [0, 3, 0, 2, 2]})
    timed = timed.assign(protocol="ESA-1", item_type="system")
    again = timed.assign(protocol="ESA-IAA"), timed.assign(item_type="degraded", seconds=1.0)
    seconds, errors = ((10 + 30 + 30) / 3 + 30) / 2, (1 + 2) / 2
    found = esa.effort(pd.concat([timed, *again])).to_numpy().tolist()
    assert found == [["ESA", 2, pytest.approx(seconds), errors, pytest.approx(seconds / errors)]]


def test_two_judgements_of_a_translation_are_held_together_as_scipy_and_a_count_do():
    rng = np.random.default_rng(3)
    values = pd.DataFrame(rng.integers(0, 9, (60, 2)) * 1.0).mask(rng.random((60, 2)) < 0.1)
    errors, both = pd.DataFrame(rng.integers(0, 2, (60, 2))), values.notna().all(axis=1)
    x, y = values[both].to_numpy().T
    theirs = stats.kendalltau(x, y, variant="c"), stats.pearsonr(x, y), stats.spearmanr(x, y)
    alike = sum(first == second for first, second in errors[both].to_numpy()) / both.sum()
    wanted = [both.sum(), *(one.statistic for one in theirs), 100 * alike]
    assert [*esa._held(values, errors).values()] == pytest.approx(wanted)


@pytest.fixture(scope="module")
def crowd():
    """Two language pairs as WMT's crowds judge them: copies with degraded segments, z-scores of rounded statistics."""
    return from_source(stand_ins.stand_in("wmt22-mturk", pairs={"ces-eng": {}, "deu-eng": {}}), name="wmt22-mturk")


def before_and_after(pairs):
    """Hold differences before a degraded item against those after it: their means' difference, and Welch's p."""
    before, after = (pairs.loc[pairs["group"] == side, "difference"] for side in ("before", "after"))
    test = stats.ttest_ind(before, after, equal_var=False, alternative="less")
    return before.mean() - after.mean(), test.pvalue


def test_claims_about_degraded_context_rest_on_their_data_sets_and_on_what_annotators_saw(crowd):
    sets, over_all = {"one": crowd, "other": crowd[crowd["src_lang"] == "deu"]}, "pair == 'all' and scale == 'raw'"
    paired = {name: context.pairs(table) for name, table in sets.items()}
    tables = knowles2024.of_context(sets, *(map_tables(paired, one) for one in (context.contrasts, context.welch)))
    for name, table in sets.items():
        degraded = table[table["item_type"] == "degraded"].groupby("annotator")["score"]
        medians = tables[f"{name} degraded by annotator"].set_index("annotator")["median"]
        assert medians.to_dict() == degraded.median().to_dict()
        gap = tables[f"{name} gap"].set_index("scale").at["raw", "before_minus_after"]
        p = tables[f"{name} welch"].query(over_all)["p_less"].item()
        assert (gap, p) == pytest.approx(before_and_after(paired[name]), rel=1e-12)


def test_additional_hits_are_held_against_the_calibration_set(crowd):
    ordinary = crowd[crowd["item_type"].isin(["system", "repeat"])]
    calibration = ordinary[ordinary["doc"] == "sim-doc-01"].assign(item_type="calibration")
    means = knowles2024.of_additional(crowd, calibration)["wmt22-da-sqm means"].set_index("pair")
    known = calibration.groupby("annotator")["score"].mean()
    counted = crowd[~crowd["item_type"].eq("degraded") & crowd["annotator"].isin(known.index)]
    for pair, own in counted.groupby("src_lang"):
        for level, by in (("annotator", ["annotator"]), ("HIT", ["annotator", "hit"])):
            each = own.groupby(by)["score"].mean()
            far = (each - each.index.get_level_values("annotator").map(known)).abs()
            assert means.at[f"{pair}-eng", level] == pytest.approx(far.median(), rel=1e-12)


# --- WMT's official scores, where judgements are missing


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_scores_that_lack_judgements_are_those_of_trying_every_way(seed):
    """Spread the missing zeros over segments in all possible ways, at most one a segment."""
    rng = np.random.default_rng(seed)
    sizes, absent, pulled = rng.integers(1, 4, 6), int(rng.integers(0, 3)), int(rng.integers(0, 4))
    rows = [("S", f"{k}", f"p{n}", float(rng.integers(20, 100))) for k, size in enumerate(sizes) for n in range(size)]
    ratings = makers.laid_out(rows)
    segments = ratings.groupby("segment")["score"]
    counts = {"official_judgements": len(rows) + absent + pulled, "official_segments": 6 + absent}
    here = {"pair": "eng-deu", "system": "S", "judgements": len(rows), "segments": 6}
    here["recomputed"] = segments.mean().mean()
    scores = []
    for chosen in itertools.combinations(segments.groups, pulled):
        lengthened = segments.sum() / (segments.size() + [name in chosen for name in segments.groups])
        scores.append(lengthened.sum() / (6 + absent))
    compared = pd.DataFrame([here | counts | {"official": scores[0], "scale": "raw", "data": "d"}])
    found = wmt.missing_scores({"d": ratings}, compared)
    if not absent + pulled:
        assert found.empty
        return
    assert found[["lowest", "highest"]].iloc[0].tolist() == pytest.approx([min(scores), max(scores)], rel=1e-12)
    assert found[["missing_judgements", "missing_segments"]].iloc[0].tolist() == [absent + pulled, absent]
    assert found["explained"].item()
    far = wmt.missing_scores({"d": ratings}, compared.assign(official=max(scores) + 0.1))
    assert not far["explained"].item()


# --- Each printed number stands in one row of one study: the transcribed tables walked against the reference results


#: These describe: nothing in them is a result.
DESCRIBE = "licht2022_figure1 licht2022_protocols licht2022_table1 licht2022_table2 metric_entries metric_tasks"
DESCRIBE += " metric_tests spbleu_flores sudoh2021_labels"
RESULTS = {path.stem: path for path in (ROOT / "data" / "published").glob("*.csv")}


@pytest.fixture(scope="module")
def compared():
    """Every row of every study's comparison with print."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "data" / "reference").glob("*.json")]
    return [row for report in reports for row in report["published"]]


@pytest.mark.parametrize("name", sorted({*RESULTS} - {*DESCRIBE.split()}))
def test_each_printed_number_stands_as_it_is_printed_in_exactly_one_row_of_one_study(name, compared):
    """Of each column that any study compares with print; which columns these are, the frozen studies tell."""
    rows = [row for row in compared if row.get("place", "").startswith(f"{name}:")]
    assert rows
    assert len(rows) == len({row["place"] for row in rows})
    columns = {row["place"].split(":")[2] for row in rows}
    with RESULTS[name].open(encoding="utf-8", newline="") as file:
        lines = [*enumerate(csv.DictReader(file), start=2)]
    listed = {f"{name}:{n}:{column}": line[column] for n, line in lines for column in columns if line[column]}
    assert {row["place"]: row["printed"] for row in rows} == listed


def test_each_row_says_what_it_rests_on_and_what_it_lacks(compared):
    for row in compared:
        assert row["basis"] in (verdicts.BASES if "place" in row else ["official result"])
        assert (row["verdict"] == "not reproducible") == ("lacking" in row), row
        assert row["verdict"] == verdicts.verdict(row["printed"], row["computed"]), row
    # official results stand in data files; their rows have names instead of places
    names = [(row["paper"], row["item"], row["cell"]) for row in compared if "place" not in row]
    assert len(names) == len({*names})


# Each transcribed table is held against the paper's own text, cell by cell and in the printed order

PAPERS = {"licht2022": "000", "stanchev2020": "002", "sai2023": "003", "sudoh2021": "004"}
#: How print calls what a transcription calls otherwise; a dimension stands before the first of its two rows only.
SPELT = {"fluency kappa": "Fluency κ", "adequacy kappa": "Adequacy κ"}
SPELT |= dict.fromkeys(["fluency concordance", "adequacy concordance"], "r")


def words(line):
    """Split a line of a table into words, without mark-up, brackets and commas between thousands."""
    bare = re.sub(r"</?[a-z]+>|[(),]| (?=\.\s)", "", line)  # one text cuts off a full stop
    return ["average" if word in ("Ave.", "avg") else word for word in bare.split()]


def three_digits(text):
    """Give a number back the zeros at its end that print drops; names stay."""
    return re.sub(r"^-?\d\.\d{1,2}$", lambda number: number[0] + "0" * (5 - len(number[0].lstrip("-"))), text)


def rows_of(paper, table, first, rows):
    """Cut so many lines of a table out of its paper, from the one that starts with ``first``."""
    lines = paper(PAPERS[table.split("_")[0]]).splitlines()
    (start,) = [n for n, line in enumerate(lines) if line.startswith(first)]
    return [words(line) for line in lines[start : start + rows]]


@each
def test_a_table_is_transcribed_as_printed(paper, table, first, rows, name, columns, parts):
    """parts: where a row is several lines of the transcription, what parts these, in the order of print's heading."""
    printed, transcribed = rows_of(paper, table, first, rows), data.published(table)
    column, _, order = parts.partition(": ")
    part = transcribed[column.split()].agg(" ".join, axis=1) if order else ""
    lines = transcribed.assign(part=part).groupby(name.split(), sort=False)
    assert not order or lines["part"].agg(", ".join).eq(order).all()
    made = [[" ".join(key), *own[columns.split()].to_numpy().ravel()] for key, own in lines]
    if parts.startswith("language"):
        printed = [[three_digits(word) for word in line] for line in printed]
    assert [words(" ".join([SPELT.get(key, key), *values])) for key, *values in made] == printed


@pytest.mark.parametrize(("direction", "first"), [("X-EN", "RAW\t0.36"), ("EN-X", "RAW\t0.50")])
def test_kappas_and_their_averages_are_transcribed_as_printed(paper, direction, first):
    tables = [data.published(f"licht2022_{name}") for name in ("table3", "averages")]
    table, averages = (each[each["direction"] == direction] for each in tables)
    own = table.groupby("protocol", sort=False)
    assert own["language"].agg(" ".join).eq("AR ES ET ID MN TA").all()
    means = averages.set_index("protocol")[["avg", "rank"]]
    made = [[protocol, *part["kappa"], *means.loc[protocol]] for protocol, part in own]
    assert made == rows_of(paper, "licht2022_table3", first, 4)


def test_scores_and_ranks_of_languages_are_transcribed_as_printed(paper):
    table, columns = data.published("licht2022_table5"), []
    for direction, method in itertools.product(["X-EN", "EN-X"], ["raw", "cs", "ht", "cs_ht"]):
        half = table[table["direction"] == direction]
        ranked = half.assign(rank=half[f"rank_{method}"].astype(int)).sort_values("rank")
        assert ranked["rank"].tolist() == list(range(1, 15))
        columns.append(ranked[method] + " " + ranked["language"])
    made = [" ".join(line).split() for line in zip(*columns)]
    assert made == rows_of(paper, "licht2022_table5", "4.94 Hindi", 14)


def test_languages_of_the_studies_are_transcribed_as_printed(paper):
    table = data.published("licht2022_table1")
    languages = table.set_index("study")["language"]
    metric, calibration = (languages[f"{name} Study"].reset_index(drop=True) for name in ("Metric", "Calibration"))
    columns = [metric, calibration[:7], calibration[7:]]
    made = [" ".join(line).split() for line in itertools.zip_longest(*columns, fillvalue="")]
    assert made == rows_of(paper, "licht2022_table1", "Arabic\tAmharic", 7)


def test_spbleu_is_the_collected_table(mirrored):
    as_text = {"dtype": str, "quoting": csv.QUOTE_NONE, "keep_default_na": False}
    collected = pd.read_csv(mirrored("spbleu_flores.tsv"), sep="\t", **as_text)
    table = data.published("spbleu_flores")
    assert list(table) == ["pair", "testset", "system", "spbleu", "repository", "commit", "path"]
    assert table.to_numpy().tolist() == collected.to_numpy().tolist()


def test_published_tables_say_where_they_come_from():
    source = data.published("licht2022_table5").attrs["source"]
    assert source["origin"] == "Licht et al. 2022, Table 5"
    assert re.fullmatch("sha256:[0-9a-f]{64}", source["digest"])
    with pytest.raises(DataError, match=r"no published table 'licht2022_tabel5'.*Did you mean licht2022_table5\?"):
        data.published("licht2022_tabel5")


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
    return tmp_path / "ta.vec"


def test_vectors_fill_their_rows_for_the_languages_that_have_them(tamil, drawn):
    rows = metrics.table1(tamil, files={"tam": drawn})
    assert set(rows["basis"]) == {"recomputed from data"}
    assert rows["place"].str.fullmatch(r"sai2023_table1:\d+:(pearson|kendall)").all()
    assert sorted(rows["cell"]) == sorted(f"ta, {m}, {r}" for m in ("EA", "VE", "GM") for r in ("pearson", "kendall"))
    ea = scorer.scores(tamil, vectors={"tam": drawn})["EA"]
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
        gold = [part["score"].clip(lower=0) for _, part in ratings.groupby("tgt_lang")]
        wanted = [correlation(scored[own.index], own).statistic for own in gold]
        assert computed[f"average, PRISM, {column}"] == pytest.approx(np.mean(wanted))
        assert computed[f"average, LabSE embs, {column}"] == pytest.approx(-np.mean(wanted))


def test_what_is_not_given_or_unknown_is_refused(tamil, drawn):
    for words, call in {
        "No word vectors, model or scores": lambda: metrics.table1(tamil),
        "'Prism'": lambda: metrics.table1(tamil, columns=["Prism"]),
        "'ta'.* tam": lambda: metrics.table1(tamil, files={"ta": drawn}),
        "'PRISM'": lambda: metrics.table1(tamil, columns=["PRISM"]),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


# What Sai et al.'s tables contradict by themselves, by plain arithmetic on the transcriptions


@pytest.fixture(scope="module")
def sai():
    return {f"table{number}": data.published(f"sai2023_table{number}") for number in (1, 2, 3, 4, 9, 10)}


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
    found = pd.DataFrame(printed.misprints(sai), columns=claims.MISPRINT)
    cells = found.loc[found["table"] == "Table 2", "cell"]
    assert set(cells[cells.str.endswith("kendall")]) == wrong
    cut = found[found["evidence"].str.startswith("cut off")]
    assert cut["printed"].tolist() == [re.search(r"\d\.\d{3}", text)[0] for text in cut["evidence"]]


def test_correlations_called_significant_are_listed_where_their_distribution_says_otherwise(sai):
    n, cells = 1400, sai["table1"][sai["table1"]["language"] != printed.AVERAGE]
    null = {"pearson": stats.beta(n / 2 - 1, n / 2 - 1, loc=-1, scale=2)}
    null["kendall"] = stats.norm(scale=np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))
    p = {name: 2 * of.sf(cells[name].astype(float).abs()) for name, of in null.items()}
    wanted = {f"{m}, {to}, {name}" for name in p for m, to in cells.loc[p[name] > 0.05, ["metric", "language"]].values}
    found = pd.DataFrame(printed.misprints(sai), columns=claims.MISPRINT)
    assert {*found.loc[found["table"] == "Table 1", "cell"]} == wanted


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


BROKEN = {
    "langpair is not": {"langpair": "hi"},
    "challenge 2: reference is empty": {"reference": " "},
    "the same": {"incorrect-translation": ROW["good-translation"]},
    "source is empty": {"source": ""},
}


@pytest.mark.parametrize(
    ("words", "name", "content"),
    [
        ("no column good-translation", "a.tsv", "source\treference\nx\ty\n"),
        ("no challenge set", "a.jsonl", "{no json\n"),
        ("no file b.tsv", "b.tsv", None),
        ("no challenges", "a.tsv", "\t".join(ROW) + "\n"),
        *((words, "a.jsonl", f"{json.dumps(ROW)}\n{json.dumps(ROW | one)}\n") for words, one in BROKEN.items()),
    ],
)
def test_a_challenge_set_that_is_none_or_broken_is_refused(words, name, content, tmp_path):
    if content:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        metrics.read_aces(tmp_path / name)


@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("no column m", SCORED.drop(columns="m")),
        ("one good and one incorrect", SCORED.iloc[:3]),
        ("no score", SCORED.assign(m=np.nan)),
    ],
)
def test_scores_that_prefer_nothing_are_refused(words, table):
    with pytest.raises(DataError, match=words):
        metrics.kendall_like(table, ["m"])


# What Sai et al.'s released files hold


@hypothesis.given(st.lists(st.integers(1, 40), min_size=6, max_size=6), st.integers(0, 2**32 - 1))
def test_numbers_of_judgements_behind_printed_means_are_among_those_that_fit(counts, seed):
    rng, systems = np.random.default_rng(seed), list(release.PRINTED.values())
    sums = {language: [rng.integers(1, 51, n).sum() / 2 for n in counts] for language in ("gu", "hi", "ta")}
    rows = [(k, s, f"{x / n:.3f}") for k, xs in sums.items() for s, x, n in zip(systems, xs, counts, strict=True)]
    printed = pd.DataFrame(rows, columns=["language", "system", "mean_score"])
    possible = release.denominators(printed).groupby("system")["n"].agg(set)
    assert all(n in possible[name] for name, n in zip(systems, counts, strict=True))


def test_two_systems_of_marathi_are_one(real):
    marathi = real("indicmt-mqm").query("tgt_lang == 'mar'").pivot(index="segment", columns="system")["hypothesis"]
    both = marathi[["bing_api", "cvit_iiith"]].dropna().apply(lambda texts: texts.str.split().str.join(""))
    assert both["bing_api"].equals(both["cvit_iiith"].rename("bing_api"))


def test_the_release_scores_by_weights_that_its_single_errors_show(real):
    judged, errors = real("indicmt-mqm"), real("indicmt-mqm-spans")
    single = release.single_errors(judged, errors)
    weights = single[single["kind"].eq("any other")].set_index("severity")["weight"]
    wanted = SCHEMES["release"].severities
    assert weights.to_dict() == {name: wanted[name] for name in weights.index}
    equal = release.explain(judged, errors).groupby("scheme")[["rows_equal", "rows"]].sum()
    assert equal.loc["release"].tolist() == [len(judged) - len(release.odd_rows(judged, errors)), len(judged)]
    assert equal["rows_equal"].idxmax() == "release"
    tables = release.claim_tables(judged, errors, release.system_means(judged, file_set="CSV files"))
    assert tables["sizes"].set_index("language").at["all", "rows"] == len(judged)
