"""Exports of Appraise: which segment an item is, degraded items, MQM by typed spans, people by accounts."""

import csv
import json
import time
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from evalkit import DataError, data
from evalkit.campaign.method import choose_method
from evalkit.campaign.opening import from_ratings
from evalkit.campaign.people.agreement import every_two, measure_agreement
from evalkit.data.importing.accounts import owners
from evalkit.human.annotators.quality_control import quality_pairs
from evalkit.reports.cli.campaigns import import_files

pytestmark = pytest.mark.usefixtures("own_salt")

RELEASED = "minor=1,major=5,critical=25,linguistic conventions/punctuation:*=0.1"  # the campaign's own weights


@pytest.fixture
def ruction(mirrored):
    """Name the folder of the campaign that judged one set of texts under four protocols."""
    files = sorted(
        mirrored("MANIFEST.tsv").parent.glob("wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5")
    )
    assert len(files) == 1
    return files[0]


def spans(*marked):
    """Write spans as a cell: (severity, type) of each."""
    listed = [{"start_i": 0, "end_i": 1, "severity": severity, "error_type": kind} for severity, kind in marked]
    return '"' + json.dumps(listed).replace('"', '""') + '"'


class Tasks:
    """Write the rows of an export, in the order of a clock."""

    def __init__(self):
        self.rows, self.clock = [], 1000

    def show(self, account, system, doc, first, count, *, kind="TGT", score=50, cell="[]", marks="", without=()):
        for item in range(first, first + count):
            self.clock += 2
            if item not in without:
                self.rows.append(
                    f"{account},{system},{item},{kind},eng,deu,{score},{doc}#{system.split('.')[-1]}{marks},"
                    f"False,{cell},{self.clock}.5,{self.clock + 1}.5"
                )
        return self

    def __str__(self):
        return "\n".join(self.rows) + "\n"


def placed(ratings, kinds=("system",)):
    """Map system, document and segment to the item numbers by score order."""
    kept = ratings[ratings["item_type"].isin(kinds)]
    return kept.groupby(["doc", "segment"])["system"].nunique()


EXPORTS = {
    "ESA-1": ("240315rc5ESA", "esa"),
    "ESA-2": ("240520rc6ESA", "esa"),
    "MQM-1": ("240315rc5MQM", "mqm"),
    "ESAAI-1": ("240315rc5GEMBA", "esa"),
    "ESAAI-2": ("240520rc6GEMBA", "esa"),
    "ESA-IAA": ("240521rc6ESA", "esa"),
    "ESAAI-IAA": ("240521rc6GEMBA", "esa"),
    "MQM-IAA": ("240521rc6MQM", "mqm"),
}
LINES = 557  # of the test set: each system has so many in a file of scores


def released(folder, protocol):
    """Read the released scores of segments by system and line."""
    rows = [line.split("\t") for line in (folder / f"en-de.{protocol}.seg.score").read_text().splitlines()]
    assert len(rows) % LINES == 0
    return {(system, str(place % LINES)): float(score) for place, (system, score) in enumerate(rows) if score != "None"}


@pytest.mark.parametrize("protocol", EXPORTS)
def test_with_batches_the_released_scores_come_out_in_every_row(protocol, ruction, imported):
    name, kind = EXPORTS[protocol]
    told = {"weights": RELEASED} if kind == "mqm" else {}
    ratings, marked, report = imported(
        ruction / f"{name}.scores.csv", batches=ruction / f"data/batches_wmt23_en-de_{kind}.json", **told
    )
    judged = ratings[ratings["item_type"].isin(["system", "reference"])]
    found = dict(zip(zip(judged["system"], judged["segment"]), judged["score"]))
    expected = released(ruction, protocol)
    assert len(found) == len(judged)
    assert len(expected) == (2691 if "IAA" not in protocol else 995 if "AI" in protocol else 984)
    assert found == pytest.approx(expected, abs=1e-9)
    assert "exactly" in report.segments
    assert (report.scale is None) == (kind == "mqm") == ("critical 25" in report.weights)
    assert ("accuracy/mistranslation" in set(marked["error_type"])) == (kind == "mqm")
    assert "higher is better" in report.orientation


def lines_of(ruction):
    """Read the lines of a document from what Appraise was given: (system, document) -> lines in order."""
    found = defaultdict(set)
    for task in json.loads((ruction / "data/batches_wmt23_en-de_esa.json").read_text()):
        for item in task["items"]:
            if "_item" in item:
                _, line, doc = item["_item"].split(" | ")
                found[doc].add(int(line))
    return {doc: sorted(lines) for doc, lines in found.items()}


def test_without_batches_order_within_documents_finds_the_segments_and_names_what_is_unsure(ruction, imported):
    ratings, _, report = imported(ruction / "240315rc5ESA.scores.csv")
    both = placed(ratings, ("system", "reference"))
    assert (len(both), set(both)) == (207, {13})
    docs = lines_of(ruction)
    judged = ratings[ratings["item_type"].isin(["system", "reference"])]
    by_line = {
        (row.system, str(docs[row.doc][int(row.segment) - 1])): row.score for row in judged.itertuples()
    }  # the n-th segment of a document is its n-th line
    assert by_line == pytest.approx(released(ruction, "ESA-1"), abs=1e-9)
    assert "132 of 207 segments are sure" in report.segments
    assert "75 lie in 14 documents that were cut" in report.segments
    for doc in ("thelocal.17459", "elitr_minuting-19", "manlycoffee.110351250115060992", "cnn.151755"):
        assert doc in report.segments
    assert "--batches" in report.segments


def test_degraded_items_find_their_originals_and_what_is_no_judgement_is_told(ruction, imported):
    path = ruction / "240315rc5ESA.scores.csv"
    ratings, _, report = imported(path)
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    bad = [row for row in rows if row[3] == "BAD"]
    assert len(bad) == 398
    again = len(bad) - len({(row[0], row[2]) for row in bad})  # submitted twice
    pairs = quality_pairs(ratings)
    assert len(pairs) == (ratings["item_type"] == "degraded").sum() == 398 - again == 397
    campaign = from_ratings(ratings)
    assert campaign.control["qc_pairs"].sum() == 397
    assert (choose_method(campaign).unit, len(campaign.systems)) == (("annotator", "doc"), 12)
    assert report.excluded["is an item of the tutorial"] == sum("tutorial" in row[1] for row in rows) == 198
    filler = sum("#duplicate" in row[7] and row[3] == "TGT" for row in rows)
    assert report.excluded["is an item of a document shown again to fill a task"] == filler == 14
    assert set(ratings.loc[ratings["system"].eq("refA"), "item_type"]) == {"reference", "degraded"}
    assert any("'wmt23.'" in note for note in report.notes)
    assert not ratings["system"].str.contains("wmt23").any()


def test_accounts_are_people(ruction, imported):
    ratings, _, report = imported(ruction / "240315rc5ESA.scores.csv", accounts=ruction / "Annotators_mapping.csv")
    with (ruction / "Annotators_mapping.csv").open(encoding="utf-8-sig", newline="") as stream:
        people = {row["login"]: row["AnnotatorID"] for row in csv.DictReader(stream)}
    assert (ratings["annotator"] == ratings["hit"].map(people)).all()
    assert (ratings["hit"].nunique(), ratings["annotator"].nunique(), report.annotators) == (33, 8, 8)


def test_under_pseudonyms_neither_accounts_nor_people_are_named(ruction, imported):
    ratings, _, report = imported(
        ruction / "240315rc5ESA.scores.csv", accounts=ruction / "Annotators_mapping.csv", keep_names=False
    )
    text = ratings.to_csv() + report.as_json()
    assert "engdeu69" not in text
    assert "1195751" not in text
    assert (ratings["hit"].nunique(), ratings["annotator"].nunique()) == (33, 8)


def test_the_largest_export_of_the_mirror_takes_seconds(mirrored, imported):
    [path] = mirrored("MANIFEST.tsv").parent.glob(
        "wmt-conference/wmt24-news-systems/*/humeval/esa_generalMT2024_wave2.csv"
    )
    start = time.monotonic()
    ratings, _, report = imported(path)
    assert time.monotonic() - start < 60  # 3 seconds on two cores; what is squared in the number of rows takes hours
    assert "the systems of a document share 100% of them" in report.segments
    raw = {(row[1], row[2]) for row in csv.reader(path.open(encoding="utf-8", newline=""))}
    assert set(zip(ratings["system"], ratings["segment"])) <= raw


def whole():
    """Three systems, two documents, each system in an account of its own, at places of its own."""
    tasks = Tasks()
    for number, system in enumerate(("wmt23.refA", "wmt23.X", "wmt23.Y")):
        tasks.show(f"deu0{number}", system, "d", 5 + 7 * number, 3, score=10 + number)
        tasks.show(f"deu0{number}", system, "e", 50 - 9 * number, 4, score=20 + number)
    return tasks


def test_places_in_tasks_become_segments_by_their_order(imported):
    ratings, _, report = imported(str(whole()))
    both = placed(ratings, ("system", "reference"))
    assert both.to_dict() == {(doc, str(n)): 3 for doc, size in (("d", 3), ("e", 4)) for n in range(1, size + 1)}
    assert "7 of 7 segments are sure" in report.segments
    assert sorted(ratings["item_type"].unique()) == ["reference", "system"]
    assert from_ratings(ratings).shared_segments == 1.0


def test_an_item_that_is_missing_inside_a_document_moves_no_other(imported):
    tasks = whole().show("deu04", "wmt23.Z", "e", 30, 4, without=(31,)).show("deu04", "wmt23.Z", "d", 60, 3)
    ratings, _, report = imported(str(tasks))
    assert sorted(ratings.query("system == 'Z' and doc == 'e'")["segment"]) == ["1", "3", "4"]
    assert "7 of 7" in report.segments


def test_exports_without_spans_are_no_exception(imported):
    tasks = whole().show("deu04", "wmt23.Z", "d", 60, 3).show("deu04", "wmt23.Z", "d", 90, 3, kind="BAD", marks="#bad1")
    ratings, _, report = imported(str(tasks).replace(",[],", ","))
    assert report.format == "appraise"
    assert "7 of 7 segments are sure" in report.segments
    assert sorted(ratings.query("system == 'Z'")["segment"]) == ["1", "1", "2", "2", "3", "3"]
    assert len(quality_pairs(ratings)) == 3
    assert ratings["hit"].nunique() == 4


def test_kinds_of_items_hold_with_spans(imported):
    tasks = whole().show("deu04", "wmt23.Z", "d", 60, 3).show("deu04", "wmt23.V", "d", 70, 3, kind="REF")
    ratings, _, _ = imported(str(tasks))
    assert set(ratings.query("system == 'V'")["item_type"]) == {"reference"}


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [("deu09", "deu0a", True), ("deu09", "deu10", True), ("Ann", "Bob", False), ("deu07", "deu09", False)],
)
def test_parts_are_joined_only_where_accounts_follow_each_other(one, other, joined, imported):
    tasks = whole().show(one, "wmt23.Z", "d", 60, 2).show(other, "wmt23.Z", "d", 8, 1)
    tasks.show(other, "wmt23.Z", "d", 90, 1, kind="BAD", marks="#bad4").show(other, "wmt23.Z", "e", 40, 4)
    ratings, _, report = imported(str(tasks))
    part = ratings[ratings["system"].eq("Z") & ratings["doc"].eq("d")]
    clean = part[part["item_type"].eq("system")]
    assert len(quality_pairs(ratings)) == 1  # the degraded copy is of the part that its account saw
    assert "4 of 7 segments are sure" in report.segments
    assert "1 documents that were cut for a system (d)" in report.segments
    assert ("likely and not certain" in report.segments) == joined
    if joined:
        assert clean.sort_values("started")["segment"].tolist() == ["1", "2", "3"]
    else:
        assert not set(clean["segment"]) & {"1", "2", "3"}
        assert clean["segment"].is_unique
        assert "share no segment" in report.segments


def test_item_numbers_that_are_segments_stay(imported):
    tasks = Tasks()
    for number, system in enumerate(("A", "B", "C")):
        for doc, first in (("d", 101), ("e", 201)):
            tasks.show(f"deu0{number}", system, doc, first, 3)
    ratings, _, report = imported(str(tasks))
    assert sorted(ratings["segment"].unique()) == ["101", "102", "103", "201", "202", "203"]
    assert "share 100% of them" in report.segments


def test_numbers_that_are_neither_stay_and_are_told(imported):
    tasks = Tasks()
    for number, system in enumerate(("A", "B", "C")):  # of each document every system has other segments
        for doc in ("d", "e"):
            for place in range(3):
                tasks.show(f"deu0{number}", system, doc, 1 + 10 * place + 2 * number, 1)
    ratings, _, report = imported(str(tasks))
    assert set(ratings["segment"]) == {str(1 + 10 * place + 2 * number) for place in range(3) for number in range(3)}
    assert "share only 0% of them" in report.segments


def batch(*items, named=True):
    listed = [
        {
            "itemID": item,
            "documentID": doc,
            "targetID": system,
            "itemType": "TGT",
            "sourceText": text,
            **({"_item": f"{system} | {line} | {doc}"} if named else {"_item": 0}),
        }
        for item, doc, system, line, text in items
    ]
    return {"items": listed, "task": {}}


def two_tasks(named):
    """Two accounts whose tasks have the same numbers for the same document and system, and mean other segments."""
    one = batch(
        (1, "d#X", "X", 10, "a"),
        (2, "d#X", "X", 11, "b"),
        (3, "d#X", "X", 12, "a"),
        (9, "f#X", "X", 30, "f"),
        named=named,
    )
    two = batch(
        (1, "d#Y", "Y", 10, "a"),
        (2, "d#Y", "Y", 11, "b"),
        (3, "d#Y", "Y", 12, "a"),
        (9, "g#X", "X", 31, "g"),
        named=named,
    )
    three = batch((1, "d#Y", "Y", 11, "b"), (2, "d#Y", "Y", 12, "a"), (9, "h#X", "X", 32, "h"), named=named)
    return [one, two, three]


@pytest.mark.parametrize("named", [True, False])
def test_batches_tell_segments_task_by_task(named, imported, tmp_path):
    (tmp_path / "batches.json").write_text(json.dumps(two_tasks(named)))
    tasks = Tasks().show("a", "X", "d", 1, 3).show("a", "X", "f", 9, 1).show("b", "Y", "d", 1, 3)
    tasks.show("b", "X", "g", 9, 1).show("c", "Y", "d", 1, 2).show("c", "X", "h", 9, 1)
    ratings, _, report = imported(str(tasks), batches=[tmp_path / "batches.json"])
    found = ratings.query("doc == 'd'").sort_values(["hit", "started"]).groupby("hit")["segment"].agg(list).to_dict()
    numbers = ["10", "11", "12"] if named else ["1", "2", "3"]
    assert found == {"a": numbers, "b": numbers, "c": numbers[1:]}
    assert "all 11 items" in report.segments


def test_items_that_no_task_has_share_no_segment_and_are_told(imported, tmp_path):
    (tmp_path / "batches.json").write_text(json.dumps(two_tasks(named=True)))
    tasks = Tasks().show("a", "X", "d", 1, 3).show("a", "X", "f", 9, 1).show("b", "X", "new", 1, 2)
    ratings, _, report = imported(str(tasks), batches=tmp_path / "batches.json")
    assert "for 4 of 6 items" in report.segments
    assert "(documents new)" in report.segments
    assert ratings.query("doc == 'new'")["segment"].str.contains("@").all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("{}", "is no list of tasks"),
        ('[{"tasks": 1}]', "without items"),
        ('[{"items": [7]}]', "without items"),
        ('[{"items": [{"itemID": 1, "documentID": "d", "targetID": "X"}]}]', "lack a sourceText"),
        ('[{"items": [{"itemID": 1, "documentID": "q", "targetID": "X", "_item": "X | 1 | q"}]}]', "none of the items"),
        (None, "is not there"),
    ],
)
def test_what_are_no_batches_is_refused(content, message, imported, tmp_path):
    if content is not None:
        (tmp_path / "b.json").write_text(content)
    with pytest.raises(DataError, match=message):
        imported(str(whole()), batches=tmp_path / "b.json")


HEAD = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd,sourceText\n"


def test_source_texts_tell_segments(imported):
    rows, clock = [], 0
    shown = [
        ("u1", "A", 5, "abcb"),
        ("u2", "B", 30, "bcb"),
        ("u3", "C", 60, "a"),
        ("u3", "C", 70, "cb"),
        ("u4", "D", 9, "b"),
    ]
    for account, system, first, texts in shown:
        for place, text in enumerate(texts):
            clock += 1
            rows.append(f"{account},{system},{first + place},TGT,eng,deu,50,d,False,{clock},{clock},{text}")
    rows.append(rows[1].replace(",50,", ",60,").replace("2,2,", "2.5,99,"))  # the item b of A, submitted again
    ratings, _, report = imported(HEAD + "\n".join(rows) + "\n")
    assert ratings.query("score == 60")["segment"].tolist() == ["2"]
    ratings = ratings.query("score == 50")
    found = ratings.groupby("system")["segment"].agg(list).to_dict()
    assert {name: found[name] for name in "AB"} == {"A": ["1", "2", "3", "4"], "B": ["2", "3", "4"]}
    assert found["C"][0] == "1"
    assert "source texts" in report.segments
    assert found["D"][0].startswith("9@")  # the text stands twice in the document
    assert "d" in report.segments.split("share no segment")[0]


@pytest.mark.parametrize(
    ("systems", "before"),
    [
        (("wmt23.A", "wmt23.B"), "wmt23."),
        (("newstest2021.online-A", "newstest2021.online-B"), "newstest2021."),
        (("set.refA", "set.X"), "set."),
        (("GPT-3.5", "GPT-3.7"), ""),
        (("online.A", "online.B"), ""),
        (("A", "B"), ""),
    ],
)
def test_what_stands_before_all_systems_is_set_apart_where_it_is_a_test_set(systems, before, imported):
    rows = [f"u{place},{name},{place},TGT,eng,deu,5,d,False,{place},{place}" for place, name in enumerate(systems)]
    ratings, _, report = imported("\n".join(rows) + "\n")
    assert sorted(ratings["system"]) == sorted(name.removeprefix(before) for name in systems)
    assert any("set apart" in note for note in report.notes) == bool(before)


MINOR = ("minor", ["Fluency", "Punctuation"])
MAJOR = ("Major", ["Accuracy", "Addition"])
CRITICAL = ("CRITICAL", "Terminology")


def test_typed_errors_make_the_score_whatever_stands_in_its_column(imported):
    tasks = whole()
    tasks.rows = []
    for number, (system, cell) in enumerate([("A", spans(MINOR, MAJOR)), ("B", spans(CRITICAL)), ("C", "[]")]):
        tasks.show("deu01", system, "d", 1 + number, 1, score=90 - number, cell=cell)
    ratings, marked, report = imported(str(tasks))
    assert ratings.set_index("system")["score"].to_dict() == pytest.approx({"A": -5.1, "B": -10, "C": 0})
    assert marked["error_type"].tolist() == ["fluency/punctuation", "accuracy/addition", "terminology"]
    assert marked["severity"].tolist() == ["minor", "major", "critical"]
    assert marked["weight"].tolist() == [0.1, 5, 10]
    assert "minus" in report.orientation
    assert "Freitag" in report.weights
    assert any("3 different values" in note for note in report.notes)
    ratings, _, report = imported(str(tasks), weights="minor=1,major=2,critical=25")
    assert ratings.set_index("system")["score"].to_dict() == {"A": -3, "B": -25, "C": 0}
    ratings, _, report = imported(str(tasks), scale=(-8, 0))
    assert (report.scale, report.rows_rejected, len(ratings)) == ([-8, 0], 1, 2)


def test_an_error_without_a_weight_rejects_its_judgement(imported):
    tasks = (
        Tasks().show("u", "A", "d", 1, 3, cell=spans(MAJOR)).show("u", "A", "d", 4, 1, cell=spans(("undecided", "X")))
    )
    ratings, _, report = imported(str(tasks))
    assert (len(ratings), report.rows_rejected) == (3, 1)
    assert "no weight" in next(iter(report.reasons))


def test_few_types_make_no_mqm(imported):
    tasks = Tasks().show("u", "A", "d", 1, 3, cell=spans(("minor", None))).show("u", "A", "d", 4, 1, cell=spans(MAJOR))
    ratings, _, report = imported(str(tasks))
    assert set(ratings["score"]) == {50.0}
    assert any("1 of 4 marked errors name a type" in note for note in report.notes)
    assert not report.weights


def test_low_is_never_good_in_appraise(imported):
    with pytest.raises(DataError, match="Leave --lower-is-better out"):
        imported(str(whole()), lower_is_better=True)


def repeated(agree):
    """Two people who differ on a system's output, and see a reference twice."""
    rows, clock = [], 0
    for account, shift in (("u1", 0), ("u2", 25)):
        for again in range(2):
            for segment in range(12):
                clock += 1
                if not again:
                    score = (segment * 37) % 60 + shift * (segment % 2)
                    rows.append(f"{account},A,{segment},TGT,eng,deu,{score},d,False,{clock},{clock}")
                if agree:
                    score = 100 if segment % 2 else 90
                    rows.append(f"{account},translator-A,{segment},TGT,eng,deu,{score},d,False,{clock}.1,{clock}.2")
    return "\n".join(rows) + "\n"


def test_second_showings_of_references_enter_no_agreement(imported):
    with_them, _, _ = imported(repeated(agree=True))
    assert with_them.query("system == 'translator-A'")["item_type"].value_counts().to_dict() == {
        "reference": 24,
        "repeat": 24,
    }
    without, _, _ = imported(repeated(agree=False))
    pair = [from_ratings(frame) for frame in (with_them, without)]
    found, expected = (measure_agreement(campaign) for campaign in pair)
    assert (found.estimate, found.items) == (expected.estimate, expected.items)
    assert found.items == 12
    tables = [every_two(campaign.part) for campaign in pair]
    pd.testing.assert_frame_equal(*tables)


def test_agreement_of_the_sign_language_file(mirrored, imported):
    folder = mirrored("MANIFEST.tsv").parent.parent / "strangers"
    if not folder.is_dir():
        pytest.skip("the folder of strangers' files is not beside the data")
    ratings, _, _ = imported(folder / "slt_reference_repeats.csv")
    assert round(measure_agreement(from_ratings(ratings)).estimate, 3) == 0.941
    ratings, _, report = imported(folder / "esa_same_docs_13_systems.csv")
    assert set(placed(ratings, ("system", "reference"))) == {13}
    assert "5 of 5 segments are sure" in report.segments
    ratings, marked, _ = imported(folder / "appraise_mqm_scores_all_zero.csv")
    totals = marked.groupby(["system", "doc", "segment"], observed=True)["weight"].sum()
    scores = ratings.set_index(["system", "doc", "segment"])["score"]
    assert scores.sum() == pytest.approx(-totals.sum())
    assert scores.min() < -1


ACCOUNTS = {
    "two.csv": "deu00,Ann\ndeu01,Ann\ndeu02,Bob\n",
    "turned.csv": "Ann,deu00\nAnn,deu01\nBob,deu02\n",
    "headed.tsv": "person\taccount\nAnn\tdeu00\nAnn\tdeu01\nBob\tdeu02\n",
    "more.csv": "AnnotatorID,protocol,login,,\nAnn,ESA,deu00,,\nAnn,ESA,deu01,,\nBob,MQM,deu02,,\n",
    "semicolons.csv": "\ufefflogin;name\r\ndeu00;Ann\r\ndeu01;Ann\r\ndeu02;Bob\r\n",
    "flat.json": '{"deu00": "Ann", "deu01": "Ann", "deu02": "Bob"}',
    "lists.json": '{"Ann": ["deu00", "deu01"], "Bob": ["deu02"]}',
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_files_of_accounts_are_read_in_every_form(name, tmp_path, imported):
    (tmp_path / name).write_text(ACCOUNTS[name], encoding="utf-8")
    assert owners(tmp_path / name) == {"deu00": "Ann", "deu01": "Ann", "deu02": "Bob"}
    ratings, _, report = imported(str(whole()), accounts=tmp_path / name)
    assert ratings.groupby("hit")["annotator"].first().to_dict() == {"deu00": "Ann", "deu01": "Ann", "deu02": "Bob"}
    assert report.annotators == 2


def test_accounts_hold_in_other_formats(tmp_path, imported):
    (tmp_path / "a.csv").write_text("u1,Ann\nu2,Ann\n")
    rows = "src_lang,tgt_lang,system,doc,segment,annotator,score\neng,deu,A,d,1,u1,80\neng,deu,A,d,2,u2,70\n"
    ratings, _, report = imported(rows + "eng,deu,A,d,2,u3,70\n", accounts=tmp_path / "a.csv")
    assert ratings["annotator"].tolist() == ["Ann", "Ann", "u3"]
    assert ratings["hit"].tolist() == ["u1", "u2", "u3"]
    assert any("names 2 of 3 accounts" in note for note in report.notes)


TWICE = (("u1", "Major"), ("u2", "Minor"))


def test_two_accounts_of_one_person_stay_two_judgements_in_mqm(tmp_path, imported):
    (tmp_path / "a.csv").write_text("u1,Ann\nu2,Ann\n")
    head = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tlp\n"
    rows = [f"A\td\t1\t{name}\ts\t<v>t</v>\tOther\t{level}\ten-de" for name, level in TWICE]
    ratings, marked, _ = imported(head + "\n".join(rows) + "\n", accounts=tmp_path / "a.csv")
    assert ratings[["annotator", "hit", "score"]].values.tolist() == [["Ann", "u1", -5.0], ["Ann", "u2", -1.0]]
    assert marked[["annotator", "hit", "weight"]].values.tolist() == [["Ann", "u1", 5.0], ["Ann", "u2", 1.0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,Ann\ny,Bob\n", "names none of the accounts"),
        ("account,person\ndeu00,Ann\ndeu00,Bob\n", "to two people"),
        ("deu00,Ann,7\n", "has 3 columns"),
        ("deu00,\n", "columns|lacks"),
        ("deu00,Ann\n,Bob\n", "lacks its account"),
        ("", "columns|names no accounts"),
        ('{"deu00": {"name": "Ann"}}', "no name"),
        ("[1]", "no JSON object"),
        ('{"a":' * 100_000, "is no JSON"),
    ],
)
def test_files_of_accounts_that_say_nothing_sound_are_refused(content, message, tmp_path, imported):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        imported(str(whole()), accounts=tmp_path / "a.csv")


ROW = "deu01,SysA,{segment},TGT,eng,deu,{score}"
LAYOUTS = {
    "batch 11": ROW + ",{time}.5,{time}.75,3,812",
    "batch 13": ROW + ",doc,False,{time}.5,{time}.75,3,812",
    "batch 14": ROW + ",doc,False,[],{time}.5,{time}.75,3,812",
    "two systems": ROW + ",doc,False,{time}.5,{time}.75,3,812,0",
    "comments": ROW + ",a comment,,{time}.5,{time}.75",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_further_layouts_of_appraise_are_read(name, imported):
    rows = [LAYOUTS[name].format(segment=place, score=10 * place, time=place) for place in range(1, 5)]
    ratings, _, report = imported("\n".join(rows) + "\n")
    assert report.format == ("esa" if name == "batch 14" else "appraise")
    assert ratings["score"].tolist() == [10, 20, 30, 40]
    assert ratings["started"].tolist() == [1.5, 2.5, 3.5, 4.5]


@pytest.mark.parametrize(
    "row",
    [
        "u,news,http://x/1,SysA,{n},TGT,eng,deu,50,1,{n}.5,{n}.75",
        "u,SysA,SysB,{n},TGT,eng,deu,50,60,d,False,{n}.5,{n}.7",
        "u,SysA,{n},TGT,eng,deu,50,d,False,[],more,{n}.5,{n}.75",
    ],
)
def test_layouts_that_are_not_known_are_refused_with_a_remedy(row, imported):
    with pytest.raises(DataError, match=r"in an order that is not known.*Write headings"):
        imported("\n".join(row.format(n=n) for n in range(1, 9)) + "\n")


def test_the_command_takes_several_files_of_batches(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *others = two_tasks(named=True)
    (tmp_path / "one.json").write_text(json.dumps([first]))
    (tmp_path / "two.json").write_text(json.dumps(others))
    (tmp_path / "e.csv").write_text(str(Tasks().show("a", "X", "d", 1, 3).show("b", "Y", "d", 1, 3)))
    result = CliRunner().invoke(import_files, ["e.csv", "--batches", "one.json", "--batches", "two.json"])
    assert result.exit_code == 0, result.output
    ratings, _ = data.open_campaign(tmp_path / "campaign.parquet")
    assert ratings.sort_values(["system", "started"])["segment"].tolist() == ["10", "11", "12"] * 2


def test_what_is_read_of_a_file_is_in_its_digest(imported, tmp_path):
    (tmp_path / "batches.json").write_text(json.dumps(two_tasks(named=True)))
    text = str(Tasks().show("a", "X", "d", 1, 3))
    first = imported(text)[2].digest
    assert imported(text, batches=Path(tmp_path / "batches.json"))[2].digest != first
