"""Tell what was read, what was not and why: for people, and for a program."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Report:
    """What an import did. ``rows_read`` is the sum of rows kept, rejected, excluded, and folded into another row.

    Where evaluators have a column each, a row is a cell with a score, and ``blank_cells`` have none.
    """

    files: list[dict[str, str]] = field(default_factory=list)
    format: str = ""
    how: str = ""
    rows_read: int = 0
    rows_kept: int = 0
    rows_rejected: int = 0
    rows_excluded: int = 0
    rows_folded: int = 0
    blank_cells: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    columns: list[str] = field(default_factory=list)
    mapping: dict[str, dict[str, str]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scale: list[float] | None = None
    scale_from: str = ""
    orientation: str = ""  # which way is better, and how that is known
    segments: str = ""  # how segments were found, and how sure that is; empty where they are the file's own
    weights: str = ""  # what errors weigh, where scores are made of them
    annotators: int = 0
    spans: int = 0
    pseudonyms: bool = True
    digest: str = ""
    rejected_digest: str = ""  # of the file of rejected rows, as it was written
    first: list[dict[str, str | int]] = field(default_factory=list)

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

    def nothing(self) -> str:
        """Say why no row is left."""
        origin = ", ".join(entry["name"] for entry in self.files)
        if not self.rows_read:
            return f"{origin} has headings and no rows below them. Check that the export is complete."
        counts = (self.reasons + self.excluded).most_common(3)
        reasons = "; ".join(f"{count:,} rows: {reason}" for reason, count in counts) or "there are none"
        example = ""
        if self.first:
            example = " First: line {line}, column {column}: {value} {reason}.".format(**self.first[0])
        return f"{origin}: of {self.rows_read:,} rows none is a sound judgement ({reasons}).{example}"


#: What the rows of a reason are called together.
_TOGETHER = {
    "is the score of a whole document": "scores of whole documents",
    "is an item of the tutorial": "items of the tutorial",
    "is an attention check": "attention checks",
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
