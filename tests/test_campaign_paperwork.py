"""Methods, their references, the datasheet and LaTeX: what is claimed and cited, on campaigns of every protocol."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evalkit import campaign, data, show
from evalkit.campaign import paperwork
from evalkit.campaign.paperwork.datasheet import QUESTIONS
from evalkit.campaign.paperwork.markup import REFERENCES, bibtex
from evalkit.campaign.paperwork.methods import DA, ESA, MQM, PREFERENCES, UNKNOWN, XSTS, protocol_of
from evalkit.data.typology import SCHEMES, WMT
from tests.makers import finished, ratings
from tests.pages import errors_in, numbers

KEY = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
#: Names that LaTeX, Markdown or a shell would take for something else.
NAMES = (
    r"""a_b^c, 50 % & more, \input{x}, $x$ #1 ~, {never closed, say "hi" `x`, [2cm], naïve Đ ł, -- =1+1, <b>|z|</b>"""
)
HOSTILE = [*NAMES.split(", "), "字 система"]


def judged(names=("A", "B", "C"), *, scale=(0.0, 100.0), reading=None, **columns):
    """Draw a campaign in which two annotators judge every segment of every system."""
    frame = ratings(3, systems=names, people=2, level=75, spread={"residual": 10.0})
    low, high = scale
    frame = finished(frame.assign(score=(low + (high - low) * frame["score"] / 100).round(), **columns), scale)
    frame.attrs |= {"reading": reading} if reading else {}
    return frame


def spans_of(frame, error_type="unstated"):
    """Mark an error, minor or major, in some judgements."""
    spans = errors_in(frame.sample(frac=0.4, random_state=2).drop(columns="item_type"), error_type=error_type)
    return spans.assign(severity=np.where(spans.index % 2, "minor", "major"))


def reading(format, **receipt):
    return {"format": format, "receipt": {"rows": "9 read, 8 kept", **receipt}}


def analysed(frame, spans=None, **options):
    return campaign.analyse(campaign.from_ratings(frame, spans, **options), resamples=20)


@pytest.fixture(scope="module")
def methods():
    """What a campaign's methods say: made of a plain one, but for how it was judged, which is a protocol's, by name."""
    plain = analysed(judged())

    def told(name):
        mine = campaign.from_ratings(*PROTOCOLS[name][:2])
        found = replace(plain, campaign=mine, collection=campaign.count_judgements(mine))
        return mine, paperwork.methods(found, resamples=20, seed=7)

    return told


def of_errors():
    """Scores that are made of marked errors, though no import says so."""
    frame = judged(scale=(-25.0, 0.0))
    spans = spans_of(frame, "accuracy/omission")
    hit = frame.merge(spans[KEY], on=KEY, how="left", indicator=True)["_merge"].eq("both").to_numpy()
    return frame.assign(score=np.where(hit, -5.0, 0.0)), spans


WEIGHTS = SCHEMES[WMT].describe()
ESA_FRAME, MQM_FRAME = judged(reading=reading("esa")), judged(reading=reading("mqm", weights=WEIGHTS))
OWN_WEIGHTS = judged(reading=reading("mqm", weights="as told: minor 1"))
CHOICES = judged(scale=(0.0, 1.0), against="B", reading=reading("preferences"))
#: How a campaign was judged -> its tables, the protocol, and those works about protocols that its methods cite.
PROTOCOLS = {
    "ESA": (ESA_FRAME, spans_of(ESA_FRAME), ESA, "kocmi2024"),
    "spans of any tool": (judged(reading=reading("csv")), spans_of(judged()), ESA, "kocmi2024"),
    "MQM of WMT": (
        MQM_FRAME,
        spans_of(MQM_FRAME, "accuracy/omission"),
        MQM,
        "lommel2014 freitag2021 burchardt2014",
    ),
    "MQM, own weights": (OWN_WEIGHTS, spans_of(judged()), MQM, "lommel2014"),
    "scores made of errors": (*of_errors(), MQM, "lommel2014"),
    "XSTS": (judged(scale=(1.0, 5.0), reading=reading("xsts")), None, XSTS, "licht2022"),
    "DA": (judged(reading=reading("appraise")), None, DA, "graham2013"),
    "preferences": (CHOICES, None, PREFERENCES, ""),
    "a spreadsheet": (judged(reading=reading("csv")), None, UNKNOWN, ""),
    "no import": (judged(), None, UNKNOWN, ""),
}
ABOUT_PROTOCOLS = {"kocmi2024", "lommel2014", "freitag2021", "burchardt2014", "licht2022", "graham2013", "sai2023"}


def keys_of(bib):
    """The keys of a BibTeX file, whose entries are whole."""
    assert bib.isascii()
    assert bib.count("{") == bib.count("}")
    return re.findall(r"^@\w+\{(\w+),$", bib, re.MULTILINE)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_methods_know_the_protocol_and_every_work_they_cite_is_in_the_bib(name, methods):
    expected, works = PROTOCOLS[name][2:]
    mine, told = methods(name)
    assert protocol_of(mine).name == expected
    keys = {key for group in re.findall(r"\\cite\w+\{([^}]*)\}", told.latex) for key in group.split(",")}
    assert keys & ABOUT_PROTOCOLS == set(works.split())
    assert sorted(keys) == keys_of(bibtex(told.works))
    assert told.references == sorted(REFERENCES[key].text for key in keys)
    assert [key for key in keys if REFERENCES[key].label not in told.text] == []
    assert (f"Weights: {WEIGHTS}." in told.text) == ("freitag2021" in works)
    assert "[annotators: " in told.text, "what no file tells is left to be filled in"
    assert ("[protocol, " in told.text) == (expected == UNKNOWN)


def test_a_screen_of_several_outputs_is_known():
    frame = judged(reading=reading("pearmut"))
    frame["hit"] = frame["annotator"] + "/" + frame["segment"]
    assert protocol_of(campaign.from_ratings(frame)).beside
    assert not protocol_of(campaign.from_ratings(frame.assign(hit=frame["hit"] + frame["system"]))).beside


def test_methods_tell_how_the_file_was_read_without_advice_to_its_importer():
    receipt = {
        "scale": "1 to 5 (proposed from the data: the smallest; so --scale LOW:HIGH may state another)",
        "segments": "A segment is a position. Put the JSON beside it, or pass --map segment=item_i.",
        "automatic judges": "gpt_x",
        "excluded: is an attention check": "72",
        "rejected: is outside 0-100": "3",
    }
    frame = judged(scale=(1.0, 5.0), reading=reading("csv", **receipt))
    text = paperwork.methods(analysed(frame), resamples=20, seed=7).paragraphs[1]
    parts = ("9 read, 8 kept", "72 attention checks", "3 rows", "1 to 5", "gpt_x", "[scale that annotators saw")
    assert [part for part in parts if part not in text] == []
    assert "--" not in text


def test_answers_of_the_datasheet_are_the_data():
    frame = judged(reading=reading("esa"))
    few = frame[(frame["system"] != "C") | (frame["segment"].astype(int) < 20)].reset_index(drop=True)
    sheet = paperwork.datasheet(analysed(few, spans_of(few)))
    known = {row["number"]: row["known"] for row in sheet.rows}
    assert (known["2.4"], known["2.5"], known["4.3.4"]) == ("eng", "deu", "0 to 100.")
    assert numbers(known["3.1.1"])[:3] == [20, 30, 3]
    assert numbers(known["3.2.1"])[0] == 2
    assert numbers(known["4.3.3"])[0] == few["score"].nunique()
    for number in ("1.1", "1.3", "3.1.2", "3.2.2", "3.2.3", "3.3.1", "3.3.4", "4.3.2", "4.3.7", "5.1", "5.2"):
        assert known[number] == "", "no file tells this"
    assert set(known) == set(QUESTIONS)
    assert len(QUESTIONS) == 45, "as the template has"
    assert sum(sheet.counts) == len(sheet.rows)
    assert sheet.counts[2] == sum(not answer for answer in known.values())
    assert all(row["known"] or row["blank"] for row in sheet.rows)


def test_another_criterion_has_answers_of_its_own_in_the_datasheet():
    frame = pd.concat([judged(src_lang="und", criterion=name) for name in ("adequacy", "fluency")], ignore_index=True)
    found = analysed(frame)
    rows = paperwork.datasheet(found).rows
    assert len(rows) == len(QUESTIONS) + sum(number.startswith("4") for number in QUESTIONS)
    assert [row["blank"] != "" for row in rows if row["number"] in ("2.4", "2.5")] == [True, False]
    other = {row["number"]: row for row in rows if row["criterion"] == "fluency"}
    assert (other["4.3.1"]["known"], other["4.3.11"]["known"]) == ("fluency", "")
    assert "2 criteria" in paperwork.methods(found, resamples=20, seed=7).text


def export(found, folder):
    """Export a campaign as if a report had recorded it."""
    tables = {
        "rankings": found.ranking.systems,
        "duels": found.ranking.pairwise,
        "checks": campaign.tabulate(campaign.run_checks(found)),
        "receipt": found.campaign.receipt,
        "methods": paperwork.methods(found, resamples=20, seed=7).recorded,
        "datasheet": paperwork.datasheet(found).recorded,
    }
    report = {
        "study": "campaign",
        "status": "ok",
        "parameters": {},
        "recorded": json.loads(json.dumps(show.plain(tables))),
    }
    report |= {"data": [{"name": "mine_&_yours %", "source": "real"}], "signature": "data:a_b@1|rules:sd < 5"}
    (folder / "r.json").write_text(json.dumps(report), encoding="utf-8")
    campaign.export(folder / "r.json", folder / "out")
    return report


#: How a document of an exported campaign begins and ends; its tables and methods stand between.
HEAD = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,natbib}\begin{document}"
TAIL = r"\bibliographystyle{plainnat}\bibliography{methods}\end{document}"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lualatex", "pdflatex"])
def test_an_exported_campaign_is_written_whole_and_compiles_whatever_systems_are_called(engine, tmp_path, typeset):
    names = [name for name in HOSTILE if engine == "lualatex" or "字" not in name]
    frame = judged(names, reading=reading("mqm", weights=WEIGHTS, segments="by items_of_a\\file & 100 %."))
    found = analysed(frame, spans_of(frame, "accuracy/omission"))
    report, out = export(found, tmp_path), tmp_path / "out"
    text, rows = (out / "datasheet.md").read_text(encoding="utf-8"), paperwork.datasheet(found).rows
    assert text.count("**To be filled in:**") == sum(bool(row["blank"]) for row in rows)
    assert text.count("- Known from the data:") == sum(bool(row["known"]) for row in rows)
    again = json.loads((out / "datasheet.json").read_text(encoding="utf-8"))
    assert (again["answers"], again["signature"]) == (report["recorded"]["datasheet"]["answers"], report["signature"])
    inputs = [f"\\input{{{path.name}}}\\clearpage" for path in sorted(out.glob("*.tex"))]
    (out / "paper.tex").write_text("\n".join([HEAD, *inputs, TAIL]), encoding="utf-8")
    log = typeset(out / "paper.tex", engine=engine)
    assert not re.search(r"Citation[^.]*undefined|undefined references", log)
    listed = (out / "paper.bbl").read_text(encoding="utf-8")
    assert listed.count("\\bibitem") == len(keys_of((out / "methods.bib").read_text(encoding="utf-8")))


def test_reports_without_methods_have_no_references_and_no_datasheet():
    found = {"study": "x_y", "parameters": {"seed": 7}, "recorded": {}, "data": [], "signature": "s"}
    files = paperwork.files(found)
    assert set(files) == {"methods.txt", "methods.md", "methods.tex"}
    assert "x\\_y" in files["methods.tex"]


def test_an_import_tells_methods_its_format_and_weights(tmp_path):
    frame = judged()
    rows = pd.DataFrame(
        {
            "system": frame["system"],
            "doc": frame["doc"],
            "doc_id": "1",
            "seg_id": frame["segment"],
            "rater": frame["annotator"],
            "source": "A source " + frame["segment"],
            "target": "Ein <v>Satz</v> " + frame["segment"],
            "category": "Accuracy/Omission",
            "severity": np.where(frame["score"] > 70, "Minor", "Major"),
        }
    )
    rows.to_csv(tmp_path / "mqm.tsv", sep="\t", index=False)
    found = protocol_of(campaign.from_ratings(*data.open_campaign(tmp_path / "mqm.tsv")))
    assert (found.name, found.typed, found.marked) == (MQM, True, len(rows))
    assert found.weights == WEIGHTS
    assert set(found.severities) == set(rows["severity"].str.lower())
