"""Lay out what Pearmut stores, a log of screens or the screens themselves, as a row per judged output.

Source: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``utils.py``: of an annotator's reset, earlier entries
are void; of a screen that was submitted again, the last annotation of each output counts.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import delimited, languages
from evalkit.data.importing.files import jsonl
from evalkit.data.importing.files.jsonl import Records, Row
from evalkit.data.importing.files.rows import Seen, Source
from evalkit.data.importing.kinds import annotated, pearmut_steering
from evalkit.data.importing.kinds.pearmut_campaign import RESET, Campaign, Entry, described, slider_ends
from evalkit.data.importing.kinds.pearmut_campaign import beside as beside_of

NAME = "pearmut"
_CUT = "_#_"  # between the parts of a name, as WMT writes them
_COPY = re.compile(r"_#_dup\d{1,4}$")
_SCREEN = re.compile(r"\d{1,6}\.json")
_UNKNOWN = "unknown"
_MOST_SCREENS = 100_000


def is_log(found: Mapping[str, Any]) -> bool:
    """Tell whether an object is an entry of a log."""
    said = found.get("annotation")
    return "user_id" in found and (said == RESET or ("item_i" in found and isinstance(said, dict | list)))


def is_screen(found: Any) -> bool:
    """Tell whether an object is a screen of a site that Pearmut baked: what was shown, and what is stored."""
    return isinstance(found, dict) and {"info", "payload"} <= set(found) and isinstance(found["payload"], list)


def files(folder: Path) -> list[Path]:
    """List what of a folder is to be imported: the logs of a campaign, or the folder itself where it holds screens."""
    logs = [
        path
        for name in ("annotations", "outputs", "data/annotations", "data/outputs")
        for path in sorted((folder / name).glob("*.jsonl"))
    ]
    return logs or ([folder] if any(map(is_screen_file, folder.glob("*.json"))) else [])


def is_screen_file(path: Path) -> bool:
    """Tell whether a file is named as a screen and is one."""
    return bool(_SCREEN.fullmatch(path.name)) and is_screen(jsonl.loaded(delimited.content(path))[0])


def source(path: Path, digest: str, read: Records) -> Source:
    """Take a log, with the campaign's own file where it lies beside."""
    beside = beside_of(path)
    campaign = described(beside) if beside else Campaign()
    entries = [_entry(line, found, campaign) for line, found in read.found]
    last = {entry.user: place for place, entry in enumerate(entries) if entry.said == [RESET]}
    for place, entry in enumerate(entries):
        entry.void = place < last.get(entry.user, -1)
    notes = [f"{beside.name} beside it was read, too"] if beside else []
    read.title = read.title or str(campaign.info.get("campaign_id") or "")
    steered = pearmut_steering.is_dynamic(campaign)
    chances, told = pearmut_steering.probabilities(entries, campaign) if steered else ([], [])
    rows = _rows(entries, campaign, chances)
    found = jsonl.source(path, digest, read, rows, [*notes, *told, *_checked(entries)])
    found.beside = [Seen.at(beside)] if beside else []
    return found


def screens(folder: Path) -> Source:
    """Take a folder of screens as one campaign.

    Screens do not say who judged: where the tutorial begins again, another annotator's begin.
    Raises DataError where a screen is none, or there are too many.
    """
    paths = sorted(
        (path for path in folder.glob("*.json") if _SCREEN.fullmatch(path.name)), key=lambda one: int(one.stem)
    )
    if not paths or len(paths) > _MOST_SCREENS:
        raise DataError(
            f"{folder.name} holds {len(paths):,} screens of Pearmut (0.json, 1.json …). Name another folder."
        )
    beside, entries = [], []
    info: dict[str, Any] = {}
    seen: set[str] = set()
    user = 1
    for path in paths:
        beside.append(Seen.at(path))
        found, reason = jsonl.loaded(delimited.content(path))
        if reason or not is_screen(found):
            raise DataError(f"{folder.name}/{path.name} {reason or 'is no screen of Pearmut'}. Bake the site again.")
        items = found["payload"]
        ids = {_id(item) for item in items if _kind(item, "") == "tutorial"}
        if ids & seen:
            user, seen = user + 1, set()
        seen |= ids
        info = found["info"] if isinstance(found["info"], dict) else info
        said = (found.get("payload_existing") or {}).get("annotation") or []
        entries.append(Entry(int(path.stem) + 1, f"{_UNKNOWN}-{user}", path.stem, items, said, [], []))
    notes = [
        "screens do not say who judged; "
        + (
            f"the tutorial begins {user} times, so they are taken for {user} annotators', one after the other"
            if seen
            else "they are taken for one annotator's"
        )
        + " (--value annotator=NAME names one for all)",
        "what is called a line is the number of a screen, counted from 1 (0.json is 1)",
    ]
    read = Records([], title=folder.name, notes=notes)
    digest = "sha256:" + hashlib.sha256("".join(one.digest for one in beside).encode()).hexdigest()
    found = jsonl.source(folder, digest, read, _rows(entries, Campaign(info)))
    found.beside = beside
    return found


def _entry(line: int, found: Mapping[str, Any], campaign: Campaign) -> Entry:
    """Read an entry of a log; one of early versions has no items, and an object in the list's place."""
    user, position, said = str(found.get("user_id")), str(found.get("item_i")), found.get("annotation")
    items = found.get("item") or campaign.items(user, position)
    said = said if isinstance(said, list) else [said]
    actions = found.get("actions") if isinstance(found.get("actions"), list) else []
    times = [time for one in actions or [] if isinstance(one, dict) and (time := _number(one.get("time"))) is not None]
    checks = found.get("validations")
    return Entry(
        line,
        user,
        position,
        items if isinstance(items, list) else [items],
        said,
        times,
        checks if isinstance(checks, list) else [],
    )


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


def _rows(entries: list[Entry], campaign: Campaign, chances: Sequence[Mapping[str, float]] = ()) -> Iterator[Row]:
    """Yield a row per output and criterion; of a screen that was submitted again, the last annotation counts.

    chances: of each entry, the probability that it showed a system, where scores had a say in that.
    """
    names = _Names(entries, campaign)
    latest: dict[tuple, int] = {}
    for place, entry in enumerate(entries):
        if not entry.void:
            for number, said in enumerate(entry.said):
                for model in said if isinstance(said, dict) else ():
                    latest[entry.user, entry.position, number, model] = place
    typed = any(
        isinstance(span, dict) and span.get("category")
        for *_, judged in _outputs(entries)
        for span in judged.get("error_spans") or ()
    )
    scored = not typed or any(_number(judged.get("score")) for *_, judged in _outputs(entries))
    ends = slider_ends(campaign.info)
    for place, entry in enumerate(entries):
        for number, said in enumerate(entry.said):
            item = entry.items[number] if number < len(entry.items) else {}
            common = _common(entry)
            if not isinstance(said, dict):
                kind = "reset" if said == RESET else "void" if entry.void else "form"
                yield entry.line, common | {annotated.KIND: kind}  # what was answered is about a person
                continue
            kind = "void" if entry.void else _kind(item, entry.position)
            for model, judged in said.items():
                if not isinstance(judged, dict):
                    judged = {"score": judged}
                replaced = latest.get((entry.user, entry.position, number, model), place) != place
                own = names.of(entry, number, item, model) | _on_screen(entry, item, model)
                if chances and model in chances[place]:
                    own["probability"] = repr(chances[place][model])
                own[annotated.KIND] = kind or ("replaced" if replaced else own[annotated.KIND])
                for cells in _scores(judged, typed, scored, ends):
                    yield entry.line, common | own | cells


def _on_screen(entry: Entry, item: Any, model: str) -> dict[str, str]:
    """Say on which screen an output stood, and at which place by the item's order, where it shows several."""
    shown = item.get("tgt") if isinstance(item, dict) else None
    if not isinstance(shown, dict) or len(shown) < 2 or model not in shown:
        return {}
    return {"screen": entry.position, "screen_place": str(list(shown).index(model) + 1)}


def _outputs(entries: list[Entry]) -> Iterator[tuple[Entry, int, str, Mapping[str, Any]]]:
    """Yield the judged outputs that are judgements of the campaign."""
    for entry in entries:
        for number, said in enumerate(entry.said):
            item = entry.items[number] if number < len(entry.items) else {}
            if not entry.void and isinstance(said, dict) and not _kind(item, entry.position):
                for model, judged in said.items():
                    if isinstance(judged, dict):
                        yield entry, number, model, judged


def _common(entry: Entry) -> dict[str, str]:
    """Say who judged, on which screen, and when."""
    cells = {
        annotated.TOOL: NAME,
        "annotator": entry.user,
        "hit": f"{entry.user}/{entry.position}",
        "item_i": entry.position,
    }
    if entry.times:
        cells |= {"started": repr(min(entry.times)), "ended": repr(max(entry.times))}
    return cells


def _scores(judged: Mapping[str, Any], typed: bool, scored: bool, ends: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the scores of one output: of each slider, the one that was given, and the one that its errors make."""
    errors = judged.get("error_spans")
    spans = {annotated.ERRORS: jsonl.as_text(errors) if errors else "[]"}
    sliders = judged.get("sliders")
    if isinstance(sliders, dict) and sliders:
        for name, value in sliders.items():
            yield spans | {
                "criterion": str(name),
                "score": jsonl.cell(value),
                annotated.SCORED: annotated.BY_PERSON,
                annotated.ENDS: ends.get(str(name), "?"),
            }
        return
    both = typed and scored
    if typed:
        yield spans | {"score": "", annotated.SCORED: annotated.BY_ERRORS} | ({"criterion": "MQM"} if both else {})
    if scored:
        yield (
            spans
            | {"score": jsonl.cell(judged.get("score")), annotated.SCORED: annotated.BY_PERSON}
            | ({"criterion": "score"} if both else {})
        )


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
    checks = item.get("validation")
    if checks:
        told = checks.values() if isinstance(checks, dict) else checks
        return "tutorial" if any(isinstance(one, dict) and one.get("allow_skip") for one in told) else "check"
    return ""


def _id(item: Any) -> str:
    return str(item.get("item_id") or "") if isinstance(item, dict) else ""


class _Names:
    """Name segments, documents and systems by what the items say of themselves."""

    def __init__(self, entries: list[Entry], campaign: Campaign):
        self._shared = campaign.shared
        self._sources: dict[str, set[str]] = defaultdict(set)
        self._copies: dict[str, set[str]] = defaultdict(set)
        self._texts: dict[tuple[str, str], set[str]] = defaultdict(set)
        for entry in entries:
            for item in entry.items:
                if isinstance(item, dict) and (name := _id(item)):
                    self._sources[name].add(_text(item))
                    self._copies[_COPY.sub("", name)].add(_text(item))
                    outputs = item.get("tgt")
                    for model, text in outputs.items() if isinstance(outputs, dict) else ():
                        self._texts[_COPY.sub("", name), model].add(jsonl.cell(text))
        users = Counter(entry.user for entry in entries)
        self._users = {user: place for place, user in enumerate(users, 1)}

    def of(self, entry: Entry, number: int, item: Any, model: str) -> dict[str, str]:
        """Return the cells that say what was judged."""
        item = item if isinstance(item, dict) else {}
        name, text = _id(item), _text(item)
        kind = ""
        stem = _COPY.sub("", name)
        plain = model.removesuffix("'")
        if (
            plain != model
            and self._texts.get((stem, model))
            and (self._texts[stem, model] == self._texts.get((stem, plain)))
        ):
            model, kind = plain, annotated.REPEAT
        cells = {"system": model, annotated.KIND: kind, "source": text, "reference": jsonl.cell(item.get("ref"))}
        outputs = item.get("tgt")
        if isinstance(outputs, dict):
            cells["hypothesis"] = jsonl.cell(outputs.get(model, outputs.get(f"{model}'")))
        if name:
            stem = stem if len(self._copies[stem]) == 1 else name
            cells |= _parts(stem) | {annotated.NAMED: "id"}
            if len(self._sources[name]) > 1:  # one name for several texts names none
                cells |= {"segment": f"{cells['segment']} {_digest(text)}"}
        elif text:
            cells |= {"segment": _digest(text), annotated.NAMED: "text"}
        else:
            position = entry.position + (f".{number}" if len(entry.said) > 1 else "")
            cells |= (
                {"segment": position, annotated.NAMED: "shared"}
                if self._shared
                else {"segment": f"{self._users[entry.user]}:{position}", annotated.NAMED: "position"}
            )
        return cells


def _text(item: Mapping[str, Any]) -> str:
    return jsonl.cell(item.get("src_text") or item.get("src"))


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


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
