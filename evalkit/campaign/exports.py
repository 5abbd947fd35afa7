"""Files for papers and spreadsheets out of a report's JSON: tidy tables, LaTeX, the methods paragraph."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import ArrowException

from evalkit import DataError, __version__
from evalkit.campaign.sentences.methods import escaped

#: Tables of up to so many rows and columns are written as LaTeX, too: longer ones belong in an appendix of files.
ROWS, COLUMNS = 40, 14
#: Longer cells, in characters, are sentences: their column breaks lines.
SENTENCE = 40
#: Largest report that is read, bytes.
LARGEST = 200_000_000


def export(report: Path, out: Path) -> list[Path]:
    """Write every recorded table as CSV and Parquet, the main ones as LaTeX, single values, and the methods paragraph.

    report: a study's JSON report. out: a folder, made where it is not there; files of an earlier export are replaced.
    Returns the files: NAME.csv and NAME.parquet for every table, NAME.tex for tables of a page, values.json,
    methods.txt and methods.md. In CSV a gap is an empty cell.
    Raises DataError where the report cannot be read, or is of a study that failed or was skipped.
    """
    found = read(report)
    tables, values = split(found["recorded"])
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise DataError(f"{out} is a file. Name a folder with --out.") from None
    written: list[Path] = []
    taken: set[str] = set()
    for name, table in tables.items():
        stem = out / _stem(name, taken)
        table.to_csv(stem.with_name(f"{stem.name}.csv"), index=False, encoding="utf-8", lineterminator="\n")
        try:
            table.to_parquet(stem.with_name(f"{stem.name}.parquet"), index=False)
        except (ValueError, TypeError, OverflowError, ArrowException):
            raise DataError(
                f"{report.name}: the table {name} is none that a study writes. Run the study again."
            ) from None
        written += [stem.with_name(f"{stem.name}.csv"), stem.with_name(f"{stem.name}.parquet")]
        if len(table) <= ROWS and len(table.columns) <= COLUMNS:
            written.append(
                _text(stem.with_name(f"{stem.name}.tex"), latex(table, name=name, signature=found["signature"]))
            )
    plain, markdown = paragraph(found)
    written.append(_text(out / "values.json", json.dumps(values, indent=1, ensure_ascii=False) + "\n"))
    written.append(_text(out / "methods.txt", plain))
    written.append(_text(out / "methods.md", markdown))
    return written


def read(path: Path) -> dict[str, Any]:
    """Read a study's JSON report; DataError where it is none, or not a good one."""
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path.name} is larger than any report. Name the JSON file beside a report's HTML.")
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no {path}. Run the study first: evalkit run STUDY.") from None
    except (ValueError, RecursionError) as problem:
        raise DataError(
            f"{path.name} is no JSON report ({problem}). Name the JSON file beside a report's HTML."
        ) from None
    kinds = {"study": str, "status": str, "recorded": dict, "signature": str, "data": list, "parameters": dict}
    whole = isinstance(found, dict) and all(isinstance(found.get(key), kind) for key, kind in kinds.items())
    sources = found["data"] if whole else []
    named = all(isinstance(source, dict) and {"name", "source"} <= source.keys() for source in sources)
    if not (whole and named):
        raise DataError(f"{path.name} is no report of a study. Name the JSON file beside a report's HTML.")
    if found["status"] != "ok":
        raise DataError(f"{path.name}: the study {found['study']} {found['status']}. Run it again, then export.")
    return found


def split(recorded: dict[str, Any]) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Part recorded values into tables (lists of rows) and the rest.

    >>> tables, values = split({"a": [{"x": 1}, {"x": None}], "b": 3, "c": []})
    >>> tables["a"]["x"].tolist(), values
    ([1.0, nan], {'b': 3, 'c': []})
    """
    tables, values = {}, {}
    for name, value in recorded.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            tables[name] = _tidy(pd.DataFrame(value))
        else:
            values[name] = value
    return tables, values


def _tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Give every column one type: numbers, truth, or text; nested values become JSON text."""
    for name in table:
        column = table[name]
        if column.dtype != object and not pd.api.types.is_string_dtype(column):
            continue
        known = [value for value in column if value is not None and value == value]
        if any(isinstance(value, (dict, list)) for value in known):
            table[name] = [None if v is None else json.dumps(v, ensure_ascii=False) for v in column]
        elif known and all(isinstance(value, bool) for value in known):
            table[name] = column.astype("boolean")
        elif known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
            table[name] = pd.to_numeric(column)
        elif any(not isinstance(value, str) for value in known):
            table[name] = [None if v is None else str(v) for v in column]
    return table


def latex(table: pd.DataFrame, *, name: str, signature: str = "") -> str:
    r"""Write a table as a LaTeX ``table`` with booktabs rules, everything escaped; the signature stands in a comment.

    >>> print(latex(pd.DataFrame({"system": ["a_b"], "score": [1.25]}), name="my_table"))
    \begin{table}
    \caption{my table}
    \label{tab:my-table}
    \begin{tabular}{lr}
    \toprule
    system & score \\
    \midrule
    a\_b & 1.25 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    numbers = {
        column for column in table if pd.api.types.is_numeric_dtype(table[column]) and table[column].dtype != bool
    }
    cells = pd.DataFrame({column: _cells(table[column], column in numbers) for column in table})
    first = cells.iloc[:, 0]  # after a line's end a bracket or a star would belong to that command
    cells[cells.columns[0]] = first.where(~first.str.startswith(("[", "*")), "{}" + first)
    body = cells.to_latex(
        index=False,
        escape=False,
        header=[tex(str(column).replace("_", " ")) for column in table],
        column_format=_layout(table, numbers),
        caption=tex(name.replace("_", " ")),
        label=f"tab:{re.sub(r'[^A-Za-z0-9]+', '-', name)}",
    )
    rare = any(ord(letter) > 0x17F for letter in body)
    notes = [f"% {' '.join(signature.split())}"] * bool(signature) + [_RARE] * rare
    return "\n".join([*notes, body])


_RARE = "% Some letters here are none of pdfLaTeX's: use LuaLaTeX or XeLaTeX, with a font that has them."
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "\n": " ", "\r": " ", "\t": " ",
    "`": r"\textasciigrave{}", "…": r"\ldots{}", "−": "$-$", "✓": r"$\surd$", "✗": r"$\times$", "“": "``", "”": "''",
}  # fmt: skip


def tex(text: str) -> str:
    r"""Escape what LaTeX would take for a command.

    >>> print(tex("50 % of $x_1$ & \\input{a}"))
    50 \% of \$x\_1\$ \& \textbackslash{}input\{a\}
    """
    return "".join(_TEX.get(letter, letter) for letter in text)


def _layout(table: pd.DataFrame, numbers: set[str]) -> str:
    """Choose columns: numbers to the right, words to the left, sentences as paragraphs that share the line's width."""
    longest = {column: max(len(_cell(value)) for value in table[column]) for column in table}
    sentences = sum(length > SENTENCE for length in longest.values())
    paragraph = rf"p{{{0.75 / max(sentences, 1):.2f}\linewidth}}"
    return "".join("r" if column in numbers else paragraph if n > SENTENCE else "l" for column, n in longest.items())


def _cells(column: pd.Series, numeric: bool) -> list[str]:
    """Print a column's values for LaTeX, with a minus sign before negative numbers."""
    cells = [tex(_cell(value)) for value in column]
    return [f"$-${cell[1:]}" if numeric and cell[0] == "-" and cell != "--" else cell for cell in cells]


def _stem(name: str, taken: set[str]) -> str:
    """Make a file's name of a table's, other than those taken, whatever the letters' case."""
    stem = re.sub(r"[^\w-]+", "_", name).strip("_")[:80] or "table"
    number, chosen = 2, stem
    while chosen.casefold() in taken:
        chosen, number = f"{stem}_{number}", number + 1
    taken.add(chosen.casefold())
    return chosen


def _cell(value: Any) -> str:
    """Print a value for a paper: up to four significant digits, a dash for a gap."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def paragraph(found: dict[str, Any]) -> tuple[str, str]:
    """Return the methods paragraph of a report as plain text and as Markdown, with data and signature at its end.

    Reports that record no ``methods`` get what holds for every study: what was run, on which data, with which settings.
    """
    own = found["recorded"].get("methods")
    signature = found["signature"]
    if isinstance(own, dict) and "text" in own and isinstance(own.get("references"), list):
        text, references = str(own["text"]), [str(reference) for reference in own["references"]]
    else:
        text = f"The study {found['study']} of evalkit {__version__} was run"
        changed = ", ".join(f"{name} = {value}" for name, value in found["parameters"].items())
        text, references = text + (f" with {changed}." if changed else "."), []
    kinds = {"real": "", "published": " (numbers as printed)", "simulated": " (SIMULATED, not real data)"}
    names = [f"{source['name']}{kinds.get(source['source'], '')}" for source in found["data"]]
    text += f" Data: {'; '.join(names)}." if names else ""
    plain = "\n".join([text, f"Signature: {signature}", *(["", *references] if references else []), ""])
    marked = [escaped(text), "", f"Signature: `{signature.replace('`', '')}`", ""]
    return plain, "\n".join(
        marked + [f"- {escaped(reference)}" for reference in references] + ([""] if references else [])
    )


def _text(path: Path, content: str) -> Path:
    """Write a text file in UTF-8."""
    path.write_text(content, encoding="utf-8")
    return path
