"""Import MQM annotations as a table: a row per marked error, as Google's annotations of WMT have them."""

import re
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data import names as naming
from evalkit.data.importing import columns, numbers
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import Converted, constant, demand_columns, human, mapped_cells
from evalkit.data.importing.loaded import is_indicmt, of_indicmt
from evalkit.data.importing.options import Options
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.rejected import Rejecting, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.importing.rows import Broken, Rows

_NEEDED = ("system", "segment", "annotator", "category", "severity")
_MARKED = re.compile(r"<v>(.*?)</v>", re.DOTALL)
_NONE = {"no-error", "noerror", "no error", "none", "hotw-test"}
#: What an error weighs, after Freitag et al. 2021; ``evalkit.human.mqm`` has this and other schemes, by its spans.
WEIGHTS = {"minor": 1.0, "major": 5.0, "neutral": 0.0}
_FREE = {"source error", "source issue", "accuracy/creative reinterpretation"}
_WHO = [*schemas.ITEM, "annotator"]
_KEY = ["src_lang", "tgt_lang", *_WHO]
#: Our names and what they are headed by, the number within all documents first, which names a segment best.
_HEADINGS = {
    "system": ("system", "systemid"), "doc": ("doc", "docid", "document"),
    "segment": ("globalsegid", "segid", "segment", "segmentid", "docsegid"),
    "annotator": ("rater", "raterid", "annotator", "annotatorid"), "source": ("source", "src"),
    "hypothesis": ("target", "hypothesis", "translation"), "category": ("category", "errortype", "errorcategory"),
    "severity": ("severity", "errorseverity"), "src_lang": ("srclang", "sourcelang", "sourcelanguage"),
    "tgt_lang": ("tgtlang", "trglang", "targetlang", "targetlanguage"), "pair": ("lp", "pair", "languagepair"),
}  # fmt: skip


def _match(head: Head, options: Options) -> Match:
    """Fits where there are a category and a severity besides system, segment and rater."""
    if is_indicmt(head.header):
        why = "by its headings, which are those of IndicMT-Eval"
        return Match(0.97, "", head.header, head.line, why, loaded=True)
    names = _names(head.header, options)
    lacks = [name for name in _NEEDED if name not in names and name not in options.values]
    return Match(0.96 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, "by its headings")


def _names(header: list[str], options: Options) -> dict[str, str]:
    """Map Google's headings, and those that the user names."""
    by_plain = {columns.plain(name): name for name in reversed(header)}
    found = {ours: next((by_plain[one] for one in known if one in by_plain), "") for ours, known in _HEADINGS.items()}
    return {ours: name for ours, name in found.items() if name and ours not in options.values} | options.single


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read errors; those of one judgement may stand anywhere in the file."""
    if match.loaded:
        return of_indicmt(head, options, report)
    if match.lacks:
        raise DataError(f"{head.name} is no table of {MQM.title}: it lacks {match.lacks}. Name its columns like these.")
    names, values = _names(match.header, options), dict(options.values)
    columns.unlike(match.header, set(names.values()) - set(options.single.values()), origin=head.name)
    with_languages(names, values, head, report)
    if "doc" not in names:
        values.setdefault("doc", "all")
    demand_columns({*names, *values, "score"}, origin=head.name, header=match.header)
    describe(report, columns.Columns(names, dict.fromkeys(names, "layout")), match.header)
    report.note("score is minus the weights of Freitag et al. 2021: minor 1, major 5, minor punctuation 0.1, "
                "non-translation 25, neutral and source errors 0")  # fmt: skip
    if rows.broken:
        report.note("rows that could not be read may mark errors of judgements that were kept: mend them first")
    table, rejected = _errors(options.looks.alike(rows.frame, names), names, values)
    found = Converted(table, rejected, names)
    if len(table):
        _weigh(found, _torn(rows.broken, match.header, names, values), options.pseudonyms, report)
    return found


def _errors(frame: pd.DataFrame, names: dict[str, str], values: dict[str, str]) -> tuple[pd.DataFrame, list[Rejection]]:
    """Name what each row marks; rows that name no judgement are rejected."""

    def column(ours: str) -> pd.Series:
        return frame[names[ours]] if ours in names else constant(values[ours], frame.index)

    reject = Rejecting(frame, names.get("annotator"))
    table = pd.DataFrame({ours: column(ours) for ours in (*_WHO, "category", "severity")}, index=frame.index)
    for ours in _WHO:  # what lacks a category or a severity belongs to a judgement all the same
        for place, reason in numbers.nameless(table[ours]).items():
            reject([place], names.get(ours, ours), reason)
    for side, ours in enumerate(("src_lang", "tgt_lang")):
        stated = ours in names or ours in values
        table[ours] = mapped_cells(column(ours if stated else "pair"), partial(_language, None if stated else side))
        heading = names.get(ours, names.get("pair", "pair"))
        reject(np.flatnonzero(table[ours].isna()), heading, "is no language or language pair: correct it")
    for ours in ("source", "hypothesis"):
        if ours in names:
            table[ours] = frame[names[ours]]
    return table[reject.kept], reject.rows


def _language(side: int | None, text: str) -> str | None:
    """Read a language or, where a side is named, one language of a pair."""
    return languages.code(text) or text if side is None else (languages.split(text) or (None, None))[side]


def _torn(broken: list[Broken], header: list[str], names: dict[str, str],
          values: dict[str, str]) -> dict[tuple[str, ...], int]:  # fmt: skip
    """Map judgements to the line of an error that could not be cut into cells; such a score would be too high."""
    places = [header.index(names[ours]) if ours in names else None for ours in _WHO]
    torn = {}
    for row in broken:
        if all(place is None or place < len(row.cells) for place in places):
            torn[tuple(values.get(ours, "") if place is None else naming.plain(row.cells[place])
                       for ours, place in zip(_WHO, places))] = row.line  # fmt: skip
    return torn


def _weigh(found: Converted, torn: dict[tuple[str, ...], int], aliases: Pseudonyms, report: Report) -> None:
    """Gather the errors of each judgement; one with an error that cannot be weighed is rejected as a whole."""
    table = found.ratings.assign(line=found.ratings.index).reset_index(drop=True)
    kind = mapped_cells(table["category"], _category)
    severity = mapped_cells(table["severity"], lambda text: text.strip().casefold())
    none = kind.isin(_NONE) & (severity.isin({*_NONE, "neutral"}) | severity.isna()) | severity.isin(_NONE)
    weight = severity.map(WEIGHTS).astype(float)
    weight = weight.mask(kind.eq("fluency/punctuation") & severity.eq("minor"), 0.1)
    weight = weight.mask(kind.eq("non-translation"), 25.0).mask(kind.isin(_FREE), 0.0).mask(none, 0.0)
    table = table.assign(error_type=kind, severity=severity, none=none, weight=weight, unnamed=kind.isna() & ~none)
    table["judgement"] = table.groupby(_KEY, sort=False).ngroup()
    bad = table["weight"].isna() | table["unnamed"]
    lost = pd.MultiIndex.from_frame(table[_WHO]).isin(list(torn)) if torn else np.zeros(len(table), dtype=bool)
    wrong = table["judgement"].isin(table["judgement"][bad | lost])
    found.rejected += [_rejection(row, bad[row.Index], torn, found.names) for row in table[wrong].itertuples()]
    table = table[~wrong]
    codes, first = pd.factorize(table["judgement"])[0], ~table["judgement"].duplicated()
    ratings = table[first].drop(
        columns=["category", "severity", "error_type", "none", "weight", "unnamed", "judgement"]
    )
    ratings = ratings.assign(
        score=0.0 - np.bincount(codes, table["weight"]), errors=np.bincount(codes, ~table["none"]),
        annotator=aliases.column(ratings["annotator"]),
        item_type=np.where(human(ratings["system"], report.note), "reference", "system"),
    )  # fmt: skip
    for name in ("source", "hypothesis"):
        if name in ratings:
            ratings[name] = mapped_cells(ratings[name], lambda text: _MARKED.sub(r"\1", text))
    found.ratings, found.folded = ratings.set_index("line"), int((~first).sum())
    found.spans = _spans(table[~table["none"]], aliases) if not table["none"].all() else None


def _rejection(row, bad: bool, torn: dict[tuple[str, ...], int], names: dict[str, str]) -> Rejection:
    """Say why an error is rejected: for its own sake, or with the judgement that it belongs to."""
    column, value = "severity", "" if pd.isna(row.severity) else row.severity
    line = torn.get(tuple(getattr(row, ours) for ours in _WHO))
    if not bad:
        value, reason = "", "belongs to a judgement with an error of unknown category or severity"
        reason = f"belongs to a judgement whose error on line {line} could not be read" if line else reason
    elif row.unnamed or not value:
        column, value = ("category" if row.unnamed else "severity"), ""
        reason = "is empty: fill it in, for without it the judgement has no score"
    else:
        reason = f"is a severity without a weight (known are {', '.join(WEIGHTS)}): correct it"
    return Rejection(int(row.line), names.get(column, column), value, reason, annotator=row.annotator)


def _spans(marked: pd.DataFrame, aliases: Pseudonyms) -> pd.DataFrame:
    """Find where each error lies: between <v> and </v> in the target or, else, in the source."""
    texts = [marked[name] if name in marked else [""] * len(marked) for name in ("hypothesis", "source")]
    places = [
        _place(target, "target") or _place(source, "source") or (np.nan, np.nan, "target", None)
        for target, source in zip(*texts)
    ]
    start, end, side, text = zip(*places)
    number = marked.groupby(_KEY, sort=False).cumcount().add(1).astype("str")
    frame = marked[[*_KEY, "error_type", "severity", "weight"]].assign(
        span=number, start=start, end=end, side=side, text=pd.array(text, dtype="str"),
        annotator=aliases.column(marked["annotator"]),
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
    start = len(_MARKED.sub(r"\1", found.string[: found.start()]))
    return float(start), float(start + len(found[1])), side, found[1]


MQM = Format("mqm", "marked errors with category and severity", None, _match, _convert)
