"""Import XSTS scores on 1 to 5: a row per judgement, or a row per item with a column of scores per evaluator."""

import re

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import columns, segments
from evalkit.data.importing.formats import (
    Head,
    Match,
    Options,
    Report,
    described,
    ordered,
    stated,
    still_empty,
    with_languages,
    without_empty,
)
from evalkit.data.importing.judgements import Converted, Judgements, lacking
from evalkit.data.importing.pseudonyms import ALIAS
from evalkit.data.importing.report import Rejection

_PERSON = r"(evaluator|rater|annotator|linguist|reviewer|judge|translator|evaluador|bewerter|évaluateur)"
_SCORE = r"(score|xsts|rating|note|bewertung)"
_OF_PERSON = re.compile(rf"({_SCORE}\W*_?)?{_PERSON}\W*_?.{{1,40}}|{ALIAS.pattern}", re.I)
_NUMBERED = re.compile(rf"{_SCORE}[\W_]+\w{{1,12}}|{_SCORE}\W*\d+", re.I)
_COUNTED = re.compile(rf"{_SCORE}[\W_]*(\d{{1,3}}|[a-z])", re.I)
_ON_SCALE = re.compile(r"[1-4]([.,]0+|[.,]50*)?|5([.,]0+)?")


class Xsts:
    """Scores from 1 to 5."""

    name, title, scale = "xsts", "XSTS scores from 1 to 5", (1, 5)

    def match(self, head: Head, options: Options) -> Match:
        """Fits where evaluators have a column of scores each, or all scores are whole numbers from 1 to 5."""
        wide = score_columns(head, options)
        found = {columns.meaning(name) for name in head.header} | {*options.columns, *options.values}
        if wide:
            anchor = found & {"segment", "source", "hypothesis"}
            return Match(0.93 if anchor else 0.7, "" if anchor else "a column of segments or source texts", head.header,
                         head.line, f"by its {len(wide)} columns of scores from 1 to 5, one per evaluator")  # fmt: skip
        told = options.columns.get("score")
        named = [told] if told in head.header else [name for name in head.header if columns.meaning(name) == "score"]
        lacks = [name for name in ("annotator", "score") if name not in found]
        if not found & {"segment", "source", "hypothesis"}:
            lacks.append("segment or source")
        if len(named) == 1 and not lacks:
            cells, stated = head.samples(named[0]), columns.scale_in(named[0])
            if stated and stated != self.scale:
                return Match(0.6, "a scale from 1 to 5", head.header, head.line)
            if stated:
                return Match(0.91, "", head.header, head.line, f"by its heading {named[0]}")
            if "xsts" in columns.plain(named[0]):
                return Match(0.92, "", head.header, head.line, "by a column called XSTS")
            if len(cells) >= 5 and all(map(_ON_SCALE.fullmatch, cells)):
                return Match(0.85, "", head.header, head.line, "by its headings, and by scores that are 1 to 5 only")
            return Match(0.6, "scores from 1 to 5 on its first rows", head.header, head.line)
        return Match(0.6 * (1 - len(lacks) / 3), ", ".join(lacks) or "one column of scores", head.header, head.line)

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> "Scores":
        """Make ready to read the file."""
        return Scores(head, match, options, report)


def score_columns(head: Head, options: Options) -> list[str]:
    """List the columns that hold the scores of one evaluator each; fewer than two are none."""
    told = options.columns.get("score")
    if isinstance(told, list):
        if absent := [name for name in told if name not in head.header]:
            raise DataError(f"{head.name} has no column {absent[0]!r}; it has {', '.join(head.header)}. Correct --map.")
        return told
    if told:
        return []
    unknown = [name for name in head.header if columns.meaning(name) is None]
    of_person = [name for name in unknown if _OF_PERSON.fullmatch(name.strip())]
    shares = {name: _share_on_scale(head.samples(name)) for name in unknown}
    if any(shares[name] > 0.5 for name in of_person):  # then a column that starts badly is one of scores, too
        found = [name for name in of_person if shares[name] > 0 or not head.samples(name)]
    else:
        found = [name for name in unknown if _NUMBERED.fullmatch(name.strip()) and shares[name] > 0.8]
        others = [name for name in unknown if _COUNTED.fullmatch(name.strip()) and found]  # by number or letter
        more = {name for name in others if shares[name] > 0 or not head.samples(name)}
        found = [name for name in unknown if name in {*found, *more}]
    return found if len(found) > 1 else []


def unnamed(head: Head) -> list[str]:
    """List columns of scores from 1 to 5 whose headings say nothing that is known, such as people's names."""
    unknown = [name for name in head.header if columns.meaning(name) is None]
    return [name for name in unknown if _share_on_scale(head.samples(name)) > 0.8]


def _share_on_scale(cells: list[str]) -> float:
    """Compute which part of a column's first cells are scores from 1 to 5."""
    return sum(bool(_ON_SCALE.fullmatch(cell)) for cell in cells) / max(len(cells), 1)


class Scores:
    """Read scores, however they are laid out. ``people``: headings that name evaluators."""

    whole = False

    def __init__(self, head: Head, match: Match, options: Options, report: Report):
        self.people = score_columns(head, options)
        told = {ours: theirs for ours, theirs in options.columns.items() if isinstance(theirs, str)}
        values = dict(options.values)
        header = [name for name in match.header if name not in self.people]
        given = {*values, *(("score", "annotator") if self.people else ())}
        known = columns.mapped(header, told, origin=head.name, given=given)
        self._empty, self._origin = without_empty(known, head, report), head.name
        if self.people and "annotator" in known.names:
            raise DataError(
                f"{head.name}: evaluators have a column of scores each, so annotator cannot be mapped, too."
            )
        with_languages(known.names, values, head, report.note)
        for ours, plain in (("system", "mt"), ("doc", "all")):
            if ours not in known.names and ours not in values:
                values[ours] = plain
                report.note(
                    f"no column names the {ours}; all rows were given {plain!r} (--value {ours}=… gives another)"
                )
        self._text = segments.named(known, values, report.note)
        have = known.names | (dict.fromkeys(("score", "annotator"), "") if self.people else {})
        lacking(have, values, origin=head.name, header=match.header)
        self.names, self._report = known.names, report
        self.scale = scale = options.scale or stated(known.names, report) or Xsts.scale
        if self.people:
            self._rows = {
                name: Judgements(known.names | {"score": name, "annotator": _EVALUATOR}, values, options, scale,
                                 report.note, typed=head.typed) for name in self.people
            }  # fmt: skip
        else:
            self._rows = {"": Judgements(known.names, values, options, scale, report.note, typed=head.typed)}
        described(report, known, header)
        if self.people:
            report.mapping["score"] = {
                "theirs": f"{len(self.people)} columns, one per evaluator",
                "how": "their headings",
            }
        self.columns = ordered(
            {*known.names, *values, "score", "annotator", "item_type", "src_lang", "tgt_lang"} - {"pair"}
        )

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Turn rows into judgements; an evaluator's empty cell is no judgement."""
        still_empty(frame, self._empty, origin=self._origin)
        frame = segments.given(frame, self._text)
        if not self.people:
            return self._rows[""].convert(frame)
        parts, rejected = [], []
        judged = frame[self.people].notna().to_numpy()
        for place in np.flatnonzero(~judged.any(axis=1)):
            rejected.append(Rejection(int(frame.index[place]), "score", "", "has no score of any evaluator"))
        for number, name in enumerate(self.people):
            found = self._rows[name].convert(frame[judged[:, number]].assign(**{_EVALUATOR: name}))
            parts.append(found.ratings.assign(_order=number))
            rejected += found.rejected
        blank = int((~judged[judged.any(axis=1)]).sum())
        self._report.blank_cells += blank
        ratings = pd.concat(parts)
        order = np.lexsort((ratings["_order"].to_numpy(), ratings.index.to_numpy()))
        rejected.sort(key=lambda row: row.line)
        read = int(judged.sum() + (~judged.any(axis=1)).sum())
        alias = self._rows[self.people[0]].options.pseudonyms
        for row in rejected:
            row.column = alias.one(row.column) if row.column in self.people else row.column
        return Converted(ratings.iloc[order].drop(columns="_order"), rejected, read=read)


_EVALUATOR = "(evaluator)"
