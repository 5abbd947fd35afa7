"""The data section of a page: each source once, by a short name, with its dates and a link to where it lies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from evalkit.data import registry
from evalkit.reports import findings
from evalkit.stats.terms import pluralize

_RAW = re.compile(r"https://raw\.githubusercontent\.com/([^/]+/[^/]+)/([0-9a-f]{7})([0-9a-f]*)(?:/|$)")
#: What the name of a file ends in that belongs to the data set named before.
_PART = re.compile(r"-(errors|spans|metrics|ranking|annotators)$")


def listed(notebook: Any, data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a page says of each source of a report's ``data``, with the rows that its notebook tells of."""
    shown = {(one["name"], one["source"]): one for one in findings.payloads(notebook) if one["kind"] == "source"}
    return [described(shown[one["name"], one["source"]] | one) for one in data]


def described(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a source, its registry entry among it, as a page tells it."""
    registered = payload["source"] != "real" or payload["origin"].startswith("https://")  # a file may have any name
    entry = registry.entries().get(payload["name"]) if registered else None
    words, link = address(payload["origin"])
    excluded = "; ".join(f"{what} ({n:,})" for what, n in payload.get("excluded", {}).items() if n)
    return payload | {
        "entry": entry,
        "title": short_title(entry.title) if entry else payload["name"],
        "rows": pluralize(payload["rows"], "row") if "rows" in payload else "",
        "excluded": excluded,
        "dates": dated(payload),
        "address": words,
        "link": link,
        "digest": short_digest(payload["digest"]),
    }


def short_title(title: str) -> str:
    """Return what stands before a title's colon or bracket.

    >>> short_title("WMT22 calibration HITs: one set of segments per language pair (DA+SQM, 0-100)")
    'WMT22 calibration HITs'
    """
    return re.split(r": | \(", title, maxsplit=1)[0]


def address(origin: str) -> tuple[str, str]:
    """Return an origin in a few words and the address to open, '' where it is no address.

    >>> address("https://raw.githubusercontent.com/a/b/20240a2e96a50e82/humaneval/x.csv")
    ('github.com/a/b, version 20240a2', 'https://github.com/a/b/tree/20240a2e96a50e82')
    >>> address("https://example.org/data/x.zip"), address("my.csv")
    (('example.org', 'https://example.org/data/x.zip'), ('my.csv', ''))
    """
    if found := _RAW.match(origin):
        return f"github.com/{found[1]}, version {found[2]}", f"https://github.com/{found[1]}/tree/{found[2]}{found[3]}"
    parts = urlsplit(origin)
    plain = parts.scheme == "https" and not re.search(r"[\s;]", origin)
    return (parts.netloc, origin) if plain else (origin, "")


def short_digest(digest: str) -> str:
    """Return the first digits of a digest, and of how many files.

    >>> short_digest("git:b81fa86a1770e0d5"), short_digest("git:b81fa86a1770e0d5+git:e815b9388643")
    ('git:b81fa86a', 'git:b81fa86a and 1 more file')
    """
    first, *others = digest.split("+")
    kind, _, value = first.partition(":")
    return f"{kind}:{value[:8]}" + (f" and {pluralize(len(others), 'more file')}" if others else "")


def badges(used: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return a short badge for each kind of source: the kind, and how many sets are of it.

    Files that belong to a data set, such as a campaign's marked errors, are that set's.
    """
    counts = Counter(kind for kind, _ in {(one["source"], _PART.sub("", one["name"])) for one in used})
    return [(kind, pluralize(counts[kind], "data set")) for kind in sorted(counts)]


_RELEASED = {
    "repository": "Files last changed in their repository on {}. ",
    "file name": "Dated {} in the files' names. ",
    "publication": "Published in {}. ",
}


def dated(source: Mapping[str, Any]) -> str:
    """Say the dates of a source; '' where none is known.

    >>> dated({"released": "2022-11-03", "dated_by": "file name", "judged": ["2022-09-08", "2022-10-20"]})
    "Dated 2022-11-03 in the files' names. Judged from 2022-09-08 to 2022-10-20 (time stamps, UTC)."
    """
    told = _RELEASED[source["dated_by"]].format(source["released"]) if "released" in source else ""
    judged = "Judged from {} to {} (time stamps, UTC).".format(*source["judged"]) if "judged" in source else ""
    return (told + judged).strip()
