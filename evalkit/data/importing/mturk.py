"""Import WMT's Mechanical Turk files: a header cut by spaces over rows cut by tabs, scores raw or standardised."""

import re

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import mturk
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing import numbers
from evalkit.data.importing.formats import Head, Match, Options, Report, ordered
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.report import Rejection
from evalkit.data.importing.steady import Seen
from evalkit.data.names import Looks

_MEANS = re.compile(r"trk-mean-sd\.txt$")
_KEY = ["Input.src", "Input.trg", "sys_id", "rid", "sid", "WorkerId", "type", "HITId"]
_COLUMNS = {"src_lang": "Input.src", "tgt_lang": "Input.trg", "system": "sys_id", "doc": "rid", "segment": "sid",
            "annotator": "WorkerId", "score": "score", "item_type": "type", "hit": "HITId"}  # fmt: skip


class Mturk:
    """Direct assessment by crowd workers."""

    name, title, scale = "mturk-da", "WMT's Mechanical Turk ratings", (0, 100)

    def match(self, head: Head, options: Options) -> Match:
        """Fits where the first line, cut at white space, names WMT's columns."""
        line, cells = head.rows[0]
        names = " ".join(cells).split()
        lacks = [name for name in mturk.COLUMNS if name not in names]
        found = names if not lacks and names == mturk.COLUMNS else []
        return Match(0.99 * (1 - len(lacks) / len(mturk.COLUMNS)), ", ".join(lacks), found, line, "by its first line")

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> "Workers":
        """Make ready to read the file, and what its scores were standardised with."""
        return Workers(head, options, report)


def is_companion(name: str) -> bool:
    """Tell whether a file only holds workers' means, which are read together with the ratings beside it."""
    return bool(_MEANS.search(name))


class Workers:
    """Read ratings; quality-control copies are matched with what they copy."""

    whole, names = True, _COLUMNS

    def __init__(self, head: Head, options: Options, report: Report):
        self.options, self.report, self.origin = options, report, head.name
        cells = [row[10].strip() for row in head.below if len(row) == len(mturk.COLUMNS)]
        raw = bool(cells) and all(re.fullmatch(r"\d{1,3}(\.0+)?", cell) for cell in cells)
        self.means, self.beside = None, []
        if not raw:
            beside = head.path.with_name(re.sub(r"good-stnd\.csv$", "trk-mean-sd.txt", head.name))
            if beside == head.path or not beside.is_file():
                raise DataError(
                    f"{head.name} holds standardised scores. Put the workers' means and deviations beside it, as "
                    f"{beside.name if beside != head.path else 'ad-csen-trk-mean-sd.txt'}, and keep WMT's file names."
                )
            self.means, self.beside = beside, [Seen.at(beside)]
            self.workers = Looks().alike(mturk.statistics(beside))
            if self.workers["annotator"].duplicated().any():
                raise DataError(f"{beside.name}: the names of two workers look alike. Tell them apart in both files.")
            if is_unfinished(beside):
                report.note(f"{beside.name}: {UNFINISHED.format(where='its last line')}")
            report.note(f"raw scores were recovered from standardised ones with {beside.name}")
        else:
            self.workers = None
        self.columns = ordered({*_COLUMNS, "copy", "position", "hit_seconds"} | ({"z"} if self.means else set()))
        report.mapping |= {ours: {"theirs": name, "how": "layout"} for ours, name in _COLUMNS.items()}
        self._raw: list[pd.DataFrame] = []

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Hold rows against the rules, one by one."""
        frame = self.options.looks.alike(frame, self.names)
        rows: dict[int, Rejection] = {}

        def reject(places: np.ndarray, column: str, reason: str) -> None:
            for place in places:
                cell, name = frame[column].iloc[place], frame["WorkerId"].iloc[place]
                name = None if pd.isna(name) else str(name)
                value = "" if pd.isna(cell) or column == "WorkerId" else str(cell)
                rows.setdefault(int(place), Rejection(int(frame.index[place]), column, value, reason, annotator=name))

        for column in (*_KEY, "score"):
            reject(np.flatnonzero(frame[column].isna()), column, "is empty: fill it in, or drop the row")
        for column, known in (
            ("Input.src", mturk.LANGUAGES),
            ("Input.trg", mturk.LANGUAGES),
            ("type", mturk.ITEM_TYPES),
        ):
            reject(
                np.flatnonzero(~frame[column].isin(list(known))), column, f"is none of {', '.join(known)}: correct it"
            )
        values, wrong = numbers.Numbers(".").read(frame["score"])
        for place, reason in wrong.items():
            reject(np.array([place]), "score", reason)
        if self.workers is None:
            for place, reason in numbers.off_scale(values, self.options.scale or Mturk.scale).items():
                reject(np.array([place]), "score", reason)
            broken = np.flatnonzero(values != np.round(values))
            reject(broken, "score", "is no whole number, as raw scores are and those of the first rows: correct it")
        else:
            known = self.workers.set_index("annotator")
            mean, sd = frame["WorkerId"].map(known["mean"]), frame["WorkerId"].map(known["sd"])
            reject(
                np.flatnonzero(mean.isna() | sd.isna()), "WorkerId", f"has no mean and deviation in {self.means.name}"
            )
            score = values * sd.to_numpy(float) + mean.to_numpy(float)
            uneven = ~(np.abs(score - score.round()) < 1e-3) | (score < -0.5) | (score > 100.5)
            reject(np.flatnonzero(uneven), "score", f"gives no whole score from 0 to 100 with {self.means.name}")
        keep = np.ones(len(frame), dtype=bool)
        keep[list(rows)] = False
        self._raw.append(frame[keep])
        return Converted(pd.DataFrame(index=frame.index[keep]), [rows[place] for place in sorted(rows)])

    def finish(self, held: list[Converted]) -> Converted:
        """Match copies with originals."""
        raw = pd.concat(self._raw)
        again = raw.duplicated(_KEY)
        late = [Rejection(int(line), "", "", "repeats an earlier judgement of the same HIT: drop one of them")
                for line in raw.index[again]]  # fmt: skip
        raw = raw[~again]
        if raw.empty:
            return Converted(raw, late)
        found = mturk.of_rows(raw, self.workers, origin=self.origin, means=self.means.name if self.means else "")
        aliases = self.options.pseudonyms.column(found["annotator"])
        return Converted(found.assign(annotator=aliases, hit=raw["HITId"] + "/" + aliases), late)
