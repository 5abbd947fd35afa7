"""Lay out what Pearmut stores, a log of screens or the screens themselves, as a row per judged output.

Source: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``utils.py``: of an annotator's reset, earlier entries
are void; of a screen that was submitted again, the last annotation of each output counts.
"""

import re
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.designs import inclusion_by_place
from evalkit.data.importing import annotated, records
from evalkit.data.importing.records import Records
from evalkit.data.importing.tables import Seen, Table, text_digest
from evalkit.data.importing.tools import Judged, parts_of_name, rows_of

#: What stands in the place of annotations where an annotator began anew.
RESET = "__RESET__"
_COPY = re.compile(r"_#_dup\d{1,4}$")
_SCREEN = re.compile(r"\d{1,6}\.json")
_AGAIN = "Bake the site again."


@dataclass
class Entry:
    """One screen that was submitted: who, where, its items, what was said of each, and when.

    reset: the place in the log where its annotator began anew, which makes it void. chances: the probability that the
    screen showed a system, where scores had a say.
    """

    line: int
    user: str
    position: str
    items: list[Any]
    said: list[Any]
    times: list[float] = field(default_factory=list)
    checks: list[Any] = field(default_factory=list)
    reset: int | None = None
    chances: Mapping[str, float] = field(default_factory=dict)

    @property
    def void(self) -> bool:
        """Whether its annotator began anew since."""
        return self.reset is not None


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
        return sorted(map(str, _outputs(first[0]))) if first else []

    @property
    def shared(self) -> bool:
        """Tell whether all annotators draw from one list."""
        return isinstance(self.data, list) and self.info.get("assignment") in ("single-stream", "dynamic")

    @property
    def ends(self) -> dict[str, str]:
        """The ends of each slider's scale, like 0:5."""
        sliders = self.info.get("sliders")
        known = map(_object, sliders if isinstance(sliders, list) else [])
        return {str(one.get("name")): f"{one.get('min')}:{one.get('max')}" for one in known}


def is_log(said: Mapping[str, Any]) -> bool:
    """Tell whether an object is an entry of a log."""
    marked = said.get("annotation")
    return "user_id" in said and (marked == RESET or ("item_i" in said and isinstance(marked, dict | list)))


def is_screen(said: Any) -> bool:
    """Tell whether an object is a screen of a site that Pearmut baked: what was shown, and what is stored."""
    return isinstance(said, dict) and {"info", "payload"} <= set(said) and isinstance(said["payload"], list)


def files(folder: Path) -> list[Path]:
    """List what of a folder is to be imported: the logs of a campaign, or the folder itself where it holds screens.

    Raises DataError where it holds neither.
    """
    places = ("annotations", "outputs", "data/annotations", "data/outputs")
    logs = [path for name in places for path in sorted((folder / name).glob("*.jsonl"))]
    stored = (records.loaded(records.content(path, _AGAIN))[0] for path in _screens(folder))
    if not logs and not any(map(is_screen, stored)):
        raise DataError(f"{folder} is no folder of a campaign of Pearmut. Name the files to import.")
    return logs or [folder]


def _screens(folder: Path) -> list[Path]:
    named = (path for path in folder.glob("*.json") if _SCREEN.fullmatch(path.name))
    return sorted(named, key=lambda one: int(one.stem))


def screens(folder: Path) -> Table:
    """Take a folder of screens as one campaign.

    Screens do not say who judged: where the tutorial begins again, another annotator's begin.
    Raises DataError where a screen is none.
    """
    beside, entries, seen, user = [], [], set[str](), 1
    info: Mapping[str, Any] = {}
    for path in _screens(folder):
        beside.append(Seen.at(path))
        if not is_screen(said := records.whole(path, _AGAIN)):
            raise DataError(f"{folder.name}/{path.name} is no screen of Pearmut. {_AGAIN}")
        items, info = said["payload"], _object(said["info"]) or info
        ids = {_id(item) for item in items if _kind(item, "") == "tutorial"}
        user, seen = (user + 1, ids) if ids & seen else (user, seen | ids)
        marked = _object(said.get("payload_existing")).get("annotation") or []
        entries.append(Entry(int(path.stem) + 1, f"unknown-{user}", path.stem, items, marked))
    whose = "they are taken for one annotator's"
    if seen:
        whose = f"the tutorial begins {user} times, so they are taken for {user} annotators', one after the other"
    notes = [
        f"screens do not say who judged; {whose} (--value annotator=NAME names one for all)",
        "what is called a line is the number of a screen, counted from 1 (0.json is 1)",
    ]
    return _laid_out(folder, Records([], title=folder.name, notes=notes), entries, Campaign(info), beside)


def log(path: Path, read: Records) -> Table:
    """Take a log, with the campaign's own file where it lies beside."""
    campaign, beside = _described(path)
    entries = [_entry(line, said, campaign) for line, said in read.objects]
    anew: dict[str, int] = {}
    for place, entry in reversed([*enumerate(entries)]):
        entry.reset = anew.get(entry.user)
        anew |= {entry.user: place} if entry.said == [RESET] else {}
    read.notes = [*read.notes, *([f"{beside.name} beside it was read, too"] if beside else [])]
    read.title = read.title or str(campaign.info.get("campaign_id") or "")
    if campaign.info.get("assignment") == "dynamic":
        read.notes.append(_steered(entries, campaign))
    if checks := [one is True for entry in entries if not entry.void for one in entry.checks]:
        read.notes.append(f"{sum(checks):,} of {len(checks):,} of Pearmut's checks (tutorials, attention) were passed")
    return _laid_out(path, read, entries, campaign, [Seen.at(beside)] if beside else [])


def _laid_out(path: Path, read: Records, entries: list[Entry], campaign: Campaign, beside: list[Seen]) -> Table:
    """Make a table of entries."""
    every = _outputs_judged(entries, campaign)
    rows = rows_of(every, criteria=any(name != "score" for one in every for name in one.scores))
    table = records.laid_out(path, read, rows, kind="pearmut")
    table.beside = beside
    return table


def _described(path: Path) -> tuple[Campaign, Path | None]:
    """Read the campaign's own file, where it lies beside a log; in its folder, one of that name may be another's.

    Raises DataError where it is no JSON.
    """
    name, folder = f"{path.stem}.json", path.parent
    for place in (folder.parent / "campaigns" / name, folder.parent / "tasks" / name, folder / name):
        if place != path and place.is_file():
            said = _object(records.whole(place, "Mend it, or move it away."))
            if isinstance(info := said.get("info"), dict):
                return Campaign({"campaign_id": said.get("campaign_id"), **info}, said.get("data")), place
    return Campaign(), None


def _entry(line: int, said: Mapping[str, Any], campaign: Campaign) -> Entry:
    """Read an entry of a log; one of early versions has no items, and an object in the list's place."""
    user, position = str(said.get("user_id")), str(said.get("item_i"))
    items, marked, actions = (
        value if isinstance(value, list) else [value]
        for value in (said.get("item") or campaign.items(user, position), said.get("annotation"), said.get("actions"))
    )
    times = [time for one in actions if not np.isnan(time := _number(_object(one).get("time")))]
    checks = said.get("validations")
    return Entry(line, user, position, items, marked, times, checks if isinstance(checks, list) else [])


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float:
    """Read a number; NaN where it is none, or has no end."""
    try:
        number = float(str(value))
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


# What was said of each output


def _outputs_judged(entries: list[Entry], campaign: Campaign) -> list[Judged]:
    """List what was said of each output; of a screen that was submitted again, the last annotation counts."""
    names, every = _Names(entries, campaign), list[Judged]()
    latest: dict[tuple[str, str, int, str], Judged] = {}
    for entry in entries:
        common = {"annotator": entry.user, "hit": f"{entry.user}/{entry.position}", "item_i": entry.position}
        if entry.times:
            common |= {"started": repr(min(entry.times)), "ended": repr(max(entry.times))}
        for number, said in enumerate(entry.said):
            if not isinstance(said, dict):
                kind = "reset" if said == RESET else "void" if entry.void else "form"
                every.append(Judged(entry.line, common, kind=kind))  # what was answered is about a person
                continue
            item = entry.items[number] if number < len(entry.items) else {}
            for model, judged in said.items():
                cells, again = names.of(entry, number, _object(item), model)
                if model in entry.chances:
                    cells["probability"] = repr(entry.chances[model])
                kind = "void" if entry.void else _kind(item, entry.position)
                one = Judged(entry.line, common | cells, kind=kind or (annotated.REPEAT if again else ""))
                _say(one, judged, campaign)
                if not entry.void:
                    before = latest.get(key := (entry.user, entry.position, number, model))
                    if before and before.kind not in annotated.NO_JUDGEMENTS:
                        before.kind = "replaced"
                    latest[key] = one
                every.append(one)
    return every


def _say(one: Judged, judged: Any, campaign: Campaign) -> None:
    """Write down scores and errors of one output; early versions gave scores alone."""
    said = judged if isinstance(judged, dict) else {"score": judged}
    one.errors = said.get("error_spans") or []
    if sliders := _object(said.get("sliders")):
        one.scores = {str(name): records.cell(value) for name, value in sliders.items()}
        one.ends = {name: campaign.ends.get(name, "?") for name in one.scores}
    else:
        one.scores, one.ends = {"score": records.cell(said.get("score"))}, {"score": "0:100"}


def _kind(item: Any, position: str) -> str:
    """Say what an item is if it is no judgement of the campaign: a tutorial's, or an attention check."""
    if position.startswith(("welcome_", "goodbye_")):
        return "tutorial"
    if position.startswith("random_"):
        return "check"
    said = _object(item)
    checks = said.get("validation") or {}
    told = checks.values() if isinstance(checks, dict) else checks
    skipped = said.get("skippable") or any(_object(one).get("allow_skip") for one in told)
    if skipped or any("tutorial" in name.casefold() for name in (_id(said), *_outputs(said))):
        return "tutorial"
    return "check" if checks else ""


def _id(item: Any) -> str:
    return str(_object(item).get("item_id") or "")


def _outputs(item: Any) -> dict[str, Any]:
    return _object(_object(item).get("tgt"))


def _text(item: Mapping[str, Any]) -> str:
    return records.cell(item.get("src_text") or item.get("src"))


class _Names:
    """Name segments, documents and systems by what the items say of themselves."""

    def __init__(self, entries: list[Entry], campaign: Campaign):
        self._shared = campaign.shared
        self._sources: dict[str, set[str]] = defaultdict(set)  # the texts under one name
        self._texts: dict[tuple[str, str], set[str]] = defaultdict(set)
        for item in (item for entry in entries for item in entry.items if _id(item)):
            stem = _COPY.sub("", _id(item))
            self._sources[stem].add(_text(item))
            for model, text in _outputs(item).items():
                self._texts[stem, model].add(records.cell(text))
        self._users = {user: place for place, user in enumerate(dict.fromkeys(entry.user for entry in entries), 1)}

    def of(self, entry: Entry, number: int, item: dict[str, Any], model: str) -> tuple[dict[str, str], bool]:
        """Return the cells that say what was judged, and whether it is a second showing (model')."""
        outputs, text, cells = _outputs(item), _text(item), dict[str, str]()
        if len(outputs) > 1 and model in outputs:
            cells = {"screen": entry.position, "screen_place": str(list(outputs).index(model) + 1)}
        stem, plain = _COPY.sub("", _id(item)), model.removesuffix("'")
        texts = self._texts.get((stem, model))
        again = plain != model and bool(texts) and texts == self._texts.get((stem, plain))
        model = plain if again else model
        cells |= {"system": model, "source": text, "reference": records.cell(item.get("ref"))}
        if outputs:
            cells["hypothesis"] = records.cell(outputs.get(model, outputs.get(f"{model}'")))
        if stem:
            cells |= parts_of_name(stem) | {annotated.NAMED: "id"}
            if len(self._sources[stem]) > 1:  # one name for several texts names none
                cells["segment"] += f" {text_digest(text)}"
        elif text:
            cells |= {"segment": text_digest(text), annotated.NAMED: "text"}
        else:
            position = entry.position + (f".{number}" if len(entry.said) > 1 else "")
            own = position if self._shared else f"{self._users[entry.user]}:{position}"
            cells |= {"segment": own, annotated.NAMED: "shared" if self._shared else "position"}
        return cells, again


# Probabilities of dynamic assignment. Pearmut logs none, but they follow from what had been logged when a screen was
# loaded, and from the campaign's own file. First all systems below ``dynamic_coldstart`` documents are drawn evenly;
# then ``dynamic_models`` of them, one after another, with weights 1/2, 1/2, 1/3, 1/4 … by their places in the order of
# mean scores. Source: Pearmut, ``assignment.py`` of release 1.1.6.

#: Pearmut's own values where a campaign's file has none.
_COLDSTART, _SHOWN = 5, 1
#: Standard errors by which a system may be shown more or less often than the rule says, and the share of outputs that
#: it may give no chance, before it does not fit. A place is that of a system in the order of chances.
_FITS, _CHANCELESS = 4.0, 0.02


def _steered(entries: Sequence[Entry], campaign: Campaign) -> str:
    """Give each entry the probability of every system that it showed; say how it was found, or why it was not.

    There is none where the campaign's file does not tell enough, or the log does not fit the rule.
    """
    unknown = "probabilities of dynamic assignment were not rebuilt"
    systems = pd.Index(campaign.systems)
    if len(systems) < 2:
        return f"{unknown}: the campaign's file lists no systems"
    shown, start = (
        int(str(said)) if str(said := campaign.info.get(name)).isdecimal() else usual
        for name, usual in (("dynamic_models", _SHOWN), ("dynamic_coldstart", _COLDSTART))
    )
    shown = min(shown, len(systems))
    given = pd.DataFrame(
        [
            (number, entry.reset, entry.user, entry.position, entry.position.isdecimal() and not nth, name, _score(one))
            for number, entry in enumerate(entries)
            for nth, said in enumerate(entry.said)
            for name, one in _object(said).items()
        ],
        columns=["entry", "reset", "user", "position", "first", "system", "score"],
    ).astype({"first": bool, "reset": float})
    first = given[given["first"]]
    begun = first.groupby(["user", "reset", "position", "system"], dropna=False)["entry"].transform("min")
    begun = begun.groupby(first["entry"]).min()  # a screen to which its annotator went back was not drawn again
    drawn = begun.index[begun == begun.index]
    seen = pd.crosstab(first["entry"], first["system"]).reindex(index=drawn, columns=systems, fill_value=0) > 0
    known = _known(given, systems, len(entries))[_before(entries)[drawn]]
    chances = pd.DataFrame(_chances(known, shown, start, len(campaign.data)), drawn, systems)
    if not len(drawn) or _misfits(chances.to_numpy(), seen.to_numpy()):
        return f"{unknown}: the log does not fit what Pearmut 1.1.6 does with this campaign's file"
    possible = chances.where(seen & (chances > 0))
    for number, screen in begun.items():
        entries[number].chances = possible.loc[screen].dropna().to_dict()
    return (
        "assignment was dynamic: the probability of each system on each screen was rebuilt from the order of the log, "
        f"as Pearmut 1.1.6 draws; earlier states drew otherwise ({shown} of {len(systems)} systems a screen)"
    )


def _before(entries: Sequence[Entry]) -> np.ndarray:
    """Count for each entry how many had been logged when it was loaded; without times, all that stand before it."""
    logged = np.maximum.accumulate(np.array([max(entry.times, default=-np.inf) for entry in entries]))
    begun = np.array([min(entry.times, default=np.inf) for entry in entries])
    return np.minimum(np.searchsorted(logged, begun, side="right"), np.arange(len(entries)))


def _known(given: pd.DataFrame, systems: pd.Index, count: int) -> np.ndarray:
    """Follow a log: of each system the sum and the number of scores, and of documents, (count + 1, 3, systems).

    Row n holds what was known after n entries; who begins anew takes their own away. A document counts while anybody's
    judgement of it stands.
    """
    taken = given.dropna(subset="reset")
    events = pd.concat([given.assign(at=given["entry"] + 1, sign=1), taken.assign(at=taken["reset"] + 1, sign=-1)])
    events = events.sort_values("at", kind="stable", ignore_index=True)
    sign, first = events["sign"], events[events["first"]]
    held = first.groupby(["position", "system"])["sign"].cumsum()  # judgements that stand of each document
    found = {
        "sums": sign * events["score"],
        "scores": sign * events["score"].notna(),
        "documents": first["sign"] * (held == (first["sign"] > 0)),
    }
    tables = events.assign(**found).pivot_table(index="at", columns="system", values=[*found], aggfunc="sum")
    whole = [tables[name].reindex(index=range(count + 1), columns=systems).fillna(0.0).cumsum() for name in found]
    return np.stack(whole, axis=1)


def _score(judged: Any) -> float:
    """Return the score of an output as Pearmut takes it: the slider's or, of several, their mean; NaN for none."""
    said = _object(judged)
    sliders = [value for value in _object(said.get("sliders")).values() if value is not None]
    given = sliders if said.get("score") is None else [said["score"]]
    return statistics.fmean(map(_number, given)) if given else np.nan


def _chances(known: np.ndarray, shown: int, start: int, documents: int) -> np.ndarray:
    """Return the probability that each screen shows each system, (screens, systems)."""
    sums, scores, judged = known.transpose(1, 0, 2)
    means = np.divide(sums, scores, where=scores > 0, out=np.zeros_like(sums))
    found = np.empty_like(means)
    for row, (count, mean) in enumerate(zip(judged, means)):
        among = count < start  # the systems that are drawn first; any others fill up
        if among.any():
            chance = np.full(int(among.sum()), min(1.0, shown / among.sum()))
        else:
            among = count < documents
            left = int(among.sum())
            chance = _shared(inclusion_by_place(left, shown) if left > shown else np.ones(left), mean[among])
        found[row] = max(shown - among.sum(), 0) / max((~among).sum(), 1)
        found[row, among] = chance
    return found


def _shared(chance: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Give each system the chance of its place, the highest mean first; those that are level share theirs."""
    _, level, count = np.unique(-means, return_inverse=True, return_counts=True)
    return (np.add.reduceat(chance, np.cumsum(count) - count) / count)[level]


def _misfits(chance: np.ndarray, seen: np.ndarray) -> bool:
    """Tell whether the log differs from the rule in something that matters: by systems, or by their places."""
    if (chance[seen] <= 0).mean() > _CHANCELESS:
        return True
    place = np.argsort(-chance, axis=1, kind="stable")
    for own, shown in ((chance, seen), (np.take_along_axis(one, place, axis=1) for one in (chance, seen))):
        spread = np.sqrt((own * (1 - own)).sum(axis=0))
        if (np.abs((shown - own).sum(axis=0)) > _FITS * spread).any():
            return True
    return False
