"""Tell what was read, what was not and why, for people and for a program; refuse where much or a kind was not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data.importing import vocabulary
from evalkit.data.importing.numbers import ABSENT, MISSING
from evalkit.data.importing.tables import EXCLUDED, REFUSE_ABOVE, Judgements, Rejection, Table
from evalkit.data.schemas import ITEM_TYPES, scored, with_pair

Part = tuple[Table, Judgements]
Note = Callable[[str], None]  # gets what the user should know
_FEW_METRICS = 6  # of which all is told in one line; of more, names and files
_MOST = 30  # systems, and annotators, that are listed one by one
_SHOWN = 10  # rejected rows that are told one by one; the file has them all
_LINE = re.compile(r"""\bline \d+( of ('[^']*'|"[^"]*"|\S+))?""")


def together(reason: str) -> str:
    """Name the rows that share a reason, for a sentence that counts them.

    >>> together("is an item of the tutorial"), together("is outside 0-100")
    ('items of the tutorial', 'rows (is outside 0-100)')
    """
    return vocabulary.table("together").get(reason, f"rows ({reason})")


@dataclass
class Receipt:
    """What an import did. ``rows_read`` is the sum of rows kept, rejected, excluded, and folded into another row.

    Where columns of scores stand side by side, a row is a cell with a score, and ``blank_cells`` have none.
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
    mapping: dict[str, str] = field(default_factory=dict)  # our name -> the file's heading
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
    first: list[dict[str, str | int]] = field(default_factory=list)

    @classmethod
    def of_json(cls, text: str) -> Receipt | None:
        """Read what an import wrote; None where it is something else."""
        try:
            said = json.loads(text)
            receipt = cls(**{one.name: said[one.name] for one in fields(cls) if one.name in said})
            receipt.reasons, receipt.excluded = Counter(receipt.reasons), Counter(receipt.excluded)
            "\n".join(receipt.sentences()).encode()  # parts of other kinds, and halves of letters, cannot be told
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
        return receipt

    def note(self, text: str) -> None:
        """Remember something that the user should know, once."""
        if text not in self.notes:
            self.notes.append(text)

    def reject(self, file: str, row: Rejection) -> None:
        """Count a row that is no judgement of the result."""
        reason = _LINE.sub("another line", row.reason.partition(":")[0])
        if row.kind == EXCLUDED:
            self.rows_excluded += 1
            self.excluded[reason] += 1
            return
        self.rows_rejected += 1
        self.reasons[reason] += 1
        if len(self.first) < _SHOWN:
            value = json.dumps(row.value, ensure_ascii=False)[:60] if row.value else ""
            self.first.append(
                {"file": file, "line": row.line, "column": row.column, "value": value, "reason": row.reason}
            )

    def describe(self, names: dict[str, str], header: Sequence[str] = ()) -> None:
        """Say which column became what. header: also which headings are left."""
        self.mapping |= names
        left = [name for name in header if name not in names.values() and name not in self.unused]
        self.unused += left

    def as_json(self) -> str:
        """Write the receipt for a program; the same import writes the same text."""
        return json.dumps(vars(self), indent=1, ensure_ascii=False) + "\n"

    def sentences(self) -> list[str]:
        """Write the receipt for people, a line each: what came in, what became of it, and what it says."""
        names = ", ".join(entry["name"] for entry in self.files[:3]) + (" …" if len(self.files) > 3 else "")
        lines = [f"{names}: format {self.format} ({self.how})"]
        pairs = [f"{ours} = {theirs}" for ours, theirs in self.mapping.items() if ours != theirs]
        lines += ["columns: " + "; ".join(pairs)] if pairs else []
        lines += [f"not used: {', '.join(self.unused)}"] if self.unused else []
        lines += [f"{what}: {said}" for what, said in self.read_as().items()]
        people = "annotator" + "s" * (self.annotators != 1) + ", under pseudonyms" * self.pseudonyms
        lines.append(
            f"{self.rows_read:,} rows read: {self.rows_kept:,} kept, {self.rows_rejected:,} rejected, "
            f"{self.rows_excluded:,} excluded; {self.annotators:,} {people}"
        )
        lines += [f"  {count:,} {what}" for what, count in self.apart().items()]
        lines += [f"  {_told(entry)}" for entry in self.first] + [f"note: {note}" for note in self.notes]
        lines += _listed(self.systems) + _listed(self.people)
        kinds = vocabulary.table("besides")
        others = ", ".join(f"{number:,} of {kinds[kind]}" for kind, number in self.besides.items())
        return lines + [f"besides, and in neither table, judgements: {others}"] * bool(others)

    def read_as(self) -> dict[str, str]:
        """Say how scores and segments were read: scale, orientation, weights, segments; what is not known is absent."""
        scale = "{:g} to {:g}".format(*self.scale) if self.scale else "unbounded"
        shown = self.metrics if len(self.metrics) <= _FEW_METRICS else [text.partition(",")[0] for text in self.metrics]
        planned = ""
        if self.plan:
            wanted, there = (sum(row[name] for row in self.plan["annotators"]) for name in ("planned", "collected"))
            planned = f"{there:,} of the {wanted:,} judgements of {self.plan['file']} are there"
        said = {
            "scale": f"{scale} ({self.scale_from})",
            "orientation": self.orientation,
            "weights": self.weights,
            "segments": self.segments,
            "automatic judges": ", ".join(self.judges),
            "automatic metrics": "; ".join(shown),
            "plan": planned,
        }
        return {what: text for what, text in said.items() if text}

    def apart(self) -> dict[str, int]:
        """Count the rows that are no judgements of the result, by what became of them and why."""
        counts = {
            "rows mark further errors of judgements that have a row": self.rows_folded,
            "cells of columns of scores are empty: no judgements": self.blank_cells,
        }
        counts = {what: count for what, count in counts.items() if count}
        for kind, reasons in (("rejected", self.reasons), ("excluded", self.excluded)):
            counts |= {f"{kind}: {reason}": count for reason, count in reasons.most_common()}
        return counts

    def nothing(self, waiting: str) -> str:
        """Say why no row is left; waiting: what the files say of rows that nobody has filled in."""
        origin = ", ".join(entry["name"] for entry in self.files)
        if not self.rows_read:
            said = f"holds no judgement yet: {waiting}" if waiting else "has headings and no rows below them"
            return f"{origin} {said}. Write a row for each judgement, or an answer for each item, and import it again."
        reasons = _by_reason(self.reasons + self.excluded, 3) or "there are none"
        first = f" First: {_told(self.first[0])}." if self.first else ""
        return f"{origin}: of {self.rows_read:,} rows none is a sound judgement ({reasons}).{first}"


def _by_reason(counts: Counter[str], most: int) -> str:
    """Count rows by why they are rejected, the most frequent reasons first."""
    return "; ".join(f"{count:,} row{'s' * (count != 1)}: {reason}" for reason, count in counts.most_common(most))


def _told(row: dict[str, str | int]) -> str:
    """Tell of a rejected row where it stands, what it holds, and why it is none."""
    return "{file}, line {line}, column {column}: {value} {reason}".format(**row).replace(":  ", ": ")


def _listed(rows: list[dict[str, str | int | float]]) -> list[str]:
    """List systems or annotators, with judgements and mean score of each."""
    if not rows:
        return []
    table = pd.DataFrame(rows[:_MOST]).to_string(index=False, float_format="{:.2f}".format)
    more = [f"… and {len(rows) - _MOST} more, in the .import.json"] if len(rows) > _MOST else []
    return table.splitlines() + more


def complete(receipt: Receipt, ratings: pd.DataFrame) -> None:
    """Put into the receipt what all judgements of people together show."""
    receipt.annotators = int(ratings["annotator"].nunique())
    receipt.unnamed = receipt.annotators == 1 and "annotator" not in receipt.mapping
    apart = ["pair", *(["criterion"] if "criterion" in ratings else [])]
    counted = pd.concat([scored(own) for _, own in with_pair(ratings).reset_index(drop=True).groupby(apart)])
    if counted.duplicated([*apart, "system", "doc", "segment"]).any():
        receipt.note(
            "systems are ranked by the mean of segments, which counts a segment once, however often it was judged"
        )
    receipt.systems, receipt.people = _means(counted, "system"), _means(counted, "annotator")
    rest = ratings["item_type"].value_counts() - counted["item_type"].value_counts().reindex(ITEM_TYPES, fill_value=0)
    receipt.besides = {kind: int(number) for kind, number in rest.items() if number > 0}


def _means(ratings: pd.DataFrame, by: str) -> list[dict[str, str | int | float]]:
    """List systems and people's translations, or annotators, by criterion, with judgements and mean, best first.

    Systems have a second mean, that of the ranking: every segment counts once, however often it was judged; and theirs
    stand by language pair where there are several, for scores of two languages make no mean.
    """
    apart = ["criterion"] if "criterion" in ratings else []
    pairs = ["pair"] if by == "system" and ratings["pair"].nunique() > 1 else []
    keys, first = [*pairs, by, *apart], "judgements"
    table = ratings.groupby(keys)["score"].agg(judgements="size", mean="mean")
    if by == "system":
        first, each = "mean of segments", [*dict.fromkeys(["pair", *keys]), "doc", "segment"]
        segments = ratings.groupby(each)["score"].mean()
        table[first] = segments.groupby(keys).mean()
    order = [*pairs, *apart, first, by]
    table = table.round(6).reset_index().sort_values(order, ascending=[name != first for name in order])
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def refuse_many(receipt: Receipt, parts: Sequence[Part], *, allowed: bool) -> None:
    """Refuse a campaign of whose rows many were rejected.

    allowed: go on where the rows are merely broken; a kind of judgement, whose loss would falsify the result, nobody
    may leave out, nor judgements of segments that are not told apart. Raises DataError with the reasons.
    """
    share = receipt.rows_rejected / max(receipt.rows_read, 1)
    if share <= REFUSE_ABOVE:
        return
    lost = _one_for_many(receipt, parts) or _lost_kind(parts, max(_FEW, REFUSE_ABOVE * receipt.rows_read))
    if allowed and not lost:
        return
    reasons = _by_reason(receipt.reasons, 5)
    scale = ""
    if receipt.scale and any("is outside" in reason for reason in receipt.reasons):
        scale = " The scale is {:g} to {:g}".format(*receipt.scale) + f" ({receipt.scale_from})."
    remedy = "Correct the file or the options, or pass --allow-rejected to go on without these rows."
    if lost:
        remedy = f"{lost}: to leave them out would falsify the result, so --allow-rejected does not. Correct the file "
        remedy += "or the options."
    raise DataError(
        f"{', '.join(entry['name'] for entry in receipt.files)}: {receipt.rows_rejected:,} of {receipt.rows_read:,} "
        f"rows ({share:.1%}) cannot be read, and nothing was imported ({reasons}). First: {_told(receipt.first[0])}."
        f"{scale} {remedy}"
    )


_FEW = 5  # rows that may be alike, or of one system, by chance
_CHANCE = 0.001  # how improbable it must be that systems lose shares so different, if rows broke by chance
#: Rows whose loss takes no judgement away: those without one, and those that are there twice.
_HARMLESS = (MISSING, "repeats ", "judges again", "is the same as ", "has no score ")
#: Reasons that depend on what was judged: the value, how it was written, or errors that weigh nothing.
_BY_VALUE = re.compile(
    r"(is outside|is a percentage|has a thousands|reads like a date|could be decimals|a comma in|a decimal point in"
    r"|is too large|gives )|.*(weight|severity)"
)


def _one_for_many(receipt: Receipt, parts: Sequence[Part]) -> str:
    """Say which column can hardly name segments, where most rows judge anew what another one judged; else ""."""
    again = sum(count for reason, count in receipt.reasons.items() if reason.startswith("judges again"))
    if 2 * again <= receipt.rows_read:
        return ""
    headings = dict.fromkeys(found.names.get("segment", "segment") for _, found in parts)
    named = " or ".join("what stands in for segments" if name.startswith("(") else name for name in headings)
    return f"{named} hardly names segments, when most rows judge one anew (--map segment=HEADING names another column)"


def _lost_kind(parts: Sequence[Part], many: float) -> str:
    """Say which judgements would be lost with the rejected rows, where they are no chance ones; "" where they are.

    Rows are a kind where their values are why they were rejected, where they hold the same value, or where systems lose
    shares that differ by more than chance.
    """
    lost = [
        (row, system)
        for part in parts
        for row, system in zip(part[1].rejected, _systems(*part), strict=True)
        if row.kind != EXCLUDED and not row.reason.startswith(_HARMLESS)
    ]
    if len(lost) < many:
        return ""
    by_value = sum(bool(_BY_VALUE.match(row.reason)) for row, _ in lost)
    if by_value >= many:
        return f"{by_value:,} of them were rejected for their value"
    alike = Counter((row.column, row.value) for row, _ in lost if row.value.strip().casefold() not in {"", *ABSENT})
    (column, value), count = alike.most_common(1)[0] if alike else (("", ""), 0)
    if count >= many:
        return f"{count:,} of them hold {value[:40]!r} in column {column}"
    gone = pd.Series([system for _, system in lost if system], dtype="str")
    kept = pd.concat([judgements.ratings["system"].astype("str") for _, judgements in parts])
    counts = pd.DataFrame({"gone": gone.value_counts(), "kept": kept.value_counts()}).fillna(0)
    if len(counts) < 2 or len(gone) < _FEW or kept.empty:
        return ""
    from scipy import stats  # takes a second to load, and rows are seldom lost

    if stats.chi2_contingency(counts).pvalue >= _CHANCE:
        return ""
    share = counts["gone"] / counts.sum(axis=1)
    return f"{share.idxmax()} would lose {share.max():.0%} of its rows, others {share.min():.0%}"


def _systems(table: Table, judgements: Judgements) -> list[str]:
    """Name the system that each rejected row judges; "" where that cannot be told."""
    if judgements.role == "system":
        return [judgements.parts.get(row.column, "") for row in judgements.rejected]
    named = table.cells.get(judgements.names.get("system", ""), pd.Series(dtype="str")).dropna()
    systems = dict(zip(named.index, named))
    return [str(systems.get(row.line, "")) for row in judgements.rejected]
