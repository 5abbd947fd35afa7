"""Tables of marked errors as others write them: what is no error, other headings, weights, sides, chats, archives."""

import json

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data.typology import SCHEMES, WMT
from evalkit.human import mqm
from tests.workbooks import tarred

GOOGLE = "google/wmt-mqm-human-evaluation/*"
HEADER = "system\tdoc\tseg_id\trater\tcategory\tseverity"


@pytest.fixture
def imported(imported):
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


def test_tables_give_scores_and_spans(imported):
    ratings, spans, report = imported(GOOGLES)
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


BROKEN = {
    "an unknown severity": ("Fluency/Punctuation\tMinor", "Fluency/Punctuation\tTrivial"),
    "no category": ("Accuracy/Mistranslation\tMajor", "\tMajor"),
    "no severity": ("Accuracy/Mistranslation\tMajor", "Accuracy/Mistranslation\t"),
    "a short row": ("\tAccuracy/Mistranslation\tMajor", "\tAccuracy"),
    "a long row": ("Accuracy/Mistranslation\tMajor", "Accuracy/Mistranslation\tMajor\tx"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_an_error_that_cannot_be_read_takes_its_judgement_with_it(kind, imported):
    ratings, spans, report = imported(GOOGLES.replace(*BROKEN[kind]))
    assert [entry["line"] for entry in report.first] == [2, 3]
    lost = ratings["system"].eq("A") & ratings["segment"].eq("7")
    assert not lost.any(), "half of its errors would make A look better than it is"
    assert not (spans["system"].eq("A") & spans["segment"].eq("7")).any()
    assert len(ratings) == 5


NOTHING = [
    *("\t", "No-error\tno-error", "no error\t", "NO_ERROR\tNeutral", "None\tnone", "\tNONE", "noerror\tNo Error"),
    *("No issues\tN/A", "no-error\t-"),
]


@pytest.mark.parametrize("nothing", NOTHING)
def test_no_error_is_a_judgement_however_it_is_said(nothing, imported):
    ratings, spans, report = imported(table("A\td\t1\tr\tOther\tMajor", f"A\td\t2\tr\t{nothing}"))
    assert ratings["score"].tolist() == [-5, 0]
    assert (ratings["errors"].tolist(), len(spans), report.rows_rejected) == ([1, 0], 1, 0)
    assert any(note.startswith("1 judgements mark no error") for note in report.notes)


def test_severities_have_any_case_and_no_error_has_none(imported):
    rows = [f"{severity}\td\t1\tr\tOther\t{severity}" for severity in ("CRITICAL", "mAJOR", "Neutral")]
    ratings, _, report = imported(table(*rows, "A\td\t1\tr\tNo-error\tMajor"))
    assert ratings.set_index("system")["score"].to_dict() == {"CRITICAL": -10, "mAJOR": -5, "Neutral": 0}
    assert report.rows_rejected == 1, "no error that is major is a contradiction"


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
def test_weights_are_told_and_said(told, scores, said, imported):
    errors = [row.strip().rpartition(" ")[::2] for row in ROWS.split("|")]
    text = table(*(f"{n}\td\t1\tr\t{kind}\t{severity}" for n, (kind, severity) in enumerate(errors)))
    ratings, _, report = imported(text, weights=told)
    assert ratings["score"].tolist() == pytest.approx(scores, abs=1e-12)
    assert said in report.weights
    assert report.orientation.startswith("higher is better")


@pytest.mark.parametrize("told", ["nobody", "minor=x", "minor=-1", "=5", "*=1", "release nobody", ""])
def test_weights_that_are_none_are_refused(told, imported):
    with pytest.raises(DataError, match=r"--weights"):
        imported(table("A\td\t1\tr\tOther\tMajor"), weights=told)


def test_an_error_without_a_weight_rejects_its_judgement(imported):
    ratings, _, report = imported(table("A\td\t1\tr\tOther\tTrivial", "B\td\t1\tr\tOther\tMajor"))
    assert ratings["system"].tolist() == ["B"]
    assert "--weights" in report.first[0]["reason"]


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_is_found_by_its_name(name, imported):
    severity = next(iter(SCHEMES[name].severities))
    assert name in imported(table(f"A\td\t1\tr\tOther\t{severity}"), weights=name.upper())[2].weights


def test_translations_that_a_scheme_discards_are_set_apart(imported):
    text = table("A\td\t1\tr\tSource error\tLow", "B\td\t1\tr\tOther\tLow", "C\td\t1\tr\tNon-translation\tHigh")
    ratings, _, report = imported(text, weights="paper")
    assert ratings[["system", "score"]].values.tolist() == [["B", 23.0], ["C", 0.0]]
    assert report.rows_excluded == 1


@pytest.mark.parametrize("heading", ["typ", "ErrorType", "Fehlertyp", "subcategory"])
def test_categories_under_other_headings(heading, imported):
    text = table("A\td\t1\tr\tAccuracy/Omission\tMajor", header=HEADER.replace("category", heading))
    ratings, spans, report = imported(text)
    assert (ratings["score"].tolist(), spans["error_type"].tolist()) == ([-5], ["accuracy/omission"])
    assert report.format == "mqm"


def test_category_and_severity_can_be_mapped(imported):
    text = table("A\td\t1\tr\tAccuracy\tMajor", header="system\tdoc\tseg_id\trater\twas ist es\twie schlimm")
    with pytest.raises(DataError, match=r"was ist es"):
        imported(text)
    ratings, spans, _ = imported(text, columns={"category": "was ist es", "severity": "wie schlimm"})
    assert (ratings["score"].tolist(), spans["error_type"].tolist()) == ([-5], ["accuracy"])


def test_categories_and_their_parts_are_joined(imported):
    rows = ["A\td\t1\tr\tFluency\tPunctuation\tMinor", "A\td\t2\tr\tOther\t\tMinor", "A\td\t3\tr\tNo-error\t\t"]
    ratings, spans, _ = imported(table(*rows, header=HEADER.replace("category", "category\tsubcategory")))
    assert ratings["score"].tolist() == [-0.1, -1, 0]
    assert spans["error_type"].tolist() == ["fluency/punctuation", "other"]


def test_errors_without_any_category_are_read(imported):
    rows = ["A\td\t1\tr\tMinor", "A\td\t1\tr\tmajor", "B\td\t1\tr\t"]
    ratings, spans, report = imported(table(*rows, header=HEADER.replace("category\t", "")))
    assert (ratings["score"].tolist(), spans["error_type"].tolist()) == ([-6, 0], ["unstated"] * 2)
    assert any("category" in note for note in report.notes)


def test_scores_made_of_errors_are_not_turned_round(imported):
    with pytest.raises(DataError, match=r"--lower-is-better"):
        imported(table("A\td\t1\tr\tOther\tMinor"), lower_is_better=True)


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


def test_two_systems_on_a_screen(imported):
    ratings, spans, report = imported(sides())
    found = ratings[["system", "against", "score"]].values.tolist()
    right = ["A B -5.0", "A C 0.0", "B unstated -1.0", "C unstated 0.0", "gpt_with_context unstated 0.0"]
    assert [" ".join(map(str, row)) for row in found] == right
    assert spans[["system", "against", "weight"]].values.tolist() == [["A", "B", 5.0], ["B", "unstated", 1.0]]
    assert ratings.loc[0, ["started", "ended"]].tolist() == [1_725_455_995, 1_725_456_005]
    assert report.excluded == {"is an attention check": 1}
    assert any("# see the documentation" in note for note in report.notes)


def test_the_one_table_of_an_archive_is_read(imported, tmp_path):
    members = {"a/mqm_ende.tsv": sides().encode(), "a/._mqm_ende.tsv": b"\0", "README.md": b"read me"}
    ratings, *_ = imported(tarred(tmp_path / "x.tar.gz", members))
    assert (len(ratings), set(ratings["tgt_lang"])) == (5, {"deu"})
    with pytest.raises(DataError, match="unpack it"):
        imported(tarred(tmp_path / "y.tar.gz", members | {"b.tsv": b"x"}))


#: The table of TED talks, English to German, in the README of google/wmt-mqm-human-evaluation.
PRINTED = """ref 0.91 Facebook-AI 1.06 Online-W 1.12 VolcTrans-AT 1.24 metricsystem3 1.44 VolcTrans-GLAT 1.49
    HuaweiTSC 1.50 metricsystem1 1.63 metricsystem2 1.69 metricsystem5 1.72 UEdin 1.77 metricsystem4 1.78
    eTranslation 1.96 Nemo 2.14"""


def test_ted_talks_give_the_scores_that_are_published(imported, mirrored):
    ratings, *_ = imported(mirrored(f"{GOOGLE}/ted/ende/mqm_ted_ende.tsv"))
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


def test_chats_with_lists_of_errors(imported):
    name = "annotations.de.HAL-9.primary.csv"
    ratings, spans, report = imported(CHAT, name)
    assert (report.format, set(ratings["system"])) == ("mqm", {"HAL-9"})
    assert ratings[["score", "errors"]].values.tolist() == [[100, 0], [-50, 3], [0, 1]]
    assert (ratings["src_lang"] + ratings["tgt_lang"]).tolist() == ["engdeu", "deueng", "deueng"]
    assert spans["error_type"].tolist() == ["spelling", "date/time format", "source issue", "untranslated"]
    assert spans["side"].tolist() == ["target", "target", "source", "target"]
    assert any(note.startswith("2 of 3 scores are what the counts") for note in report.notes)
    ratings, spans, report = imported(CHAT, name, weights="minor=1,major=5,critical=10")
    assert (ratings["score"].tolist(), spans["weight"].tolist()) == ([0, -6, -10], [1, 5, 0, 10])
    assert "as told" in report.weights


def test_chats_say_what_they_lack(imported):
    with pytest.raises(DataError, match=r"--value system=NAME"):
        imported(CHAT, "chat.csv")
    assert set(imported(CHAT, "chat.csv", values={"system": "X"})[0]["system"]) == {"X"}
    ratings, _, report = imported(CHAT.replace("6/9/6", "6/9"), "annotations.de.X.primary.csv")
    assert (len(ratings), report.rows_rejected, report.first[0]["line"]) == (2, 1, 3)
