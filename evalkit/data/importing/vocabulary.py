"""What headings mean: a column of ours, a criterion, a penalty, a rank, a metric. vocabulary.toml has the words."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import schemas

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
#: Columns of other tables of ours that an importer keeps where they bear exactly these names.
EXTRAS = ("copy", "mark", "errors", "position", "hit_seconds", "z", "domain", "screen", "screen_place")
OURS = (*schemas.RATINGS.columns, "pair")
#: What files of some layouts have besides, and a user can map: what was marked, and what was preferred.
OTHERS = ("category", "severity", "system_a", "system_b", "preference", "first")
#: Columns of which none may be taken by chance, nor go unread.
NEEDED = ("system", "segment", "annotator", "score", "src_lang", "tgt_lang", "pair")
#: What exports call the kinds of items, and what we call them.
ITEM_TYPES: dict[str, str] = _WORDS["item_types"] | {name: name for name in schemas.ITEM_TYPES}
_LOOKUP = {word: ours for ours, words in _WORDS["columns"].items() for word in words.split()}
_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")
_ENDS = re.compile(r"[(\[]\s*(\d{1,4})\s*(?:-|–|—|to|\.\.+|…|:)\s*(\d{1,4})\s*[)\]]", re.I)
_SCORE = {"score", "scores", "points", "punkte", "rating"}
_MQM = {"mqm", "score", "value", "total", "sum", "weighted", "segment", "seg"}


def table(name: str) -> dict[str, Any]:
    """Return a table of the vocabulary."""
    return dict(_WORDS[name])


def lists(name: str) -> dict[str, list[str]]:
    """Return a table of words, each name's in their order; of a layout, the headings of each column of ours."""
    return {own: text.split() for own, text in table(name).items()}


@cache
def ordered(name: str) -> tuple[str, ...]:
    """Return a list of words in its order."""
    return tuple(_WORDS["words"][name].split())


@cache
def listed(name: str) -> frozenset[str]:
    """Return a list of words as a set."""
    return frozenset(ordered(name))


@lru_cache(maxsize=4096)  # every format asks for the meaning of every heading, and of the first cells besides
def bare(heading: str) -> str:
    """Write a heading small, without spaces and marks, and without what stands in brackets.

    >>> bare("Segment-ID"), bare("Input.sys_id"), bare("Score (0-100)")
    ('segmentid', 'sysid', 'score')
    """
    text = _BRACKETS.sub("", heading.casefold().removeprefix("input.").removeprefix("answer."))
    return re.sub(r"[\W_]+", "", text)


def words(heading: str) -> list[str]:
    """Cut a heading into its words, written small; what stands in brackets, and digits, are none.

    >>> words("mqm_penaltyScore (0-25)"), words("Anzahl der Fehler 2")
    (['mqm', 'penalty', 'score'], ['anzahl', 'der', 'fehler'])
    """
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", _BRACKETS.sub(" ", heading))
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", apart)]


@lru_cache(maxsize=4096)
def meaning(heading: str) -> str | None:
    """Say which of our columns a heading may be; None where it is unknown.

    Of a dotted name, as nested JSON has them, the last parts count where the first ones only say where it stands.

    >>> meaning("Rater ID"), meaning("src_lang"), meaning("colour")
    ('annotator', 'src_lang', None)
    >>> meaning("rater.id"), meaning("item.segment"), meaning("data.system.name"), meaning("z.score")
    ('annotator', 'segment', 'system', None)
    """
    name, small = heading.strip(), bare(heading)
    if name in OURS or small in OURS:
        return name if name in OURS else small
    first, dot, rest = name.partition(".")
    return _LOOKUP.get(small) or (meaning(rest) if dot and bare(first) in listed("around") else None)


def scale_in(heading: str) -> tuple[float, float] | None:
    """Read the ends of the scale that a heading states in brackets; None where it states none.

    >>> scale_in("Score (1-5)"), scale_in("DA [0–100]"), scale_in("XSTS (1 to 5)"), scale_in("Score (2024-05)")
    ((1.0, 5.0), (0.0, 100.0), (1.0, 5.0), None)
    """
    stated = _ENDS.search(heading)
    low, high = (float(stated[1]), float(stated[2])) if stated else (0.0, 0.0)
    return (low, high) if low < high else None


def count_known(cells: Iterable[str]) -> int:
    """Count how many of our columns a row of headings could name."""
    return len({meaning(cell) for cell in cells} - {None})


def is_criterion(heading: str) -> bool:
    """Tell whether a heading names what was judged, and nothing else.

    >>> is_criterion("Adequacy (1-5)"), is_criterion("fluency_score"), is_criterion("DeepL_adequacy")
    (True, True, False)
    """
    named = set(words(heading))
    return bool(listed("criteria") & named) and named <= listed("criteria") | listed("fillers")


def is_quality(heading: str) -> bool:
    """Tell whether a heading names a judgement: a criterion, errors, a rank or the like."""
    return is_criterion(heading) or bool(tendency(heading))


def is_low(word: str) -> bool:
    """Tell whether a word of a heading says that low is good.

    >>> is_low("penalties"), is_low("rank"), is_low("quality")
    (True, True, False)
    """
    starts = word.startswith(ordered("penalty_starts")) or word.endswith("fehler")
    return starts or word in listed("penalties") or word in listed("ranks")


def tendency(heading: str) -> str:
    """Say what a heading makes of its numbers: a penalty, a rank, mqm (which is either), unclear, or nothing.

    >>> [tendency(name) for name in ("mqm_penalty", "Fehleranzahl", "rank", "mqm_score", "error-free", "adequacy")]
    ['penalty', 'penalty', 'rank', 'mqm', 'unclear', '']
    """
    named = words(heading)
    low = [word for word in named if is_low(word) and word not in listed("ranks")]
    kind = "rank" if listed("ranks") & set(named) else "penalty" if low else ""
    joined = "".join(named)
    for sign in ("penalty", "rank"):
        if not kind and any(one in joined for one in ordered(f"{sign}_signs")):
            kind = sign
    if kind and (listed("negating") & set(named) or any(re.search("frei|free|less", word) for word in low)):
        return "unclear"
    if kind == "rank" and _SCORE & set(named):
        return "unclear"
    return kind or ("mqm" if "mqm" in named and set(named) <= _MQM else "")


def is_metric(heading: str) -> bool:
    """Tell whether a heading has the name of a well-known automatic metric.

    >>> [name for name in ("COMET-22", "chrF++", "TER", "HTER", "wmt22_comet_da", "score", "MetricX-24") if
    ...  is_metric(name)]  # HTER is made by people
    ['COMET-22', 'chrF++', 'TER', 'wmt22_comet_da', 'MetricX-24']
    """
    small = bare(heading)
    anywhere = any(name in small for name in ordered("metrics_anywhere"))
    return anywhere or bool("hter" not in small and listed("metrics") & {*words(heading)})


def demand_present(header: list[str], told: Mapping[str, str], *, origin: str) -> None:
    """Refuse columns that a user names and a file has not."""
    if absent := {ours: theirs for ours, theirs in told.items() if theirs not in header}:
        wrong, maps = ", ".join(map(repr, absent.values())), " ".join(f"--map {ours}=…" for ours in absent)
        raise DataError(f"{origin} has no column {wrong}; it has {', '.join(header)}. Correct {maps}.")


def fitting(ours: str, header: Iterable[str], spellings: Iterable[str] = ()) -> list[str]:
    """List the headings that may be a column of ours: those of one spelling, else those that mean the same.

    spellings: what heads it in a layout, the surest first; else it is its own name.

    >>> header = ["Worker", "Rater ID"]
    >>> fitting("annotator", header, ["rater", "rater_id"]), fitting("annotator", header)
    (['Rater ID'], ['Worker', 'Rater ID'])
    """
    header = list(header)
    for spelling in map(bare, spellings or [ours]):
        if alike := [name for name in header if bare(name) == spelling]:
            return alike
    return [name for name in header if meaning(name) == ours]


def mapped(
    header: list[str], options: Mapping[str, str], *, origin: str, given: Iterable[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Map our names to a file's headings: as told, by our own name, or by a synonym that fits only one.

    options: our name -> theirs, from the user, which nothing overrules; an empty one means that no column is meant.
    given: names that have a constant value. Returns notes, too, on what could be a column of ours and was not taken.
    Raises DataError where such a column is not there, or a name that is needed fits several columns.
    """
    names, notes = {ours: theirs for ours, theirs in options.items() if theirs}, list[str]()
    demand_present(header, names, origin=origin)
    free = [name for name in header if name not in names.values()]
    for ours in (name for name in OURS if name not in {*options, *given}):  # --map item_type= takes none
        choice = fitting(ours, free)  # "score" and "Score" are two of them
        if len(choice) == 1:
            names[ours] = choice[0]
        elif choice and ours in NEEDED:
            raise DataError(
                f"{origin}: {ours} could be {' or '.join(map(repr, choice))}. Pass --map {ours}={choice[0]!r}."
            )
        elif choice:
            notes.append(f"{ours} could be {' or '.join(choice)}, so none was taken; pass --map {ours}=…")
    return {name: name for name in EXTRAS if name in free} | names, notes


def unlike(header: list[str], used: Iterable[str], *, origin: str) -> None:
    """Refuse headings that are used and stand twice.

    >>> unlike(["score", "score (column 2)"], ["score"], origin="my.csv")
    Traceback (most recent call last):
    evalkit.DataError: my.csv: 'score' and 'score (column 2)' are one heading. Rename one of them, or drop its column.
    """
    for name in used:
        twins = [other for other in header if bare(other) == bare(name)]
        if len(twins) > 1 and bare(name):
            both = " and ".join(map(repr, twins[:2]))
            raise DataError(f"{origin}: {both} are one heading. Rename one of them, or drop its column.")
