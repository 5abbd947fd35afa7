"""Tell what was read, what was not and why: for people, and for a program."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
    unsure_segments: float = 0.0  # the share of them of which that is not certain
    weights: str = ""  # what errors weigh, where scores are made of them
    systems: list[dict[str, str | int | float]] = field(default_factory=list)  # judgements and mean score of each
    people: list[dict[str, str | int | float]] = field(default_factory=list)  # and of each annotator: the same ones
    besides: dict[str, int] = field(default_factory=dict)  # judgements of other kinds of items, which neither counts
    judges: list[str] = field(default_factory=list)  # annotators that are models; their judgements stand apart
    metrics: list[str] = field(default_factory=list)  # automatic scores: where from, how matched, which way is better
    annotators: int = 0
    unnamed: bool = False  # whether no column says who judged, so that the one annotator stands for nobody known
    spans: int = 0
    plan: dict[str, Any] = field(default_factory=dict)  # what a designed campaign had planned, and what came of it
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
        """Write the receipt for people, a line each: what came in, what became of it, and what it says."""
        names = ", ".join(entry["name"] for entry in self.files[:3]) + (" …" if len(self.files) > 3 else "")
        lines = [f"{names}: format {self.format} ({self.how})"]
        pairs = [
            f"{ours} = {entry['theirs']}"
            for ours, entry in self.mapping.items()
            if ours != entry["theirs"] and entry["how"] != "made"
        ]
        lines += ["columns: " + "; ".join(pairs)] if pairs else []
        lines += [f"not used: {', '.join(self.unused)}"] if self.unused else []
        lines += [f"{what}: {told}" for what, told in self.read_as().items()]
        people = "annotators" if not self.pseudonyms else "annotators, under pseudonyms"
        lines.append(
            f"{self.rows_read:,} rows read: {self.rows_kept:,} kept, {self.rows_rejected:,} rejected, "
            f"{self.rows_excluded:,} excluded; {self.annotators:,} {people}"
        )
        lines += [f"  {count:,} {what}" for what, count in self.apart().items()]
        for entry in self.first:
            value = f" {entry['value']}" if entry["value"] else ""
            lines.append(f"  {entry['file']}, line {entry['line']}, column {entry['column']}:{value} {entry['reason']}")
        lines += [f"note: {note}" for note in self.notes]
        lines += _listed("system", self.systems) + _listed("annotator", self.people)
        told = ", ".join(f"{number:,} of {_BESIDES[kind]}" for kind, number in self.besides.items())
        return lines + [f"besides, and in neither table, judgements: {told}"] * bool(told)

    def read_as(self) -> dict[str, str]:
        """Say how scores and segments were read: scale, orientation, weights, segments; what is not known is absent."""
        scale = "{:g} to {:g}".format(*self.scale) if self.scale else "unbounded"
        shown = self.metrics if len(self.metrics) <= _FEW_METRICS else [text.partition(",")[0] for text in self.metrics]
        told = {
            "scale": f"{scale} ({self.scale_from})",
            "orientation": self.orientation,
            "weights": self.weights,
            "segments": self.segments,
            "automatic judges": ", ".join(self.judges),
            "automatic metrics": "; ".join(shown),
            "plan": self._as_planned(),
        }
        return {what: text for what, text in told.items() if text}

    def _as_planned(self) -> str:
        """Say how much of what was planned is there."""
        if not self.plan:
            return ""
        planned, there = (sum(row[name] for row in self.plan["annotators"]) for name in ("planned", "collected"))
        return f"{there:,} of the {planned:,} judgements of {self.plan['file']} are there"

    def apart(self) -> dict[str, int]:
        """Count the rows that are no judgements of the result, by what became of them and why."""
        counts = {
            "rows mark further errors of judgements that have a row": self.rows_folded,
            "cells of evaluators are empty: no judgements": self.blank_cells,
        }
        found = {what: count for what, count in counts.items() if count}
        for kind, reasons in (("rejected", self.reasons), ("excluded", self.excluded)):
            found |= {f"{kind}: {reason}": count for reason, count in reasons.most_common()}
        return found

    def nothing(self, waiting: Sequence[str] = ()) -> str:
        """Say why no row is left; waiting: what the files say of rows that nobody has filled in."""
        origin = ", ".join(entry["name"] for entry in self.files)
        if not self.rows_read and waiting:
            others = f", and {len(waiting) - 1} other files are as empty" if len(waiting) > 1 else ""
            return (
                f"{self.files[0]['name']} holds no judgement yet: {waiting[0]}{others}. Write a row for each "
                "judgement, or an answer for each item, and import it again."
            )
        if not self.rows_read:
            return f"{origin} has headings and no rows below them. Check that the export is complete."
        counts = (self.reasons + self.excluded).most_common(3)
        reasons = "; ".join(f"{count:,} rows: {reason}" for reason, count in counts) or "there are none"
        example = ""
        if self.first:
            example = " First: line {line}, column {column}: {value} {reason}.".format(**self.first[0])
        return f"{origin}: of {self.rows_read:,} rows none is a sound judgement ({reasons}).{example}"


_BESIDES = {
    "system": "outputs of systems",
    "reference": "references under a system's name",
    "degraded": "degraded items",
    "repeat": "second showings of what is no system",
    "calibration": "calibration items",
}
_FEW_METRICS = 6  # of which all is told in one line; of more, names and files
_MOST = 30  # systems, and annotators, that are listed one by one


def _listed(what: str, rows: list[dict[str, str | int | float]]) -> list[str]:
    """List systems or annotators, with judgements and mean score of each."""
    if not rows:
        return []
    several = any("criterion" in row for row in rows)
    once = any(row.get("mean of segments", row["mean"]) != row["mean"] for row in rows)
    lines = [f"{what:<28}{'criterion':<16}judgements    mean" if several else f"{what:<28}judgements    mean"]
    lines[0] += "  of segments" if once else ""
    for row in rows[:_MOST]:
        criterion = f"{row.get('criterion', ''):<16}" if several else ""
        lines.append(f"{row[what]:<28}{criterion}{row['judgements']:>10,}{row['mean']:>8.2f}")
        lines[-1] += f"{row['mean of segments']:>13.2f}" if once else ""
    return lines + ([f"… and {len(rows) - _MOST} more, in the .import.json"] if len(rows) > _MOST else [])


_PATTERN = Report()
_TEXTS, _COUNTS = ("columns", "unused", "notes", "judges", "metrics"), ("planned", "collected")

#: What the rows of a reason are called together.
_TOGETHER = {
    "is the score of a whole document": "scores of whole documents",
    "is an item of the tutorial": "items of the tutorial",
    "is an attention check": "attention checks",
    "is a question of a form": "questions of forms",
    "is an annotation that was reset": "annotations that were reset",
    "is the mark of a reset": "marks of resets",
    "is a task that was skipped": "tasks that were skipped",
    "is an answer that others are held against (ground truth)": "answers that others are held against",
    "is of a translation that the scheme of weights gives no score": "translations that the scheme gives no score",
    "is an item of a document shown again to fill a task": "items of documents shown again to fill a task",
    "gets no score in this scheme": "judgements that get no score in the scheme of weights",
    "was replaced by a later submission": "submissions that a later one replaced",
    "belongs to a showing of a document whose segments were not scored in order": (
        "segment scores of documents that were not scored in order"
    ),
}


def together(reason: str) -> str:
    """Name the rows that share a reason, for a sentence that counts them.

    >>> together("is an item of the tutorial"), together("is outside 0-100")
    ('items of the tutorial', 'rows (is outside 0-100)')
    """
    return _TOGETHER.get(reason, f"rows ({reason})")


def is_texts(found: Any, kinds: tuple[type, ...] = (str,)) -> bool:
    """Tell whether something is a list of texts, or of what else is told.

    >>> is_texts(["a"]), is_texts(["a", None]), is_texts("a"), is_texts([1.5], (float,))
    (True, False, False, True)
    """
    return isinstance(found, list) and all(isinstance(one, kinds) and not isinstance(one, bool) for one in found)


def is_report(found: Any) -> bool:
    """Tell whether something read from JSON has the shape of a report; parts that are not known are passed over.

    >>> is_report({"rows_kept": 3, "notes": []}), is_report({"rows_kept": "3"}), is_report([])
    (True, False, False)
    """
    try:
        json.dumps(found, ensure_ascii=False).encode()  # half of a surrogate pair is no letter
        known = {name: value for name, value in found.items() if name in vars(_PATTERN)}
        return all(_fits(name, getattr(_PATTERN, name), value) for name, value in known.items())
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return False


def _fits(name: str, pattern: Any, value: Any) -> bool:
    """Tell whether a part of a report is of its kind, and so are its own parts."""
    if name == "scale":
        return value is None or (is_texts(value, (int, float)) and len(value) == 2)
    if isinstance(pattern, Counter):
        return is_texts(list(value.values()), (int,))
    if name == "plan":
        counts = [row[which] for what in ("annotators", "kinds") for row in value.get(what, []) for which in _COUNTS]
        return not value or (isinstance(value["file"], str) and is_texts(counts, (int,)))
    if isinstance(pattern, list):
        return isinstance(value, list) and (name not in _TEXTS or is_texts(value))
    return isinstance(value, (int, float) if isinstance(pattern, float) else type(pattern)) and (
        isinstance(pattern, bool) or not isinstance(value, bool)
    )


def beside(out: Path, what: str) -> Path:
    """Name a file beside the result: campaign.parquet -> campaign.spans.parquet.

    >>> beside(Path("campaign.parquet"), "rejected.csv").name
    'campaign.rejected.csv'
    """
    return out.with_name(f"{out.name.removesuffix('.parquet')}.{what}")
