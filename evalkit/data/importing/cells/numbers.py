"""Turn cells into numbers and times, exactly or not at all: what could be read in two ways is rejected."""

import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evalkit.data import schemas
from evalkit.data.importing.cells import dates

_PLAIN = re.compile(r"[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d{0,300},\d{1,300}", re.ASCII)
_GROUPS = re.compile(
    r"[+-]?\d{1,3}(([ \u00a0\u202f'’]\d{3})+|(,\d{3}){2,}|(\.\d{3}){2,}|(,\d{3})+\.\d+|(\.\d{3})+,\d+)", re.ASCII
)
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}[-. ]+[^\W\d]{3,9}\.?([-. ]+\d{2,4})?|[^\W\d]{3,9}\.?[-. ]+\d{1,4}"
)
_SECONDS = re.compile(r"\d{9,10},\d{1,9}", re.ASCII)
#: What people write where there is no score.
ABSENT = {"na", "n/a", "#n/a", "nan", "none", "null", "nil", "-", "–", "—", "?", "."}
_SERIAL = (36526, 54789)  # the first days of 2000 and 2050, as spreadsheets count days
MISSING = "there is no score"
#: What a cell reads whose formula was never computed.
FORMULA = "=(not computed)"
_ERRORS = [FORMULA, "#REF!", "#N/A", "#DIV/0!", "#NAME?", "#VALUE!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"]
_FORMULA = "is a formula's error, or a formula without a stored value: open the file in a spreadsheet, save it again"


def read(cells: pd.Series, decimal: str | None = None, *, typed: bool = False) -> tuple[np.ndarray, dict[int, str]]:
    """Return the numbers of a column, NaN where there is none, and by place what is wrong with a cell that has none.

    decimal: "." or "," where it is known; None, and the first cell with decimals settles it. typed: cells of a
    workbook, whose numbers were numbers already and have a point only here, so that text like 4,5 may stand among them.

    >>> values, wrong = read(pd.Series(["85,5", "90", "1,234.5", "85%", "NA"]))
    >>> values.tolist()[:2], [*wrong]
    ([85.5, 90.0], [2, 3, 4])
    """
    if (decimal != "," or typed) and (quick := _quick(cells)) is not None:
        return quick, {}
    codes, distinct = pd.factorize(cells)
    found: list[float] = []
    reasons: list[str] = []
    for text in distinct:
        number, reason, mark = _one(str(text).strip().replace("−", "-"), decimal, typed)
        decimal = decimal or (None if typed else mark)
        found.append(number)
        reasons.append(reason)
    values, reasons = np.array([*found, np.nan])[codes], [*reasons, MISSING]
    return values, {int(place): reasons[codes[place]] for place in np.flatnonzero(np.isnan(values))}


def _one(text: str, decimal: str | None, typed: bool) -> tuple[float, str, str | None]:
    """Read one cell: a number, or NaN and the reason; and the decimal mark that it shows."""
    if _PLAIN.fullmatch(text):
        if "." in text and decimal == "," and not typed:
            return np.nan, "a decimal point in a column with decimal commas: write all numbers alike", None
        number = float(text)
        if abs(number) >= schemas.LARGEST:
            return np.nan, "is too large for a number", None
        return number, "", "." if "." in text else None
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


def are_plain(cells: pd.Series) -> bool:
    """Tell whether all cells of a column that hold anything are plain numbers.

    >>> are_plain(pd.Series(["1", None, "2.5"])), are_plain(pd.Series(["1", "Good"]))
    (True, False)
    """
    return _quick(cells.dropna()) is not None


def _quick(cells: pd.Series) -> np.ndarray | None:
    """Convert a whole column of plain numbers at once; None where any cell is anything else."""
    try:
        texts = pa.Array.from_pandas(cells, type=pa.string())
        if texts.null_count or pc.any(pc.match_substring_regex(texts, r"[^0-9.eE+-]|^\+")).as_py():
            return None
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    return values if (np.abs(values) < schemas.LARGEST).all() else None


def _why(text: str) -> str:
    """Say why a cell is no number, with the remedy."""
    if text.casefold() in ABSENT:
        return f"{MISSING} ({text})"
    if text.endswith(("%", "％")):
        return "is a percentage: give the column the format Number, on the campaign's scale"
    if _GROUPS.fullmatch(text):
        return "has a thousands separator: write the number without it"
    if _DATE.fullmatch(text):
        return (
            "reads like a date, perhaps of a score that a spreadsheet changed: give the column the format Text, and "
            "type it again"
        )
    if text.startswith("#") or text.casefold().startswith("="):
        return _FORMULA
    return "is not a number"


def nameless(cells: pd.Series) -> dict[int, str]:
    """Tell, by place, which cells of a column name nothing: empty ones, and errors of a spreadsheet.

    >>> sorted(nameless(pd.Series(["A", None, "#REF!"], dtype="str")))
    [1, 2]
    """
    wrong = {int(place): _FORMULA for place in np.flatnonzero(cells.isin(_ERRORS))}
    if cells.hasnans:
        wrong |= {int(place): "is empty: fill it in, or drop the row" for place in np.flatnonzero(cells.isna())}
    return wrong


def off_scale(values: np.ndarray, scale: tuple[float, float] | None) -> dict[int, str]:
    """Tell, by place, which numbers lie off the scale."""
    if scale is None:
        return {}
    low, high = scale
    places = np.flatnonzero((values < low) | (values > high))
    serial = "; perhaps a date that a spreadsheet made of a score (days since 1900)"
    return {
        int(place): f"is outside {low:g}-{high:g}: correct it, or pass --scale LOW:HIGH"
        + (serial if _SERIAL[0] <= values[place] <= _SERIAL[1] and float(values[place]).is_integer() else "")
        for place in places
    }


def times(cells: pd.Series) -> tuple[np.ndarray, list[int], bool, str]:
    """Return seconds since 1970, where other cells stand, whether times without a zone were taken as UTC, and a remark.

    Empty cells are missing, and so are cells that are no time, or dates that could be read in two ways. Numbers are
    seconds, or milliseconds where they are too large for that. The remark says how dates were read.

    >>> times(pd.Series(["1724108687.807", "1724108687807", "2024-08-19 23:04:47"]))[0].tolist()
    [1724108687.807, 1724108687.807, 1724108687.0]
    >>> times(pd.Series(["01.03.2024 09:00"]))[0].tolist(), times(pd.Series(["04/03/2024"]))[1]
    ([1709283600.0], [0])
    """
    quick = _quick(cells)
    if quick is not None and (np.abs(quick) < 1e11).all():
        return quick, [], False, ""
    codes, distinct = pd.factorize(cells)
    texts = [str(text).strip() for text in distinct]
    found = [_moment(text) for text in texts]
    others, said = dates.moments(text for text, (seconds, _) in zip(texts, found) if np.isnan(seconds))
    found = [others.get(text, moment) for text, moment in zip(texts, found)]
    values = np.array([*(seconds for seconds, _ in found), np.nan])[codes]
    left = [int(place) for place in np.flatnonzero(np.isnan(values) & (codes >= 0))]
    return values, left, any(naive for _, naive in found), said


def _moment(text: str) -> tuple[float, bool]:
    """Read one time: seconds since 1970, NaN where it is none, and whether its zone had to be assumed."""
    if _SECONDS.fullmatch(text):
        text = text.replace(",", ".")  # as spreadsheets of many countries save them
    if _PLAIN.fullmatch(text):
        number = float(text)
        return (number / 1000 if 1e11 <= abs(number) < 1e15 else number if abs(number) < 1e11 else np.nan), False
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return np.nan, False
    naive = moment.tzinfo is None
    try:
        return (moment.replace(tzinfo=UTC) if naive else moment).timestamp(), naive
    except (OverflowError, ValueError):
        return np.nan, False
