"""Read marked errors, a row per error, as Google's annotations of WMT have them.

Made with MAROT, rows tell more than errors: systems side by side, times of clicks, attention checks.
"""

import json
import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data.importing import numbers, vocabulary
from evalkit.data.importing.judgements import demand_columns, people, with_languages
from evalkit.data.importing.options import Options, Pseudonyms
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import (
    DISCARDED,
    EXCLUDED,
    Broken,
    Judgements,
    Rejecting,
    Rejection,
    Table,
    constant,
    excluded,
    mapped_cells,
)
from evalkit.data.importing.vocabulary import ITEM_TYPES, bare, meaning
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED
from evalkit.data.typology import SCHEMES, WMT, Scheme, spelled

# What errors weigh: a scheme by its name, or weights as a user tells them; and what marks no error

_LIKE = "Write like --weights minor=1,major=5,critical=10"
_NONE = re.compile(r"no[- ]?(errors?|issues?|mistakes?)|none|nothing|n/?a|ok|[-–—]|hotw-test", re.ASCII)


def resolve(text: str | None) -> Scheme:
    """Return the scheme that ``--weights`` names or spells out; without it, that of WMT's MQM (Freitag et al. 2021).

    text: a name, or words that only one name has; or ``SEVERITY=WEIGHT`` and ``TYPE:SEVERITY=WEIGHT`` (``*``: any),
    cut by commas. Weights that are spelled out have no exceptions but those told; neutral ones weigh 0 unless told.
    Raises DataError for anything else, naming the schemes.

    >>> told = resolve("minor=1, Major=5, fluency/punctuation:minor=0.1")
    >>> told.weigh(pd.Series(["Fluency/Punctuation", "Other"]), pd.Series(["Minor", "Major"])).tolist()
    [0.1, 5.0]
    >>> resolve("burchardt") is SCHEMES["Burchardt & Lommel 2014"], resolve(None) is SCHEMES[WMT]
    (True, True)
    """
    if text is None:
        return SCHEMES[WMT]
    if "=" in text:
        return _spelled_out(text)
    wanted = text.strip().casefold()
    if exact := [scheme for name, scheme in SCHEMES.items() if name.casefold() == wanted]:
        return exact[0]
    words = set(re.findall(r"[\w.]+", wanted))
    near = [name for name in SCHEMES if words and words <= set(re.findall(r"[\w.]+", name.casefold()))]
    if len(near) != 1:
        raise DataError(
            f"--weights {text!r} names {'several schemes' if near else 'no scheme'}. Name one of "
            f"{'; '.join(near or SCHEMES)}. Or {_LIKE[0].lower()}{_LIKE[1:]}."
        )
    return SCHEMES[near[0]]


def _spelled_out(text: str) -> Scheme:
    """Read weights that a user spells out."""
    severities, fixed, told = {}, {}, []
    for part in text.split(","):
        name, _, value = part.partition("=")
        kind, _, severity = name.rpartition(":")
        severity, kind = (" ".join(one.casefold().split()) for one in (severity, kind))
        if not re.fullmatch(r"\d{1,6}(\.\d{1,9})?|\.\d{1,9}", value.strip(), re.ASCII):
            raise DataError(f"--weights: {part.strip()!r} gives no weight of 0 or more. {_LIKE}.")
        if not severity or (severity == "*" and not kind):
            raise DataError(f"--weights: {part.strip()!r} names no severity. {_LIKE}.")
        weight = float(value)
        if kind:
            fixed[spelled(pd.Series([kind], dtype="str"))[0], severity] = weight
        else:
            severities[severity] = weight
        told.append(f"{kind + ' ' if kind else ''}{severity} {weight:g}".replace(" *", ""))
    ending = "" if fixed else ", whatever the type"
    return Scheme(f"as told: {', '.join(told)}{ending}", severities, top=0.0, fixed=fixed)


def tell(scheme: Scheme, receipt: Receipt, *, before: str = "") -> None:
    """Put into the receipt what errors weigh, and which way is better. before: whose weights these are."""
    receipt.weights = before + scheme.describe()
    top = f"{scheme.top:g} less" if scheme.top else "minus"
    receipt.orientation = f"higher is better: the score is {top} the weights of the errors"


def no_error(error_type: pd.Series, severity: pd.Series) -> pd.Series:
    """Tell which rows mark no error: the severity says so, or the type does without a severity, or both are empty.

    >>> types = pd.Series(["No-error", None, "NONE", "Other", None, "No error"], dtype="str")
    >>> no_error(types, pd.Series([None, None, "neutral", None, "Minor", "Major"], dtype="str")).tolist()
    [True, True, True, False, False, False]
    """
    kind, level = calls_none(error_type), calls_none(severity)
    empty = error_type.isna() & severity.isna()
    return level | kind & (severity.isna() | spelled(severity).eq("neutral")) | empty


def calls_none(names: pd.Series) -> pd.Series:
    """Tell which types or severities are words for no error, however they are spelled.

    >>> calls_none(pd.Series(["No-error", "none", "NO ERROR", "noerrors", "n/a", "neutral", None])).tolist()
    [True, True, True, True, True, False, False]
    """
    codes, distinct = pd.factorize(names)
    says = [bool(_NONE.fullmatch(" ".join(str(text).casefold().replace("_", " ").split()))) for text in distinct]
    return pd.Series(np.array([*says, False])[codes], index=names.index)


# A row per marked error

TITLE = "marked errors with category and severity"
_MARKED = re.compile(r"<v>(.*?)</v>", re.DOTALL)
_WHO = [*schemas.ITEM, "annotator"]
_KEY = ["src_lang", "tgt_lang", *_WHO]
#: Our names and what they are headed by.
_HEADINGS = {ours: text.split() for ours, text in vocabulary.table("mqm").items()}
_NO_JUDGEMENT = ["category", "severity", "error_type", "none", "weight", "unnamed", "contrary", "judgement", "metadata"]


def lacks(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to have an error a row: category and severity besides system, segment and rater."""
    have = {*_names(table, options), *options.values}
    needed = ("system", "segment", "annotator", "category", "severity")
    wanted = [name for name in needed if name not in have]
    scored = any(meaning(name) == "score" for name in table.header) or "score" in options.columns
    if "severity" in have and "category" in wanted and not scored:
        wanted.remove("category")
    return (wanted if len(wanted) < len(needed) else None), "by its headings"


def _names(table: Table, options: Options) -> dict[str, str]:
    """Map Google's headings, synonyms of them that only one column has, and those that the user names."""
    told = {ours for ours in options.columns if ours}
    by_bare = {bare(name): name for name in reversed(table.header)}
    found = {ours: next((by_bare[one] for one in known if one in by_bare), "") for ours, known in _HEADINGS.items()}
    if found["subcategory"] and not found["category"]:
        found["category"] = found.pop("subcategory")
    if not found["category"] and (name := by_bare.get("type")):
        kinds_of_items = {cell.casefold() for cell in table.samples(name)} <= {*ITEM_TYPES}
        found["category"] = "" if kinds_of_items else name
    taken = {*found.values(), *options.single.values()}
    for ours in (ours for ours in _HEADINGS if not found.get(ours) and ours not in told):
        others = [name for name in table.header if meaning(name) == ours and name not in taken]
        found[ours] = others[0] if len(others) == 1 else ""
    found = {ours: name for ours, name in found.items() if name and ours not in told and ours not in options.values}
    return found | {ours: theirs for ours, theirs in options.single.items() if theirs}


def convert(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read errors; those of one judgement may stand anywhere in the file."""
    if options.lower_is_better:
        raise DataError(f"{table.name}: scores are made of the errors here, more is better. Drop --lower-is-better.")
    names, values, scheme = _names(table, options), dict(options.values), resolve(options.weights)
    vocabulary.demand_present(table.header, names, origin=table.name)
    vocabulary.unlike(table.header, set(names.values()) - set(options.single.values()), origin=table.name)
    with_languages(names, values, table, receipt)
    if "doc" not in names:
        values.setdefault("doc", "all")
    demand_columns({*names, *values, "score"}, origin=table.name, header=table.header)
    receipt.describe(names, "layout", table.header)
    tell(scheme, receipt)
    if not {"category", "subcategory"} & {*names, *values}:
        values["category"] = UNSTATED
        receipt.note(
            "no column says of which category errors are: it is unstated, and what weighs otherwise for its category "
            "(punctuation, non-translation, errors in the source) cannot be told; if there is one, pass "
            "--map category=…"
        )
    if table.broken:
        receipt.note("rows that could not be read may mark errors of judgements that were kept: mend them first")
    errors, rejected = _errors(options.looks.alike(table.cells, names), names, values, receipt)
    found = Judgements(errors, rejected, names)
    if len(errors):
        torn = _torn(table.broken, table.header, names, values)
        _weigh(found, torn, scheme, options.pseudonyms, receipt)
    return found


def _errors(
    cells: pd.DataFrame, names: dict[str, str], values: dict[str, str], receipt: Receipt
) -> tuple[pd.DataFrame, list[Rejection]]:
    """Name what each row marks; rows that name no judgement are rejected, attention checks set apart."""

    def column(ours: str) -> pd.Series:
        return cells[names[ours]] if ours in names else constant(values[ours], cells.index)

    reject = Rejecting(cells, names.get("annotator"))
    errors = pd.DataFrame({ours: column(ours) for ours in (*_WHO, "category", "severity")}, index=cells.index)
    checks = _checks(errors["category"], errors["severity"])
    reject(np.flatnonzero(checks), names.get("category", "category"), "is an attention check", EXCLUDED)
    if checks.any():
        met = spelled(errors["category"][checks]).eq("found").sum()
        receipt.note(f"attention checks (HOTW-test, an error put in on purpose): {met:,} of {checks.sum():,} found")
    for ours in _WHO:  # what lacks a category or a severity belongs to a judgement all the same
        for place, reason in numbers.nameless(errors[ours]).items():
            reject([place], names.get(ours, ours), reason)
    for side, ours in enumerate(("src_lang", "tgt_lang")):
        stated = ours in names or ours in values
        errors[ours] = mapped_cells(column(ours if stated else "pair"), partial(_language, None if stated else side))
        heading = names.get(ours, names.get("pair", "pair"))
        reject(np.flatnonzero(errors[ours].isna()), heading, "is no language or language pair: correct it")
    if "subcategory" in names:
        errors["category"] = _joined(errors["category"], cells[names["subcategory"]])
    for ours in ("source", "hypothesis", "metadata"):
        if ours in names:
            errors[ours] = cells[names[ours]]
    return errors[reject.kept], reject.rows


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
    both &= ~calls_none(category) & ~calls_none(below)
    joined = mapped_cells(category.fillna("") + "\0" + below.fillna(""), lambda text: text.replace("\0", "/"))
    return category.fillna(below).mask(both, joined).astype("str")


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
            key = (
                values.get(ours, "") if place is None else plain(row.cells[place]) for ours, place in zip(_WHO, places)
            )
            torn[tuple(key)] = row.line
    return torn


def _weigh(
    found: Judgements, torn: dict[tuple[str, ...], int], scheme: Scheme, aliases: Pseudonyms, receipt: Receipt
) -> None:
    """Gather the errors of each judgement; one with an error that cannot be weighed is rejected as a whole."""
    table = _weighed(found.ratings.assign(line=found.ratings.index).reset_index(drop=True), scheme)
    bad = table["weight"].isna() | table["unnamed"] | table["contrary"]
    lost = pd.MultiIndex.from_frame(table[_WHO]).isin(list(torn)) if torn else np.zeros(len(table), dtype=bool)
    wrong = table["judgement"].isin(table["judgement"][bad | lost])
    found.rejected += [_rejection(row, bad[row.Index], torn, found.names, scheme) for row in table[wrong].itertuples()]
    table = _alongside(table[~wrong], receipt)
    codes, first = pd.factorize(table["judgement"])[0], ~table["judgement"].duplicated()
    ratings = table[first]
    _, score = scheme.scores(codes, table["error_type"], table["weight"].to_numpy(), len(ratings))
    ratings = ratings.assign(score=score + 0.0, errors=np.bincount(codes, ~table["none"], minlength=len(ratings)))
    if "metadata" in table:
        ratings = _timed(ratings, table["metadata"], codes)
    if empty := int(ratings["errors"].eq(0).sum()):
        receipt.note(f"{empty:,} judgements mark no error (No-error or the like, or neither category nor severity)")
    ratings = ratings.assign(item_type=np.where(people(ratings["system"], receipt.note), "reference", "system"))
    for name in ("source", "hypothesis"):
        if name in ratings:
            ratings[name] = mapped_cells(ratings[name], lambda text: _MARKED.sub(r"\1", text))
    found.spans = _spans(table[~table["none"]], aliases) if not table["none"].all() else None
    found.folded = int((~first).sum())
    ratings = aliases.owned(ratings).drop(columns=_NO_JUDGEMENT, errors="ignore").set_index("line")
    unscored = ratings["score"].isna()
    found.rejected += excluded(ratings.index[unscored], DISCARDED, found.names.get("category", "category"))
    found.ratings = ratings[~unscored]


def _weighed(table: pd.DataFrame, scheme: Scheme) -> pd.DataFrame:
    """Say of each row what its error weighs, whether it is one at all, what it lacks, and its judgement's number."""
    stated = table["category"].mask(table["category"].eq(UNSTATED))
    category = stated if stated.isna().all() else table["category"]  # where no column says it, empty is no error
    none = no_error(category, table["severity"])
    weight = scheme.weigh(table["category"], table["severity"]).mask(table["severity"].isna(), np.nan)
    return table.assign(
        error_type=spelled(table["category"]),
        severity=spelled(table["severity"]).mask(table["severity"].isna()),
        none=none,
        weight=weight.mask(none, 0.0),
        unnamed=table["category"].isna() & ~none,
        contrary=calls_none(table["category"]) & ~none,
        judgement=table.groupby(_KEY, sort=False).ngroup(),
    )


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
    spans = aliases.owned(marked).assign(span=number, start=start, end=end, side=side, text=pd.array(text, dtype="str"))
    order = [name for name in (*schemas.SPANS.columns, "hit", "against", "weight") if name in spans]
    return spans[order].reset_index(drop=True)


def _place(text: object, side: str) -> tuple[float, float, str, str] | None:
    """Find the marked stretch of a text, counted in the text without the marks; None where none is marked."""
    mark = _MARKED.search(text) if isinstance(text, str) else None
    if not mark:
        return None
    start = len(_MARKED.sub(r"\1", mark.string[: mark.start()]))
    return float(start), float(start + len(mark[1])), side, mark[1]


# MAROT

_WITH = "_with_"
_SECOND = r'"side": ?2\b'
_LONGEST = 1 << 20  # letters of one row's metadata
_YEARS = (946_684_800.0, 4_102_444_800.0)  # 2000 to 2100, in seconds since 1970


def _checks(category: pd.Series, severity: pd.Series) -> pd.Series:
    """Tell which rows say whether a rater found an error that was put there on purpose ("hands on the wheel").

    They stand beside the rows of what the rater marked, which say "No-error" where that is nothing.

    >>> _checks(pd.Series(["Found", "Other"]), pd.Series(["HOTW-test", "Major"])).tolist()
    [True, False]
    """
    return spelled(severity).eq("hotw-test") | spelled(category).eq("hotw-test")


def _alongside(table: pd.DataFrame, receipt: Receipt) -> pd.DataFrame:
    """Split names like A_with_B, A beside B on one screen.

    That is what a name means where B is a system of the file, or where clicks went to a second translation (side 2).
    """
    names = [str(name) for name in table["system"].dropna().unique()]
    known = {*names, *(name.partition(_WITH)[0] for name in names)}
    two = "metadata" in table and bool(table["metadata"].str.contains(_SECOND, na=False).any())
    pairs = {name: name.partition(_WITH)[::2] for name in names}
    pairs = {name: pair for name, pair in pairs.items() if all(pair) and (two or pair[1] in known)}
    if not pairs:
        return table
    receipt.note(
        "systems called A_with_B are A, judged side by side with B (against); of others the file does not say "
        f"what stood beside them (against is {UNSTATED})"
    )
    return table.assign(
        system=mapped_cells(table["system"], lambda name: pairs.get(name, (name, ""))[0]),
        against=mapped_cells(table["system"], lambda name: pairs.get(name, (name, UNSTATED))[1]),
    )


def _timed(ratings: pd.DataFrame, metadata: pd.Series, codes: np.ndarray) -> pd.DataFrame:
    """Take the first and the last moment that the metadata of a judgement's rows name."""
    moments = [_moments(cell) if isinstance(cell, str) else [] for cell in metadata]
    started = pd.Series([min(own, default=np.nan) for own in moments], dtype=float).groupby(codes).min()
    ended = pd.Series([max(own, default=np.nan) for own in moments], dtype=float).groupby(codes).max()
    if started.isna().all():
        return ratings
    return ratings.assign(started=started.to_numpy(), ended=ended.to_numpy())


def _moments(cell: str) -> list[float]:
    """Read every moment that one row's metadata names, seconds since 1970.

    Metadata are JSON with ``timestamp`` and, in ``timing``, logs of clicks with ``ts``, in milliseconds.

    >>> _moments('{"timestamp": 1725456558000, "timing": {"x": {"log": [{"ts": 1725456544000}]}}}')
    [1725456558.0, 1725456544.0]
    """
    if not cell.startswith("{") or len(cell) > _LONGEST:
        return []
    try:
        said = json.loads(cell)
    except (ValueError, RecursionError):
        return []
    timing = said.get("timing")
    clicks = timing.values() if isinstance(timing, dict) else []
    logs = [click["log"] for click in clicks if isinstance(click, dict) and isinstance(click.get("log"), list)]
    stamps: list[Any] = [said.get("timestamp")]
    stamps += [entry.get("ts") for log in logs for entry in log if isinstance(entry, dict)]
    seconds = [stamp / 1000 for stamp in stamps if type(stamp) in (int, float)]
    return [one for one in seconds if _YEARS[0] <= one <= _YEARS[1]]
