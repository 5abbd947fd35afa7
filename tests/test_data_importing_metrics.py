"""Automatic scores and tables of marked errors that an import reads, and what is no score and no error."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing.annotated import resolve
from evalkit.data.typology import SCHEMES, WMT
from evalkit.human import mqm
from evalkit.reports import cli
from tests.workbooks import tarred

pytestmark = pytest.mark.usefixtures("own_folder")


def people(segments=6):
    """Judgements of two systems by two people; segments are numbers in one of two documents."""
    keys = [(system, n, person) for system in "AB" for n in range(1, segments + 1) for person in ("Ann", "Bob")]
    frame = pd.DataFrame(keys, columns=["system", "segment", "annotator"])
    frame["doc"] = np.where(frame["segment"] <= 3, "d1", "d2")
    frame["score"] = np.random.default_rng(1).integers(20, 90, len(frame))
    plain = {"src_lang": "eng", "tgt_lang": "deu", "item_type": "system"}
    return frame.astype({"segment": "str"}).assign(**plain)


def scores_of(frame):
    """A score of each item, without chance: what a metric would give it."""
    return frame["system"].map({"A": 0.5, "B": 0.25}) + frame["segment"].astype(int) / 100


def imported(frame, **options):
    frame.to_csv("my.csv", index=False)
    report, _ = importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, **options)
    return report, data.open_judges("my.parquet")


def held(found, name):
    """Scores of one metric by (system, segment)."""
    own = found[(found["annotator"] == name) & (found["level"] == "segment")]
    assert not own.duplicated(["system", "doc", "segment"]).any()
    return own.set_index(["system", "segment"])["score"].to_dict()


def expected():
    items = people().drop_duplicates(["system", "segment"])
    return dict(zip(zip(items["system"], items["segment"]), scores_of(items)))


def better(found):
    """Say of each metric which scores are better."""
    return found.groupby("annotator")["better"].first().to_dict()


def judged():
    return data.open_campaign("my.parquet")[0]


# Columns


def test_columns_are_metrics_an_item_a_score():
    frame = people()
    frame["wmt22-comet"], frame["ter"], frame["own"] = scores_of(frame), 1 - scores_of(frame), scores_of(frame)
    frame["MetricX-24"] = -scores_of(frame)  # errors below 0 have been turned round
    report, found = imported(frame, metric_columns=["COMET=wmt22-comet", "ter", "own-", "MetricX-24"])
    assert (sorted(judged()["annotator"].unique()), judged()["score"].sum()) == (["Ann", "Bob"], frame["score"].sum())
    assert held(found, "COMET") == pytest.approx(expected())
    assert better(found) == {"COMET": "higher", "ter": "lower", "own": "lower", "MetricX-24": "higher"}
    assert all("12 of 12 items" in line for line in report.metrics)


def test_a_well_known_heading_is_named_and_never_taken():
    frame = people().assign(comet=scores_of, GEMBA=50.0)
    report, found = imported(frame)
    assert found is None
    for name in ("comet", "GEMBA"):
        assert any(f"--metric {name}" in note for note in report.notes)
    wide = people().drop(columns="score").assign(adequacy=people()["score"], TER=30.0)
    imported(wide)
    assert judged()["score"].sum() == people()["score"].sum(), "not TER's besides, as a second criterion"
    columns = people().pivot_table(index=["system", "segment"], columns="annotator", values="score").reset_index()
    imported(columns.assign(GEMBA=50.0), wide="annotators")
    assert sorted(judged()["annotator"].unique()) == ["Ann", "Bob"]


ASKED = {
    "own": r"--metric own\+",
    "gemba-mqm": "higher or lower scores of gemba-mqm",
    "absent": "--metric absent",
    "words": "line 2, column words: 'fine' is no number",
}


@pytest.mark.parametrize("told", ASKED)
def test_what_nothing_tells_is_asked(told):
    frame = people().assign(own=1.0, words="fine", **{"gemba-mqm": 3.0})
    with pytest.raises(DataError, match=ASKED[told]):
        imported(frame, metric_columns=[told])
    assert not Path("my.parquet").exists()


def test_scores_of_one_output_that_differ_are_averaged_and_told():
    frame = people().assign(bleu=lambda t: scores_of(t) + t["annotator"].eq("Bob") * 0.02)
    frame.loc[0, "bleu"] = np.nan
    report, found = imported(frame, metric_columns=["bleu"])
    right = {key: value + 0.01 for key, value in expected().items()} | {("A", "1"): expected()["A", "1"] + 0.02}
    assert held(found, "bleu") == pytest.approx(right)
    assert any("of 11, the mean stands" in note for note in report.notes)


def test_degraded_items_are_other_texts():
    frame = people()
    bad = frame[frame["segment"].eq("1")].assign(item_type="degraded", score=5)
    both = pd.concat([frame, bad]).assign(comet=lambda t: scores_of(t) * t["item_type"].eq("system"))
    assert held(imported(both, metric_columns=["comet"])[1], "comet") == pytest.approx(expected())


# Tables


def table_of_metrics():
    items = people().drop_duplicates(["system", "segment"])[["system", "doc", "segment"]]
    return items.assign(COMET=scores_of, TER=lambda t: 1 - scores_of(t))


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.jsonl", "long.csv", "no_docs.csv"])
def test_tables_are_matched_by_names(name):
    table = table_of_metrics()[::-1]
    if name == "long.csv":
        table = table.melt(["system", "doc", "segment"], var_name="metric", value_name="score")
    if name == "no_docs.csv":
        table = table.drop(columns="doc")
    if name.endswith("jsonl"):
        table.to_json(name, orient="records", lines=True)
    else:
        table.to_csv(name, index=False, sep="\t" if name.endswith("tsv") else ",")
    report, found = imported(people(), metric_files=[name])
    assert held(found, "COMET") == pytest.approx(expected())
    assert held(found, "TER") == pytest.approx({key: 1 - value for key, value in expected().items()})
    assert better(found) == {"COMET": "higher", "TER": "lower"}
    assert "12 of 12 items, matched by system" in report.metrics[0]


def test_what_does_not_match_is_counted():
    more = pd.DataFrame({"system": ["Z", "A"], "doc": ["d1", "d9"], "segment": ["1", "1"], "COMET": [1.0, 1.0]})
    table = pd.concat([table_of_metrics().query("not (system == 'B' and segment == '2')"), more])
    table[["system", "doc", "segment", "COMET"]].to_csv("m.csv", index=False)
    report, found = imported(people(), metric_files=["m.csv"])
    right = {key: value for key, value in expected().items() if key != ("B", "2")}
    unjudged = found["doc"].eq("d9")  # a system's other segments are kept: they may stand in for judgements
    assert found.loc[unjudged, ["system", "segment", "score"]].values.tolist() == [["A", "1", 1.0]]
    assert held(found[~unjudged], "COMET") == pytest.approx(right)
    assert all(told in report.metrics[0] for told in ("11 of 12 items", "2 further scores", "Z"))


def same_names(frame):
    """Name segments alike in both documents."""
    return frame.assign(segment=lambda t: ((t["segment"].astype(int) - 1) % 3).astype(str))


def two_pairs(frame):
    return pd.concat([frame, frame.assign(tgt_lang="jpn")])


#: What must be told -> what becomes of the table of metrics, and of the people's.
MISFITS = {
    "segment": (lambda t: t.drop(columns="segment"), None),
    "none of its 12 scores": (lambda t: t.assign(system="Z" + t["system"]), None),
    "more than once": (lambda t: pd.concat([t, t.assign(COMET=0.1)]), None),
    "line 2, column COMET": (lambda t: t.assign(COMET="high"), None),
    "COMET has no score": (lambda t: t.assign(COMET=np.nan), None),
    "whose scores": (lambda t: t.rename(columns={"COMET": "ours", "TER": "mine"}), None),
    "no column says": (lambda t: t.assign(metric="", score="1"), None),
    "has no column doc": (lambda t: t.drop(columns="doc"), same_names),
    "does not say the languages": (None, two_pairs),
}


@pytest.mark.parametrize("words", MISFITS)
def test_tables_that_cannot_be_matched_are_refused(words):
    table, frame = (
        made if change is None else change(made) for change, made in zip(MISFITS[words], (table_of_metrics(), people()))
    )
    table.to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=rf"m\.csv.*{words}"):
        imported(frame, metric_files=["m.csv"])


def test_a_pair_of_languages_is_read_from_a_table():
    table_of_metrics().assign(pair="en-ja").to_csv("m.csv", index=False)
    assert imported(two_pairs(people()), metric_files=["m.csv"])[1]["tgt_lang"].unique().tolist() == ["jpn"]


# mt-metrics-eval's layout


def layout(folder, *, first=1, lines=6, name="COMET-refA", documents=True, scored=lambda line: True):
    """Write mt-metrics-eval's files of a metric: each system's segments in order."""
    place = folder / "metric-scores" / "en-de"
    place.mkdir(parents=True, exist_ok=True)
    starts, rows = {"B": 0.25, "A": 0.5, "Z": 0}, []
    for system, n in ((system, n) for system in starts for n in range(lines)):
        rows.append(f"{system}\t{starts[system] + (n + first) / 100 if scored(n) else None}\n")
    (place / f"{name}.seg.score").write_text("".join(rows), encoding="utf-8")
    if documents:
        (folder / "documents").mkdir(exist_ok=True)
        docs = ["news\td1\n" if n + first <= 3 else "news\td2\n" for n in range(lines)]
        (folder / "documents" / "en-de.docs").write_text("".join(docs), encoding="utf-8")
    return place / f"{name}.seg.score"


@pytest.mark.parametrize("first", [1, 0])
def test_lines_are_counted_as_documents_say(tmp_path, first):
    report, found = imported(people(), metric_files=[layout(tmp_path, first=first, lines=7 - first)])
    assert held(found, "COMET") == pytest.approx(expected())
    assert f"counted from {first}" in report.metrics[0]


def test_numbers_within_documents_are_matched_by_the_documents(tmp_path):
    report, found = imported(same_names(people()), metric_files=[layout(tmp_path)])
    assert "the order within documents, counted from 0" in report.metrics[0]
    right = same_names(people().drop_duplicates(["system", "segment"]).assign(score=scores_of))
    keys = ["system", "doc", "segment"]
    assert found.set_index(keys)["score"].to_dict() == pytest.approx(right.set_index(keys)["score"].to_dict())


def test_without_documents_only_what_is_sure_is_matched(tmp_path):
    _, found = imported(people(), metric_files=[layout(tmp_path, documents=False)])
    assert held(found, "COMET") == pytest.approx(expected()), "segment 6 of 6 lines: counted from 1"
    unsure = layout(tmp_path / "more", documents=False, lines=9)
    for frame, words in (
        (people(), "nothing tells which"),
        (people().assign(segment=lambda t: "s" + t["segment"]), "'s1', 's2'"),
        (people().assign(system=lambda t: t["system"] + "1"), "people have system 'A1'"),
    ):
        with pytest.raises(DataError, match=words):
            imported(frame, metric_files=[unsure])
    holes = layout(tmp_path / "holes", documents=False, lines=9, scored=lambda n: n < 6)
    _, found = imported(people(), metric_files=[holes])
    assert held(found, "COMET") == pytest.approx(expected()), "only lines 1 to 6 have scores: those are people's"


def test_folders_have_many_metrics_and_scores_of_systems(tmp_path):
    for name in ("COMET-refA", "TER-refA", "BLEU-refA", "BLEU-refB"):
        layout(tmp_path / "wmt", name=name)
    scores = tmp_path / "wmt" / "metric-scores"
    (scores / "en-de" / "slide-src.sys.score").write_text("A\t3\nB\t2\nZ\t1\n")
    _, found = imported(people(), metric_files=[tmp_path / "wmt"])
    assert sorted(found["annotator"].unique()) == ["BLEU-refA", "BLEU-refB", "COMET", "TER", "slide"]
    assert better(found)["TER"] == "lower", "positive, though the layout keeps higher"
    whole = found[found["level"] == "system"]
    assert whole[["annotator", "system", "score"]].values.tolist() == [["slide", "A", 3], ["slide", "B", 2]]
    assert better(imported(people(), metric_files=[tmp_path / "wmt"], metric_columns=["TER+"])[1])["TER"] == "higher"


BROKEN = {b"A\t0.1\nA\n": "line 2", b"A\t0.1\nA\t0.2\nB\t0.1\n": "B has 1 lines, A 2"}


@pytest.mark.parametrize("content", BROKEN)
def test_broken_layouts_are_refused(tmp_path, content):
    (tmp_path / "en-de.COMET-refA.seg.score").write_bytes(content)
    with pytest.raises(DataError, match=BROKEN[content]):
        imported(people(), metric_files=[tmp_path / "en-de.COMET-refA.seg.score"])


# Beside a result, and at the command line


def test_metrics_are_read_beside_a_result_without_importing_again():
    imported(people())
    ratings = judged()
    table_of_metrics().to_csv("m.csv", index=False)
    found = data.open_judges("my.parquet", ratings=ratings, metrics=["m.csv"])
    assert held(found, "COMET") == pytest.approx(expected())
    source = found.attrs["source"]
    assert (source["name"], source["origin"]) == ("my-metrics", "my.csv, m.csv")
    imported(people(), metric_files=["m.csv"])
    assert data.open_judges("my.parquet").attrs["source"] == source, "the same files, the same digests"
    for files, words in ((["m.csv"], "called COMET"), ("absent.csv", r"absent\.csv is not there")):
        with pytest.raises(DataError, match=words):
            data.open_judges("my.parquet", ratings=ratings, metrics=files)


def test_the_command_takes_columns_and_files():
    people().assign(comet=scores_of).to_csv("my.csv", index=False)
    table_of_metrics()[["system", "segment", "TER"]].to_csv("m.csv", index=False)
    words = "--metric comet --metric TER- --metrics m.csv --out my.parquet"
    assert cli.main(["import", "my.csv", *words.split()]) == 0
    assert data.open_judges("my.parquet")["annotator"].unique().tolist() == ["comet", "TER"]


# Tables of marked errors as others write them: what is no error, other headings, weights, sides, chats, archives.

GOOGLE = "google/wmt-mqm-human-evaluation/*"
HEADER = "system\tdoc\tseg_id\trater\tcategory\tseverity"


@pytest.fixture
def imported_mqm(imported):
    """Name what is written as files of WMT's annotations are named."""
    return lambda content, name="mqm_ende.tsv", **options: imported(content, name, **options)


def table(*rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


GOOGLES = """system doc doc_seg_id global_seg_id rater source target category severity
A|d1|1|7|r1|Hello "world|Hallo <v>Welt</v>!|Accuracy/Mistranslation|Major
A|d1|1|7|r1|Hello "world|Hallo Welt<v>!</v>|Fluency/Punctuation|Minor
A|d1|2|8|r1|Bye|Tschüss|No-error|no-error
B|d1|1|7|r1|<v>Hello</v> "world|Welt|Accuracy/Omission|Minor
B|d1|2|8|r1|Bye|<v>Xyz</v>|Non-translation!|Major
refA|d1|1|7|r1|Hello "world|<v>Hallo</v> Welt|Source error|Major
A|d1|2|8|r2|Bye|<v>Tschüss</v>|Style/Awkward|Neutral
"""
GOOGLES = GOOGLES.partition("\n")[0].replace(" ", "\t") + "\n" + GOOGLES.partition("\n")[2].replace("|", "\t")


def test_tables_give_scores_and_spans(imported_mqm):
    ratings, spans, report = imported_mqm(GOOGLES)
    assert (report.format, report.rows_folded, report.rows_rejected, report.scale) == ("mqm", 1, 0, None)
    assert ratings["score"].tolist() == [-5.1, 0, -1, -25, 0, 0]
    assert ratings["item_type"].tolist() == ["system"] * 4 + ["reference", "system"]
    assert ratings["segment"].tolist() == ["7", "8", "7", "8", "7", "8"]
    places = spans[["start", "end", "side", "text"]].values.tolist()
    assert places[:3] == [[6, 10, "target", "Welt"], [10, 11, "target", "!"], [0, 5, "source", "Hello"]]
    for row in spans.merge(ratings, on=["system", "segment", "annotator"]).itertuples():
        text = {"target": row.hypothesis, "source": row.source}[row.side]
        assert text[int(row.start) : int(row.end)] == row.text
    scored = mqm.segment_scores(ratings, spans, WMT)
    assert scored["mqm"].tolist() == pytest.approx(ratings["score"].tolist(), abs=1e-12), "weighed by the same table"


BROKEN_MQM = {
    "an unknown severity": ("Fluency/Punctuation\tMinor", "Fluency/Punctuation\tTrivial"),
    "no category": ("Accuracy/Mistranslation\tMajor", "\tMajor"),
    "no severity": ("Accuracy/Mistranslation\tMajor", "Accuracy/Mistranslation\t"),
    "a short row": ("\tAccuracy/Mistranslation\tMajor", "\tAccuracy"),
    "a long row": ("Accuracy/Mistranslation\tMajor", "Accuracy/Mistranslation\tMajor\tx"),
}


@pytest.mark.parametrize("kind", BROKEN_MQM)
def test_an_error_that_cannot_be_read_takes_its_judgement_with_it(kind, imported_mqm):
    ratings, spans, report = imported_mqm(GOOGLES.replace(*BROKEN_MQM[kind]))
    assert [entry["line"] for entry in report.first] == [2, 3]
    lost = ratings["system"].eq("A") & ratings["segment"].eq("7")
    assert not lost.any(), "half of its errors would make A look better than it is"
    assert not (spans["system"].eq("A") & spans["segment"].eq("7")).any()
    assert len(ratings) == 5


NOTHING = ["\t", "No-error\tno-error", "no error\t", "NO_ERROR\tNeutral", "None\tnone", "\tNONE", "noerror\tNo Error"]
NOTHING += ["No issues\tN/A", "no-error\t-"]


def test_no_error_is_a_judgement_however_it_is_said_and_severities_have_any_case(imported_mqm):
    rows = [f"A\td\t{n}\tr\t{nothing}" for n, nothing in enumerate(NOTHING)]
    rows += [f"B\td\t{n}\tr\tOther\t{severity}" for n, severity in enumerate(("CRITICAL", "mAJOR", "Neutral"))]
    ratings, spans, report = imported_mqm(table(*rows, "C\td\t1\tr\tNo-error\tMajor"))
    assert ratings["score"].tolist() == [0] * len(NOTHING) + [-10, -5, 0]
    assert (len(spans), report.rows_rejected) == (3, 1), "no error that is major is a contradiction"
    assert any(note.startswith("9 judgements mark no error") for note in report.notes)


ROWS = """Fluency/Punctuation Minor|Non-translation! Major|Source error Major|Accuracy/Creative Reinterpretation Major
    |Style/Awkward Critical|Other Minor"""
TOLD = [
    (None, [-0.1, -25, 0, 0, -10, -1], "Freitag et al. 2021"),
    ("freitag", [-0.1, -25, 0, 0, -10, -1], "creative reinterpretation 0"),
    ("minor=1,Major=5, critical=10", [-1, -5, -5, -5, -10, -1], "as told"),
    (
        "minor=1,major=5,critical=25,fluency/punctuation:minor=.5,non-translation:*=50",
        [-0.5, -50, -5, -5, -25, -1],
        "non-translation 50",
    ),
    ("Burchardt & Lommel 2014", [24, 20, 25, 25, 15, 24], "Burchardt & Lommel 2014"),
]


@pytest.mark.parametrize(("told", "scores", "said"), TOLD)
def test_weights_are_told_and_said(told, scores, said, imported_mqm):
    errors = [row.strip().rpartition(" ")[::2] for row in ROWS.split("|")]
    text = table(*(f"{n}\td\t1\tr\t{kind}\t{severity}" for n, (kind, severity) in enumerate(errors)))
    ratings, _, report = imported_mqm(text, weights=told)
    assert ratings["score"].tolist() == pytest.approx(scores, abs=1e-12)
    assert said in report.weights
    assert report.orientation.startswith("higher is better")


def test_weights_that_are_none_are_refused_and_every_scheme_is_found_by_its_name():
    for told in ("nobody", "minor=x", "minor=-1", "=5", "*=1", "release nobody", ""):
        with pytest.raises(DataError, match=r"--weights"):
            resolve(told)
    assert [resolve(name.upper()) for name in SCHEMES] == [*SCHEMES.values()]


def test_translations_that_a_scheme_discards_are_set_apart(imported_mqm):
    text = table("A\td\t1\tr\tSource error\tLow", "B\td\t1\tr\tOther\tLow", "C\td\t1\tr\tNon-translation\tHigh")
    ratings, _, report = imported_mqm(text, weights="paper")
    assert ratings[["system", "score"]].values.tolist() == [["B", 23.0], ["C", 0.0]]
    assert report.rows_excluded == 1


def test_categories_and_their_parts_are_joined(imported_mqm):
    rows = ["A\td\t1\tr\tFluency\tPunctuation\tMinor", "A\td\t2\tr\tOther\t\tMinor", "A\td\t3\tr\tNo-error\t\t"]
    ratings, spans, _ = imported_mqm(table(*rows, header=HEADER.replace("category", "category\tsubcategory")))
    assert ratings["score"].tolist() == [-0.1, -1, 0]
    assert spans["error_type"].tolist() == ["fluency/punctuation", "other"]


# Two systems on a screen

SIDES = [
    ("A_with_B", "Other", "Major", 5_000),
    ("A_with_C", "No-error", "No-error", 9_000),
    ("B", "Other", "Minor", 7_000),
    ("C", "Found", "HOTW-test", 8_000),
    ("C", "No-error", "No-error", 1),
    ("gpt_with_context", "No-error", "No-error", 2),
]


def sides():
    start, rows = 1_725_456_000_000, []
    for system, kind, severity, late in SIDES:
        moments = {"timestamp": start + late, "timing": {"x": {"log": [{"ts": start - late}]}}}
        rows.append(f"{system}\td\t1\tr\t{kind}\t{severity}\t{json.dumps(moments)}")
    return table(*rows, header=HEADER + "\tmetadata\t# see the documentation")


def test_two_systems_on_a_screen(imported_mqm):
    ratings, spans, report = imported_mqm(sides())
    found = ratings[["system", "against", "score"]].values.tolist()
    right = ["A B -5.0", "A C 0.0", "B unstated -1.0", "C unstated 0.0", "gpt_with_context unstated 0.0"]
    assert [" ".join(map(str, row)) for row in found] == right
    assert spans[["system", "against", "weight"]].values.tolist() == [["A", "B", 5.0], ["B", "unstated", 1.0]]
    assert ratings.loc[0, ["started", "ended"]].tolist() == [1_725_455_995, 1_725_456_005]
    assert report.excluded == {"is an attention check": 1}
    assert any("# see the documentation" in note for note in report.notes)


def test_the_one_table_of_an_archive_is_read(imported_mqm, tmp_path):
    members = {"a/mqm_ende.tsv": sides().encode(), "a/._mqm_ende.tsv": b"\0", "README.md": b"read me"}
    ratings, *_ = imported_mqm(tarred(tmp_path / "x.tar.gz", members))
    assert (len(ratings), set(ratings["tgt_lang"])) == (5, {"deu"})
    with pytest.raises(DataError, match=r"--lower-is-better"):
        imported_mqm(tmp_path / "x.tar.gz", lower_is_better=True)  # scores made of errors are not turned round
    with pytest.raises(DataError, match="unpack it"):
        imported_mqm(tarred(tmp_path / "y.tar.gz", members | {"b.tsv": b"x"}))


#: The table of TED talks, English to German, in the README of google/wmt-mqm-human-evaluation.
PRINTED = """ref 0.91 Facebook-AI 1.06 Online-W 1.12 VolcTrans-AT 1.24 metricsystem3 1.44 VolcTrans-GLAT 1.49
    HuaweiTSC 1.50 metricsystem1 1.63 metricsystem2 1.69 metricsystem5 1.72 UEdin 1.77 metricsystem4 1.78
    eTranslation 1.96 Nemo 2.14"""


def test_ted_talks_give_the_scores_that_are_published(imported_mqm, mirrored):
    ratings, *_ = imported_mqm(mirrored(f"{GOOGLE}/ted/ende/mqm_ted_ende.tsv"))
    averages = pd.read_csv(mirrored(f"{GOOGLE}/ted/ende/*.avg_seg_scores.tsv"), sep=r"\s+")
    expected = averages.dropna().astype({"seg_id": str}).set_index(["system", "seg_id"])["mqm_avg_score"]
    expected = expected.rename({"ref-A": "ref"}, level="system")
    assert len(expected) == len(ratings) == 7406
    found = ratings.set_index(["system", "segment"])["score"]
    assert (found.loc[expected.index] - expected).abs().max() < 1e-6, "each segment"
    means = -ratings.groupby("system")["score"].mean()
    printed = dict(zip(PRINTED.split()[::2], map(float, PRINTED.split()[1::2]), strict=True))
    off = {name for name, score in printed.items() if abs(means[name] - score) > 0.005}
    assert off == {"eTranslation"}, "printed 1.96, where the repository's own averages of segments give 1.9688"
    assert means["eTranslation"] == pytest.approx(-expected.loc["eTranslation"].mean(), abs=1e-6)
    assert means["eTranslation"] == pytest.approx(1.9688, abs=5e-5)
    assert set(ratings.query("item_type == 'reference'")["system"]) == {"ref"}


# Chats and IndicMT-Eval

CHAT = """doc_id,segment_id,sender,source_language,target_language,lp,source,mt,reference,nr_words,severity,minor,\
major,critical,mqm,typology_error,error,start_index,end_index
d,0,agent,en,de,en_de,Hello,Hallo Welt,Hallo,2,,0,0,0,100.0,,,,
d,1,client,de,en,de_en,Danke dir,Thank yu now,Thanks,4,minor/major/neutral,1,1,0,-50.0,\
Spelling/Date/Time Format/Source Issue,yu/now/dir,6/9/6,8/12/9
d,2,client,de,en,de_en,Gut,.,Good,0,critical,0,0,1,0.0,Untranslated,.,0,1
"""


def test_chats_with_lists_of_errors(imported_mqm):
    name = "annotations.de.HAL-9.primary.csv"
    ratings, spans, report = imported_mqm(CHAT, name)
    assert (report.format, set(ratings["system"])) == ("mqm", {"HAL-9"})
    assert ratings[["score", "errors"]].values.tolist() == [[100, 0], [-50, 3], [0, 1]]
    assert (ratings["src_lang"] + ratings["tgt_lang"]).tolist() == ["engdeu", "deueng", "deueng"]
    assert spans["error_type"].tolist() == ["spelling", "date/time format", "source issue", "untranslated"]
    assert spans["side"].tolist() == ["target", "target", "source", "target"]
    ratings, spans, report = imported_mqm(CHAT, name, weights="minor=1,major=5,critical=10")
    assert (ratings["score"].tolist(), spans["weight"].tolist()) == ([0, -6, -10], [1, 5, 0, 10])
    assert "as told" in report.weights


def test_chats_say_what_they_lack(imported_mqm):
    with pytest.raises(DataError, match=r"--value system=NAME"):
        imported_mqm(CHAT, "chat.csv")
    assert set(imported_mqm(CHAT, "chat.csv", values={"system": "X"})[0]["system"]) == {"X"}
    ratings, _, report = imported_mqm(CHAT.replace("6/9/6", "6/9"), "annotations.de.X.primary.csv")
    assert (len(ratings), report.rows_rejected, report.first[0]["line"]) == (2, 1, 3)
