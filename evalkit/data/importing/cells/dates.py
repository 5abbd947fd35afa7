"""Read dates in the orders that countries write them in: a whole column settles its order, or it stays unread."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone

_NAMES = """
    jan january januar janvier enero jänner
    feb february februar février fevrier febrero
    mar march märz maerz mär mars marzo
    apr april avril abril avr
    may mai mayo
    jun june juni juin junio
    jul july juli juillet julio juil
    aug august août aout agosto
    sep sept september septembre septiembre
    oct october oktober octobre octubre okt
    nov november novembre noviembre
    dec december dezember décembre diciembre dez déc dic
"""
_MONTHS = {word: number for number, line in enumerate(_NAMES.strip().split("\n"), 1) for word in line.split()}
_DATE = re.compile(r"(\d{1,4})\s?([./-]|年)\s?(\d{1,2})\s?([./-]|月)\s?(\d{1,4})(?:[.]|日)?(?:[ ,T]+(.*))?", re.ASCII)
_WORDS = re.compile(
    r"(?:\w{2,10}\.?,? )?(?:(\d{1,2})(?:\.|st|nd|rd|th)?[ -]([^\W\d_]{3,10})\.?"
    r"|([^\W\d_]{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?,?)[ ,-]+(\d{4})(?:[ ,T]+(.*))?"
)
_CLOCK = re.compile(
    r"(\d{1,2})[:.h](\d{2})(?:[:.](\d{2})([.,]\d{1,9})?)?\s*([ap]\.?m\.?)?\s*(z|utc|gmt|[+-]\d{2}:?\d{2})?(?:\s*uhr)?",
    re.I,
)
_YEARS = (2005, 2040)  # campaigns of our time, which settle what two digits mean
_ORDERS = {"day, month, year": (2, 1, 0), "month, day, year": (2, 0, 1), "year, month, day": (0, 1, 2)}
_LONGEST = 60


def moments(texts: Iterable[str]) -> tuple[dict[str, tuple[float, bool]], str]:
    """Return seconds since 1970 of each date that can be read, and whether its zone was assumed; and what to say.

    One order must make dates of all texts of numbers. Where two do, points mean day, month, year; else none is read.

    >>> moments(["03/25/2024 09:00 AM", "03/04/2024 01:30 PM"])[1]
    'dates were read as month, day, year'
    >>> moments(["04/03/2024 09:00"])
    ({}, 'dates like 04/03/2024 09:00 can be read in two orders')
    """
    read: dict[str, tuple[float, bool]] = {}
    numbered: dict[str, re.Match[str]] = {}
    for text in dict.fromkeys(texts):
        if len(text) <= _LONGEST:
            if match := _DATE.fullmatch(text):
                numbered[text] = match
            elif (match := _WORDS.fullmatch(text)) and (moment := _of_words(match)):
                read[text] = moment
    if not numbered:
        return read, ""
    fitting: dict[str, dict[str, tuple[float, bool]]] = {}
    for name, order in _ORDERS.items():
        found = {text: moment for text, match in numbered.items() if (moment := _of_numbers(match, order))}
        if len(found) == len(numbered):
            fitting[name] = found
    points = all(match[2] == match[4] == "." for match in numbered.values())
    name = next(iter(fitting)) if len(fitting) == 1 or (points and "day, month, year" in fitting) else ""
    first = next(iter(numbered))
    if not name:
        return read, f"dates like {first} can be read in {'two orders' if fitting else 'no one order'}"
    return read | fitting[name], f"dates were read as {name}"


def _of_numbers(match: re.Match[str], order: tuple[int, int, int]) -> tuple[float, bool] | None:
    parts = [match[1], match[3], match[5]]
    year, month, day = (parts[place] for place in order)
    if len(year) not in (2, 4) or len(month) > 2 or len(day) > 2:
        return None
    whole = int(year) + (2000 if len(year) == 2 else 0)
    return _moment(whole, int(month), int(day), match[6]) if _YEARS[0] <= whole <= _YEARS[1] else None


def _of_words(match: re.Match[str]) -> tuple[float, bool] | None:
    month = _MONTHS.get((match[2] or match[3]).casefold())
    return _moment(int(match[5]), month, int(match[1] or match[4]), match[6]) if month else None


def _moment(year: int, month: int, day: int, clock: str | None) -> tuple[float, bool] | None:
    """Put a day and a time of day together; None where they are none."""
    hour = minute = second = 0
    zone, fraction = None, 0.0
    if clock and clock.strip():
        if not (found := _CLOCK.fullmatch(clock.strip())):
            return None
        hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
        fraction = float((found[4] or ".0").replace(",", "."))
        if half := found[5]:
            if not 1 <= hour <= 12:
                # 13:05 PM is written by programs that print the day's hour and the half, too
                hour = hour if half[0] in "pP" and 12 < hour < 24 else 99
            else:
                hour = hour % 12 + (12 if half[0] in "pP" else 0)
        zone = found[6]
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=_zone(zone))
    except ValueError:
        return None
    return moment.timestamp() + fraction, zone is None


def _zone(text: str | None) -> timezone:
    if not text or text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(offset if text[0] == "+" else -offset)
