"""Tell what was read, what was not and why: for people, for a program, and every rejected row in a file."""

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

#: What the file of rejected rows says of each, before the row's own cells, and behind them where these cannot be cut.
FIELDS, UNCUT = ["kind", "file", "line", "column", "value", "reason"], "cells"
EXCLUDED = "excluded"
_LINE = re.compile(r"\bline \d+( of \S+)?")
SHOWN = 10  # rejected rows that are told one by one; the file has them all


@dataclass
class Rejection:
    """A row that is not in the result: ``rejected``, or ``excluded`` because it is no judgement."""

    line: int
    column: str
    value: str
    reason: str
    kind: str = "rejected"
    annotator: str | None = None  # as it stands in the row, to be hidden


@dataclass
class Report:
    """What an import did. ``rows_read`` is the sum of rows kept, rejected, excluded, and folded into another row.

    Where evaluators have a column each, a row is a cell with a score, and ``blank_cells`` have none.
    """

    files: list[dict] = field(default_factory=list)
    format: str = ""
    how: str = ""
    rows_read: int = 0
    rows_kept: int = 0
    rows_rejected: int = 0
    rows_excluded: int = 0
    rows_folded: int = 0
    blank_cells: int = 0
    reasons: Counter = field(default_factory=Counter)
    excluded: Counter = field(default_factory=Counter)
    columns: list[str] = field(default_factory=list)
    mapping: dict[str, dict] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scale: list[float] | None = None
    scale_from: str = ""
    annotators: int = 0
    spans: int = 0
    pseudonyms: bool = True
    digest: str = ""
    rejected_digest: str = ""  # of the file of rejected rows, as it was written
    first: list[dict] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Remember something that the user should know, once."""
        if text not in self.notes:
            self.notes.append(text)

    def as_json(self) -> str:
        """Write the report for a program; the same import writes the same text."""
        content = {key: dict(value) if isinstance(value, Counter) else value for key, value in vars(self).items()}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def sentences(self) -> list[str]:
        """Write the report for people, a line each."""
        names = ", ".join(entry["name"] for entry in self.files[:3]) + (" …" if len(self.files) > 3 else "")
        lines = [f"{names}: format {self.format} ({self.how})"]
        if self.mapping:
            pairs = [
                f"{ours} = {entry['theirs']}"
                for ours, entry in self.mapping.items()
                if ours != entry["theirs"] and entry["how"] != "made"
            ]
            lines += ["columns: " + "; ".join(pairs)] if pairs else []
        lines += [f"not used: {', '.join(self.unused)}"] if self.unused else []
        scale = "{:g} to {:g}".format(*self.scale) if self.scale else "unbounded"
        people = "annotators" if not self.pseudonyms else "annotators, under pseudonyms"
        lines.append(
            f"{self.rows_read:,} rows read: {self.rows_kept:,} kept, {self.rows_rejected:,} rejected, "
            f"{self.rows_excluded:,} excluded; {self.annotators:,} {people}; scale {scale} ({self.scale_from})"
        )
        if self.rows_folded:
            lines.append(f"  {self.rows_folded:,} rows mark further errors of judgements that have a row")
        if self.blank_cells:
            lines.append(f"  {self.blank_cells:,} cells of evaluators are empty: no judgements")
        for title, counts in (("rejected", self.reasons), ("excluded", self.excluded)):
            lines += [f"  {count:,} {title}: {reason}" for reason, count in counts.most_common()]
        for entry in self.first:
            value = f" {entry['value']}" if entry["value"] else ""
            lines.append(f"  {entry['file']}, line {entry['line']}, column {entry['column']}:{value} {entry['reason']}")
        return lines + [f"note: {note}" for note in self.notes]


class Rejections:
    """Write rejected rows to a file as they are found, and count them; repaired there, they can be imported again.

    headings: of all files of the campaign, without names of people.
    """

    def __init__(self, stream: TextIO, report: Report, headings: list[str]):
        self.report, self._headings = report, headings
        self._rows = csv.writer(stream)
        self._rows.writerow([*FIELDS, *headings, UNCUT])

    def add(self, file: str, rejection: Rejection, cells: list[str] | dict[str, str]) -> None:
        """Write one row; its cells, under their headings or as they were cut, are given without names."""
        report, counted = self.report, _LINE.sub("another line", rejection.reason.partition(":")[0])
        value = json.dumps(rejection.value, ensure_ascii=False) if rejection.value else ""
        if rejection.kind == "rejected":
            report.rows_rejected += 1
            report.reasons[counted] += 1
            if len(report.first) < SHOWN:
                report.first.append(
                    {
                        "file": file,
                        "line": rejection.line,
                        "column": rejection.column,
                        "value": value[:60],
                        "reason": rejection.reason,
                    }
                )
        else:
            report.rows_excluded += 1
            report.excluded[counted] += 1
        told = [rejection.kind, file, rejection.line, rejection.column, rejection.value, rejection.reason]
        whole = isinstance(cells, dict)
        row = [cells.get(name, "") if whole else "" for name in self._headings]
        self._rows.writerow([*told, *row, "" if whole else json.dumps(cells, ensure_ascii=False)])


#: What the rows of a reason are called together.
_TOGETHER = {
    "is the score of a whole document": "scores of whole documents",
    "is an item of the tutorial": "items of the tutorial",
    "was replaced by a later submission": "submissions that a later one replaced",
    "belongs to a showing of a document whose segments were not scored in order":
        "segment scores of documents that were not scored in order",
}  # fmt: skip


def together(reason: str) -> str:
    """Name the rows that share a reason, for a sentence that counts them.

    >>> together("is an item of the tutorial"), together("is outside 0-100")
    ('items of the tutorial', 'rows (is outside 0-100)')
    """
    return _TOGETHER.get(reason, f"rows ({reason})")


def beside(out: Path, what: str) -> Path:
    """Name a file beside the result: campaign.parquet -> campaign.spans.parquet.

    >>> beside(Path("campaign.parquet"), "rejected.csv").name
    'campaign.rejected.csv'
    """
    return out.with_name(f"{out.name.removesuffix('.parquet')}.{what}")
