"""Turn cells into numbers and times, exactly or not at all: what could be read in two ways is rejected."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evalkit.data import schemas
from evalkit.data.importing import vocabulary

_PLAIN = re.compile(r"[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d{0,300},\d{1,300}", re.ASCII)
_SECONDS = re.compile(r"\d{9,10},\d{1,9}", re.ASCII)
#: What people write where there is no score.
ABSENT = vocabulary.listed("absent")
MISSING = "there is no score"
#: The errors of formulas.
_ERRORS = ["#REF!", "#N/A", "#DIV/0!", "#NAME?", "#VALUE!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"]
_FORMULA = "is a formula's error, or a formula without a stored value: open the file in a spreadsheet, save it again"
_NO_NUMBER = (
    "is not a number: write it on the campaign's scale, without a percent sign or thousands separators; where a "
    "spreadsheet made a percentage or a date of it, give the column the format Number or Text, and type it again"
)

_DATE = re.compile(
    r"(\d{1,4})\s?([./-]|年)\s?(\d{1,2})\s?([./-]|月)\s?(\d{1,4})(?:[.]|日)?"
    r"(?:[ ,T]+(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:\s?[ap]m)?(?:\s?(?:z|utc|[+-]\d\d:?\d\d))?))?",
    re.ASCII | re.IGNORECASE,
)
_YEARS = (2005, 2040)  # campaigns of our time, which settle what two digits mean
_ORDERS = {"day, month, year": (2, 1, 0), "month, day, year": (2, 0, 1), "year, month, day": (0, 1, 2)}
_LONGEST_DATE = 60
_Moment = tuple[float, bool]  # seconds since 1970, and whether its zone had to be assumed


def read(cells: pd.Series, decimal: str | None = None, *, typed: bool = False) -> tuple[np.ndarray, dict[int, str]]:
    """Return the numbers of a column, NaN where there is none, and by place what is wrong with a cell that has none.

    decimal: "." or "," where it is known; None, and the first cell with decimals settles it. typed: cells of a
    workbook, whose numbers were numbers already and have a point only here, so that text like 4,5 may stand among them.

    >>> values, wrong = read(pd.Series(["85,5", "90", "1,234.5", "85%", "NA"]))
    >>> values.tolist()[:2], [*wrong]
    ([85.5, 90.0], [2, 3, 4])
    """
    if (decimal != "," or typed) and (quick := plain_numbers(cells)) is not None:
        return quick, {}
    codes, distinct = pd.factorize(cells)
    values: list[float] = []
    reasons: list[str] = []
    for text in distinct:
        number, reason, mark = _one(str(text).strip().replace("−", "-"), decimal, typed)
        decimal = decimal or (None if typed else mark)
        values.append(number)
        reasons.append(reason)
    numbers, reasons = np.array([*values, np.nan])[codes], [*reasons, MISSING]
    return numbers, {int(place): reasons[codes[place]] for place in np.flatnonzero(np.isnan(numbers))}


def _one(text: str, decimal: str | None, typed: bool) -> tuple[float, str, str | None]:
    """Read one cell: a number, or NaN and the reason; and the decimal mark that it shows."""
    if _PLAIN.fullmatch(text):
        if "." in text and decimal == "," and not typed:
            return np.nan, "a decimal point in a column with decimal commas: write all numbers alike", None
        if abs(float(text)) >= schemas.LARGEST:
            return np.nan, "is too large for a number", None
        return float(text), "", "." if "." in text else None
    if not _COMMA.fullmatch(text):
        return np.nan, _why(text), None
    whole, _, rest = text.partition(",")
    digits = whole.lstrip("+-")
    if decimal == ".":
        return np.nan, "a comma in a column with decimal points: write all numbers alike, or pass --decimal ,", None
    if decimal is None and len(rest) == 3 and 0 < len(digits) <= 3 and not digits.startswith("0"):
        return np.nan, "could be decimals or thousands: pass --decimal , if the comma is a decimal mark", None
    return float(f"{whole}.{rest}"), "", ","


def said(cells: pd.Series) -> pd.Series:
    """Empty the cells of a column that hold a word for no judgement.

    >>> said(pd.Series(["70", "NA", "n/a", "–", "good"], dtype="str")).tolist()
    ['70', nan, nan, nan, 'good']
    """
    return cells.mask(cells.isin([text for text in cells.unique() if str(text).strip().casefold() in ABSENT]))


def plain_numbers(cells: pd.Series) -> np.ndarray | None:
    """Convert a whole column of plain numbers at once; None where any cell is anything else.

    >>> plain_numbers(pd.Series(["1", "2.5"])), plain_numbers(pd.Series(["1", "Good"]))
    (array([1. , 2.5]), None)
    """
    try:
        texts = pa.Array.from_pandas(cells, type=pa.string())
        if texts.null_count or pc.any(pc.match_substring_regex(texts, r"[^0-9.eE+-]|^\+")).as_py():
            return None
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    return values if (np.abs(values) < schemas.LARGEST).all() else None


def is_numeric(cells: list[str]) -> bool:
    """Tell whether a column holds numbers: in more than four of five cells."""
    return bool(cells) and bool(np.isfinite(read(pd.Series(cells, dtype="str"))[0]).mean() > 0.8)


def _why(text: str) -> str:
    """Say why a cell is no number, with the remedy."""
    if text.casefold() in ABSENT:
        return f"{MISSING} ({text})"
    return _FORMULA if text.startswith(("#", "=")) else _NO_NUMBER


def nameless(cells: pd.Series) -> dict[int, str]:
    """Tell, by place, which cells of a column name nothing: empty ones, and errors of a spreadsheet.

    >>> sorted(nameless(pd.Series(["A", None, "#REF!"], dtype="str")))
    [1, 2]
    """
    errors, empty = np.flatnonzero(cells.isin(_ERRORS)).tolist(), np.flatnonzero(cells.isna()).tolist()
    return dict.fromkeys(errors, _FORMULA) | dict.fromkeys(empty, "is empty: fill it in, or drop the row")


def off_scale(values: np.ndarray, scale: tuple[float, float] | None) -> dict[int, str]:
    """Tell, by place, which numbers lie off the scale."""
    if scale is None:
        return {}
    low, high = scale
    outside = np.flatnonzero((values < low) | (values > high)).tolist()
    return dict.fromkeys(outside, f"is outside {low:g}-{high:g}: correct it, or pass --scale LOW:HIGH")


def times(cells: pd.Series) -> tuple[np.ndarray, bool, str]:
    """Return seconds since 1970, whether times without a zone were taken as UTC, and a remark on how dates were read.

    Empty cells are missing, and so are cells that are no time, or dates that could be read in two ways. Numbers are
    seconds, or milliseconds where they are too large for that.

    >>> times(pd.Series(["1724108687.807", "1724108687807", "2024-08-19 23:04:47"]))[0].tolist()
    [1724108687.807, 1724108687.807, 1724108687.0]
    >>> times(pd.Series(["01.03.2024 09:00"]))[0].tolist(), times(pd.Series(["04/03/2024"]))[0].tolist()
    ([1709283600.0], [nan])
    """
    quick = plain_numbers(cells)
    if quick is not None and (np.abs(quick) < 1e11).all():
        return quick, False, ""
    codes, distinct = pd.factorize(cells)
    texts = [str(text).strip() for text in distinct]
    moments = {text: _moment(text) for text in texts}
    read, remark = dates(text for text, (seconds, _) in moments.items() if np.isnan(seconds))
    moments |= read
    values = np.array([*(moments[text][0] for text in texts), np.nan])[codes]
    return values, any(naive for _, naive in moments.values()), remark


def _moment(text: str) -> _Moment:
    """Read one time: seconds since 1970, NaN where it is none, and whether its zone had to be assumed."""
    if _SECONDS.fullmatch(text):
        text = text.replace(",", ".")  # as spreadsheets of many countries save them
    if _PLAIN.fullmatch(text):
        number = float(text)
        return (number / 1000 if 1e11 <= abs(number) < 1e15 else number if abs(number) < 1e11 else np.nan), False
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
        naive = moment.tzinfo is None
        return (moment.replace(tzinfo=UTC) if naive else moment).timestamp(), naive
    except (OverflowError, ValueError):
        return np.nan, False


def dates(texts: Iterable[str]) -> tuple[dict[str, _Moment], str]:
    """Return the moment of each date that can be read, and what to say of it.

    One order must make dates of all of them. Where two do, points mean day, month, year; else none is read.

    >>> dates(["03/25/2024 09:00 AM", "03/04/2024 01:30 PM"])[1]
    'dates were read as month, day, year'
    >>> dates(["04/03/2024 09:00"])
    ({}, 'dates like 04/03/2024 09:00 can be read in two orders')
    """
    dated = {text: match for text in texts if len(text) <= _LONGEST_DATE and (match := _DATE.fullmatch(text))}
    if not dated:
        return {}, ""
    fitting: dict[str, dict[str, _Moment]] = {}
    for name, order in _ORDERS.items():
        moments = {text: moment for text, match in dated.items() if (moment := _date(match, order))}
        if len(moments) == len(dated):
            fitting[name] = moments
    points = all(match[2] == match[4] == "." for match in dated.values())
    for name, moments in fitting.items():
        if len(fitting) == 1 or (points and name == "day, month, year"):
            return moments, f"dates were read as {name}"
    return {}, f"dates like {next(iter(dated))} can be read in {'two orders' if fitting else 'no one order'}"


def _date(match: re.Match[str], order: tuple[int, int, int]) -> _Moment | None:
    """Read a date of numbers in some order, and perhaps a time of day; None where it is none."""
    year, month, day = (match[1 + 2 * place] for place in order)
    if len(year) not in (2, 4) or len(month) > 2 or len(day) > 2:
        return None
    whole = int(year) + (2000 if len(year) == 2 else 0)
    try:
        moment = pd.Timestamp(f"{whole}-{month:>02}-{day:>02} {match[6] or ''}")
    except ValueError:
        return None
    return (moment.timestamp(), moment.tzinfo is None) if _YEARS[0] <= whole <= _YEARS[1] else None
