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

import jinja2

from evalkit import __version__
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.findings import Finding, Result, finding, which
from evalkit.campaign.paperwork import methods as told
from evalkit.campaign.paperwork.markup import bibtex, escaped, plain, tex
from evalkit.campaign.paperwork.methods import ESA, MQM, PREFERENCES, XSTS, protocol_of
from evalkit.campaign.plan import POWER
from evalkit.data.languages import CODES
from evalkit.data.provenance import source_of

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
    campaign, known = found.campaign, _answers(found)
    rows = [_row(number, known) for number in QUESTIONS if number < "4"]
    for name in campaign.criteria or [campaign.criterion]:
        own = name == campaign.criterion
        of_it = known if own else {"4.3.1.1": [finding("sheet.text", text=name)]}
        hint = "" if own else str(finding("sheet.other", criterion=name))
        rows += [_row(number, of_it, name, hint) for number in QUESTIONS if number.startswith("4")]
    rows += [_row(number, known) for number in QUESTIONS if number > "5"]
    full = sum(bool(row["known"]) and not row["blank"] for row in rows)
    part = sum(bool(row["known"]) and bool(row["blank"]) for row in rows)
    counts = {"full": full, "part": part, "none": len(rows) - full - part}
    summary = str(finding("sheet.summary", questions=rows, template=HEDS["template"], **counts))
    recorded = {"template": HEDS["template"], "source": HEDS["source"], "summary": summary, "answers": rows}
    return Datasheet(rows=rows, counts=tuple(counts.values()), summary=summary, recorded=recorded)


def _row(number: str, known: dict[str, list[Finding]], criterion: str = "", hint: str = "") -> dict[str, str]:
    """Put a question, what is known, and what is not, into a row."""
    question, said = QUESTIONS[number], known.get(number, [])
    answer = plain(told.joined(said)).strip()
    blank = "" if answer and question.get("whole") else f"{question['hint']}{hint}"
    row = {"number": number, "criterion": criterion, "question": question["label"], "known": answer}
    return row | {"blank": blank, "chosen": "".join(one.words("option") for one in said)}


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
    agreement, quality, documents = found.agreement, found.quality, campaign.judged["doc"].nunique()
    name = {MQM: "mqm", PREFERENCES: "preferences", ESA: "esa"}.get(protocol.name, "direct")
    answers: dict[str, list[Finding]] = {
        "1.2": [finding("sheet.resources", source=source, version=__version__)],
        "2.1": [finding("sheet.input", found=found, documents=documents, several=documents > 1)],
        "2.2": [finding("sheet.output", people=campaign.part["item_type"].eq("reference").any())],
        "2.3": [finding("sheet.task")],
        "3.3.2": [*which("sheet", protocol, tool=protocol.tool)],
        "3.3.3.2": [*told.kinds(found.collection), *told.control(quality), *told.screening(found.screening)],
        "4.2.1": [finding("sheet.subjective")],
        "4.2.3": [finding("sheet.intrinsic")],
        "4.3.6": [finding(f"task.{name if name in ('mqm', 'preferences') else 'scale'}")],
        "4.3.8": [finding(f"form.{name}")],
        "4.3.9": [*which("sheet", protocol, weights=protocol.weights), *told.scoring(found.ranking)],
        "4.3.10": [*told.testing(found.ranking)],
        "4.3.1.1": [finding("sheet.text", text=campaign.criterion)],
        "4.3.11.1": [*told.agreement(agreement)],
        "4.3.11.2": [*which("sheet", agreement, agreed=bool(agreement) and agreement.estimate is not None)],
        "4.3.12.1": [*told.again(quality)],
        "4.3.12.2": [*which("sheet", quality, again=bool(quality) and quality.again is not None)],
    }
    for number, side in {"2.4": "src_lang", "2.5": "tgt_lang"}.items():
        codes = sorted(set(campaign.part[side].astype("str")) - {_UNKNOWN_LANGUAGE})
        options = sorted({_LANGUAGES.get(code, _ANOTHER_LANGUAGE) for code in codes})
        answers[number] = [finding("sheet.languages", codes=codes, options=" ".join(map(str, options)))]
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
    if cost := found.cost:
        answers["3.3.5"] = [finding("sheet.pace", seconds=cost.by_annotator["mean_seconds"].median(), how=cost.how)]
    if protocol.name == XSTS:
        answers |= {"4.1.2": [finding("sheet.content")], "4.1.3": [finding("sheet.relative_to_input")]}
    if protocol.beside or protocol.name:
        answers["4.2.2"] = [finding("sheet.relative" if protocol.beside else "sheet.absolute")]
    key = "errors" if protocol.name == MQM else "known" if campaign.known_scale else "given"
    answers["4.3.3"] = [finding(f"size.{key}", steps=campaign.steps)]
    return answers | {"4.3.4": [finding(f"values.{key}", scale=campaign.scale)]}


#: The datasheet as Markdown.
_PAGE = Path(__file__).with_name("datasheet.md.j2")
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
    page = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    page.filters["escaped"] = escaped
    parts = groupby(sheet["answers"], key=lambda row: (row["number"].rpartition(".")[0], row["criterion"]))
    told = {"sheet": sheet, "sections": SECTIONS, "parts": parts, "signature": signature.replace("`", "")}
    return page.from_string(_PAGE.read_text(encoding="utf-8")).render(told)
