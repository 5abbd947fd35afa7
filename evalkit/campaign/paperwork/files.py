"""The methods of a report, their references, and its datasheet, as files for a paper: the report has it all."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

from evalkit import __version__
from evalkit.campaign.paperwork.datasheet import SECTIONS
from evalkit.campaign.paperwork.markup import bibtex, escaped, needs, tex

#: Papers whose class does not load natbib cite all the same.
_CITING = r"\providecommand{\citep}[1]{\cite{#1}}\providecommand{\citealp}[1]{\cite{#1}}"
_KINDS = {"real": "", "published": " (numbers as printed)", "simulated": " (SIMULATED, not real data)"}


def files(found: dict[str, Any]) -> dict[str, str]:
    """Return name -> content of methods.txt, .md and .tex, and, where the report has them, methods.bib and a datasheet.

    found: a report, as ``exports.read`` reads it. One that records no ``methods`` gets what holds for every study: what
    was run, on which data, with which settings.
    """
    own = _methods(found["recorded"].get("methods"))
    text = str(own["text"]) if own else _any_study(found)
    references = [str(reference) for reference in own.get("references", [])]
    works = own.get("works", [])
    listed = ["", *references] if references else []
    marked = ["", *(f"- {escaped(reference)}" for reference in references)] if references else []
    names = [f"{source['name']}{_KINDS.get(source['source'], '')}" for source in found["data"]]
    data = f" Data: {'; '.join(names)}." if names else ""
    signature = found["signature"]
    made = {
        "methods.txt": "\n".join([f"{text}{data}", f"Signature: {signature}", *listed, ""]),
        "methods.md": "\n".join(
            [escaped(f"{text}{data}"), "", f"Signature: `{signature.replace('`', '')}`", *marked, ""]
        ),
        "methods.tex": _latex((str(own["latex"]) if works else tex(text)) + tex(data), signature, bool(works)),
    }
    if works:
        made["methods.bib"] = bibtex(works)
    sheet = found["recorded"].get("datasheet")
    if isinstance(sheet, dict) and isinstance(sheet.get("answers"), list):
        made["datasheet.md"] = _datasheet(sheet, signature)
        made["datasheet.json"] = json.dumps({**sheet, "signature": signature}, indent=1, ensure_ascii=False) + "\n"
    return made


def _methods(own: Any) -> dict[str, Any]:
    """Return what a report records of its methods as far as it has the form that they are written in; else nothing."""
    if not isinstance(own, dict) or not isinstance(own.get("references"), list) or "text" not in own:
        return {}
    works = own.get("works")
    cited = "latex" in own and isinstance(works, list) and all(isinstance(work, str) for work in works)
    return own if cited else {name: own[name] for name in ("text", "references")}


def _any_study(found: dict[str, Any]) -> str:
    changed = ", ".join(f"{name} = {value}" for name, value in found["parameters"].items())
    return f"The study {found['study']} of evalkit {__version__} was run" + (f" with {changed}." if changed else ".")


def _latex(body: str, signature: str, cites: bool) -> str:
    r"""Lay out paragraphs for \input, with what they need said in comments."""
    line = tex(signature).replace(r"\textbar{}", r"\textbar\allowbreak{}").replace(",", r",\allowbreak{}")
    said = [r"% Cites methods.bib: \bibliography{methods}", _CITING] if cites else []
    return "\n".join([*needs(body + line), *said, body, "", rf"Signature: {{\ttfamily\sloppy {line}\par}}", ""])


def _datasheet(sheet: dict[str, Any], signature: str) -> str:
    """Write the datasheet as Markdown: a heading a section, a question a paragraph, blanks to be seen at once."""
    lines = [
        "# Human evaluation datasheet",
        "",
        escaped(str(sheet.get("summary", ""))),
        "",
        f"Questions of {escaped(str(sheet.get('template', '')))}, in short words of our own; the template has them in "
        f"full: {escaped(str(sheet.get('source', '')))}",
        "",
        f"Signature: `{signature.replace('`', '')}`",
        "",
    ]
    answers = [row for row in sheet["answers"] if isinstance(row, dict) and "number" in row]
    for (section, criterion), rows in groupby(answers, key=_part):
        about = f" ({escaped(criterion)})" if criterion else ""
        lines += [f"## {section} {SECTIONS.get(section, '')}{about}", ""]
        for row in rows:
            lines += [f"**{row['number']} {escaped(str(row.get('question', '')))}**", ""]
            lines += [f"- Known from the data: {escaped(str(row['known']))}"] if row.get("known") else []
            lines += [f"- **To be filled in:** {escaped(str(row['blank']))}"] if row.get("blank") else []
            lines.append("")
    return "\n".join(lines)


def _part(row: dict[str, Any]) -> tuple[str, str]:
    return str(row["number"]).rpartition(".")[0], str(row.get("criterion", ""))
