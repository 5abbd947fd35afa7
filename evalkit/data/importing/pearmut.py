"""Lay out what Pearmut stores, a log of screens or the screens themselves, as a row per judged output.

Source: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``utils.py``: of an annotator's reset, earlier entries
are void; of a screen that was submitted again, the last annotation of each output counts.
"""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.designs import by_place, inclusion
from evalkit.data.importing import annotated, records
from evalkit.data.importing.records import Cells, Records
from evalkit.data.importing.tables import Seen, Table, text_digest

#: What stands in the place of annotations where an annotator began anew.
RESET = "__RESET__"
_CUT = "_#_"  # between the parts of a name, as WMT writes them
_COPY = re.compile(r"_#_dup\d{1,4}$")
_SCREEN = re.compile(r"\d{1,6}\.json")


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

    def item(self, number: int) -> Any:
        """Return the item that an answer is about."""
        return self.items[number] if number < len(self.items) else {}

    @property
    def models(self) -> list[str]:
        """The systems of the first item; none where the screen was skipped, reset or is a form."""
        return [*self.said[0]] if self.said and isinstance(self.said[0], dict) else []


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
    def systems(self) -> list[str]:
        """The systems of the first item that annotators share, as all must have them."""
        first = self.items("", "0") if isinstance(self.data, list) else []
        outputs = first[0].get("tgt") if first and isinstance(first[0], dict) else None
        return sorted(map(str, outputs)) if isinstance(outputs, dict) else []

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
    return logs or ([folder] if any(is_screen(_loaded(path)[0]) for path in _screens(folder)) else [])


def _screens(folder: Path) -> list[Path]:
    named = (path for path in folder.glob("*.json") if _SCREEN.fullmatch(path.name))
    return sorted(named, key=lambda one: int(one.stem))


def screens(folder: Path) -> Table:
    """Take a folder of screens as one campaign.

    Screens do not say who judged: where the tutorial begins again, another annotator's begin.
    Raises DataError where a screen is none.
    """
    beside, entries, seen, user = [], [], set[str](), 1
    info: dict[str, Any] = {}
    for path in _screens(folder):
        beside.append(Seen.at(path))
        said, reason = _loaded(path)
        if reason or not is_screen(said):
            raise DataError(f"{folder.name}/{path.name} {reason or 'is no screen of Pearmut'}. Bake the site again.")
        items = said["payload"]
        ids = {_id(item) for item in items if _kind(item, "") == "tutorial"}
        user, seen = (user + 1, ids) if ids & seen else (user, seen | ids)
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
    read = Records([], title=folder.name, notes=notes)
    table = records.laid_out(folder, read, _rows(entries, Campaign(info)), kind="pearmut")
    table.beside = beside
    return table


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
    chances: list[dict[str, float]] = []
    if campaign.info.get("assignment") == "dynamic":
        chances, told = probabilities(entries, campaign)
        notes.append(told)
    read.notes = [*read.notes, *notes, *_checked(entries)]
    table = records.laid_out(path, read, _rows(entries, campaign, chances), kind="pearmut")
    table.beside = [Seen.at(beside)] if beside else []
    return table


def _loaded(path: Path) -> tuple[Any, str]:
    return records.loaded(records.content(path, "Get it again."))


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


def _entry(line: int, said: Mapping[str, Any], campaign: Campaign) -> Entry:
    """Read an entry of a log; one of early versions has no items, and an object in the list's place."""

    def listed(value: Any) -> list[Any]:
        return value if isinstance(value, list) else [value]

    user, position = str(said.get("user_id")), str(said.get("item_i"))
    actions = [one for one in listed(said.get("actions")) if isinstance(one, dict)]
    times = [time for one in actions if (time := _number(one.get("time"))) is not None]
    items = listed(said.get("item") or campaign.items(user, position))
    checks = said.get("validations") if isinstance(said.get("validations"), list) else []
    return Entry(line, user, position, items, listed(said.get("annotation")), times, checks or [])


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


# A row per output


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
            latest |= {(entry.user, entry.position, number, model): place for model in _judged(said)}
    outputs = [
        judged
        for entry in entries
        for number, said in enumerate(entry.said)
        if not entry.void and not _kind(entry.item(number), entry.position)
        for judged in _judged(said).values()
    ]
    spans = [span for judged in outputs for span in judged.get("error_spans") or ()]
    typed = any(isinstance(span, dict) and span.get("category") for span in spans)
    scored = not typed or any(_number(judged.get("score")) for judged in outputs)
    for place, entry in enumerate(entries):
        common = {"annotator": entry.user, "hit": f"{entry.user}/{entry.position}", "item_i": entry.position}
        if entry.times:
            common |= {"started": repr(min(entry.times)), "ended": repr(max(entry.times))}
        for number, said in enumerate(entry.said):
            if not isinstance(said, dict):
                kind = "reset" if said == RESET else "void" if entry.void else "form"
                yield entry.line, common | {annotated.KIND: kind}  # what was answered is about a person
                continue
            item = entry.item(number)
            kind = "void" if entry.void else _kind(item, entry.position)
            for model, judged in _judged(said).items():
                own = names.of(entry, number, item, model)
                if chances and model in chances[place]:
                    own["probability"] = repr(chances[place][model])
                replaced = latest.get((entry.user, entry.position, number, model), place) != place
                own[annotated.KIND] = kind or ("replaced" if replaced else own[annotated.KIND])
                for cells in _scores(judged, typed, scored, campaign.ends):
                    yield entry.line, common | own | cells


def _judged(said: Any) -> dict[str, dict[str, Any]]:
    """Return what was said of each output of an item; early versions gave scores alone."""
    outputs = said.items() if isinstance(said, dict) else ()
    return {model: one if isinstance(one, dict) else {"score": one} for model, one in outputs}


def _scores(judged: Mapping[str, Any], typed: bool, scored: bool, ends: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the scores of one output: of each slider, the one that was given, and the one that its errors make."""
    spans = {annotated.ERRORS: judged.get("error_spans") or []}
    given, made = spans | {annotated.SCORED: annotated.BY_PERSON}, spans | {annotated.SCORED: annotated.BY_ERRORS}
    sliders = judged.get("sliders")
    if isinstance(sliders, dict) and sliders:
        for name, value in sliders.items():
            own = {"criterion": str(name), "score": records.cell(value), annotated.ENDS: ends.get(str(name), "?")}
            yield given | own
        return
    both = typed and scored
    if typed:
        yield made | {"score": ""} | ({"criterion": "MQM"} if both else {})
    if scored:
        yield given | {"score": records.cell(judged.get("score"))} | ({"criterion": "score"} if both else {})


def _kind(item: Any, position: str) -> str:
    """Say what an item is if it is no judgement of the campaign: a tutorial's, or an attention check."""
    if position.startswith(("welcome_", "goodbye_")):
        return "tutorial"
    if position.startswith("random_"):
        return "check"
    if not isinstance(item, dict):
        return ""
    named = [_id(item), *_outputs(item)]
    if item.get("skippable") or any("tutorial" in name.casefold() for name in named):
        return "tutorial"
    if checks := item.get("validation"):
        told = checks.values() if isinstance(checks, dict) else checks
        return "tutorial" if any(isinstance(one, dict) and one.get("allow_skip") for one in told) else "check"
    return ""


def _id(item: Any) -> str:
    return str(item.get("item_id") or "") if isinstance(item, dict) else ""


def _outputs(item: Any) -> dict[str, Any]:
    outputs = item.get("tgt") if isinstance(item, dict) else None
    return outputs if isinstance(outputs, dict) else {}


def _text(item: Mapping[str, Any]) -> str:
    return records.cell(item.get("src_text") or item.get("src"))


class _Names:
    """Name segments, documents and systems by what the items say of themselves."""

    def __init__(self, entries: list[Entry], campaign: Campaign):
        self._shared = campaign.shared
        self._sources: dict[str, set[str]] = defaultdict(set)  # the texts under one name, copies apart
        self._copies: dict[str, set[str]] = defaultdict(set)  # and together
        self._texts: dict[tuple[str, str], set[str]] = defaultdict(set)
        for item in (item for entry in entries for item in entry.items if _id(item)):
            name, stem = _id(item), _COPY.sub("", _id(item))
            self._sources[name].add(_text(item))
            self._copies[stem].add(_text(item))
            for model, text in _outputs(item).items():
                self._texts[stem, model].add(records.cell(text))
        self._users = {user: place for place, user in enumerate(dict.fromkeys(entry.user for entry in entries), 1)}

    def of(self, entry: Entry, number: int, item: Any, model: str) -> dict[str, str]:
        """Return the cells that say what was judged and, where a screen shows several, at which place it stood."""
        item, outputs = item if isinstance(item, dict) else {}, _outputs(item)
        name, text, kind, cells = _id(item), _text(item), "", {}
        if len(outputs) > 1 and model in outputs:
            cells = {"screen": entry.position, "screen_place": str(list(outputs).index(model) + 1)}
        stem, plain = _COPY.sub("", name), model.removesuffix("'")
        texts = self._texts.get((stem, model))
        if plain != model and texts and texts == self._texts.get((stem, plain)):
            model, kind = plain, annotated.REPEAT
        cells |= {"system": model, annotated.KIND: kind, "source": text, "reference": records.cell(item.get("ref"))}
        if outputs:
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
    people = [checks for checks in results.values() if checks]
    done = Counter(one for checks in people for one in checks)
    if not done:
        return []
    return [
        f"{done[True]:,} of {done.total():,} checks that Pearmut made of tutorials and attention items were passed, "
        f"all of them by {sum(map(all, people)):,} of {len(people):,} annotators"
    ]


# Probabilities of dynamic assignment. Pearmut logs none, but they follow from what had been logged when a screen was
# loaded, and from the campaign's own file. First all systems below ``dynamic_coldstart`` judgements are drawn evenly;
# then ``dynamic_models`` of them, one after another, by weights of their places in the order of mean scores. Source:
# Pearmut, ``assignment.py`` of release 1.1.6, and of two earlier states, whose weights differ.

#: Pearmut's own values where a campaign's file has none.
_COLDSTART, _SHOWN = 5, 1
#: Nats by which one rule must fit the log better than another to be told from it.
_TOLD = 5.0
#: Standard errors by which a system may be shown more or less often than a rule says, and the share of outputs that it
#: may give no chance, before it does not fit.
_FITS, _CHANCELESS = 4.0, 0.02
_LEAST = 1e-3  # probability that a likelihood takes at least


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


def probabilities(entries: Sequence[Entry], campaign: Campaign) -> tuple[list[dict[str, float]], str]:
    """Return for each entry the probability of every system that it showed, and how it was found in words.

    No probabilities, and why, where the campaign's file does not tell enough, or the log fits no known rule.
    """
    systems = pd.Index(campaign.systems)
    shown = min(_whole(campaign.info.get("dynamic_models"), _SHOWN), len(systems))
    if len(systems) < 2:
        return [], "probabilities of dynamic assignment were not rebuilt: the campaign's file lists no systems"
    again = _again(entries)
    drawn = [n for n, entry in enumerate(entries) if entry.position.isdecimal() and entry.models and again[n] is None]
    seen = np.array([systems.isin(entries[n].models) for n in drawn], bool).reshape(len(drawn), len(systems))
    known = _History.of(entries, systems).at(_before(entries)[drawn])
    start = _whole(campaign.info.get("dynamic_coldstart"), _COLDSTART)
    found = [_chances(rule, known, shown, start, len(campaign.data)) for rule in RULES]
    safe = [np.clip(chance, _LEAST, 1 - _LEAST) for chance in found]
    fits = [float(np.log(np.where(seen, chance, 1 - chance)).sum()) for chance in safe]
    best = int(np.argmax(fits))
    if why := _misfit(found[best], seen):
        return [], f"probabilities of dynamic assignment were not rebuilt: {why}"
    best = best if fits[best] - fits[0] >= _TOLD else 0
    unsure = [rule.name for n, rule in enumerate(RULES) if n != best and fits[best] - fits[n] < _TOLD]
    of_entry: list[dict[str, float]] = [{} for _ in entries]
    for n, chance, own in zip(drawn, found[best], seen):
        of_entry[n] = {systems[place]: float(chance[place]) for place in np.flatnonzero(own & (chance > 0))}
    sure = f"; the log cannot tell it from {' or '.join(unsure)}" if unsure else "; the log fits it best"
    told = (
        f"assignment was dynamic: the probability of each system on each screen was rebuilt from the order of the log "
        f"({shown} of {len(systems)} systems a screen, weights by place {RULES[best].name}{sure})"
    )
    return [of_entry[n] if first is None else of_entry[first] for n, first in enumerate(again)], told


def _whole(value: object, default: int) -> int:
    return int(str(value)) if str(value).isdecimal() and int(str(value)) else default


def _again(entries: Sequence[Entry]) -> list[int | None]:
    """Name for each entry the one that it replaces, as its annotator went back to a screen: it was no draw."""
    found: list[int | None] = []
    first: dict[tuple[str, str, str], int] = {}
    for number, entry in enumerate(entries):
        if entry.said == [RESET]:
            first = {key: place for key, place in first.items() if key[0] != entry.user}
        keys = [(entry.user, entry.position, name) for name in entry.models]
        found.append(next((first[key] for key in keys if key in first), None))
        for key in keys:
            first.setdefault(key, number)
    return found


def _before(entries: Sequence[Entry]) -> np.ndarray:
    """Count for each entry how many had been logged when it was loaded; without times, all that stand before it."""
    logged = np.maximum.accumulate(np.array([max(entry.times, default=-np.inf) for entry in entries]))
    loaded = [
        np.searchsorted(logged, min(entry.times), side="right") if entry.times else number
        for number, entry in enumerate(entries)
    ]
    return np.minimum(np.array(loaded, int), np.arange(len(entries)))


@dataclass
class _History:
    """What a log says of each system: sums and numbers of scores, outputs, documents; (entries + 1, systems) each.

    ``at`` a row: after so many entries.
    """

    sums: np.ndarray
    scores: np.ndarray
    outputs: np.ndarray
    documents: np.ndarray

    @classmethod
    def of(cls, entries: Sequence[Entry], systems: pd.Index) -> "_History":
        """Follow a log from entry to entry; who begins anew takes their own away."""
        ends: dict[str, int] = {}  # of each annotator the next entry by which they begin anew
        rows = []
        for number, entry in reversed([*enumerate(entries, 1)]):
            if entry.said == [RESET]:
                ends[entry.user] = number
                continue
            end = ends.get(entry.user, len(entries) + 1)
            for place, said in enumerate(entry.said):
                doc = entry.position if entry.position.isdecimal() and not place else None
                rows += [(number, end, entry.user, doc, name, _score(one)) for name, one in _raw(said).items()]
        table = pd.DataFrame(rows, columns=["from", "to", "user", "doc", "system", "score"])
        table = table[table["system"].isin(systems)]
        place = systems.get_indexer(table["system"])
        shape = (len(entries) + 2, len(systems))

        def total(worth: np.ndarray, begin: np.ndarray, end: np.ndarray, place: np.ndarray) -> np.ndarray:
            change = np.zeros(shape)
            np.add.at(change, (begin, place), worth)
            np.subtract.at(change, (end, place), worth)
            return change.cumsum(axis=0)

        when = table["from"].to_numpy(int), table["to"].to_numpy(int), place
        score = table["score"].to_numpy(float)
        return cls(
            total(np.where(np.isfinite(score), score, 0.0), *when),
            total(np.isfinite(score).astype(float), *when),
            total(np.ones(len(table)), *when),
            total(*_held(table.dropna(subset="doc"), systems)),
        )

    def at(self, before: np.ndarray) -> "_History":
        """Return what was known after some numbers of entries."""
        return _History(*(part[before] for part in vars(self).values()))


def _held(table: pd.DataFrame, systems: pd.Index) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Say from which entry to which a document counts as judged for a system: while anybody's judgement stands."""
    spells: dict[tuple[str, str], list[list[int]]] = defaultdict(list)
    for row in table.sort_values("from").itertuples(index=False):
        own = spells[row.doc, row.system]
        begin, end = row[0], row[1]
        if own and begin <= own[-1][1]:
            own[-1][1] = max(own[-1][1], end)
        else:
            own.append([begin, end])
    flat = [(*spell, systems.get_loc(system)) for (_, system), own in spells.items() for spell in own]
    begin, end, place = np.array(flat, int).reshape(-1, 3).T
    return np.ones(len(flat)), begin, end, place


def _raw(said: Any) -> dict[str, Any]:
    return said if isinstance(said, dict) else {}


def _score(judged: Any) -> float:
    """Return the score of an output as Pearmut takes it: the slider's or, of several, their mean; NaN for none."""
    if not isinstance(judged, dict):
        return np.nan
    sliders = judged.get("sliders")
    given = [judged.get("score")]
    if given == [None] and isinstance(sliders, dict):
        given = [value for value in sliders.values() if value is not None]
    read = [number for value in given if (number := _number(value)) is not None]
    return statistics.fmean(read) if read and len(read) == len(given) else np.nan


def _chances(rule: Rule, known: _History, shown: int, start: int, documents: int) -> np.ndarray:
    """Return the probability that each screen shows each system, (screens, systems), by one rule."""
    counts = known.documents if rule.by_document else known.outputs
    means = np.divide(known.sums, known.scores, where=known.scores > 0, out=np.zeros_like(known.sums))
    found = np.empty_like(means)
    for row, (count, mean) in enumerate(zip(counts, means)):
        among = count < start  # the systems that are drawn first; any others fill up
        if among.any():
            chance = np.full(int(among.sum()), min(1.0, shown / among.sum()))
        else:
            among = count < documents if rule.by_document else np.ones(len(count), bool)
            left = int(among.sum())
            of_places = _of_places(rule, left, shown) if left > shown else np.ones(left)
            chance = _shared(of_places, mean[among])
        found[row] = max(shown - among.sum(), 0) / max((~among).sum(), 1)
        found[row, among] = chance
    return found


def _shared(chance: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Give each system the chance of its place, the highest mean first; those that are level share theirs."""
    order = np.sort(-means)
    first, last = np.searchsorted(order, -means, side="left"), np.searchsorted(order, -means, side="right")
    total = np.concatenate([[0.0], np.cumsum(chance)])
    return (total[last] - total[first]) / (last - first)


@lru_cache(maxsize=256)
def _of_places(rule: Rule, systems: int, shown: int) -> np.ndarray:
    return inclusion(rule.weight(np.arange(1.0, systems + 1)), shown)


def _misfit(chance: np.ndarray, seen: np.ndarray) -> str:
    """Say in what the log differs from a rule; empty where in nothing that matters."""
    if not len(seen):
        return "the log holds no screens of the campaign"
    spread = np.sqrt((chance * (1 - chance)).sum(axis=0))
    off = np.divide(np.abs((seen - chance).sum(axis=0)), spread, where=spread > 0, out=np.zeros(len(spread)))
    if (chance[seen] <= 0).mean() > _CHANCELESS or off.max() > _FITS:
        return "the log does not fit what Pearmut's known versions do with this campaign's file"
    return ""
