"""Tell which columns of a table of comparisons name both systems, the choice between them, or ranks of several."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.formats import Head
from evalkit.data.importing.kinds.answers import SIDES, STEMS, WORDS, are_answers, name_two
from evalkit.data.importing.options import Options

_CONDITION = "condition|setting|prompt|variant|method|version|setup|config|configuration|strategy|mode|arm"
_NAMED = f"name|id|tag|system|model|label|{_CONDITION}"
#: What heads the systems of a comparison: system_a, model 1, left_system, text1_tag, or what they worked under:
#: system_a_condition, prompt_b.
_OF_SYSTEM = {
    side: re.compile(
        rf"({STEMS}|{_CONDITION})(?:{words})({_NAMED})?|(?:{words})(system|sys|model|engine|{_CONDITION})({_NAMED})?"
    )
    for side, words in WORDS.items()
}
#: What heads their texts, where these are not what names the systems.
_OF_TEXT = {
    "a": "translationa translation1 texta text1 outputa output1 hypothesisa hypothesis1 hypa hyp1 targeta target1",
    "b": "translationb translation2 textb text2 outputb output2 hypothesisb hypothesis2 hypb hyp2 targetb target2",
}
#: What heads the choice, the surest first.
_CHOICE = (
    "preference",
    "preferred",
    "pref",
    "choice",
    "winner",
    "better",
    "best",
    "vote",
    "verdict",
    "pairwise",
    "comparison",
    "decision",
    "chosen",
    "preferredsystem",
    "preferredtranslation",
    "bettersystem",
    "bettertranslation",
    "winningsystem",
    "judgement",
    "judgment",
    "outcome",
    "whichisbetter",
    "whichoneisbetter",
    "whichtranslationisbetter",
    "whichdoyouprefer",
)
#: Words of further headings of the choice, and what heads one number for two systems.
_CHOOSING = columns.vocabulary(
    "preference preferred prefer pref choice winner better best vote verdict chosen answer label response result "
    "selection selected judgement judgment rating score comparison decision overall"
)
_LEAD = columns.vocabulary(
    "slider strength difference diff margin lead comparison cmos cmp preference pref value answer response rating vote "
    "choice"
)
_SLOT = re.compile(rf"(?:{STEMS})(\d{{1,2}})({_NAMED})?")
_SLOT_RANK = re.compile(rf"(?:(?:{STEMS})(\d{{1,2}}))?rank(?:ing)?(\d{{1,2}})?")
_RANK = re.compile(r"rank(?:ing)?[\W_]+(?P<after>.{1,60})|(?P<before>.{1,60}?)[\W_]+rank(?:ing)?", re.IGNORECASE)
_OTHERS = {
    "doc": ("book", "chapter"),
    "annotator": ("participantid", "participant", "sessionid"),
    "segment": ("expitemnumber", "itemnumber", "line", "item"),
    "reference": ("humanreference",),
    "source": ("text",),
    "criterion": ("condition", "aspect", "dimension", "question"),
    "first": ("shownfirst", "firstshown", "stoodfirst", "displayedfirst", "onleft"),
}
_FEW = 20  # names of conditions; prompts themselves are more
_MOSTLY = 0.8  # share of cells that are numbers where a column holds them


def names_two(head: Head, options: Options) -> tuple[str, str] | None:
    """Name the columns of two systems that each row compares by one answer or number; None where rows do not."""
    names = names_of(head, options)
    answered = "preference" in names or "score" in names
    return (names["system_a"], names["system_b"]) if answered and {"system_a", "system_b"} <= {*names} else None


def demand_one(head: Head, options: Options) -> None:
    """Refuse to read rows that compare two systems as judgements of one."""
    if (two := names_two(head, options)) and not slots_of(head.header):
        raise DataError(
            f"{head.name}: each row compares two systems ({two[0]} and {two[1]}), so none is the system of the row. "
            "Import it with --format preferences, without naming a system."
        )


def names_of(head: Head, options: Options, passed: Iterable[str] = ()) -> dict[str, str]:
    """Map headings to our columns, and to the two systems, their texts and the choice."""
    told = {ours: theirs for ours, theirs in options.single.items() if theirs}
    if are_answers(head.samples(told["score"]) if told.get("score") in head.header else []):
        told.setdefault("preference", told.pop("score"))  # a choice is no score, whatever it is called
    free = [name for name in head.header if name not in {*told.values(), *passed}]
    found: dict[str, str] = {}

    def take(ours: str, fitting: list[str]) -> None:
        fitting = [name for name in fitting if name in free]
        if fitting and ours not in {*found, *told, *options.values, *options.columns}:
            found[ours] = fitting[0]
            free.remove(fitting[0])

    for side, name in zip(SIDES, _sides(head, free) or ()):
        take(f"system_{side}", [name])
    for side in SIDES:
        take(f"hypothesis_{side}", [name for name in free if columns.plain(name) in _OF_TEXT[side].split()])
    two = {"system_a", "system_b"} <= {*found, *told}
    left = ("hypothesis",) if "hypothesis_a" in found else ()
    choices = [name for name in free if columns.plain(name) in _CHOICE]
    choices += [name for name in free if columns.meaning(name) == "score" and name_two(head.samples(name))]
    if two:
        systems = {cell for side in SIDES for cell in head.samples((told | found)[f"system_{side}"])}
        choices += [
            name for name in free if _CHOOSING & {*columns.words(name)} and are_answers(head.samples(name), systems)
        ]
    take("preference", sorted(choices, key=lambda name: _order(columns.plain(name))))
    for ours in (name for name in (*columns.OURS, "first") if name not in left):
        take(ours, [name for name in free if columns.plain(name) == columns.plain(ours)])
        take(ours, [name for name in free if columns.plain(name) in _OTHERS.get(ours, ())])
        take(ours, [name for name in free if columns.meaning(name) == ours])
    for ours, theirs in (("screen", ("rankingid", "screenid")), ("segment", ("srcindex",))):
        take(ours, [name for name in free if columns.plain(name) in theirs])
    if two and "preference" not in {*found, *told, *options.values}:
        take("score", [name for name in free if _LEAD & {*columns.words(name)} and is_numeric(head.samples(name))])
    if "item_type" in found and "item_type" not in told:
        found["domain"] = found.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return found | told


def _sides(head: Head, free: list[str]) -> tuple[str, str] | None:
    """Choose the headings of both systems: pairs that differ in their cells, names before conditions and texts."""
    named = {side: _of_side(side, [name for name in free if not is_numeric(head.samples(name))]) for side in SIDES}
    shared = [parts for parts in named["a"] if parts in named["b"]]
    pairs = [(named["a"][parts], named["b"][parts], parts) for parts in shared]
    if not pairs and all(named.values()):
        pairs = [(next(iter(named["a"].values())), next(iter(named["b"].values())), ("",))]

    def order(pair: tuple[str, str, tuple[str, ...]]) -> tuple[bool, bool, bool]:
        places = [head.header.index(name) for name in pair[:2]]
        rows = [[row[place].strip() for place in places] for row in head.below if len(row) > max(places)]
        alike = [one == other for one, other in rows if one and other]
        texts = columns.plain(pair[0]) in _OF_TEXT["a"].split()
        other = texts or bool({*pair[2]} & {*_CONDITION.split("|")})
        few = max(len(rows) / 2, 0 if texts else _FEW)
        return other and len({name for row in rows for name in row}) > few, bool(alike) and all(alike), other

    best = min(pairs, key=order, default=None)
    return best[:2] if best and not order(best)[0] else None  # texts hardly recur


def _of_side(side: str, names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Map what headings say beside the side to those that may name its system."""
    found = {name: _OF_SYSTEM[side].fullmatch(columns.plain(name)) for name in names}
    return {tuple(one.groups("")): name for name, one in reversed(found.items()) if one}


def head_two(names: Iterable[str]) -> bool:
    """Tell whether names of fields speak of two systems, or of their translations.

    >>> head_two(["source", "model_left", "model_right"]), head_two(["source", "system"])
    (True, False)
    """
    return bool({*_of_side("a", names)} & {*_of_side("b", names)})


def is_numeric(cells: list[str]) -> bool:
    """Tell whether a column holds numbers."""
    return bool(cells) and bool(np.isfinite(numbers.read(pd.Series(cells, dtype="str"))[0]).mean() > _MOSTLY)


def _order(name: str) -> int:
    """Put the surest heading of a choice first."""
    return _CHOICE.index(name) if name in _CHOICE else len(_CHOICE)


def slots_of(header: list[str]) -> list[tuple[str, str]]:
    """List the columns of systems, each with that of its rank, where every place has both; fewer than two are none.

    >>> slots_of(["system1Number", "system1Id", "system2Id", "system1rank", "system2rank"])
    [('system1Id', 'system1rank'), ('system2Id', 'system2rank')]
    """
    plainly = {name: columns.plain(name) for name in header}
    named = {found[1]: name for name, bare in plainly.items() if (found := _SLOT.fullmatch(bare))}
    ranked = {found[1] or found[2]: name for name, bare in plainly.items() if (found := _SLOT_RANK.fullmatch(bare))}
    slots = [(named[place], ranked[place]) for place in named if place in ranked]
    return slots if len(slots) > 1 and len(slots) == len(ranked) else []


def ranks_of(header: list[str]) -> dict[str, str]:
    """Map the headings that say rank and a system's name to that name; fewer than two are none.

    >>> ranks_of(["segment", "rank_DeepL", "GPT-4 rank", "rank"])
    {'rank_DeepL': 'DeepL', 'GPT-4 rank': 'GPT-4'}
    """
    if slots_of(header):  # places on a screen, not systems
        return {}
    found = {name: match["after"] or match["before"] for name in header if (match := _RANK.fullmatch(name.strip()))}
    return found if len(found) > 1 else {}
