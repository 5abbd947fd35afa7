"""The methods of a report and its datasheet (HEDS), as far as data know them, as files for a paper; blanks besides.

Source: Belz & Thomson 2025, HEDS 3.0: The Human Evaluation Data Sheet Version 3.0 (GEM²). ``heds.toml`` has its
questions and the fields of its form, which reads the file that ``form`` writes.
"""

import html
import json
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import __version__
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.findings import Finding, Result, finding, which
from evalkit.campaign.paperwork import methods as told
from evalkit.campaign.paperwork.markup import bibtex, escaped, plain, tex
from evalkit.campaign.paperwork.methods import ESA, MQM, PREFERENCES, XSTS, protocol_of
from evalkit.campaign.plan import POWER
from evalkit.data.languages import CODES
from evalkit.data.provenance import source_of
from evalkit.stats.terms import join_names

HEDS = tomllib.loads((Path(__file__).parent / "heds.toml").read_text(encoding="utf-8"))
#: Number -> question (label, hint, whole, field, …), in the template's order; section 4 is of each quality criterion.
QUESTIONS: dict[str, dict[str, Any]] = HEDS["questions"]
#: Number of a section -> what it is about.
SECTIONS: dict[str, str] = HEDS["sections"]
_UNKNOWN_LANGUAGE = "und"
#: ISO 639-3 -> the option of the form; languages that it does not list are all of its last.
_LANGUAGES = {CODES[two]: option for option, two in enumerate(HEDS["languages"].split(), start=2) if two in CODES}
_ANOTHER_LANGUAGE = 185


class Datasheet(Result):
    """The datasheet of a campaign.

    rows: one a question, in the template's order; of section 4, one a question and criterion: number, criterion,
    question, known (from the data, or ""), blank (what is to be filled in, or ""), chosen (the options of the form that
    this is, or the number that it asks for; "" elsewhere). counts: how many questions the data answer, answer in part,
    and leave blank; summary: the same in a sentence. recorded: what a report records, all that exports need.
    """


def datasheet(found: Analysis) -> Datasheet:
    """Answer the datasheet from what was found, and name what is to be filled in.

    Of several criteria, the one in detail is answered; the others leave blanks that say how to get a report of theirs.
    """
    campaign = found.campaign
    known = {number: plain(told.joined(answer)).strip() for number, answer in _answers(found).items()}
    chosen = _chosen(found)
    rows = [_row(number, known, chosen) for number in QUESTIONS if number < "4"]
    for name in campaign.criteria or [campaign.criterion]:
        own = name == campaign.criterion
        hint = "" if own else str(finding("sheet.other", criterion=name))
        of_it, options = (known, chosen) if own else ({"4.3.1.1": name}, {})
        rows += [_row(number, of_it, options, name, hint) for number in QUESTIONS if number.startswith("4")]
    rows += [_row(number, known, chosen) for number in QUESTIONS if number > "5"]
    full = sum(bool(row["known"]) and not row["blank"] for row in rows)
    part = sum(bool(row["known"]) and bool(row["blank"]) for row in rows)
    counts = {"full": full, "part": part, "none": len(rows) - full - part}
    summary = str(finding("sheet.summary", questions=rows, template=HEDS["template"], **counts))
    recorded = {"template": HEDS["template"], "source": HEDS["source"], "summary": summary, "answers": rows}
    return Datasheet(rows=rows, counts=tuple(counts.values()), summary=summary, recorded=recorded)


def _row(
    number: str, known: dict[str, str], chosen: dict[str, list[int]], criterion: str = "", hint: str = ""
) -> dict[str, str]:
    """Put a question, what is known, and what is not, into a row."""
    question, answer = QUESTIONS[number], known.get(number, "")
    blank = "" if answer and question.get("whole") else f"{question['hint']}{hint}"
    row = {"number": number, "criterion": criterion, "question": question["label"], "known": answer}
    return row | {"blank": blank, "chosen": " ".join(map(str, chosen.get(number, [])))}


def _chosen(found: Analysis) -> dict[str, list[int]]:
    """Return the options of the form that the data know to hold, by question, and the number of people."""
    campaign, protocol = found.campaign, protocol_of(found.campaign)
    chosen = {"1.2": [1], "2.3": [15], "4.2.1": [2], "4.2.3": [1]}
    for number, codes in _codes(campaign.part).items():
        chosen[number] = sorted({_LANGUAGES.get(code, _ANOTHER_LANGUAGE) for code in codes})
    if campaign.names_people:
        chosen["3.2.1"] = [campaign.part["annotator"].nunique()]
    if protocol.name == XSTS:
        chosen |= {"4.1.2": [2], "4.1.3": [2]}
    if protocol.beside or protocol.name:
        chosen["4.2.2"] = [2 if protocol.beside else 1]
    return chosen | {"4.3.8": [{MQM: 6, PREFERENCES: 3, ESA: 11}.get(protocol.name, 2)]}


def _codes(part: pd.DataFrame) -> dict[str, list[str]]:
    """List the languages of both sides, by question."""
    sides = {"2.4": "src_lang", "2.5": "tgt_lang"}
    return {number: sorted(set(part[side].astype("str")) - {_UNKNOWN_LANGUAGE}) for number, side in sides.items()}


def form(answers: list[dict[str, str]]) -> dict[str, dict[str, Any]]:
    """Write a datasheet's rows as the template's own form saves them: field -> its values, by criterion in section 4.

    What is known in part says in brackets what is to be added; what is not known is left for the form to ask for.
    The form takes a criterion's name for markup, so that it is escaped.

    >>> form([{"number": "2.3", "known": "Translation.", "blank": "", "chosen": "15"}])
    {'heds-system-tasks-15': {'data': {'': True}, 'control': {}, 'text': {}, 'number': '2.3'}}
    """
    fields: dict[str, dict[str, Any]] = {}

    def fill(field: str, number: str, criterion: str, value: object) -> None:
        empty: dict[str, Any] = {"data": {}, "control": {}, "text": {}, "number": number}
        fields.setdefault(f"heds-{field}", empty)["data"][criterion] = value

    for row in answers:
        number, known, chosen = row["number"], row["known"], row["chosen"].split()
        question, own = QUESTIONS[number], ""
        if number.startswith("4"):
            own = html.escape(row["criterion"] or HEDS["criterion"])
            several = fields.setdefault("heds-criteria-criterion", {"data": {}, "control": {}, "text": {}})["control"]
            several.setdefault(own, not several)
        words = f"{known} [{row['blank']}]" if known and row["blank"] else known
        for option in chosen if question.get("choices") else []:
            fill(f"{question['field']}-{option}", number, own, value=True)
        if question.get("other") in chosen:
            fill(f"{question['field']}-other_text", number, own, words)
        elif known and not question.get("choices"):
            fill(question["field"], number, own, chosen[0] if question.get("number") else words)
    return fields


def _answers(found: Analysis) -> dict[str, list[Finding]]:
    """Return what the data know, by question; nothing where they do not."""
    campaign, protocol, plan = found.campaign, protocol_of(found.campaign), found.plan
    source, systems = source_of(campaign.ratings), found.collection.systems
    documents = campaign.judged["doc"].nunique()
    name = {MQM: "mqm", PREFERENCES: "preferences", ESA: "esa"}.get(protocol.name, "direct")
    answers: dict[str, list[Finding]] = {
        "1.2": [finding("sheet.resources", source=source, version=__version__)],
        "2.1": [finding("sheet.input", found=found, documents=documents, several=documents > 1)],
        "2.2": [finding("sheet.output", people=campaign.part["item_type"].eq("reference").any())],
        "2.3": [finding("sheet.task")],
        "3.3.3.2": [*told.kinds(found.collection), *told.control(found.quality), *told.screening(found.screening)],
        "4.2.1": [finding("sheet.subjective")],
        "4.2.3": [finding("sheet.intrinsic")],
        "4.3.6": [finding(f"task.{name if name in ('mqm', 'preferences') else 'scale'}")],
        "4.3.8": [finding(f"form.{name}")],
        "4.3.9": [*which("sheet", protocol, weights=protocol.weights), *told.scoring(found.ranking)],
        "4.3.10": [*told.testing(found.ranking)],
        "4.3.1.1": [finding("sheet.text", text=campaign.criterion)],
        "4.3.11.1": [*told.agreement(found.agreement)],
        "4.3.12.1": [*told.again(found.quality)],
    }
    answers |= {number: [finding("sheet.text", text=join_names(own))] for number, own in _codes(campaign.part).items()}
    if found.agreement and found.agreement.estimate is not None:
        answers["4.3.11.2"] = [finding("sheet.agreed", found=found.agreement)]
    if found.quality and found.quality.again is not None:
        answers["4.3.12.2"] = [finding("sheet.again", found=found.quality)]
    if len(systems):
        ends = (systems["segments"].min(), systems["segments"].max())
        values = {"same": ends[0] == ends[1], "pair": campaign.pair, "systems": systems}
        answers["3.1.1"] = [finding("sheet.sample", ends=ends, **values)]
    if plan:
        answers["3.1.3.1"] = [finding("sheet.power_by")]
        answers["3.1.3.2"] = [finding("sheet.power", row=plan.table.iloc[0], power=POWER, needed=plan.needed)]
        answers["3.1.3.3"] = [finding("sheet.power_from", version=__version__)]
    if campaign.names_people:
        own, everywhere = (table["annotator"].nunique() for table in (campaign.part, campaign.ratings))
        values = {"people": own, "pair": campaign.pair, "everywhere": everywhere}
        answers["3.2.1"] = [finding("sheet.people", more=everywhere > own, **values)]
    if protocol.tool:
        answers["3.3.2"] = [finding("sheet.tool", tool=protocol.tool)]
    if cost := found.cost:
        answers["3.3.5"] = [finding("sheet.pace", seconds=cost.by_annotator["mean_seconds"].median(), how=cost.how)]
    if protocol.name == XSTS:
        answers |= {"4.1.2": [finding("sheet.content")], "4.1.3": [finding("sheet.relative_to_input")]}
    if protocol.beside or protocol.name:
        answers["4.2.2"] = [finding("sheet.relative" if protocol.beside else "sheet.absolute")]
    key = "errors" if protocol.name == MQM else "known" if campaign.known_scale else "given"
    answers["4.3.3"] = [finding(f"size.{key}", steps=campaign.steps)]
    return answers | {"4.3.4": [finding(f"values.{key}", scale=campaign.scale)]}


#: Papers whose class does not load natbib cite all the same.
_CITING = r"\providecommand{\citep}[1]{\cite{#1}}\providecommand{\citealp}[1]{\cite{#1}}"
_KINDS = {"real": "", "published": " (numbers as printed)", "simulated": " (SIMULATED, not real data)"}


def files(found: dict[str, Any]) -> dict[str, str]:
    """Return name -> content of methods.txt, .md and .tex, and, where the report has them, methods.bib and a datasheet.

    found: a report, as ``exports.read`` reads it. One that records no ``methods`` gets what holds for every study: what
    was run, on which data, with which settings.
    """
    own, sheet = (found["recorded"].get(name) for name in ("methods", "datasheet"))
    own = own if isinstance(own, dict) else {}  # a study may have a table of this name
    text = str(own["text"]) if own else _any_study(found)
    references, works = [*map(str, own.get("references", []))], own.get("works", [])
    names = [f"{source['name']}{_KINDS.get(source['source'], '')}" for source in found["data"]]
    data = f" Data: {'; '.join(names)}." if names else ""
    signature = found["signature"]
    listed = ["", *references] if references else []
    marked = [escaped(f"{text}{data}"), "", f"Signature: `{signature.replace('`', '')}`"]
    made = {
        "methods.txt": "\n".join([f"{text}{data}", f"Signature: {signature}", *listed, ""]),
        "methods.md": "\n".join([*marked, *(one and f"- {escaped(one)}" for one in listed), ""]),
        "methods.tex": _latex((str(own["latex"]) if works else tex(text)) + tex(data), signature, bool(works)),
    }
    if works:
        made["methods.bib"] = bibtex(works)
    if isinstance(sheet, dict):
        made["datasheet.md"] = _datasheet(sheet, signature)
        made["heds.json"] = json.dumps(form(sheet["answers"]), indent=1, ensure_ascii=False) + "\n"
    return made


def _any_study(found: dict[str, Any]) -> str:
    changed = ", ".join(f"{name} = {value}" for name, value in found["parameters"].items())
    return f"The study {found['study']} of evalkit {__version__} was run" + (f" with {changed}." if changed else ".")


def _latex(body: str, signature: str, cites: bool) -> str:
    r"""Lay out paragraphs for \input, with what they need said in comments."""
    line = tex(signature).replace(r"\textbar{}", r"\textbar\allowbreak{}").replace(",", r",\allowbreak{}")
    said = [r"% Cites methods.bib: \bibliography{methods}", _CITING] if cites else []
    return "\n".join([*said, body, "", rf"Signature: {{\ttfamily\sloppy {line}\par}}", ""])


def _datasheet(sheet: dict[str, Any], signature: str) -> str:
    """Write the datasheet as Markdown: a heading a section, a question a paragraph, blanks to be seen at once."""
    lines = [
        "# Human evaluation datasheet",
        "",
        escaped(sheet["summary"]),
        "",
        f"Questions of {escaped(sheet['template'])}, in short words of our own; the template has them in full: "
        f"{escaped(sheet['source'])}",
        "",
        f"Signature: `{signature.replace('`', '')}`",
        "",
    ]
    for (section, criterion), rows in groupby(sheet["answers"], key=_part):
        about = f" ({escaped(criterion)})" if criterion else ""
        lines += [f"## {section} {SECTIONS.get(section, '')}{about}", ""]
        for row in rows:
            lines += [f"**{row['number']} {escaped(row['question'])}**", ""]
            lines += [f"- Known from the data: {escaped(row['known'])}"] if row["known"] else []
            lines += [f"- **To be filled in:** {escaped(row['blank'])}"] if row["blank"] else []
            lines.append("")
    return "\n".join(lines)


def _part(row: dict[str, Any]) -> tuple[str, str]:
    return row["number"].rpartition(".")[0], row["criterion"]
