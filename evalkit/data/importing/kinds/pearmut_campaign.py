"""Read the JSON that describes a campaign of Pearmut: its protocol, the ends of its sliders, and who is shown what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import delimited
from evalkit.data.importing.files import jsonl

#: What stands in the place of annotations where an annotator began anew.
RESET = "__RESET__"


@dataclass
class Entry:
    """One screen that was submitted: who, where, its items, what was said of each, and when."""

    line: int
    user: str
    position: str
    items: list[Any]
    said: list[Any]
    times: list[float]
    checks: list[Any]
    void: bool = False


@dataclass
class Campaign:
    """What a campaign's own file says: protocol, ends of sliders, and of each annotator or for all, the items."""

    info: Mapping[str, Any] = field(default_factory=dict)
    data: Any = None

    def items(self, user: str, position: object) -> list[Any]:
        """Return the items of a screen; none where the file does not tell."""
        if not str(position).isdecimal():
            return []
        mine = self.data.get(user) if isinstance(self.data, dict) else self.data
        place = int(str(position))
        found = mine[place] if isinstance(mine, list) and place < len(mine) else []
        return found if isinstance(found, list) else [found]

    @property
    def documents(self) -> list[list[Any]]:
        """The documents that annotators share, each a list of items; none where each has their own."""
        return [one if isinstance(one, list) else [one] for one in self.data] if isinstance(self.data, list) else []

    @property
    def shared(self) -> bool:
        """Tell whether all annotators draw from one list."""
        return isinstance(self.data, list) and self.info.get("assignment") in ("single-stream", "dynamic")


def beside(path: Path) -> Path | None:
    """Find the campaign's own file; in the log's folder, a file of that name may be another, which is left alone."""
    folder, name = path.parent.parent, f"{path.stem}.json"
    for place in (folder / "campaigns" / name, folder / "tasks" / name):
        if place.is_file() and place != path:
            return place
    near = path.with_name(name)
    if near == path or not near.is_file():
        return None
    found, reason = jsonl.loaded(delimited.content(near))
    return near if reason or (isinstance(found, dict) and "info" in found) else None


def described(path: Path) -> Campaign:
    """Read a campaign's own file. Raises DataError where it is none."""
    found, reason = jsonl.loaded(delimited.content(path))
    info = found.get("info") if isinstance(found, dict) else None
    if reason or not isinstance(info, dict):
        raise DataError(
            f"{path.name} {reason or 'has no info: it is no campaign of Pearmut'}. Mend it, or move it away."
        )
    return Campaign({"campaign_id": found.get("campaign_id"), **info}, found.get("data"))


def slider_ends(info: Mapping[str, Any]) -> dict[str, str]:
    """Return the ends of each slider's scale, like 0:5."""
    sliders = info.get("sliders")
    return {
        str(one.get("name")): f"{one.get('min')}:{one.get('max')}"
        for one in (sliders if isinstance(sliders, list) else [])
        if isinstance(one, dict)
    }
