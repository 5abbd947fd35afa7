"""Methods, their references, the datasheet and LaTeX: what is claimed and cited, on campaigns of every protocol."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import ROOT, campaign, data, show
from evalkit.campaign import paperwork
from evalkit.campaign.paperwork import citing
from evalkit.campaign.paperwork.heds import QUESTIONS
from evalkit.campaign.paperwork.protocol import DA, ESA, MQM, PREFERENCES, UNKNOWN, XSTS, protocol_of
from evalkit.campaign.paperwork.references import REFERENCES, bibtex, linked
from evalkit.data.typology import SCHEMES, WMT

KEY = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
#: Names that LaTeX, Markdown or a shell would take for something else.
HOSTILE = [
    "a_b^c",
    "50 % & more",
    "\\input{x}",
    "$x$ #1 ~",
    "{never closed",
    'say "hi" `x`',
    "[2cm]",
    "naïve Đ ł",
    "字 система",
    "-- =1+1",
    "<b>|z|</b>",
]


def ratings(names=("A", "B", "C"), *, segments=30, people=2, scale=(0.0, 100.0), reading=None, **columns):
    """Draw a campaign: every annotator judges every segment of every system."""
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product([range(len(names)), range(segments), range(people)], names=["s", "g", "a"])
    frame = index.to_frame(index=False)
    low, high = scale
    share = (0.75 - 0.05 * frame["s"] + rng.normal(0, 0.1, len(frame))).clip(0, 1)
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": np.array(names, dtype=object)[frame["s"]],
            "doc": "d" + (frame["g"] // 5).astype("str"),
            "segment": frame["g"].astype("str"),
            "annotator": "p" + frame["a"].astype("str"),
            "score": (low + (high - low) * share).round(),
            "item_type": "system",
        }
        | columns
    )
    frame.attrs |= {"scale": scale, "source": source("mine")}
    frame.attrs |= {"reading": reading} if reading else {}
    return frame


def source(name):
    return {"name": name, "source": "real", "origin": f"{name}.csv", "digest": "sha256:0"}


def spans_of(frame, *, types=("unstated",), severities=("minor", "major"), share=0.4):
    """Mark an error in some judgements."""
    chosen = frame.sample(frac=share, random_state=2)
    rng = np.random.default_rng(5)
    spans = chosen[KEY].assign(
        span="1", error_type=rng.choice(types, len(chosen)), severity=rng.choice(severities, len(chosen))
    )
    spans.attrs |= {"source": source("mine-spans"), "scale": frame.attrs["scale"]}
    return spans


def reading(format, **receipt):
    return {"format": format, "receipt": {"rows": "9 read, 8 kept", **receipt}}


def analysed(frame, spans=None, **options):
    return campaign.analyse(campaign.from_ratings(frame, spans, **options), resamples=20)


@pytest.fixture(scope="module")
def judged():
    """The analyses of a plain campaign, but for how it was judged: that is a protocol's, by name."""
    plain = analysed(ratings())

    def found(name):
        mine = campaign.from_ratings(*PROTOCOLS[name][:2])
        return replace(plain, campaign=mine, collection=campaign.count_judgements(mine))

    return found


def of_errors():
    """Scores that are made of marked errors, though no import says so."""
    frame = ratings(scale=(-25.0, 0.0))
    spans = spans_of(frame, types=("accuracy/omission",))
    hit = frame.merge(spans[KEY], on=KEY, how="left", indicator=True)["_merge"].eq("both").to_numpy()
    return frame.assign(score=np.where(hit, -5.0, 0.0)), spans


WEIGHTS = SCHEMES[WMT].describe()
ESA_FRAME, MQM_FRAME = ratings(reading=reading("esa")), ratings(reading=reading("mqm", weights=WEIGHTS))
#: How a campaign was judged -> its tables, the protocol, and those works about protocols that its methods cite.
PROTOCOLS = {
    "ESA": (ESA_FRAME, spans_of(ESA_FRAME), ESA, {"kocmi2024"}),
    "spans of any tool": (ratings(reading=reading("csv")), spans_of(ratings()), ESA, {"kocmi2024"}),
    "MQM of WMT": (
        MQM_FRAME,
        spans_of(MQM_FRAME, types=("accuracy/omission",)),
        MQM,
        {"lommel2014", "freitag2021", "burchardt2014"},
    ),
    "MQM, own weights": (
        ratings(reading=reading("mqm", weights="as told: minor 1")),
        spans_of(ratings()),
        MQM,
        {"lommel2014"},
    ),
    "scores made of errors": (*of_errors(), MQM, {"lommel2014"}),
    "XSTS": (ratings(scale=(1.0, 5.0), reading=reading("xsts")), None, XSTS, {"licht2022"}),
    "DA": (ratings(reading=reading("appraise")), None, DA, {"graham2013"}),
    "preferences": (ratings(scale=(0.0, 1.0), against="B", reading=reading("preferences")), None, PREFERENCES, set()),
    "a spreadsheet": (ratings(reading=reading("csv")), None, UNKNOWN, set()),
    "no import": (ratings(), None, UNKNOWN, set()),
}
ABOUT_PROTOCOLS = {"kocmi2024", "lommel2014", "freitag2021", "burchardt2014", "licht2022", "graham2013", "sai2023"}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_methods_say_by_which_protocol_was_judged_and_leave_blank_what_no_file_tells(name, judged):
    expected, works = PROTOCOLS[name][2:]
    found = judged(name)
    told = paperwork.methods(found, resamples=20, seed=7)
    assert protocol_of(found.campaign).name == expected
    keys = {work["key"] for work in told.bibliography}
    assert keys & ABOUT_PROTOCOLS == works
    assert re.search(r"\[(tool and )?interface[^]]*: to be filled in\]", told.text)
    assert re.search(r"\[annotators: [^]]*: to be filled in\]", told.text)
    assert (f"Weights: {WEIGHTS}." in told.text) == ("freitag2021" in works)
    assert ("[scheme and weights: to be filled in]" in told.text) == (name == "scores made of errors")
    assert ("[protocol, " in told.text) == (expected == UNKNOWN)
    assert ("on one screen" in told.text) == (name == "preferences")


def test_a_screen_of_several_outputs_is_told():
    frame = ratings(reading=reading("pearmut"))
    frame["hit"] = frame["annotator"] + "/" + frame["segment"]
    assert protocol_of(campaign.from_ratings(frame)).beside
    assert not protocol_of(campaign.from_ratings(frame.assign(hit=frame["hit"] + frame["system"]))).beside


def test_methods_tell_how_the_file_was_read_without_advice_to_its_importer():
    receipt = {
        "scale": "1 to 5 (proposed from the data: the smallest; so --scale LOW:HIGH may state another)",
        "orientation": "lower is better by the heading rank: the score is minus it",
        "segments": "A segment is a position. Put the JSON beside it, or pass --map segment=item_i.",
        "automatic judges": "gpt_x",
        "excluded: is an attention check": "72",
        "rejected: is outside 0-100": "3",
    }
    frame = ratings(scale=(1.0, 5.0), reading=reading("csv", **receipt))
    text = paperwork.methods(analysed(frame), resamples=20, seed=7).paragraphs[1]
    for part in (
        "9 read, 8 kept",
        "72 attention checks; 3 rows (is outside 0-100)",
        "1 to 5",
        "A segment is a position.",
        "[scale that annotators saw: to be filled in]",
        "Lower is better by the heading rank",
        "gpt_x",
    ):
        assert part in text
    assert "--" not in text


def test_methods_name_the_criterion_of_several():
    frame = pd.concat([ratings().assign(criterion=name) for name in ("adequacy", "fluency")], ignore_index=True)
    frame.attrs |= ratings().attrs
    told = paperwork.methods(analysed(frame, criterion="fluency"), resamples=20, seed=7)
    assert "2 criteria (adequacy and fluency); these are the judgements of fluency" in told.text


def parsed(text):
    """Read BibTeX strictly: key -> fields, braces balanced, ASCII only, nothing twice and nothing left over."""
    assert text.isascii()
    found, entry = {}, re.compile(r"@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},?\n)+)\}\n\n?")
    end = 0
    for match in entry.finditer(text):
        assert match.start() == end, text[end : match.start()]
        end = match.end()
        fields = {}
        for line in match[3].splitlines():
            name, _, value = line.strip().removesuffix(",").partition(" = ")
            assert value.startswith("{"), line
            depth = 0
            for place, letter in enumerate(re.sub(r"\\[{}\\&%#$_]", "..", value)):
                depth += (letter == "{") - (letter == "}")
                assert depth > 0 or place == len(re.sub(r"\\[{}\\&%#$_]", "..", value)) - 1, line
            assert depth == 0, line
            assert name not in fields
            fields[name] = value[1:-1]
        assert match[2] not in found
        found[match[2]] = fields | {"kind": match[1]}
    assert end == len(text)
    return found


#: What BibTeX's own styles demand of an entry.
DEMANDED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "year"},
}


def test_references_are_bibtex_with_what_its_styles_demand():
    text = bibtex([work.entry(key) for key, work in REFERENCES.items()])
    found = parsed(text)
    assert list(found) == sorted(REFERENCES)
    for key, fields in found.items():
        assert DEMANDED[fields["kind"]] <= fields.keys(), key
        family = re.sub(r"[^a-z]", "", fields["author"].partition(",")[0].lower())
        assert key == f"{family}{fields['year']}"
        assert re.fullmatch(r"1[89]\d\d|20\d\d", fields["year"])
        assert re.fullmatch(r"\d+--\d+", fields.get("pages", "1--2"))
        assert re.fullmatch(r"10\.\d{4,}/[\w./-]+", fields.get("doi", "10.1000/x"))
        assert not set("_%#&~{}\\") & set(fields.get("doi", "") + fields.get("url", "")), "not every style escapes them"
    assert len({work.label for work in REFERENCES.values()}) == len(REFERENCES)


def test_no_work_is_kept_that_no_campaign_can_cite():
    citing = set((ROOT / "evalkit/campaign/paperwork").glob("*.py")) - {
        ROOT / "evalkit/campaign/paperwork/references.py"
    }
    code = "".join(path.read_text(encoding="utf-8") for path in citing)
    schemes = "".join(scheme.describe() for scheme in SCHEMES.values())
    cited = set(re.findall(r"\"([a-z]+\d{4})\"|'([a-z]+\d{4})'", code))
    keys = {key for pair in cited for key in pair if key} | {key for _, key in linked(schemes) if key}
    assert keys == set(REFERENCES)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_cited_key_is_in_the_bib_and_every_entry_is_cited(name, judged):
    told = paperwork.methods(judged(name), resamples=20, seed=7)
    keys = {key for group in re.findall(r"\\cite\w+\{([^}]*)\}", told.latex) for key in group.split(",")}
    assert keys == set(parsed(bibtex(told.bibliography)))
    assert told.references == [REFERENCES[key].text for key in sorted(keys)]
    for key in keys:
        assert REFERENCES[key].label in told.text
        assert REFERENCES[key].label in told.markdown


def test_marks_in_data_cite_nothing():
    text = "\x02nobody1900\x04 and \x02"
    assert citing.plain(text) == text
    assert citing.cited(text) == []
    assert "cite" not in citing.latex(text)


#: How many questions the template has in each section (Shimorina & Belz 2022).
SIZES = {"1": 3, "2": 5, "3.1": 3, "3.2": 5, "3.3": 8, "4.1": 3, "4.2": 3, "4.3": 11, "5": 4}


def test_the_datasheet_has_every_question_of_the_template():
    sections = pd.Series([question.section for question in QUESTIONS.values()])
    assert sections.value_counts(sort=False).to_dict() == SIZES
    for section, size in SIZES.items():
        assert [number for number in QUESTIONS if number.rpartition(".")[0] == section] == [
            f"{section}.{number}" for number in range(1, size + 1)
        ]


def test_answers_of_the_datasheet_are_the_data():
    frame = ratings(reading=reading("esa"))
    frame = frame[(frame["system"] != "C") | (frame["segment"].astype(int) < 20)].reset_index(drop=True)
    frame.attrs |= ratings(reading=reading("esa")).attrs
    sheet = paperwork.datasheet(analysed(frame, spans_of(frame)))
    known = {row["number"]: row["known"] for row in sheet.rows}
    counts = frame.groupby("system")["segment"].nunique()
    assert known["3.1.1"].startswith(f"{counts.min()} to {counts.max()}, of {frame['system'].nunique()} systems")
    assert known["3.2.1"].startswith(f"{frame['annotator'].nunique()} ")
    assert (known["2.4"], known["2.5"]) == ("eng", "deu")
    assert known["4.3.3"].startswith(f"{frame['score'].nunique()} different scores")
    assert known["4.3.4"] == "0 to 100."
    assert known["4.3.8"].startswith("Annotation")
    assert "Holm 1979" in known["4.3.10"]
    for number in ("1.1", "1.3", "3.1.2", "3.2.2", "3.2.3", "3.3.1", "3.3.4", "4.3.2", "4.3.7", "5.1", "5.2"):
        assert known[number] == "", "no file tells this"
    full, part, none = sheet.counts
    assert full + part + none == len(sheet.rows) == len(QUESTIONS)
    assert none == sum(not answer for answer in known.values())
    assert all(row["known"] or row["blank"] for row in sheet.rows)
    assert f"answer {full} and {part} in part; {none} are" in sheet.summary


def test_unknown_languages_and_other_criteria_are_blanks():
    frame = pd.concat([ratings(src_lang="und").assign(criterion=name) for name in ("adequacy", "fluency")])
    frame = frame.reset_index(drop=True)
    frame.attrs |= ratings().attrs
    rows = paperwork.datasheet(analysed(frame)).rows
    assert len(rows) == len(QUESTIONS) + sum(number.startswith("4") for number in QUESTIONS)
    assert [row["blank"] != "" for row in rows if row["number"] in ("2.4", "2.5")] == [True, False]
    other = {row["number"]: row for row in rows if row["criterion"] == "fluency"}
    assert other["4.3.1"]["known"] == "fluency"
    assert other["4.3.11"]["known"] == ""
    assert "-p criterion=fluency" in other["4.3.11"]["blank"]


def recorded(found):
    """What a campaign's report would record of these results, by way of JSON."""
    tables = {
        "rankings": found.ranking.systems,
        "duels": found.ranking.pairwise,
        "coverage_systems": found.collection.systems,
        "coverage_annotators": found.collection.annotators,
        "checks": campaign.tabulate(campaign.run_checks(found)),
        "receipt": found.campaign.receipt,
        "methods": paperwork.methods(found, resamples=20, seed=7).recorded,
        "datasheet": paperwork.datasheet(found).recorded,
    }
    return json.loads(json.dumps(show.plain(tables)))


def export(found, folder):
    """Export a campaign as if a report had recorded it."""
    report = {
        "study": "campaign",
        "status": "ok",
        "parameters": {},
        "recorded": recorded(found),
        "data": [{"name": "mine_&_yours %", "source": "real"}],
        "signature": "evalkit:0|data:a_b@1|rules:sd < 5",
    }
    path = folder / "r.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    return campaign.export(path, folder / "out"), report


def test_the_datasheet_is_written_with_its_counts_and_its_blanks(tmp_path, judged):
    found = judged("ESA")
    _, report = export(found, tmp_path)
    text = (tmp_path / "out/datasheet.md").read_text(encoding="utf-8")
    sheet = paperwork.datasheet(found)
    assert sheet.summary.split(";")[0] in text.replace("\\", "").split("## ")[0]
    assert text.count("**To be filled in:**") == sum(bool(row["blank"]) for row in sheet.rows)
    assert text.count("- Known from the data:") == sum(bool(row["known"]) for row in sheet.rows)
    for number in QUESTIONS:
        assert f"**{number} " in text
    again = json.loads((tmp_path / "out/datasheet.json").read_text(encoding="utf-8"))
    assert again["answers"] == report["recorded"]["datasheet"]["answers"]
    assert again["signature"] == report["signature"]


def test_reports_without_methods_have_no_references_and_no_datasheet():
    found = {"study": "x_y", "parameters": {"seed": 7}, "recorded": {}, "data": [], "signature": "s"}
    files = paperwork.files(found)
    assert set(files) == {"methods.txt", "methods.md", "methods.tex"}
    assert "x\\_y" in files["methods.tex"]
    older = found | {"recorded": {"methods": {"text": "By 50 % (Holm 1979).", "references": ["Holm, S. (1979)."]}}}
    assert r"By 50 \% (Holm 1979)." in paperwork.files(older)["methods.tex"]


def document(folder, *, natbib=False):
    """Put all exported LaTeX of a folder into one document beside it."""
    packages = ["booktabs"] + ["natbib"] * natbib
    lines = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        rf"\usepackage{{{','.join(packages)}}}",
        r"\begin{document}",
        *(f"\\input{{{path.name}}}\\clearpage" for path in sorted(folder.glob("*.tex"))),
        rf"\bibliographystyle{{{'plainnat' if natbib else 'plain'}}}\bibliography{{methods}}",
        r"\end{document}",
    ]
    place = folder / "paper.tex"
    place.write_text("\n".join(lines), encoding="utf-8")
    return place


@pytest.mark.parametrize(
    ("names", "engine", "natbib"),
    [
        (HOSTILE, "lualatex", False),
        ([name for name in HOSTILE if "字" not in name], "pdflatex", False),
        (["A_1", "B&B"], "pdflatex", True),
    ],
)
def test_latex_of_a_campaign_compiles_whatever_systems_are_called(names, engine, natbib, tmp_path, typeset):
    frame = ratings(names, reading=reading("mqm", weights=WEIGHTS, segments="by items_of_a\\file & 100 %."))
    export(analysed(frame, spans_of(frame, types=("accuracy/omission",))), tmp_path)
    tex = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("*.tex"))
    assert ("none of pdfLaTeX's" in tex) == (engine == "lualatex")
    log = typeset(document(tmp_path / "out", natbib=natbib), engine=engine)
    assert not re.search(r"Citation[^.]*undefined|undefined references", log)
    listed = Path(tmp_path / "out/paper.bbl").read_text(encoding="utf-8")
    assert listed.count("\\bibitem") == len(parsed((tmp_path / "out/methods.bib").read_text(encoding="utf-8")))


def test_an_import_tells_methods_its_format_and_weights(tmp_path):
    frame = ratings(segments=12)
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
