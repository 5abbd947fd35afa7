"""Read preferences: of two translations the better one or a tie, or ranks of several in one row.

A comparison becomes two judgements, one of each system: 1 for the one that won, 0 for the other, .5 for both in a tie.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import numbers, vocabulary
from evalkit.data.importing.answers import (
    NO_ANSWER,
    SIDES,
    STEMS,
    WORDS,
    Systems,
    are_answers,
    is_tie,
    leads,
    name_two,
    shares,
    side_of,
)
from evalkit.data.importing.judgements import converted, people, ways, with_languages
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import EXCLUDED, Judgements, Rejection, Table, constant, mapped_cells, text_digest
from evalkit.data.importing.vocabulary import EXTRAS, OURS, bare, listed, meaning, ordered, words
from evalkit.data.schemas import UNSTATED

TITLE = "comparisons of two systems, or ranks"
_CONDITION = "condition|setting|prompt|variant|method|version|setup|config|configuration|strategy|mode|arm"
_NAMED = f"name|id|tag|system|model|label|{_CONDITION}"
#: What heads the systems of a comparison: system_a, model 1, left_system, text1_tag, or what they worked under:
#: system_a_condition, prompt_b.
_OF_SYSTEM = {
    side: re.compile(
        rf"({STEMS}|{_CONDITION})(?:{words_of})({_NAMED})?|(?:{words_of})(system|sys|model|engine|{_CONDITION})({_NAMED})?"
    )
    for side, words_of in WORDS.items()
}
_OTHERS = {ours: text.split() for ours, text in vocabulary.table("comparisons").items()}
_SLOT = re.compile(rf"(?:{STEMS})(\d{{1,2}})({_NAMED})?")
_SLOT_RANK = re.compile(rf"(?:(?:{STEMS})(\d{{1,2}}))?rank(?:ing)?(\d{{1,2}})?")
_RANK = re.compile(r"rank(?:ing)?[\W_]+(?P<after>.{1,60})|(?P<before>.{1,60}?)[\W_]+rank(?:ing)?", re.IGNORECASE)
_FEW = 20  # names of conditions; prompts themselves are more
_ANSWERS = 3  # the first, the second, or a tie
_SHOWN = 20  # pairs of systems whose wins and ties are told
#: Headings of columns that are made.
_SYSTEM, _AGAINST, _SCORE, _HIT, _PLACE = "(system)", "(against)", "(score)", "(comparison)", "(place)"
_TEXT, _SEGMENT, _SCREEN, _RANKED = "(hypothesis)", "(segment)", "(screen)", "(rank)"
_ON_SCREEN = re.compile("left|right|first|second")


# Which columns are what


def names_of(table: Table, options: Options, passed: Iterable[str] = ()) -> dict[str, str]:
    """Map headings to our columns, and to the two systems, their texts and the choice."""
    told = {ours: theirs for ours, theirs in options.single.items() if theirs}
    if told.get("score") in table.header and are_answers(table.samples(told["score"])):
        told.setdefault("preference", told.pop("score"))  # a choice is no score, whatever it is called
    free = [name for name in table.header if name not in {*told.values(), *passed}]
    found: dict[str, str] = {}

    def take(ours: str, fitting: list[str]) -> None:
        fitting = [name for name in fitting if name in free]
        if fitting and ours not in {*found, *told, *options.values, *options.columns}:
            found[ours] = fitting[0]
            free.remove(fitting[0])

    for side, name in zip(SIDES, _sides(table, free) or ()):
        take(f"system_{side}", [name])
    for side in SIDES:
        take(f"hypothesis_{side}", [name for name in free if bare(name) in _OTHERS[f"hypothesis_{side}"]])
    two = {"system_a", "system_b"} <= {*found, *told}
    choices = [name for name in free if bare(name) in ordered("choices")]
    choices += [name for name in free if meaning(name) == "score" and name_two(table.samples(name))]
    if two:
        systems = {cell for side in SIDES for cell in table.samples((told | found)[f"system_{side}"])}
        choosing = [name for name in free if listed("choosing") & {*words(name)}]
        choices += [name for name in choosing if are_answers(table.samples(name), systems)]
    take("preference", sorted(choices, key=_order))
    left = ("hypothesis",) if "hypothesis_a" in found else ()
    for ours in (name for name in (*OURS, "first") if name not in left):
        take(ours, [name for name in free if bare(name) == bare(ours)])
        take(ours, [name for name in free if bare(name) in _OTHERS.get(ours, ())])
        take(ours, [name for name in free if meaning(name) == ours])
    for ours, theirs in (("screen", ("rankingid", "screenid")), ("segment", ("srcindex",))):
        take(ours, [name for name in free if bare(name) in theirs])
    if two and "preference" not in {*found, *told, *options.values}:
        take("score", [name for name in free if listed("leads") & {*words(name)} and _is_numeric(table, name)])
    if "item_type" in found and "item_type" not in told:
        found["domain"] = found.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return found | told


def _is_numeric(table: Table, name: str) -> bool:
    return numbers.is_numeric(table.samples(name))


def _order(name: str) -> int:
    """Put the surest heading of a choice first."""
    surest = ordered("choices")
    return surest.index(bare(name)) if bare(name) in surest else len(surest)


def _sides(table: Table, free: list[str]) -> tuple[str, str] | None:
    """Choose the headings of both systems: pairs that differ in their cells, names before conditions and texts."""
    texts = [name for name in free if not _is_numeric(table, name)]
    named = {side: _of_side(side, texts) for side in SIDES}
    pairs = [(named["a"][parts], named["b"][parts], parts) for parts in named["a"] if parts in named["b"]]
    if not pairs and all(named.values()):
        pairs = [(next(iter(named["a"].values())), next(iter(named["b"].values())), ("",))]

    def order(pair: tuple[str, str, tuple[str, ...]]) -> tuple[bool, bool, bool]:
        cells = table.cells[[*pair[:2]]].head(_FEW * 2 + 9).dropna()
        is_text = bare(pair[0]) in _OTHERS["hypothesis_a"]
        other = is_text or bool({*pair[2]} & {*_CONDITION.split("|")})
        few = max(len(cells) / 2, 0 if is_text else _FEW)
        alike = len(cells) > 0 and bool(cells.iloc[:, 0].eq(cells.iloc[:, 1]).all())
        return other and len({*cells.to_numpy().ravel()}) > few, alike, other

    best = min(pairs, key=order, default=None)
    return best[:2] if best and not order(best)[0] else None  # texts hardly recur


def _of_side(side: str, names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Map what headings say beside the side to those that may name its system."""
    matches = {name: _OF_SYSTEM[side].fullmatch(bare(name)) for name in names}
    return {tuple(one.groups("")): name for name, one in reversed(matches.items()) if one}


def head_two(names: Iterable[str]) -> bool:
    """Tell whether names of fields speak of two systems, or of their translations.

    >>> head_two(["source", "model_left", "model_right"]), head_two(["source", "system"])
    (True, False)
    """
    return bool({*_of_side("a", names)} & {*_of_side("b", names)})


def slots_of(header: list[str]) -> list[tuple[str, str]]:
    """List the columns of systems, each with that of its rank, where every place has both; fewer than two are none.

    >>> slots_of(["system1Number", "system1Id", "system2Id", "system1rank", "system2rank"])
    [('system1Id', 'system1rank'), ('system2Id', 'system2rank')]
    """
    named = {one[1]: name for name in header if (one := _SLOT.fullmatch(bare(name)))}
    ranked = {one[1] or one[2]: name for name in header if (one := _SLOT_RANK.fullmatch(bare(name)))}
    slots = [(named[place], ranked[place]) for place in named if place in ranked]
    return slots if len(slots) > 1 and len(slots) == len(ranked) else []


def ranks_of(header: list[str]) -> dict[str, str]:
    """Map the headings that say rank and a system's name to that name; fewer than two are none.

    >>> ranks_of(["segment", "rank_DeepL", "GPT-4 rank", "rank"])
    {'rank_DeepL': 'DeepL', 'GPT-4 rank': 'GPT-4'}
    """
    if slots_of(header):  # places on a screen, not systems
        return {}
    ranked = {name: one["after"] or one["before"] for name in header if (one := _RANK.fullmatch(name.strip()))}
    return ranked if len(ranked) > 1 else {}


def demand_one(table: Table, options: Options) -> None:
    """Refuse to read rows that compare two systems as judgements of one."""
    names = names_of(table, options)
    if {"system_a", "system_b"} <= {*names} and {"preference", "score"} & {*names} and not slots_of(table.header):
        raise DataError(
            f"{table.name}: each row compares two systems ({names['system_a']} and {names['system_b']}), so none is "
            "the system of the row. Import it with --format preferences, without naming a system."
        )


def lacks(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to be one of comparisons, None where it is far from one; and why it is one."""
    if ranked := ranks_of(table.header):
        names = names_of(table, options, {*ranked})
        if "system" not in names and "score" not in names:
            wanted = [name for name in ("segment", "annotator") if name not in {*names, *options.values}]
            return wanted, f"by its {len(ranked)} columns of ranks, one per system"
    names = names_of(table, options)
    have = {*names, *options.values}
    if slots := slots_of(table.header):
        wanted = [name for name in ("segment", "annotator") if name not in have and "source" not in have]
        return wanted, f"by its {len(slots)} columns of systems with their ranks"
    two = {"system_a", "system_b"} <= {*names} and bool({"preference", "score"} & {*names})
    if "system" in names and not two:
        return None, ""
    wanted = [name for name in ("system_a", "system_b", "preference") if name not in have]
    near = "preference" in have or {"system_a", "system_b"} <= have
    if wanted == ["system_a", "system_b"] and name_two(table.samples(names["preference"])):
        wanted = []
    if wanted == ["preference"] and "score" in names:
        wanted = []
    wanted += ["segment"] if "segment" not in have and "source" not in have else []
    return (wanted if near else None), "by its headings"


# Judgements


def convert(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read comparisons, each as two judgements, or rows of ranks, each as a judgement per system."""
    wanted, _ = lacks(table, options)
    if wanted is None or wanted:
        wanted = wanted or ["system_a", "system_b", "preference"]
        raise DataError(f"{table.name} holds no {TITLE}: it lacks {', '.join(wanted)}. {ways(wanted)}")
    if "system" in options.values or options.columns.get("system"):
        demand_one(table, options)
    ranked, slots = ranks_of(table.header), slots_of(table.header)
    parts = {name for slot in slots for name in slot} or {*ranked}
    names, values = names_of(table, options, parts), dict(options.values)
    maker = "" if parts else names.pop("system", "")
    receipt.describe(names, "layout", [name for name in table.header if name not in {*parts, maker}])
    cells = table.cells
    if "segment" not in {*names, *values} and not ranked:
        digests = mapped_cells(cells[names["source"]], text_digest)
        cells, names["segment"] = cells.assign(**{_SEGMENT: digests}), _SEGMENT
        receipt.segments = "segments are named by their source texts (eight digits of a hash)"
    if maker:
        receipt.note(
            f"{names['system_a']} and {names['system_b']} are what was compared; {maker}, which made both, is part of "
            "the segment's name"
        )
        cells = cells.assign(**{_SEGMENT: cells[names["segment"]] + " " + cells[maker].fillna("")})
        names["segment"] = _SEGMENT
    with_languages(names, values, table, receipt)
    if "doc" not in names:
        values.setdefault("doc", "all")
    if "annotator" not in {*names, *values}:
        values["annotator"] = "unnamed"
        receipt.note(
            "no column names annotators (annotator is 'unnamed'); --value annotator=… names one, --map a column"
        )
    if slots:
        return _ranked(_by_place(cells, slots, receipt), len(slots), names, values, options, receipt)
    if ranked:
        return _ranked(_by_system(cells, ranked, receipt), len(ranked), names, values, options, receipt)
    return _compared(cells, table.name, names, values, options, receipt)


def _compared(
    cells: pd.DataFrame, origin: str, names: dict[str, str], values: dict[str, str], options: Options, receipt: Receipt
) -> Judgements:
    """Turn each comparison into two judgements."""
    systems = _systems(cells, names, values)
    shown = _stood_first(cells, names, systems, receipt)
    asked = names.get("preference") or names.get("score", "")
    answers = cells[asked] if asked else constant(values["preference"], cells.index)
    most, numeric = 0.0, not options.words and numbers.is_numeric([str(cell) for cell in answers.dropna()])
    if numeric and (options.positive or ("preference" not in {*names, *values} and not _few(answers))):
        headings = {
            side: [names[name] for name in (f"system_{side}", f"hypothesis_{side}") if name in names] or [side.upper()]
            for side in SIDES
        }
        worth, most, wrong = leads(answers, systems, headings, options, receipt)
        share = np.sign(worth) / 2 + 0.5
    else:
        share, wrong = shares(answers, systems, options, receipt)
        worth = share
    rejected = []
    for place, (column, reason) in wrong.items():
        name, kind = names.get(column, asked), EXCLUDED if reason == NO_ANSWER else "rejected"
        cell = cells[name].iloc[place] if name in cells else None
        value = cell if isinstance(cell, str) else ""
        rejected.append(Rejection(int(cells.index[place]), name, value, reason, kind))
    sound = np.setdiff1d(np.arange(len(cells)), [*wrong])
    other_worth = (0.0 if most else 1.0) - worth
    first = shown[sound]
    both = pd.concat(
        [
            _half(cells.iloc[sound], names, {one: systems[one].iloc[sound] for one in SIDES}, side, own[sound], first)
            for side, own in zip(SIDES, (worth, other_worth))
        ]
    )
    ours = {name: theirs for name, theirs in names.items() if name in (*OURS, *EXTRAS)}
    ours |= {"system": _SYSTEM, "against": _AGAINST, "score": _SCORE}
    ours |= {name: made for name, made in (("hypothesis", _TEXT), ("screen_place", _PLACE)) if made in both}
    if "hit" not in ours:
        both[_HIT] = pd.array(_comparisons(both, ours, systems, sound), dtype="str")
        ours["hit"] = _HIT
    given = {name: value for name, value in values.items() if name in OURS}
    scale = (-most, most) if most else (0, 1)
    found = converted(both, ours, given, options, scale=scale, note=receipt.note, typed=True)
    lost = {row.line for row in found.rejected}
    found.rejected = sorted([*rejected, *{row.line: row for row in found.rejected}.values()], key=lambda row: row.line)
    ratings = found.ratings[~found.ratings.index.isin(list(lost))].sort_index(kind="stable")
    found.ratings = ratings.assign(item_type="system")  # a person's translation too, for it competes like any other
    found.read, found.names = len(ratings) + len(found.rejected), {"annotator": names.get("annotator", "")}
    found.spans = _spans(cells, found.ratings)
    receipt.orientation = "higher is better: the score is the share of comparisons won, a tie half"
    worth_of = "1 for the one that won, 0.5 for a tie"
    if most:
        receipt.orientation = (
            f"higher is better: the score is how far {asked} favours the system over the other, as --positive tells"
        )
        worth_of = "the number in its favour, below 0 where it is against it"
    receipt.note(
        f"each comparison is two judgements, one of each system: {worth_of}; hit is the comparison, against the other "
        "system"
    )
    kept = [place for place in sound if int(cells.index[place]) not in lost]
    _count(systems["a"].iloc[kept], systems["b"].iloc[kept], share[kept], origin, receipt)
    return found


def _half(
    cells: pd.DataFrame, names: Mapping[str, str], systems: Systems, side: str, worth: np.ndarray, first: np.ndarray
) -> pd.DataFrame:
    """Write the judgements of the systems on one side."""
    other = SIDES[side == "a"]
    half = cells.assign(
        **{
            _SYSTEM: systems[side].array,
            _AGAINST: systems[other].array,
            _SCORE: pd.array([str(float(one)) for one in worth], dtype="str"),
        }
    )
    if (first != "unknown").any():
        half[_PLACE] = pd.array([{side: "1", other: "2"}.get(one) for one in first], dtype="str")
    if f"hypothesis_{side}" in names:
        half[_TEXT] = half[names[f"hypothesis_{side}"]]
    return half


def _few(cells: pd.Series) -> bool:
    """Tell whether numbers are so few, and none below 0, that each is an answer rather than a place on a scale."""
    values = numbers.read(cells)[0]
    return bool(np.nanmin(values) >= 0 and len({*values[np.isfinite(values)]}) <= _ANSWERS)


def _systems(cells: pd.DataFrame, names: dict[str, str], values: dict[str, str]) -> Systems:
    """Name both systems of each comparison: by their columns or, where there are none, by the answers themselves."""
    ours = ("system_a", "system_b")
    if all(name in names or name in values for name in ours):
        return {name[-1]: cells[names[name]] if name in names else constant(values[name], cells.index) for name in ours}
    answers = cells[names["preference"]].dropna()
    said = sorted({answer for answer in answers.unique() if not is_tie(answer)})
    if len({answer.casefold() for answer in said}) != 2:
        raise DataError(
            f"The column {names['preference']} names {len(said)} systems ({', '.join(said[:5])}), so nothing says "
            "which two were compared. Name the columns of both with --map system_a=… --map system_b=…."
        )
    second = next(name for name in said if name.casefold() != said[0].casefold())
    return {"a": constant(said[0], cells.index), "b": constant(second, cells.index)}


def _comparisons(both: pd.DataFrame, ours: dict[str, str], systems: Systems, sound: np.ndarray) -> list[str]:
    """Name each comparison: the segment, what was asked, and both systems in the order they were shown."""
    where = [both[ours[name]].fillna("") for name in ("doc", "segment", "criterion") if name in ours]
    before = [" ".join(filter(None, cells)) for cells in zip(*(cells.iloc[: len(sound)] for cells in where))]
    pairs = zip(before or [""] * len(sound), systems["a"].iloc[sound], systems["b"].iloc[sound])
    return [f"{place}: {a} | {b}" for place, a, b in pairs] * 2


def _count(first: pd.Series, second: pd.Series, share: np.ndarray, origin: str, receipt: Receipt) -> None:
    """Tell wins and ties of each pair of systems."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for a, b, worth in zip(first, second, share):
        pair, own = ((a, b), worth) if a <= b else ((b, a), 1 - worth)
        counts.setdefault(pair, Counter())["tie" if own == 0.5 else "won" if own > 0.5 else "lost"] += 1
    if len(counts) > _SHOWN:
        receipt.note(f"{origin}: {len(counts):,} pairs of systems were compared; the first {_SHOWN} are told")
    for (a, b), count in sorted(counts.items())[:_SHOWN]:
        receipt.note(f"{origin}: {a} against {b}: {count['won']:,} won, {count['tie']:,} ties, {count['lost']:,} lost")


# Which translation stood first


def _stood_first(cells: pd.DataFrame, names: Mapping[str, str], systems: Systems, receipt: Receipt) -> np.ndarray:
    """Return of each comparison which stood first: "a", "b" or "unknown"; and tell the receipt how that is known.

    A column ``first`` tells; so do headings such as left_system, and answers such as "left". Where the file says only A
    and B, A is taken to have stood first if some pair comes in both orders; with one order throughout, place and
    system could not be told apart anyway.
    """
    if "first" in names:
        return _first_told(cells[names["first"]], systems, receipt)
    both = {"system_a", "system_b"} <= {*names}
    headings = [bare(names[f"system_{side}"]) for side in SIDES] if both else []
    answers = cells[names["preference"]].dropna().unique() if "preference" in names else []
    pairs = set(zip(systems["a"].dropna(), systems["b"].dropna()))
    placed = both and (
        all(map(_ON_SCREEN.search, headings)) or any(_ON_SCREEN.search(str(one).casefold()) for one in answers)
    )
    turned = both and any((b, a) in pairs for a, b in pairs)
    if placed:
        receipt.note("which translation stood first (left) is taken from the words left, right, first and second")
    elif turned:
        receipt.note(f"{names['system_a']} is taken to have stood first (left): pairs of systems come in both orders")
    return np.full(len(cells), "a" if placed or turned else "unknown", dtype=object)


def _first_told(cells: pd.Series, systems: Systems, receipt: Receipt) -> np.ndarray:
    """Read a column that says which stood first: A or B, in whatever words, or a system's name."""
    found = np.full(len(cells), "unknown", dtype=object)
    for place, (cell, a, b) in enumerate(zip(cells, systems["a"], systems["b"])):
        if isinstance(cell, str) and a != b:
            found[place] = "a" if cell == a else "b" if cell == b else side_of(cell)
    unread = cells[(found == "unknown") & cells.notna() & cells.str.casefold().ne("unknown")]
    if len(unread):
        receipt.note(
            f"which translation stood first is not known in {len(unread):,} rows, where {cells.name} is neither A, B "
            "nor a system's name"
        )
    return found


# Stretches that were marked in both texts


def _spans(cells: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame | None:
    """Take the stretches marked in both texts, where the file has them under ``annotations``; they have no severity."""
    if "annotations" not in cells and not {"annotations.text1", "annotations.text2"} <= {*cells}:
        return None
    turn = ratings.groupby(level=0).cumcount().to_numpy()  # the first row of a line is that of the first system
    keys = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    rows = []
    for line, place, rating in zip(ratings.index, turn, ratings.to_dict("records")):
        name = f"text{place + 1}"
        if f"annotations.{name}" in cells:
            marks = _listed(cells[f"annotations.{name}"].loc[line])
        else:
            marks = _listed(cells["annotations"].loc[line], name)
        key = [rating[own] for own in keys]
        for mark in marks:
            rows += [(*key, label, *_stretch(mark), rating["against"]) for label in mark.get("labels") or [UNSTATED]]
    spans = pd.DataFrame(rows, columns=[*keys, "error_type", "start", "end", "text", "against"])
    if spans.empty:
        return None
    number = spans.groupby(keys, sort=False).cumcount().add(1).astype("str")
    spans = spans.assign(span=number, severity=UNSTATED, side="target", error_type=spans["error_type"].str.casefold())
    return spans[[*keys, "span", "error_type", "severity", "start", "end", "side", "text", "against"]]


def _listed(cell: object, name: str = "") -> list[dict]:
    """Read a list of marks in JSON; what is none marks nothing."""
    try:
        said = json.loads(cell) if isinstance(cell, str) else []
    except (ValueError, RecursionError):
        return []
    said = said.get(name, []) if name and isinstance(said, dict) else said
    return [mark for mark in said if isinstance(mark, dict)] if isinstance(said, list) else []


def _stretch(mark: dict) -> tuple[float, float, str | None]:
    """Read where a mark lies and its text."""
    start, end = (
        float(one) if type(one) is int and 0 <= one < 1e9 else np.nan for one in (mark.get("start"), mark.get("end"))
    )
    text = mark.get("annotated_text")
    return start, end, text if isinstance(text, str) else None


# Ranks of several translations in one row: a judgement of each system, minus its rank


def _by_system(cells: pd.DataFrame, ranks: dict[str, str], receipt: Receipt) -> pd.DataFrame:
    """Write a column of ranks per system as a row per rank, with its system."""
    receipt.orientation = f"lower is better by the headings ({', '.join(ranks)}): the score is minus the rank"
    return pd.concat(
        [
            cells.assign(**{_SYSTEM: constant(system, cells.index), _RANKED: cells[name]})
            for name, system in ranks.items()
        ]
    )


def _by_place(cells: pd.DataFrame, slots: list[tuple[str, str]], receipt: Receipt) -> pd.DataFrame:
    """Write columns of systems with their ranks as a row per rank; -1 is no rank, as WMT wrote it."""
    headings = ", ".join(rank for _, rank in slots)
    receipt.orientation = f"lower is better by the headings ({headings}): the score is minus the rank"
    parts = [
        cells.assign(**{_SYSTEM: cells[name], _RANKED: cells[rank].mask(cells[rank].isin(["-1", "-1.0"]))})
        for name, rank in slots
    ]
    both = pd.concat(parts)
    return both[both[_SYSTEM].notna() | both[_RANKED].notna()]


def _ranked(
    long: pd.DataFrame, most: int, names: dict[str, str], values: dict[str, str], options: Options, receipt: Receipt
) -> Judgements:
    """Read a judgement per system of each row: minus its rank. most: how many systems a row has."""
    if options.lower_is_better is False:
        raise DataError(
            "Ranks are better the lower they are, 1 the best. Drop --higher-is-better, or rename the columns."
        )
    ours = {name: theirs for name, theirs in names.items() if name in (*OURS, *EXTRAS)}
    given = {name: value for name, value in values.items() if name in OURS}
    part = long[long[_RANKED].notna()]
    receipt.blank_cells += len(long) - len(part)
    part = part.assign(**{_SCREEN: pd.array([f"row {line}" for line in part.index], dtype="str")})
    made = {"system": _SYSTEM, "score": _RANKED, "screen": names.get("screen", _SCREEN)}
    made["hit"] = names.get("hit", made["screen"])  # one person may rank other systems on the same segment again
    found = converted(part, ours | made, given, options, scale=(1, most), note=receipt.note)
    ratings = found.ratings.sort_index(kind="stable")
    kinds = np.where(people(ratings["system"], receipt.note), "reference", "system")
    rejected = sorted(found.rejected, key=lambda row: row.line)
    ratings = ratings.assign(score=0.0 - ratings["score"], item_type=kinds)
    _tell_ranks(ratings, receipt)
    hidden = {"annotator": names.get("annotator", "")}
    return Judgements(ratings, rejected, hidden, (-float(most), -1.0), read=len(ratings) + len(rejected))


def _tell_ranks(ratings: pd.DataFrame, receipt: Receipt) -> None:
    """Tell how many screens there are, and which share of its untied comparisons on them each system won."""
    ranks = ratings[["screen", "annotator", "system", "score"]]
    met = ranks.merge(ranks, on=["screen", "annotator"])
    met = met[met["system_x"].ne(met["system_y"]) & met["score_x"].ne(met["score_y"])]
    won = met["score_x"].gt(met["score_y"]).groupby(met["system_x"]).mean().sort_values(ascending=False)
    told = ", ".join(f"{name} {share:.3f}" for name, share in won.head(_SHOWN).items())
    receipt.note(
        f"{ratings['screen'].nunique():,} screens; share of untied comparisons on a screen that each system won: {told}"
    )
