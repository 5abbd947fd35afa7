"""Lay out what Pearmut stores, a log of screens or the screens themselves, as a row per judged output.

Source: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``utils.py``: of an annotator's reset, earlier entries
are void; of a screen that was submitted again, the last annotation of each output counts.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.designs import by_place, inclusion
from evalkit.data.importing import annotated, records
from evalkit.data.importing.records import Cells, Records
from evalkit.data.importing.tables import Seen, Table, text_digest

# Probabilities of dynamic assignment. Pearmut logs none, but they follow from what had been logged when a screen was
# loaded, and from the campaign's own file. First all systems below ``dynamic_coldstart`` judgements are drawn evenly;
# then ``dynamic_models`` of them, one after another, by weights of their places in the order of mean scores. Source:
# Pearmut, ``assignment.py`` of release 1.1.6, and of two earlier states, whose weights differ.

#: What stands in the place of annotations where an annotator began anew.
RESET = "__RESET__"
#: Pearmut's own values where a campaign's file has none.
_COLDSTART, _SHOWN = 5, 1
#: Nats by which one rule must fit the log better than another to be told from it.
_TOLD = 5.0
#: Standard errors by which a system may be shown more or less often than a rule says, and the share of outputs that it
#: may give no chance, before it does not fit.
_FITS, _CHANCELESS = 4.0, 0.02
_LEAST = 1e-3  # probability that a likelihood takes at least


@dataclass
class Entry:
    """One screen that was submitted: who, where, its items, what was said of each, and when."""

    line: int
    user: str
    position: str
    items: list[Any]
    said: list[Any]
    times: list[float] = field(default_factory=list)
    checks: list[Any] = field(default_factory=list)
    void: bool = False


@dataclass(frozen=True)
class Rule:
    """A state of Pearmut: its name in words, the weight of a place counted from 1, and what its start counts."""

    name: str
    weight: Callable[[np.ndarray], np.ndarray]
    by_document: bool = False


RULES = (
    Rule("1/2, 1/2, 1/3, 1/4 … (release 1.1.6)", by_place, by_document=True),
    Rule("1, 1/√2, 1/√3 … (an earlier state)", lambda place: place**-0.5),
    Rule("1, 1/2, 1/3 … (an earlier state)", lambda place: 1 / place),
)


@dataclass
class _Known:
    """What a log says after each entry of each system: (entries + 1, systems)."""

    sums: np.ndarray
    scores: np.ndarray
    outputs: np.ndarray
    documents: np.ndarray


@dataclass
class _Done:
    """What one annotator has added since they began: sums, numbers of scores and outputs, and documents by system."""

    added: np.ndarray
    documents: set[tuple[str, int]] = field(default_factory=set)


def probabilities(
    entries: Sequence[Entry], info: Mapping[str, Any], documents: Sequence[Sequence[Any]]
) -> tuple[list[Mapping[str, float]], list[str]]:
    """Return for each entry the probability of every system that it showed, and how it was found in words.

    info, documents: what the campaign's file says, and its documents, each a list of items.

    No probabilities, and why, where the campaign's file does not tell enough, or the log fits no known rule.
    """
    systems = _systems(documents)
    shown = min(_whole(info.get("dynamic_models"), _SHOWN), len(systems))
    if len(systems) < 2 or not entries:
        return [], ["probabilities of dynamic assignment were not rebuilt: the campaign's file lists no systems"]
    known, place = _history(entries, systems, len(documents)), {name: i for i, name in enumerate(systems)}
    again = _again(entries)
    judged = [
        (number, [place[name] for name in _models(entry) if name in place])
        for number, entry in enumerate(entries)
        if entry.position.isdecimal() and _models(entry) and again[number] is None
    ]
    before = _before(entries)[[number for number, _ in judged]]
    seen = np.zeros((len(judged), len(systems)), bool)
    for row, (_, those) in enumerate(judged):
        seen[row, those] = True
    start = _whole(info.get("dynamic_coldstart"), _COLDSTART)
    found = [_chances(rule, known, before, shown, start, len(documents)) for rule in RULES]
    fits = [_likelihood(chance, seen) for chance in found]
    best = int(np.argmax(fits))
    if why := _misfit(found[best], seen):
        return [], [f"probabilities of dynamic assignment were not rebuilt: {why}"]
    if fits[best] - fits[0] < _TOLD:
        best = 0
    unsure = [rule.name for rule, fit in zip(RULES, fits) if rule is not RULES[best] and fits[best] - fit < _TOLD]
    by_entry: list[Mapping[str, float]] = [{} for _ in entries]
    for row, (number, those) in enumerate(judged):
        by_entry[number] = {systems[i]: float(found[best][row, i]) for i in those if found[best][row, i] > 0}
    for number, first in enumerate(again):
        by_entry[number] = by_entry[number] if first is None else by_entry[first]
    return by_entry, [_sentence(RULES[best], unsure, shown, len(systems))]


def _sentence(rule: Rule, unsure: Sequence[str], shown: int, systems: int) -> str:
    sure = f"; the log cannot tell it from {' or '.join(unsure)}" if unsure else "; the log fits it best"
    return (
        f"assignment was dynamic: the probability of each system on each screen was rebuilt from the order of the log "
        f"({shown} of {systems} systems a screen, weights by place {rule.name}{sure})"
    )


def _systems(documents: Sequence[Sequence[Any]]) -> list[str]:
    """List the systems that the first item has, as all must."""
    first = documents[0][0] if documents and documents[0] else None
    outputs = first.get("tgt") if isinstance(first, dict) else None
    return sorted(map(str, outputs)) if isinstance(outputs, dict) else []


def _whole(value: object, default: int) -> int:
    return int(str(value)) if str(value).isdecimal() and int(str(value)) else default


def _models(entry: Entry) -> list[str]:
    """List what a screen showed: the systems of its first item; none where it was skipped, reset or is a form."""
    first = entry.said[0] if entry.said else None
    return [*first] if isinstance(first, dict) else []


def _again(entries: Sequence[Entry]) -> list[int | None]:
    """Name for each entry the one that it replaces, as its annotator went back to a screen: it was no draw."""
    found: list[int | None] = []
    first: dict[tuple[str, str, str], int] = {}
    for number, entry in enumerate(entries):
        if entry.said == [RESET]:
            first = {key: place for key, place in first.items() if key[0] != entry.user}
        keys = [(entry.user, entry.position, name) for name in _models(entry)]
        found.append(next((first[key] for key in keys if key in first), None))
        for key in keys:
            first.setdefault(key, number)
    return found


def _before(entries: Sequence[Entry]) -> np.ndarray:
    """Count for each entry how many had been logged when it was loaded; without times, all that stand before it."""
    ended = [max(entry.times) if entry.times else -np.inf for entry in entries]
    logged = np.maximum.accumulate(np.array(ended))
    loaded = [
        np.searchsorted(logged, min(entry.times), side="right") if entry.times else number
        for number, entry in enumerate(entries)
    ]
    return np.minimum(np.array(loaded, int), np.arange(len(entries)))


def _history(entries: Sequence[Entry], systems: Sequence[str], documents: int) -> _Known:
    """Follow what Pearmut knows from entry to entry; who begins anew takes their own away."""
    place = {name: i for i, name in enumerate(systems)}
    counts, done = np.zeros((len(entries) + 1, 3, len(systems))), np.zeros((len(entries) + 1, len(systems)))
    held: dict[tuple[str, int], int] = {}
    by_user: dict[str, _Done] = {}
    for number, entry in enumerate(entries, 1):
        mine = by_user.setdefault(entry.user, _Done(np.zeros((3, len(systems)))))
        counts[number], done[number] = counts[number - 1], done[number - 1]
        if entry.said == [RESET]:
            counts[number] -= mine.added
            for one in mine.documents:
                held[one] -= 1
                done[number, one[1]] -= held[one] == 0
            del by_user[entry.user]
            continue
        added = _added(entry, place)
        counts[number] += added
        mine.added += added
        if entry.position.isdecimal():
            for one in {(entry.position, place[name]) for name in _models(entry) if name in place} - mine.documents:
                held[one] = held.get(one, 0) + 1
                done[number, one[1]] += held[one] == 1
                mine.documents.add(one)
    return _Known(counts[:, 0], counts[:, 1], counts[:, 2], done)


def _added(entry: Entry, place: Mapping[str, int]) -> np.ndarray:
    """Sum an entry's scores by system, and count scores and outputs: (3, systems)."""
    added = np.zeros((3, len(place)))
    for said in entry.said:
        for name, judged in said.items() if isinstance(said, dict) else ():
            if name in place:
                score = _score(judged)
                added[:, place[name]] += (score or 0.0, score is not None, 1)
    return added


def _score(judged: Any) -> float | None:
    """Return the score of an output as Pearmut takes it: the slider's or, of several, their mean."""
    if not isinstance(judged, dict):
        return None
    sliders = judged.get("sliders")
    given = (
        [judged.get("score")]
        if judged.get("score") is not None or not isinstance(sliders, dict)
        else [value for value in sliders.values() if value is not None]
    )
    try:
        return statistics.fmean(float(str(value)) for value in given)
    except (ValueError, statistics.StatisticsError):
        return None


def _chances(rule: Rule, known: _Known, before: np.ndarray, shown: int, start: int, documents: int) -> np.ndarray:
    """Return the probability that each screen shows each system, (screens, systems), by one rule."""
    counts = (known.documents if rule.by_document else known.outputs)[before]
    means = np.divide(known.sums, known.scores, where=known.scores > 0, out=np.zeros_like(known.sums))[before]
    found = np.empty_like(means)
    for row, (count, mean) in enumerate(zip(counts, means)):
        first = count < start
        if first.any():
            found[row] = _filled(first, shown, np.full(int(first.sum()), min(1.0, shown / first.sum())))
            continue
        left = count < documents if rule.by_document else np.ones(len(count), bool)
        chance = _of_places(rule, int(left.sum()), shown) if left.sum() > shown else np.ones(int(left.sum()))
        found[row] = _filled(left, shown, _by_place(chance, mean[left]))
    return found


def _filled(open_: np.ndarray, shown: int, chance: np.ndarray) -> np.ndarray:
    """Put chances of the systems that a draw is among into their places; where they are too few, any others fill up."""
    rest = ~open_
    found = np.where(rest, max(shown - open_.sum(), 0) / max(rest.sum(), 1), 0.0)
    found[open_] = chance
    return found


def _by_place(chance: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Give each system the chance of its place, the highest mean first; those that are level share theirs."""
    ordered = np.sort(means)[::-1]
    first, last = np.searchsorted(-ordered, -means, side="left"), np.searchsorted(-ordered, -means, side="right")
    total = np.concatenate([[0.0], np.cumsum(chance)])
    return (total[last] - total[first]) / (last - first)


@lru_cache(maxsize=256)
def _of_places(rule: Rule, systems: int, shown: int) -> np.ndarray:
    return inclusion(rule.weight(np.arange(1.0, systems + 1)), shown)


def _likelihood(chance: np.ndarray, seen: np.ndarray) -> float:
    """Return the logarithm of how probable it is that each system was seen where it was, and not elsewhere."""
    safe = np.clip(chance, _LEAST, 1 - _LEAST)
    return float(np.log(np.where(seen, safe, 1 - safe)).sum())


def _misfit(chance: np.ndarray, seen: np.ndarray) -> str:
    """Say in what the log differs from a rule; empty where in nothing that matters."""
    if not len(seen):
        return "the log holds no screens of the campaign"
    lost = float((chance[seen] <= 0).mean())
    spread = np.sqrt((chance * (1 - chance)).sum(axis=0))
    off = np.divide(np.abs((seen - chance).sum(axis=0)), spread, where=spread > 0, out=np.zeros(len(spread)))
    if lost > _CHANCELESS or off.max() > _FITS:
        return "the log does not fit what Pearmut's known versions do with this campaign's file"
    return ""


# What is stored

_CUT = "_#_"  # between the parts of a name, as WMT writes them
_COPY = re.compile(r"_#_dup\d{1,4}$")
_SCREEN = re.compile(r"\d{1,6}\.json")
_MOST_SCREENS = 100_000


@dataclass
class Campaign:
    """What a campaign's own file says: protocol, ends of sliders, and of each annotator or for all, the items."""

    info: Mapping[str, Any] = field(default_factory=dict)
    data: Any = None

    def items(self, user: str, position: str) -> list[Any]:
        """Return the items of a screen; none where the file does not tell."""
        mine = self.data.get(user) if isinstance(self.data, dict) else self.data
        place = int(position) if position.isdecimal() else -1
        items = mine[place] if isinstance(mine, list) and 0 <= place < len(mine) else []
        return items if isinstance(items, list) else [items]

    @property
    def documents(self) -> list[list[Any]]:
        """The documents that annotators share, each a list of items; none where each has their own."""
        return [one if isinstance(one, list) else [one] for one in self.data] if isinstance(self.data, list) else []

    @property
    def shared(self) -> bool:
        """Tell whether all annotators draw from one list."""
        return isinstance(self.data, list) and self.info.get("assignment") in ("single-stream", "dynamic")

    @property
    def ends(self) -> dict[str, str]:
        """The ends of each slider's scale, like 0:5."""
        sliders = self.info.get("sliders")
        known = [one for one in (sliders if isinstance(sliders, list) else []) if isinstance(one, dict)]
        return {str(one.get("name")): f"{one.get('min')}:{one.get('max')}" for one in known}


def is_log(said: Mapping[str, Any]) -> bool:
    """Tell whether an object is an entry of a log."""
    marked = said.get("annotation")
    return "user_id" in said and (marked == RESET or ("item_i" in said and isinstance(marked, dict | list)))


def is_screen(said: Any) -> bool:
    """Tell whether an object is a screen of a site that Pearmut baked: what was shown, and what is stored."""
    return isinstance(said, dict) and {"info", "payload"} <= set(said) and isinstance(said["payload"], list)


def files(folder: Path) -> list[Path]:
    """List what of a folder is to be imported: the logs of a campaign, or the folder itself where it holds screens."""
    places = ("annotations", "outputs", "data/annotations", "data/outputs")
    logs = [path for name in places for path in sorted((folder / name).glob("*.jsonl"))]
    screens = (path for path in folder.glob("*.json") if _SCREEN.fullmatch(path.name))
    return logs or ([folder] if any(is_screen(_loaded(path)[0]) for path in screens) else [])


def _loaded(path: Path) -> tuple[Any, str]:
    return records.loaded(records.content(path, "Get it again."))


def log(path: Path, read: Records) -> Table:
    """Take a log, with the campaign's own file where it lies beside."""
    beside = _beside(path)
    campaign = _described(beside) if beside else Campaign()
    entries = [_entry(line, said, campaign) for line, said in read.objects]
    last = {entry.user: place for place, entry in enumerate(entries) if entry.said == [RESET]}
    for place, entry in enumerate(entries):
        entry.void = place < last.get(entry.user, -1)
    notes = [f"{beside.name} beside it was read, too"] if beside else []
    read.title = read.title or str(campaign.info.get("campaign_id") or "")
    chances: list[Mapping[str, float]] = []
    if campaign.info.get("assignment") == "dynamic":
        chances, told = probabilities(entries, campaign.info, campaign.documents)
        notes += told
    read.notes = [*read.notes, *notes, *_checked(entries)]
    table = records.laid_out(path, read, _rows(entries, campaign, chances), kind="pearmut")
    table.beside = [Seen.at(beside)] if beside else []
    return table


def _beside(path: Path) -> Path | None:
    """Find the campaign's own file; in the log's folder, a file of that name may be another, which is left alone."""
    folder, name = path.parent.parent, f"{path.stem}.json"
    for place in (folder / "campaigns" / name, folder / "tasks" / name):
        if place.is_file() and place != path:
            return place
    near = path.with_name(name)
    if near == path or not near.is_file():
        return None
    said, reason = _loaded(near)
    return near if reason or (isinstance(said, dict) and "info" in said) else None


def _described(path: Path) -> Campaign:
    """Read a campaign's own file. Raises DataError where it is none."""
    said, reason = _loaded(path)
    info = said.get("info") if isinstance(said, dict) else None
    if reason or not isinstance(info, dict):
        raise DataError(
            f"{path.name} {reason or 'has no info: it is no campaign of Pearmut'}. Mend it, or move it away."
        )
    return Campaign({"campaign_id": said.get("campaign_id"), **info}, said.get("data"))


def screens(folder: Path) -> Table:
    """Take a folder of screens as one campaign.

    Screens do not say who judged: where the tutorial begins again, another annotator's begin.
    Raises DataError where a screen is none, or there are too many.
    """
    named = (path for path in folder.glob("*.json") if _SCREEN.fullmatch(path.name))
    paths = sorted(named, key=lambda one: int(one.stem))
    if not paths or len(paths) > _MOST_SCREENS:
        raise DataError(
            f"{folder.name} holds {len(paths):,} screens of Pearmut (0.json, 1.json …). Name another folder."
        )
    beside, entries, seen, user = [], [], set[str](), 1
    info: dict[str, Any] = {}
    for path in paths:
        beside.append(Seen.at(path))
        said, reason = _loaded(path)
        if reason or not is_screen(said):
            raise DataError(f"{folder.name}/{path.name} {reason or 'is no screen of Pearmut'}. Bake the site again.")
        items = said["payload"]
        ids = {_id(item) for item in items if _kind(item, "") == "tutorial"}
        if ids & seen:
            user, seen = user + 1, set()
        seen |= ids
        info = said["info"] if isinstance(said["info"], dict) else info
        marked = (said.get("payload_existing") or {}).get("annotation") or []
        entries.append(Entry(int(path.stem) + 1, f"unknown-{user}", path.stem, items, marked))
    whose = "they are taken for one annotator's"
    if seen:
        whose = f"the tutorial begins {user} times, so they are taken for {user} annotators', one after the other"
    notes = [
        f"screens do not say who judged; {whose} (--value annotator=NAME names one for all)",
        "what is called a line is the number of a screen, counted from 1 (0.json is 1)",
    ]
    table = records.laid_out(
        folder, Records([], title=folder.name, notes=notes), _rows(entries, Campaign(info)), kind="pearmut"
    )
    table.beside = beside
    return table


def _entry(line: int, said: Mapping[str, Any], campaign: Campaign) -> Entry:
    """Read an entry of a log; one of early versions has no items, and an object in the list's place."""
    user, position, marked = str(said.get("user_id")), str(said.get("item_i")), said.get("annotation")
    items = said.get("item") or campaign.items(user, position)
    actions = said.get("actions") if isinstance(said.get("actions"), list) else []
    times = [_number(one.get("time")) for one in actions or [] if isinstance(one, dict)]
    checks = said.get("validations")
    return Entry(
        line,
        user,
        position,
        items if isinstance(items, list) else [items],
        marked if isinstance(marked, list) else [marked],
        [time for time in times if time is not None],
        checks if isinstance(checks, list) else [],
    )


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


def _item(entry: Entry, number: int) -> Any:
    return entry.items[number] if number < len(entry.items) else {}


def _rows(
    entries: list[Entry], campaign: Campaign, chances: Sequence[Mapping[str, float]] = ()
) -> Iterator[tuple[int, Cells]]:
    """Yield a row per output and criterion; of a screen that was submitted again, the last annotation counts.

    chances: of each entry, the probability that it showed a system, where scores had a say in that.
    """
    names = _Names(entries, campaign)
    latest: dict[tuple, int] = {}
    for place, entry in enumerate(entries):
        for number, said in enumerate(entry.said if not entry.void else ()):
            for model in said if isinstance(said, dict) else ():
                latest[entry.user, entry.position, number, model] = place
    outputs = [*_outputs(entries)]
    spans = [span for judged in outputs for span in judged.get("error_spans") or ()]
    typed = any(isinstance(span, dict) and span.get("category") for span in spans)
    scored = not typed or any(_number(judged.get("score")) for judged in outputs)
    for place, entry in enumerate(entries):
        for number, said in enumerate(entry.said):
            item, common = _item(entry, number), _common(entry)
            if not isinstance(said, dict):
                kind = "reset" if said == RESET else "void" if entry.void else "form"
                yield entry.line, common | {annotated.KIND: kind}  # what was answered is about a person
                continue
            kind = "void" if entry.void else _kind(item, entry.position)
            for model, judged in said.items():
                judged = judged if isinstance(judged, dict) else {"score": judged}
                replaced = latest.get((entry.user, entry.position, number, model), place) != place
                own = names.of(entry, number, item, model) | _on_screen(entry, item, model)
                if chances and model in chances[place]:
                    own["probability"] = repr(chances[place][model])
                own[annotated.KIND] = kind or ("replaced" if replaced else own[annotated.KIND])
                for cells in _scores(judged, typed, scored, campaign.ends):
                    yield entry.line, common | own | cells


def _outputs(entries: list[Entry]) -> Iterator[Mapping[str, Any]]:
    """Yield what was said of the outputs that are judgements of the campaign."""
    for entry in entries:
        for number, said in enumerate(entry.said):
            if not entry.void and isinstance(said, dict) and not _kind(_item(entry, number), entry.position):
                yield from (judged for judged in said.values() if isinstance(judged, dict))


def _on_screen(entry: Entry, item: Any, model: str) -> dict[str, str]:
    """Say on which screen an output stood, and at which place by the item's order, where it shows several."""
    shown = item.get("tgt") if isinstance(item, dict) else None
    if not isinstance(shown, dict) or len(shown) < 2 or model not in shown:
        return {}
    return {"screen": entry.position, "screen_place": str(list(shown).index(model) + 1)}


def _common(entry: Entry) -> dict[str, str]:
    """Say who judged, on which screen, and when."""
    cells = {"annotator": entry.user, "hit": f"{entry.user}/{entry.position}", "item_i": entry.position}
    if entry.times:
        cells |= {"started": repr(min(entry.times)), "ended": repr(max(entry.times))}
    return cells


def _scores(judged: Mapping[str, Any], typed: bool, scored: bool, ends: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the scores of one output: of each slider, the one that was given, and the one that its errors make."""
    spans = {annotated.ERRORS: judged.get("error_spans") or []}
    given, made = {annotated.SCORED: annotated.BY_PERSON}, {annotated.SCORED: annotated.BY_ERRORS}
    sliders = judged.get("sliders")
    if isinstance(sliders, dict) and sliders:
        for name, value in sliders.items():
            own = {"criterion": str(name), "score": records.cell(value), annotated.ENDS: ends.get(str(name), "?")}
            yield spans | given | own
        return
    both = typed and scored
    if typed:
        yield spans | made | {"score": ""} | ({"criterion": "MQM"} if both else {})
    if scored:
        yield spans | given | {"score": records.cell(judged.get("score"))} | ({"criterion": "score"} if both else {})


def _kind(item: Any, position: str) -> str:
    """Say what an item is if it is no judgement of the campaign: a tutorial's, or an attention check."""
    if position.startswith(("welcome_", "goodbye_")):
        return "tutorial"
    if position.startswith("random_"):
        return "check"
    if not isinstance(item, dict):
        return ""
    models = item.get("tgt")
    named = [_id(item), *(models if isinstance(models, dict) else ())]
    if item.get("skippable") or any("tutorial" in name.casefold() for name in named):
        return "tutorial"
    if checks := item.get("validation"):
        told = checks.values() if isinstance(checks, dict) else checks
        return "tutorial" if any(isinstance(one, dict) and one.get("allow_skip") for one in told) else "check"
    return ""


def _id(item: Any) -> str:
    return str(item.get("item_id") or "") if isinstance(item, dict) else ""


def _text(item: Mapping[str, Any]) -> str:
    return records.cell(item.get("src_text") or item.get("src"))


class _Names:
    """Name segments, documents and systems by what the items say of themselves."""

    def __init__(self, entries: list[Entry], campaign: Campaign):
        self._shared = campaign.shared
        self._sources: dict[str, set[str]] = defaultdict(set)
        self._copies: dict[str, set[str]] = defaultdict(set)
        self._texts: dict[tuple[str, str], set[str]] = defaultdict(set)
        for item in (item for entry in entries for item in entry.items if isinstance(item, dict) and _id(item)):
            name, stem = _id(item), _COPY.sub("", _id(item))
            self._sources[name].add(_text(item))
            self._copies[stem].add(_text(item))
            outputs = item.get("tgt")
            for model, text in outputs.items() if isinstance(outputs, dict) else ():
                self._texts[stem, model].add(records.cell(text))
        users = Counter(entry.user for entry in entries)
        self._users = {user: place for place, user in enumerate(users, 1)}

    def of(self, entry: Entry, number: int, item: Any, model: str) -> dict[str, str]:
        """Return the cells that say what was judged."""
        item = item if isinstance(item, dict) else {}
        name, text, kind = _id(item), _text(item), ""
        stem, plain = _COPY.sub("", name), model.removesuffix("'")
        texts = self._texts.get((stem, model))
        if plain != model and texts and texts == self._texts.get((stem, plain)):
            model, kind = plain, annotated.REPEAT
        cells = {"system": model, annotated.KIND: kind, "source": text, "reference": records.cell(item.get("ref"))}
        outputs = item.get("tgt")
        if isinstance(outputs, dict):
            cells["hypothesis"] = records.cell(outputs.get(model, outputs.get(f"{model}'")))
        if name:
            cells |= _parts(stem if len(self._copies[stem]) == 1 else name) | {annotated.NAMED: "id"}
            if len(self._sources[name]) > 1:  # one name for several texts names none
                cells |= {"segment": f"{cells['segment']} {text_digest(text)}"}
        elif text:
            cells |= {"segment": text_digest(text), annotated.NAMED: "text"}
        else:
            position = entry.position + (f".{number}" if len(entry.said) > 1 else "")
            own = position if self._shared else f"{self._users[entry.user]}:{position}"
            cells |= {"segment": own, annotated.NAMED: "shared" if self._shared else "position"}
        return cells


def _parts(name: str) -> dict[str, str]:
    """Cut a name as WMT writes it into languages, domain, document and segment; another is the segment's.

    >>> _parts("en-ja_JP_#_news_#_guardian.1_#_s0")
    {'pair': 'en-ja_JP', 'domain': 'news', 'doc': 'guardian.1', 'segment': 's0'}
    >>> _parts("en-es-0")
    {'segment': 'en-es-0'}
    """
    pair, *rest = name.split(_CUT)
    if not rest or not languages.split(pair):
        return {"segment": name}
    *before, segment = rest
    if len(before) == 2:
        return {"pair": pair, "domain": before[0], "doc": before[1], "segment": segment}
    return {"pair": pair, "doc": _CUT.join(before) or "all", "segment": segment}


def _checked(entries: Iterable[Entry]) -> list[str]:
    """Tell how many of its checks Pearmut found passed, and by how many annotators all of them."""
    results: dict[str, list[bool]] = defaultdict(list)
    for entry in entries:
        if not entry.void:
            results[entry.user] += [one is True for one in entry.checks]
    done = [one for checks in results.values() for one in checks]
    if not done:
        return []
    people = [all(checks) for checks in results.values() if checks]
    return [
        f"{sum(done):,} of {len(done):,} checks that Pearmut made of tutorials and attention items were passed, "
        f"all of them by {sum(people):,} of {len(people):,} annotators"
    ]
