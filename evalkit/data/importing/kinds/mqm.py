"""Import MQM annotations as a table: a row per marked error, as Google's annotations of WMT have them."""

import re
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data import names as naming
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import Broken, Rows
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import (
    ITEM_TYPES,
    Converted,
    constant,
    demand_columns,
    human,
    mapped_cells,
    ways,
)
from evalkit.data.importing.kinds import marot, weights, wmt_chat
from evalkit.data.importing.kinds.loaded import is_indicmt, of_indicmt
from evalkit.data.importing.options import Options
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.rejected import DISCARDED, EXCLUDED, Rejecting, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.typology import Scheme, spelled

_NEEDED = ("system", "segment", "annotator", "category", "severity")
_MARKED = re.compile(r"<v>(.*?)</v>", re.DOTALL)
_WHO = [*schemas.ITEM, "annotator"]
_KEY = ["src_lang", "tgt_lang", *_WHO]
#: Our names and what they are headed by, the number within all documents first, which names a segment best.
_HEADINGS = {
    "system": ("system", "systemid"),
    "doc": ("doc", "docid", "document"),
    "segment": ("globalsegid", "segid", "segment", "segmentid", "docsegid"),
    "annotator": ("rater", "raterid", "annotator", "annotatorid"),
    "source": ("source", "src"),
    "hypothesis": ("target", "hypothesis", "translation"),
    "category": (
        "category",
        "errortype",
        "errorcategory",
        "errorclass",
        "errorlabel",
        "issuetype",
        "issuecategory",
        "issue",
        "mqmcategory",
        "mqmtype",
        "mqmerror",
        "typologyerror",
        "typology",
        "typ",
        "fehlertyp",
        "fehlerart",
        "kategorie",
        "fehlerkategorie",
        "catégorie",
        "categoría",
        "typederreur",
        "tipodeerror",
        "errorname",
        "label",
        "error",
    ),
    "subcategory": ("subcategory", "errorsubcategory", "errorsubtype", "subtype", "issuesubtype", "unterkategorie"),
    "severity": (
        "severity",
        "errorseverity",
        "severitylevel",
        "issueseverity",
        "mqmseverity",
        "sev",
        "schweregrad",
        "schwere",
        "gravité",
        "sévérité",
        "gravedad",
        "severidad",
    ),
    "src_lang": ("srclang", "sourcelang", "sourcelanguage"),
    "tgt_lang": ("tgtlang", "trglang", "targetlang", "targetlanguage"),
    "pair": ("lp", "pair", "languagepair"),
    "metadata": ("metadata",),
}
_NO_JUDGEMENT = ["category", "severity", "error_type", "none", "weight", "unnamed", "contrary", "judgement", "metadata"]


def _match(head: Head, options: Options) -> Match:
    """Fits where there are a category and a severity besides system, segment and rater."""
    if is_indicmt(head.header):
        why = "by its headings, which are those of IndicMT-Eval"
        return Match(0.97, "", head.header, head.line, why, loaded=not head.typed)
    if wmt_chat.fits(head.header):
        return Match(0.97, "", head.header, head.line, "by its headings, which are those of the WMT chat task")
    names = _names(head, options)
    told = {*names, *options.values}
    lacks = [name for name in _NEEDED if name not in told]
    scored = any(columns.meaning(name) == "score" for name in head.header) or "score" in options.columns
    if "severity" in told and "category" in lacks and not scored:
        lacks.remove("category")
    return Match(0.96 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, "by its headings")


def _names(head: Head, options: Options) -> dict[str, str]:
    """Map Google's headings, synonyms of them that only one column has, and those that the user names."""
    header, told = head.header, {ours for ours in options.columns if ours}
    by_plain = {columns.plain(name): name for name in reversed(header)}
    found = {ours: next((by_plain[one] for one in known if one in by_plain), "") for ours, known in _HEADINGS.items()}
    if found["subcategory"] and not found["category"]:
        found["category"] = found.pop("subcategory")
    if not found["category"] and (name := by_plain.get("type")) and not _kinds_of_items(head.samples(name)):
        found["category"] = name
    taken = {*found.values(), *options.single.values()}
    for ours in (ours for ours in _HEADINGS if not found.get(ours) and ours not in told):
        others = [name for name in header if columns.meaning(name) == ours and name not in taken]
        found[ours] = others[0] if len(others) == 1 else ""
    found = {ours: name for ours, name in found.items() if name and ours not in told and ours not in options.values}
    return found | {ours: theirs for ours, theirs in options.single.items() if theirs}


def _kinds_of_items(cells: list[str]) -> bool:
    """Tell whether the cells of a column called type say what kind of item each row judges."""
    return {cell.casefold() for cell in cells} <= {*ITEM_TYPES}


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read errors; those of one judgement may stand anywhere in the file."""
    if options.lower_is_better:
        raise DataError(f"{head.name}: scores are made of the errors here, more is better. Drop --lower-is-better.")
    if is_indicmt(match.header):
        return of_indicmt(rows, head, options, report)
    if wmt_chat.fits(match.header):
        return wmt_chat.convert(rows, head, match, options, report)
    if match.lacks:
        raise DataError(
            f"{head.name} is no table of {MQM.title}: it lacks {match.lacks}. {ways(match.lacks.split(', '))}"
        )
    names, values, scheme = _names(head, options), dict(options.values), weights.resolve(options.weights)
    if absent := [theirs for theirs in names.values() if theirs not in match.header]:
        wrong = ", ".join(map(repr, absent))
        raise DataError(f"{head.name} has no column {wrong}; it has {', '.join(match.header)}. Correct --map.")
    columns.unlike(match.header, set(names.values()) - set(options.single.values()), origin=head.name)
    with_languages(names, values, head, report)
    if "doc" not in names:
        values.setdefault("doc", "all")
    demand_columns({*names, *values, "score"}, origin=head.name, header=match.header)
    describe(report, columns.Columns(names, dict.fromkeys(names, "layout")), match.header)
    _told(scheme, report)
    if not {"category", "subcategory"} & {*names, *values}:
        values["category"] = schemas.UNSTATED
        report.note(
            "no column says of which category errors are: it is unstated, and what weighs otherwise for its "
            "category (punctuation, non-translation, errors in the source) cannot be told; if there is one, "
            "pass --map category=…"
        )
    if rows.broken:
        report.note("rows that could not be read may mark errors of judgements that were kept: mend them first")
    table, rejected = _errors(options.looks.alike(rows.frame, names), names, values, report)
    found = Converted(table, rejected, names)
    if len(table):
        _weigh(found, _torn(rows.broken, match.header, names, values), scheme, options.pseudonyms, report)
    return found


def _told(scheme: Scheme, report: Report) -> None:
    """Put into the report what errors weigh, and which way is better."""
    report.weights = scheme.describe()
    made = f"{scheme.top:g} less" if scheme.top else "minus"
    report.orientation = f"higher is better: the score is {made} the weights of the errors"


def _errors(
    frame: pd.DataFrame, names: dict[str, str], values: dict[str, str], report: Report
) -> tuple[pd.DataFrame, list[Rejection]]:
    """Name what each row marks; rows that name no judgement are rejected, attention checks set apart."""

    def column(ours: str) -> pd.Series:
        return frame[names[ours]] if ours in names else constant(values[ours], frame.index)

    reject = Rejecting(frame, names.get("annotator"))
    table = pd.DataFrame({ours: column(ours) for ours in (*_WHO, "category", "severity")}, index=frame.index)
    checks = marot.checks(table["category"], table["severity"])
    reject(np.flatnonzero(checks), names.get("category", "category"), "is an attention check", EXCLUDED)
    if checks.any():
        found = spelled(table["category"][checks]).eq("found").sum()
        report.note(f"attention checks (HOTW-test, an error put in on purpose): {found:,} of {checks.sum():,} found")
    for ours in _WHO:  # what lacks a category or a severity belongs to a judgement all the same
        for place, reason in numbers.nameless(table[ours]).items():
            reject([place], names.get(ours, ours), reason)
    for side, ours in enumerate(("src_lang", "tgt_lang")):
        stated = ours in names or ours in values
        table[ours] = mapped_cells(column(ours if stated else "pair"), partial(_language, None if stated else side))
        heading = names.get(ours, names.get("pair", "pair"))
        reject(np.flatnonzero(table[ours].isna()), heading, "is no language or language pair: correct it")
    if "subcategory" in names:
        table["category"] = _joined(table["category"], frame[names["subcategory"]])
    for ours in ("source", "hypothesis", "metadata"):
        if ours in names:
            table[ours] = frame[names[ours]]
    return table[reject.kept], reject.rows


def _joined(category: pd.Series, below: pd.Series) -> pd.Series:
    """Join categories and subcategories, unless both say the same or one of them nothing.

    >>> _joined(pd.Series(["Fluency", "No-error", None, "Other"]), pd.Series(["Spelling", "No-error", None, "other"]))
    ... # doctest: +NORMALIZE_WHITESPACE
    0    Fluency/Spelling
    1            No-error
    2                 NaN
    3               Other
    dtype: str
    """
    both = category.notna() & below.notna() & spelled(category).ne(spelled(below))
    both &= ~weights.calls_none(category) & ~weights.calls_none(below)
    starts = mapped_cells(category.fillna("") + "\0" + below.fillna(""), lambda text: text.replace("\0", "/"))
    return category.fillna(below).mask(both, starts).astype("str")


def _language(side: int | None, text: str) -> str | None:
    """Read a language or, where a side is named, one language of a pair."""
    return languages.code(text) or text if side is None else (languages.split(text) or (None, None))[side]


def _torn(
    broken: list[Broken], header: list[str], names: dict[str, str], values: dict[str, str]
) -> dict[tuple[str, ...], int]:
    """Map judgements to the line of an error that could not be cut into cells; such a score would be too high."""
    places = [header.index(names[ours]) if ours in names else None for ours in _WHO]
    torn = {}
    for row in broken:
        if all(place is None or place < len(row.cells) for place in places):
            torn[
                tuple(
                    values.get(ours, "") if place is None else naming.plain(row.cells[place])
                    for ours, place in zip(_WHO, places)
                )
            ] = row.line
    return torn


def _weigh(
    found: Converted, torn: dict[tuple[str, ...], int], scheme: Scheme, aliases: Pseudonyms, report: Report
) -> None:
    """Gather the errors of each judgement; one with an error that cannot be weighed is rejected as a whole."""
    table = _weighed(found.ratings.assign(line=found.ratings.index).reset_index(drop=True), scheme)
    bad = table["weight"].isna() | table["unnamed"] | table["contrary"]
    lost = pd.MultiIndex.from_frame(table[_WHO]).isin(list(torn)) if torn else np.zeros(len(table), dtype=bool)
    wrong = table["judgement"].isin(table["judgement"][bad | lost])
    found.rejected += [_rejection(row, bad[row.Index], torn, found.names, scheme) for row in table[wrong].itertuples()]
    table = _alongside(table[~wrong], report)
    codes, first = pd.factorize(table["judgement"])[0], ~table["judgement"].duplicated()
    ratings = table[first]
    weight = table["weight"].to_numpy()
    _, score = scheme.scores(codes, table["error_type"], weight, len(ratings))
    ratings = ratings.assign(score=score + 0.0, errors=np.bincount(codes, ~table["none"], minlength=len(ratings)))
    if "metadata" in table:
        ratings = _timed(ratings, table["metadata"], codes)
    if empty := int(ratings["errors"].eq(0).sum()):
        report.note(f"{empty:,} judgements mark no error (No-error or the like, or neither category nor severity)")
    ratings = _read_marks(ratings, report)
    found.spans = _spans(table[~table["none"]], aliases) if not table["none"].all() else None
    found.folded = int((~first).sum())
    ratings = aliases.owned(ratings)
    found.ratings = ratings.drop(columns=_NO_JUDGEMENT, errors="ignore").set_index("line")
    if (discarded := found.ratings["score"].isna()).any():
        _discard(found, discarded)


def _weighed(table: pd.DataFrame, scheme: Scheme) -> pd.DataFrame:
    """Say of each row what its error weighs, whether it is one at all, what it lacks, and its judgement's number."""
    stated = table["category"].mask(table["category"].eq(schemas.UNSTATED))
    category = stated if stated.isna().all() else table["category"]  # where no column says it, empty is no error
    none = weights.no_error(category, table["severity"])
    contrary = weights.calls_none(table["category"]) & ~none
    unnamed = table["category"].isna() & ~none
    weight = scheme.weigh(table["category"], table["severity"]).mask(table["severity"].isna(), np.nan).mask(none, 0.0)
    return table.assign(
        error_type=spelled(table["category"]),
        severity=spelled(table["severity"]).mask(table["severity"].isna()),
        none=none,
        weight=weight,
        unnamed=unnamed,
        contrary=contrary,
        judgement=table.groupby(_KEY, sort=False).ngroup(),
    )


def _timed(ratings: pd.DataFrame, metadata: pd.Series, codes: np.ndarray) -> pd.DataFrame:
    """Take the first and the last moment that the metadata of a judgement's rows name."""
    started, ended = (pd.Series(moments).groupby(codes) for moments in marot.times(metadata))
    if started.count().sum() == 0:
        return ratings
    return ratings.assign(started=started.min().to_numpy(), ended=ended.max().to_numpy())


def _alongside(table: pd.DataFrame, report: Report) -> pd.DataFrame:
    """Set the system that stood beside another apart from its name."""
    if (pairs := marot.side_by_side(table["system"], table.get("metadata"))) is None:
        return table
    report.note(
        "systems called A_with_B are A, judged side by side with B (against); of others the file does not say "
        f"what stood beside them (against is {schemas.UNSTATED})"
    )
    return table.assign(system=pairs[0], against=pairs[1])


def _read_marks(ratings: pd.DataFrame, report: Report) -> pd.DataFrame:
    """Tell references from systems, and take the marks out of the texts."""
    ratings = ratings.assign(item_type=np.where(human(ratings["system"], report.note), "reference", "system"))
    for name in ("source", "hypothesis"):
        if name in ratings:
            ratings[name] = mapped_cells(ratings[name], lambda text: _MARKED.sub(r"\1", text))
    return ratings


def _discard(found: Converted, discarded: pd.Series) -> None:
    """Set apart judgements that the scheme gives no score."""
    found.rejected += [
        Rejection(int(line), found.names.get("category", "category"), "", DISCARDED, EXCLUDED)
        for line in found.ratings.index[discarded]
    ]
    found.ratings = found.ratings[~discarded]


def _rejection(row, bad: bool, torn: dict[tuple[str, ...], int], names: dict[str, str], scheme: Scheme) -> Rejection:
    """Say why an error is rejected: for its own sake, or with the judgement that it belongs to."""
    column, value = "severity", "" if pd.isna(row.severity) else row.severity
    line = torn.get(tuple(getattr(row, ours) for ours in _WHO))
    if not bad:
        value, reason = "", "belongs to a judgement with an error of unknown category or severity"
        reason = f"belongs to a judgement whose error on line {line} could not be read" if line else reason
    elif row.contrary:
        reason = "is the severity of a row whose category says that there is no error: correct one of them"
    elif row.unnamed or not value:
        column, value = ("category" if row.unnamed else "severity"), ""
        reason = "is empty: fill it in, for without it the judgement has no score"
    else:
        known = ", ".join(scheme.severities)
        reason = f"is a severity without a weight (known are {known}): correct it, or tell all weights with --weights"
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
    frame = aliases.owned(marked).assign(span=number, start=start, end=end, side=side, text=pd.array(text, dtype="str"))
    order = [name for name in (*schemas.SPANS.columns, "hit", "against", "weight") if name in frame]
    return frame[order].reset_index(drop=True)


def _place(text: object, side: str) -> tuple[float, float, str, str] | None:
    """Find the marked stretch of a text, counted in the text without the marks; None where none is marked."""
    found = _MARKED.search(text) if isinstance(text, str) else None
    if not found:
        return None
    start = len(_MARKED.sub(r"\1", found.string[: found.start()]))
    return float(start), float(start + len(found[1])), side, found[1]


MQM = Format("mqm", "marked errors with category and severity", None, _match, _convert)
