"""Import what the Appraise tool exports, with or without a header: direct assessment, documents, error spans (ESA)."""

import re

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import appraise, esa, schemas
from evalkit.data.importing import columns
from evalkit.data.importing.formats import Head, Match, Options, Report, ordered
from evalkit.data.importing.judgements import ITEM_TYPES, Converted, Judgements, human
from evalkit.data.importing.report import Rejection

_START = ["username", "system", "itemId", "itemType", "srcLang", "trgLang", "score"]
_END = ["timeStart", "timeEnd"]
#: The columns of exports without a header, by their number: segments alone, segments of documents, error spans.
LAYOUTS = {
    9: [*_START, *_END],
    11: [*_START, "docId", "isDocScore", *_END],
    12: [*_START, "docId", "isDocScore", "spans", *_END],
}
_NAMES = appraise.COLUMNS
_KINDS = {"tgt", "bad", "ref", "chk"}
_NUMBER = re.compile(r"-?\d+([.,]\d+)?([eE][+-]?\d+)?")
_ORDER = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]


class Appraise:
    """Scores of segments, alone or in documents."""

    name, title, scale = "appraise", "an export of Appraise", (0, 100)
    wanted = (9, 11)

    def match(self, head: Head, options: Options) -> Match:
        """Fits where the headings are Appraise's, or rows without headings read like its rows."""
        bare = _headless(head, self.wanted)
        if bare:
            return Match(0.98, "", bare, 0, f"by its rows: {len(bare)} cells without a header, as Appraise writes them")
        names = {columns.plain(name): name for name in head.header}
        lacks = [name for name in _START if columns.plain(name) not in names]
        if "spans" in names:
            lacks.append("spans left out (those belong to esa)")
        return Match(0.95 * (1 - len(lacks) / 7), ", ".join(lacks), head.header, head.line, "by its headings")

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> "Exported":
        """Make ready to read the file."""
        return Exported(head, match, options, report)


class Esa(Appraise):
    """Scores of segments with the errors that were marked in them."""

    name, title, scale = "esa", "an export of Appraise with error spans", (0, 100)
    wanted = (12,)

    def match(self, head: Head, options: Options) -> Match:
        """Fits where there is a column of spans besides Appraise's."""
        bare = _headless(head, self.wanted)
        if bare:
            return Match(0.98, "", bare, 0, "by its rows: 12 cells without a header, the tenth a list of spans")
        names = {columns.plain(name): name for name in head.header}
        lacks = [name for name in (*_START, "spans") if columns.plain(name) not in names]
        return Match(0.97 * (1 - len(lacks) / 8), ", ".join(lacks), head.header, head.line, "by its headings")


def _headless(head: Head, widths: tuple[int, ...]) -> list[str] | None:
    """Return the names of the columns where nearly all rows read like Appraise's, and none is a heading."""
    if not head.rows or not _row(head.rows[0][1]):
        return None
    rows = [cells for _, cells in head.rows]
    good = [cells for cells in rows if _row(cells) and len(cells) in widths]
    return LAYOUTS[len(good[0])] if len(good) >= 0.8 * len(rows) and len({*map(len, good)}) == 1 else None


def _row(cells: list[str]) -> bool:
    """Tell whether cells read like a row of Appraise's."""
    cells = [cell.strip() for cell in cells]
    return (
        len(cells) in LAYOUTS
        and cells[3].casefold() in _KINDS
        and all(re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)?", cell) for cell in cells[4:6])
        and all(_NUMBER.fullmatch(cell) for cell in (cells[6], *cells[-2:]))
        and (len(cells) == 9 or cells[8] in ("True", "False"))
        and (len(cells) < 12 or cells[9].startswith("["))
    )


class Exported:
    """Read an export; its judgements hang on each other, because items are shown again."""

    whole = True

    def __init__(self, head: Head, match: Match, options: Options, report: Report):
        present = {columns.plain(name): name for name in match.header}
        told = {ours: theirs for ours, theirs in options.columns.items() if isinstance(theirs, str)}
        self.names = {ours: present[columns.plain(theirs)] for ours, theirs in _NAMES.items()
                      if columns.plain(theirs) in present and ours not in options.values} | told  # fmt: skip
        columns.unlike(match.header, set(self.names.values()) - set(told.values()), origin=head.name)
        if absent := [theirs for theirs in self.names.values() if theirs not in match.header]:
            raise DataError(
                f"{head.name} has no column {absent[0]!r}; it has {', '.join(match.header)}. Correct --map."
            )
        values = {"doc": "all"} | options.values if "doc" not in self.names else dict(options.values)
        lacks = [ours for ours in _NAMES if ours not in {*self.names, *values, "ended"}]
        if lacks:
            raise DataError(
                f"{head.name} is no export of Appraise: it lacks {', '.join(_NAMES[name] for name in lacks)}. Map its "
                "columns with --map OURS=THEIRS, or import it with --format csv."
            )
        self.document, self.spans = present.get("isdocscore"), present.get("spans")
        self.options, self.report, self.origin = options, report, head.name
        self.rows = Judgements(self.names, values, options, options.scale or Appraise.scale, report.note)
        report.mapping |= {ours: {"theirs": name, "how": "layout"} for ours, name in self.names.items()}
        self.columns = ordered({*_ORDER, "copy", "position"} - ({"ended"} - set(self.names)))
        if self.spans:
            self.columns = ordered({*self.columns, "mark", "errors"})
        self._raw: list[pd.DataFrame] = []

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Hold rows against the rules, one by one; their judgements are made when all are there."""
        frame = self.options.looks.alike(frame, self.names)
        outside = self._outside(frame)
        found = self.rows.convert(frame[~frame.index.isin([row.line for row in outside])])
        sound = found.ratings.index
        late = self._broken(frame.loc[sound])
        sound = sound.difference([row.line for row in late])
        self._raw.append(frame.loc[sound])
        rejected = sorted([*found.rejected, *outside, *late], key=lambda row: row.line)
        return Converted(found.ratings.loc[sound], rejected)

    def _outside(self, frame: pd.DataFrame) -> list[Rejection]:
        """Find rows that are no judgements of segments: tutorials, scores of documents, and what cannot be told."""
        none = pd.Series(False, index=frame.index)
        tutorial = frame[self.names["system"]].str.contains("tutorial", na=False) if "system" in self.names else none
        rows = [self._left(frame, line, "system", "is an item of the tutorial") for line in frame.index[tutorial]]
        if self.document:
            cells, others = frame[self.document], ~tutorial
            reason = "is the score of a whole document"
            rows += [self._left(frame, line, self.document, reason) for line in frame.index[cells.eq("True") & others]]
            for line in frame.index[~cells.isin(["True", "False"]) & others]:
                value = "" if pd.isna(cells[line]) else cells[line]
                name = self._name(frame, line)
                reason = "is neither True nor False: correct it"
                rows.append(Rejection(int(line), self.document, value, reason, annotator=name))
        return rows

    def _left(self, frame: pd.DataFrame, line: int, column: str, reason: str) -> Rejection:
        heading = self.names.get(column, column)
        return Rejection(int(line), heading, str(frame[heading][line]), reason, "excluded", self._name(frame, line))

    def _broken(self, frame: pd.DataFrame) -> list[Rejection]:
        """Find rows whose spans cannot be read."""
        if not self.spans:
            return []
        rows = []
        for line, cell in frame[self.spans].items():
            try:
                esa.errors_of(cell, "")
            except (DataError, RecursionError) as problem:
                reason = str(problem).removeprefix(", column spans: ").rstrip(".").split(". ")[0]
                rows.append(Rejection(int(line), self.spans, "", reason, annotator=self._name(frame, line)))
        return rows

    def _name(self, frame: pd.DataFrame, line: int) -> str | None:
        name = frame[self.names["annotator"]][line] if "annotator" in self.names else None
        return None if pd.isna(name) else str(name)

    def finish(self, held: list[Converted]) -> Converted:
        """Tell originals from copies and repeats, and the submission that counts from those it replaced."""
        ratings = pd.concat([found.ratings for found in held])
        if ratings.empty:
            return Converted(ratings)
        raw = pd.concat(self._raw)
        twice, ratings, raw = self._twice(ratings, raw)
        found = self._with_spans(ratings, raw) if self.spans else self._plain(ratings)
        found.rejected = [*twice, *found.rejected]
        return found

    def _twice(self, ratings: pd.DataFrame, raw: pd.DataFrame) -> tuple[list[Rejection], pd.DataFrame, pd.DataFrame]:
        """Reject rows that are the same as an earlier one to the letter."""
        same = raw.duplicated(keep="first")
        rows = [Rejection(int(line), "", "", "is the same as an earlier row to the letter") for line in raw.index[same]]
        return rows, ratings[~same.to_numpy()], raw[~same]

    def _plain(self, ratings: pd.DataFrame) -> Converted:
        """Tell repeats by time, and the copies of documents where there are degraded items."""
        lines = ratings.assign(hit=ratings["annotator"], line=ratings.index)
        lines = lines[[name for name in (*_ORDER, "line") if name in lines]].reset_index(drop=True)
        people = human(lines["system"], self.report.note) & lines["item_type"].eq("system")
        lines["item_type"] = lines["item_type"].mask(people, "reference")
        if not (lines["item_type"].eq("degraded").any() or lines["doc"].str.endswith("#bad").any()):
            found = appraise.with_repeats(lines)
            return Converted(found.set_index("line"))
        found, _ = appraise.with_copies(lines)
        gone = np.setdiff1d(lines["line"], found["line"])
        reason = "belongs to a showing of a document whose segments were not scored in order"
        return Converted(found.set_index("line"), [Rejection(int(line), "", "", reason, "excluded") for line in gone])

    def _with_spans(self, ratings: pd.DataFrame, raw: pd.DataFrame) -> Converted:
        """Read error spans; of a judgement that was submitted again, the latest counts."""
        named = {
            "annotator": ratings["annotator"], "system": ratings["system"], "segment": ratings["segment"],
            "type": raw[self.names["item_type"]].str.upper() if "item_type" in self.names else "TGT",
            "src_lang": ratings["src_lang"], "tgt_lang": ratings["tgt_lang"], "score": ratings["score"],
            "doc": ratings["doc"], "isDoc": "False", "spans": raw[self.spans],
            "started": ratings["started"], "ended": ratings.get("ended", ratings["started"]),
        }  # fmt: skip
        table = pd.DataFrame(named, index=ratings.index)[esa.COLUMNS]
        kinds = table["type"].str.casefold().map(ITEM_TYPES | self.options.item_types)
        found = esa.of_rows(table.assign(type=np.where(kinds.eq("degraded"), "BAD", "TGT")), origin=self.origin)
        gone = table.index.difference(found.index)
        late = [Rejection(int(line), "", "", "was replaced by a later submission", "excluded") for line in gone]
        found = found.sort_values(["hit", "started"], kind="stable")
        found = found.assign(position=found.groupby("hit").cumcount())
        spans = esa.spans_of(found) if found["errors"].sum() else None
        return Converted(found.drop(columns=["spans", "place"]), late, spans)
