"""Import MQM annotations as a table: a row per marked error, as Google's annotations of WMT have them."""

import re

import numpy as np
import pandas as pd

from evalkit.data import languages, schemas
from evalkit.data import names as naming
from evalkit.data.importing import columns, numbers
from evalkit.data.importing.chunks import Broken
from evalkit.data.importing.formats import Head, Match, Options, Report, described, ordered, with_languages
from evalkit.data.importing.judgements import Converted, human, lacking, mapped_cells
from evalkit.data.importing.loaded import Loaded, is_indicmt, of_indicmt
from evalkit.data.importing.report import Rejection

_NEEDED = ("system", "segment", "annotator", "category", "severity")
_MARKED = re.compile(r"<v>(.*?)</v>", re.DOTALL)
_NONE = {"no-error", "noerror", "no error", "none", "hotw-test"}
#: What an error weighs, after Freitag et al. 2021; ``evalkit.human.mqm`` has this and other schemes, by its spans.
WEIGHTS = {"minor": 1.0, "major": 5.0, "neutral": 0.0}
_FREE = {"source error", "source issue", "accuracy/creative reinterpretation"}
_KEY = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator"]


class Mqm:
    """Errors with category and severity."""

    name, title, scale = "mqm", "marked errors with category and severity", None

    def match(self, head: Head, options: Options) -> Match:
        """Fits where there are a category and a severity besides system, segment and rater."""
        if is_indicmt(head.header):
            return Match(0.97, "", head.header, head.line, "by its headings, which are those of IndicMT-Eval")
        names = _names(head.header, options)
        lacks = [name for name in _NEEDED if name not in names and name not in options.values]
        return Match(0.96 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, "by its headings")

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> "Errors | Loaded":
        """Make ready to read the file."""
        if is_indicmt(head.header):
            return of_indicmt(head, options, report)
        return Errors(head, match, options, report)


def _names(header: list[str], options: Options) -> dict[str, str]:
    """Map Google's headings, of which the number within all documents names a segment best."""
    by_plain = {columns.plain(name): name for name in reversed(header)}
    told = {ours: theirs for ours, theirs in options.columns.items() if isinstance(theirs, str)}
    wanted = {
        "system": ("system", "systemid"), "doc": ("doc", "docid", "document"),
        "segment": ("globalsegid", "segid", "segment", "segmentid", "docsegid"),
        "annotator": ("rater", "raterid", "annotator", "annotatorid"), "source": ("source", "src"),
        "hypothesis": ("target", "hypothesis", "translation"), "category": ("category", "errortype", "errorcategory"),
        "severity": ("severity", "errorseverity"), "src_lang": ("srclang", "sourcelang", "sourcelanguage"),
        "tgt_lang": ("tgtlang", "trglang", "targetlang", "targetlanguage"), "pair": ("lp", "pair", "languagepair"),
    }  # fmt: skip
    found = {ours: next((by_plain[name] for name in names if name in by_plain), None) for ours, names in wanted.items()}
    return {ours: name for ours, name in found.items() if name and ours not in options.values} | told


class Errors:
    """Read errors; those of one judgement may stand anywhere in the file."""

    whole, scale = True, None

    def __init__(self, head: Head, match: Match, options: Options, report: Report):
        self.names, self.values = _names(match.header, options), dict(options.values)
        columns.unlike(match.header, set(self.names.values()) - set(options.columns.values()), origin=head.name)
        with_languages(self.names, self.values, head, report.note)
        self.values.setdefault("doc", "all") if "doc" not in self.names else None
        lacking(self.names | {"score": ""}, self.values, origin=head.name, header=match.header)
        known = columns.Columns(self.names, dict.fromkeys(self.names, "layout"))
        described(report, known, match.header)
        self.options, self.report = options, report
        self._header, self._torn = match.header, {}
        texts = [name for name in ("source", "hypothesis") if name in self.names]
        self.columns = ordered({*_KEY, "score", "item_type", "errors", *texts})
        report.note("score is minus the weights of Freitag et al. 2021: minor 1, major 5, minor punctuation 0.1, "
                    "non-translation 25, neutral and source errors 0")  # fmt: skip

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Name what each row marks; rows that lack what they need are rejected."""
        frame = self.options.looks.alike(frame, self.names)
        table = pd.DataFrame({name: self._column(frame, name) for name in
                              (*schemas.ITEM, "annotator", "category", "severity")}, index=frame.index)  # fmt: skip
        rejected: dict[int, Rejection] = {}
        for ours in (
            *schemas.ITEM,
            "annotator",
        ):  # what lacks a category or a severity belongs to a judgement all the same
            for place, reason in numbers.nameless(table[ours]).items():
                self._reject(rejected, frame, place, ours, reason)
        for ours, side in (("src_lang", 0), ("tgt_lang", 1)):
            if ours in self.names or ours in self.values:
                table[ours] = mapped_cells(self._column(frame, ours), lambda text: languages.code(text) or text)
            else:
                pairs = self._column(frame, "pair")
                table[ours] = mapped_cells(pairs, lambda text, side=side: (languages.split(text) or (None, None))[side])
            for place in np.flatnonzero(table[ours].isna()):
                name = ours if ours in self.names else "pair"
                self._reject(rejected, frame, int(place), name, "is no language or language pair: correct it")
        for ours in ("source", "hypothesis"):
            if ours in self.names:
                table[ours] = frame[self.names[ours]]
        keep = np.ones(len(frame), dtype=bool)
        keep[list(rejected)] = False
        return Converted(table[keep], [rejected[place] for place in sorted(rejected)])

    def torn(self, rows: list[Broken]) -> None:
        """Remember which judgements have an error in a row that could not be cut; such a score would be too high."""
        names = [self.names.get(ours) for ours in (*schemas.ITEM, "annotator")]
        places = [self._header.index(name) if name in self._header else None for name in names]
        values = [self.values.get(ours, "") for ours in (*schemas.ITEM, "annotator")]
        for row in rows:
            if all(place is None or place < len(row.cells) for place in places):
                key = [
                    value if place is None else naming.plain(row.cells[place]) for place, value in zip(places, values)
                ]
                self._torn[tuple(key)] = row.line
        if rows:
            self.report.note(
                "rows that could not be read may mark errors of judgements that were kept: mend them first"
            )

    def _column(self, frame: pd.DataFrame, ours: str) -> pd.Series:
        if ours in self.names:
            return frame[self.names[ours]]
        return pd.Series(self.values[ours], index=frame.index, dtype="str")

    def _reject(self, rejected: dict[int, Rejection], frame: pd.DataFrame, place: int, ours: str, reason: str) -> None:
        name = self._column(frame, "annotator").iloc[place]
        cell = self._column(frame, ours).iloc[place]
        value = "" if pd.isna(cell) or ours == "annotator" else str(cell)
        heading = self.names.get(ours, ours)
        row = Rejection(int(frame.index[place]), heading, value, reason, annotator=None if pd.isna(name) else str(name))
        rejected.setdefault(place, row)

    def finish(self, held: list[Converted]) -> Converted:
        """Gather the errors of each judgement; one with an error that cannot be weighed is rejected as a whole."""
        table = pd.concat([found.ratings for found in held])
        if table.empty:
            return Converted(table)
        table = table.assign(line=table.index).reset_index(drop=True)
        kind = mapped_cells(table["category"], _category)
        severity = mapped_cells(table["severity"], lambda text: text.strip().casefold())
        none = kind.isin(_NONE) & (severity.isin({*_NONE, "neutral"}) | severity.isna()) | severity.isin(_NONE)
        weight = severity.map(WEIGHTS).astype(float)
        weight = weight.mask(kind.eq("fluency/punctuation") & severity.eq("minor"), 0.1)
        weight = weight.mask(kind.eq("non-translation"), 25.0).mask(kind.isin(_FREE), 0.0).mask(none, 0.0)
        judgement = table.groupby(_KEY, sort=False).ngroup().to_numpy()
        unnamed = (kind.isna() & ~none).to_numpy()
        bad = weight.isna().to_numpy() | unnamed
        keys = pd.MultiIndex.from_frame(table[[*schemas.ITEM, "annotator"]])
        torn = keys.isin(list(self._torn)) if self._torn else np.zeros(len(table), dtype=bool)
        wrong = np.isin(judgement, judgement[bad | torn])
        rejected = [self._judgement(table, place, severity, bad, unnamed) for place in np.flatnonzero(wrong)]
        table, kind, severity, none, weight, judgement = (
            part[~wrong] for part in (table, kind, severity, none, weight, judgement)
        )
        if table.empty:
            return Converted(table.set_index("line"), rejected)
        first = ~pd.Series(judgement).duplicated().to_numpy()
        penalty = np.zeros(judgement.max() + 1)
        np.add.at(penalty, judgement, weight.to_numpy())
        count = np.bincount(judgement, weights=~none, minlength=len(penalty))
        ratings = table[first].drop(columns=["category", "severity"])
        ratings = ratings.assign(
            score=0.0 - penalty[judgement[first]], errors=count[judgement[first]],
            item_type=np.where(human(ratings["system"], self.report.note), "reference", "system"),
            annotator=self.options.pseudonyms.column(ratings["annotator"]),
        )  # fmt: skip
        for name in ("source", "hypothesis"):
            if name in ratings:
                ratings[name] = mapped_cells(ratings[name], lambda text: _MARKED.sub(r"\1", text))
        converted = Converted(ratings.set_index("line"), rejected)
        converted.folded = int(len(table) - first.sum())
        marked = table[~none.to_numpy()].assign(error_type=kind[~none], severity=severity[~none], weight=weight[~none])
        converted.spans = self._spans(marked) if len(marked) else None
        return converted

    def _judgement(self, table: pd.DataFrame, place: int, severity: pd.Series, bad: np.ndarray,
                   unnamed: np.ndarray) -> Rejection:  # fmt: skip
        """Say why an error is rejected: for its own sake, or with the judgement that it belongs to."""
        row, column, value = table.iloc[place], "severity", severity.iloc[place]
        line = self._torn.get(tuple(row[[*schemas.ITEM, "annotator"]]))
        if not bad[place]:
            value, reason = "", "belongs to a judgement with an error of unknown category or severity"
            reason = f"belongs to a judgement whose error on line {line} could not be read" if line else reason
        elif unnamed[place] or pd.isna(value):
            column, value = ("category" if unnamed[place] else "severity"), ""
            reason = "is empty: fill it in, for without it the judgement has no score"
        else:
            reason = f"is a severity without a weight (known are {', '.join(WEIGHTS)}): correct it"
        return Rejection(int(row["line"]), self.names.get(column, column), value, reason, annotator=row["annotator"])

    def _spans(self, marked: pd.DataFrame) -> pd.DataFrame:
        """Find where each error lies: between <v> and </v> in the target or, else, in the source."""
        places = []
        for target, source in zip(
            *(marked.get(name, pd.Series("", index=marked.index)) for name in ("hypothesis", "source"))
        ):
            places.append(_place(target, "target") or _place(source, "source") or (np.nan, np.nan, "target", None))
        start, end, side, text = zip(*places)
        number = marked.groupby(_KEY, sort=False).cumcount().add(1).astype("str")
        frame = marked[[*_KEY, "error_type", "severity", "weight"]].assign(
            span=number, start=start, end=end, side=side, text=pd.array(text, dtype="str"),
            annotator=self.options.pseudonyms.column(marked["annotator"]),
        )  # fmt: skip
        order = [name for name in schemas.SPANS.columns if name in frame]
        return frame[[*order, "weight"]].reset_index(drop=True)


def _category(text: str) -> str:
    """Write a category as ours: small, its parts cut by a slash.

    >>> _category("Accuracy/Mistranslation"), _category("Non-translation!"), _category("Fluency / Punctuation")
    ('accuracy/mistranslation', 'non-translation', 'fluency/punctuation')
    """
    return re.sub(r"\s*/\s*", "/", text.strip().casefold().removesuffix("!"))


def _place(text: object, side: str) -> tuple[float, float, str, str] | None:
    """Find the marked stretch of a text, counted in the text without the marks; None where none is marked."""
    found = _MARKED.search(text) if isinstance(text, str) else None
    if not found:
        return None
    start = len(_MARKED.sub(r"\1", text[: found.start()]))
    return float(start), float(start + len(found[1])), side, found[1]
