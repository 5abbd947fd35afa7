"""The dates of a source: when its files were released, and when people judged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

_RELEASED = {
    "repository": "Files last changed in their repository on {}",
    "file name": "Dated {} in the files' names",
    "publication": "Published in {}",
}


def wider(known: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dates of two tables of one source: judged from the first day of either to the last.

    >>> wider({"released": "2022", "judged": ["2022-03-01", "2022-03-02"]}, {"judged": ["2022-02-27", "2022-03-01"]})
    {'released': '2022', 'judged': ['2022-02-27', '2022-03-02']}
    """
    found = {key: one[key] for one in (known, more) for key in ("released", "dated_by") if key in one}
    days = [day for one in (known, more) for day in one.get("judged", ())]
    return found | ({"judged": [min(days), max(days)]} if days else {})


def sentences(dates: Mapping[str, Any]) -> str:
    """Say the dates of a source in words; '' where none is known.

    >>> sentences({"released": "2022-11-03", "dated_by": "file name", "judged": ["2022-09-08", "2022-10-20"]})
    "Dated 3 November 2022 in the files' names. Judged from 8 September to 20 October 2022 (time stamps, UTC)."
    >>> sentences({"released": "2019", "dated_by": "publication"}), sentences({})
    ('Published in 2019.', '')
    """
    told = []
    if "released" in dates:
        told.append(_RELEASED[dates["dated_by"]].format(spelt(dates["released"])))
    if judged := dates.get("judged"):
        told.append(f"Judged {days(*judged)} (time stamps, UTC)")
    return " ".join(f"{one}." for one in told)


def days(first: str, last: str) -> str:
    """Say from when to when, and a year that both share once.

    >>> days("2022-12-30", "2023-01-02"), days("2023-01-02", "2023-01-02")
    ('from 30 December 2022 to 2 January 2023', 'on 2 January 2023')
    """
    if first == last:
        return f"on {spelt(first)}"
    begun = spelt(first).removesuffix(f" {last[:4]}")
    return f"from {begun} to {spelt(last)}"


def spelt(day: str) -> str:
    """Write an ISO date as people do, in whatever language the machine is set to; a year stays one.

    >>> spelt("2022-11-03"), spelt("2022")
    ('3 November 2022', '2022')
    """
    if "-" not in day:
        return day
    at = date.fromisoformat(day)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
