"""Read preferences: of two translations the better one or a tie, or ranks of several in one row.

A comparison becomes two judgements, one of each system: 1 for the one that won, 0 for the other, .5 for both in a tie.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import numbers, scales, vocabulary
from evalkit.data.importing.judgements import converted, people, with_languages
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import EXCLUDED, Judgements, Rejecting, Table, constant, mapped_cells, text_digest
from evalkit.data.importing.vocabulary import EXTRAS, OURS, bare, listed, meaning, ordered, words
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED

#: What the systems of a comparison are called, and the words for the first and the second.
SIDES = ("a", "b")
STEMS = "system|sys|model|engine|mt|candidate|output|translation|hypothesis|hyp|option|candidatesystem|modelname|text"
WORDS = {"a": "a|1|left|first|one|links|gauche|izquierda", "b": "b|2|right|second|two|rechts|droite|derecha"}
NO_ANSWER = "there is no answer"
_TIE = re.compile(
    r"tie[ds]?|draw|(about |roughly )?(equal(ly)?|the same|same)( good| bad| quality)?|(both|neither|none|no preference"
    r"|nopreference|no difference|indifferent|undecided|similar|equivalent|either|unentschieden|gleich( gut)?|égal"
    r"|empate)( are| is)?( equal(ly)?)?( good| bad| better)?|(a|1|left|t1)? ?=+ ?(b|2|right|t2)?"
)
_HOW = "(much|far|slightly|clearly|strongly|definitely|significantly|somewhat|marginally|a bit|a little)"
_WON = rf"( is| was)?( {_HOW})?( better| best| preferred| wins| won)?"
#: What says how one of two fares, its name left out; the name is a side's, or a system's.
_BETTER = re.compile(rf"((i )?({_HOW} )?prefer(red|s)? |{_HOW} better |better )?(the )?(?P<who>.+?){_WON}")
_WORSE = re.compile(rf"(the )?(?P<who>.+?)( is| was)?( {_HOW})?( worse| worst| loses| lost)")
_SIDE = {side: re.compile(rf"(({STEMS}|t) ?)?({words})( (one|{STEMS}))?") for side, words in WORDS.items()}
_RELATION = re.compile(rf"(?P<one>\w+)? ?(?P<sign>>+|<+|({_HOW} )?(better|worse)( than)?) ?(?P<other>\w+)?")
_BARE = re.compile(rf">+|<+|({_HOW} )?(better|worse)")
_PLAIN = re.compile(r"[+-]?\d{1,3}(\.\d{1,3})?", re.ASCII)
_NONE = re.compile(
    r"((i )?(can'?t|cannot|can not|unable to) (judge|tell|decide|say|compare|answer)|(i )?(don'?t|do not) know"
    r"|skip(ped)?|unsure|not sure|not applicable|not judged|no answer|keine angabe|weiß nicht)( .*)?"
)
_MAP = (
    "Say what each answer is worth for the first system: --map-values ANSWER=1, --map-values ANSWER=0, 0.5 for a tie."
)
_STEPS = 10  # a scale of so many steps to either side may end where its numbers do
_ANSWERED = 0.9  # share of a column's cells that are answers where it holds them
Systems = dict[str, pd.Series]
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
    if slots:  # -1 is no rank, as WMT wrote it
        ranks = {rank: (cells[name], cells[rank].mask(cells[rank].isin(["-1", "-1.0"]))) for name, rank in slots}
        return _ranked(cells, ranks, names, values, options, receipt)
    if ranked:
        ranks = {rank: (constant(system, cells.index), cells[rank]) for rank, system in ranked.items()}
        return _ranked(cells, ranks, names, values, options, receipt)
    return _compared(cells, table.name, names, values, options, receipt)


def _compared(
    cells: pd.DataFrame, origin: str, names: dict[str, str], values: dict[str, str], options: Options, receipt: Receipt
) -> Judgements:
    """Turn each comparison into two judgements."""
    systems = _systems(cells, names, values)
    shown = _stood_first(cells, names, systems, receipt)
    asked = names.get("preference") or names.get("score", "")
    answers = cells[asked] if asked else constant(values["preference"], cells.index)
    reject = Rejecting(cells, names.get("annotator"))
    for side in SIDES:
        column, empty = names.get(f"system_{side}", f"system_{side}"), np.flatnonzero(systems[side].isna())
        reject(empty, column, "is empty: fill it in, or drop the row")
    same = [_name(a) == _name(b) for a, b in zip(systems["a"], systems["b"])]
    itself = "is the system that it is compared with: correct one of them"
    reject(np.flatnonzero(same), names.get("system_b", "system_b"), itself)

    def wrong(place: int, reason: str) -> None:
        reject([place], asked or "preference", reason, EXCLUDED if reason == NO_ANSWER else "rejected")

    most, numeric = 0.0, not options.words and numbers.is_numeric([str(cell) for cell in answers.dropna()])
    if numeric and (options.positive or ("preference" not in {*names, *values} and not _few(answers))):
        headings = {
            side: [names[name] for name in (f"system_{side}", f"hypothesis_{side}") if name in names] or [side.upper()]
            for side in SIDES
        }
        worth, most = _leads(answers, headings, options, receipt, wrong)
        share = np.sign(worth) / 2 + 0.5
    else:
        worth = share = _shares(answers, systems, options, receipt, wrong)
    sound = np.flatnonzero(reject.kept)
    other_worth = (0.0 if most else 1.0) - worth
    first = shown[sound]
    both = pd.concat(
        [
            _half(cells.iloc[sound], names, {one: systems[one].iloc[sound] for one in SIDES}, side, own[sound], first)
            for side, own in zip(SIDES, (worth, other_worth))
        ]
    )
    ours = _known(names) | {"system": _SYSTEM, "against": _AGAINST, "score": _SCORE}
    ours |= {name: made for name, made in (("hypothesis", _TEXT), ("screen_place", _PLACE)) if made in both}
    if "hit" not in ours:
        both[_HIT] = pd.array(_comparisons(both, ours, systems, sound), dtype="str")
        ours["hit"] = _HIT
    scale = (-most, most) if most else (0, 1)
    found = converted(both, ours, _known(values), options, scale=scale, note=receipt.note, typed=True)
    lost = {row.line for row in found.rejected}
    found.rejected = sorted(
        [*reject.rows, *{row.line: row for row in found.rejected}.values()], key=lambda row: row.line
    )
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
    keys = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    turn = ratings.groupby(level=0).cumcount() + 1  # the first row of a line is that of the first system
    rows = []
    for line, place, rating in zip(ratings.index, turn, ratings.to_dict("records")):
        cell, name = cells.loc[line].get(f"annotations.text{place}"), ""
        if f"annotations.text{place}" not in cells:
            cell, name = cells["annotations"].loc[line], f"text{place}"
        key = [rating[own] for own in keys]
        for mark in _listed(cell, name):
            ends = [
                float(one) if type(one) is int and 0 <= one < 1e9 else np.nan
                for one in (mark.get("start"), mark.get("end"))
            ]
            text = mark.get("annotated_text")
            stretch = (*ends, text if isinstance(text, str) else None, rating["against"])
            rows += [(*key, label, *stretch) for label in mark.get("labels") or [UNSTATED]]
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


# Ranks of several translations in one row: a judgement of each system, minus its rank


def _ranked(
    cells: pd.DataFrame,
    ranks: Mapping[str, tuple[pd.Series, pd.Series]],
    names: dict[str, str],
    values: dict[str, str],
    options: Options,
    receipt: Receipt,
) -> Judgements:
    """Read a judgement per system of each row: minus its rank. ranks: heading -> the systems, and the ranks."""
    if options.lower_is_better is False:
        raise DataError(
            "Ranks are better the lower they are, 1 the best. Drop --higher-is-better, or rename the columns."
        )
    receipt.orientation = f"lower is better by the headings ({', '.join(ranks)}): the score is minus the rank"
    parts = [cells.assign(**{_SYSTEM: system, _RANKED: rank}) for system, rank in ranks.values()]
    long = pd.concat(parts).dropna(how="all", subset=[_SYSTEM, _RANKED])
    part = long[long[_RANKED].notna()]
    receipt.blank_cells += len(long) - len(part)
    part = part.assign(**{_SCREEN: pd.array([f"row {line}" for line in part.index], dtype="str")})
    made = {"system": _SYSTEM, "score": _RANKED, "screen": names.get("screen", _SCREEN)}
    made["hit"] = names.get("hit", made["screen"])  # one person may rank other systems on the same segment again
    ours, given, most = _known(names), _known(values), len(ranks)
    found = converted(part, ours | made, given, options, scale=(1, most), note=receipt.note, lower=True)
    ratings = found.ratings.sort_index(kind="stable")
    kinds = np.where(people(ratings["system"], receipt.note), "reference", "system")
    found.ratings = ratings.assign(item_type=kinds)
    found.rejected = sorted(found.rejected, key=lambda row: row.line)
    found.names, found.read = {"annotator": names.get("annotator", "")}, len(ratings) + len(found.rejected)
    _tell_ranks(found.ratings, receipt)
    return found


def _known(names: Mapping[str, str]) -> dict[str, str]:
    """Keep what is of our columns."""
    return {name: theirs for name, theirs in names.items() if name in (*OURS, *EXTRAS)}


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


# What somebody answered who was asked which of two is better, in whatever words or numbers


def is_tie(answer: str) -> bool:
    """Tell whether an answer says that neither translation is better.

    >>> is_tie("No preference"), is_tie("A")
    (True, False)
    """
    return bool(_TIE.fullmatch(_folded(answer)))


def side_of(answer: str) -> str:
    """Say which of two an answer names by its place as the better one: "a", "b", or "unknown".

    >>> side_of("left"), side_of("System B is slightly better"), side_of("A is worse"), side_of("both")
    ('a', 'b', 'b', 'unknown')
    >>> side_of("A > B"), side_of("2>1"), side_of("<"), side_of("worse")
    ('a', 'b', 'b', 'b')
    """
    answer = _folded(answer)
    if one := _placed(answer):
        return one
    if related := _RELATION.fullmatch(answer):
        one, other = (_placed(related[name] or side) for name, side in (("one", "a"), ("other", "b")))
        if one and other and one != other:
            return other if "<" in related["sign"] or "worse" in related["sign"] else one
    for pattern, other_wins in ((_WORSE, True), (_BETTER, False)):
        if (said := pattern.fullmatch(answer)) and (one := _placed(said["who"])):
            return SIDES[(one == "a") == other_wins]
    return "unknown"


def _placed(name: str) -> str:
    """Say which side a name is that stands for a place; empty where it is none."""
    return next((side for side in SIDES if _SIDE[side].fullmatch(name)), "")


def are_answers(cells: list[str], systems: Iterable[str] = ()) -> bool:
    """Tell whether cells say in words which of two is better: nearly all that say anything, and one names a side.

    systems: names that an answer may give instead.

    >>> are_answers(["a", "tie", "b", "n/a"]), are_answers(["tie", "same"]), are_answers(["a", "cat", "b", "dog"])
    (True, False, False)
    """
    said = [cell for cell in cells if cell.casefold() not in numbers.ABSENT and not _NONE.fullmatch(_folded(cell))]
    said = [cell for cell in said if not _PLAIN.fullmatch(cell)]
    ties = [is_tie(cell) for cell in said]
    sided = [
        side_of(cell) != "unknown" or isinstance(_meant(cell, [*systems]), float)
        for cell, tie in zip(said, ties)
        if not tie
    ]
    return any(sided) and sum(sided) + sum(ties) >= _ANSWERED * len(said) and len(said) > len(cells) / 2


def name_two(cells: list[str]) -> bool:
    """Tell whether answers are two names and a word for a tie, as mt, human, tie."""
    answers = {cell.casefold() for cell in cells}
    ties = {answer for answer in answers if _TIE.fullmatch(answer)}
    return bool(ties) and len(answers - ties) == 2 and not any(map(_PLAIN.fullmatch, answers))


def _name(text: str) -> str:
    """Write a name so that spellings which differ in case or outer spaces only are one."""
    return plain(str(text)).casefold().strip()


def _folded(text: str) -> str:
    """Write an answer plainly: small, its words cut by single spaces."""
    return " ".join(re.sub(r"[_\s.:!-]+", " ", plain(str(text)).casefold()).split())


def _meant(answer: str, pair: list[str]) -> float | str:
    """Say what an answer is worth for the first system, or why that cannot be told.

    >>> _meant("tie", ["x", "y"]), _meant("y", ["x", "y"]), _meant("left", ["x", "y"]), _meant("system b", ["x", "y"])
    (0.5, 0.0, 1.0, 0.0)
    >>> _meant("b", ["b", "a"])
    'is the name of one system and the place of the other: name the systems otherwise, or pass --map-values'
    """
    folded = _folded(answer)
    said = [(_name(answer), 1.0), (folded, 1.0)]
    for pattern, worth in ((_WORSE, 0.0), (_BETTER, 1.0)):
        said += [(one["who"], worth)] if (one := pattern.fullmatch(folded)) else []
    named = [
        abs(worth - (place > 0))
        for who, worth in said
        for place, name in enumerate(pair)
        if who in (_name(name), _folded(name))
    ]
    sided = {"a": 1.0, "b": 0.0}.get(side_of(answer))
    if named and sided is not None and named[0] != sided:
        return "is the name of one system and the place of the other: name the systems otherwise, or pass --map-values"
    if named or sided is not None:
        return named[0] if sided is None else sided
    return 0.5 if is_tie(answer) else f"is neither A, B nor a tie, nor a system's name: correct it. {_MAP}"


def _numbers(figures: set[str], options: Options, receipt: Receipt) -> dict[str, float]:
    """Say what numbers mean as answers: 1 and 2 the places, 0 a tie; numbers on both sides of 0 lean to one of them.

    Raises DataError where that is ambiguous.
    """
    value = {text: float(text.replace("−", "-")) for text in figures}
    there = {*value.values()}
    if not there:
        return {}
    if min(there) < 0:
        ends = f"from {min(there):g} to {max(there):g}"
        if options.lower_is_better is None:
            raise DataError(
                f"Preferences go {ends}, and nothing says towards which system. Pass --positive A or --positive B, the "
                "system that higher numbers prefer, to keep their strength. To count who won, pass --higher-is-better "
                "if higher numbers prefer the first system, --lower-is-better if lower ones do."
            )
        sign = -1 if options.lower_is_better else 1
        receipt.note(f"preferences {ends} count as won, lost or, where they are 0, a tie; their strength is not used")
        return {text: float(np.sign(sign * number)) / 2 + 0.5 for text, number in value.items()}
    if there <= {0.0, 1.0, 2.0} and 2.0 in there:
        tie = ", 0 as a tie" if 0 in there else ""
        receipt.note(f"preference 1 was read as the first system, 2 as the second{tie}")
        return {text: {0.0: 0.5, 1.0: 1.0, 2.0: 0.0}[number] for text, number in value.items()}
    shown = ", ".join(f"{number:g}" for number in sorted(there)[:8])
    raise DataError(
        f"Preferences are the numbers {shown}, and nothing says what they mean. {_MAP} Where they are a scale from one "
        "system to the other, pass --positive A or --positive B, the system that higher numbers prefer, and --scale."
    )


def _shares(
    answers: pd.Series, systems: Systems, options: Options, receipt: Receipt, wrong: Callable[[int, str], None]
) -> np.ndarray:
    """Return what each answer is worth for the first system: 1, .5 or 0; NaN where it is none, which is told."""
    distinct = [str(answer) for answer in answers.dropna().unique()]
    figures = {answer for answer in distinct if _PLAIN.fullmatch(answer.replace("−", "-"))}
    worth = {answer: options.words[answer.casefold()] for answer in distinct if answer.casefold() in options.words}
    worth |= _numbers(figures, options, receipt) if not options.words else {}
    ties = {_folded(answer) for answer in distinct if is_tie(answer)} - {"none", "both", "neither"}
    none = numbers.ABSENT - (set() if ties else {"none"})  # where "tie" is a tie, "none" is no answer
    if bare_ones := [answer for answer in distinct if _BARE.fullmatch(_folded(answer))]:
        receipt.note(
            f"{', '.join(map(repr, bare_ones[:5]))} was taken to speak of the first system, against the second; "
            "--map-values tells otherwise"
        )
    share = np.full(len(answers), np.nan)
    for place, (answer, *pair) in enumerate(zip(answers, systems["a"], systems["b"])):
        said: float | str | None = worth.get(answer)
        if said is None and (pd.isna(answer) or answer.casefold() in none or _NONE.fullmatch(_folded(answer))):
            said = NO_ANSWER
        elif said is None:
            said = _meant(answer, [str(name) for name in pair])
        if isinstance(said, str):
            wrong(place, said)
        elif said is not None and 0 <= said <= 1:
            share[place] = said
        else:
            wrong(place, f"is worth {said:g}, outside 0-1: correct --map-values")
    return share


def _leads(
    cells: pd.Series,
    headings: dict[str, list[str]],
    options: Options,
    receipt: Receipt,
    wrong: Callable[[int, str], None],
) -> tuple[np.ndarray, float]:
    """Read numbers on a scale from one system to the other: the first one's lead, and the most it can be.

    headings: what names either side, which ``--positive`` may say. The middle of the scale that is told, else 0, is no
    preference. Raises DataError where nothing says whose side high numbers are on, or which number is the middle.
    """
    values, unread = numbers.read(cells, options.decimal)
    said = values[np.isfinite(values)]
    ends, middle = f"from {said.min():g} to {said.max():g}" if len(said) else "of none", 0.0
    ways = " or ".join(f"--positive {shlex.quote(headings[side][0])}" for side in SIDES)
    favoured = [side for side in SIDES if options.positive in headings[side] or side_of(options.positive) == side]
    if options.positive and len(favoured) != 1:
        sides = ", ".join(headings["a"] + headings["b"])
        raise DataError(f"--positive {options.positive!r:.60} is none of {sides}. Pass {ways}.")
    scale = options.scale
    if not favoured or (not scale and len(said) and said.min() >= 0):
        scaled = "" if len(said) and said.min() < 0 else " with --scale LOW:HIGH, whose middle is no preference"
        raise DataError(
            f"{cells.name} is one number for two systems ({ends}), and nothing says which of them higher numbers favour"
            f"{', or which number is no preference' * bool(scaled)}. Pass {ways}{scaled}."
        )
    if scale:
        middle, most = (scale[0] + scale[1]) / 2, (scale[1] - scale[0]) / 2
    else:
        most = float(np.ceil(np.abs(said).max())) if len(said) else 1.0
        most = most if most <= _STEPS else max(most, 100.0)
        receipt.scale_from = f"{scales.GUESSED} ({ends}); --scale LOW:HIGH states another"
    for place, reason in (unread | numbers.off_scale(values, (middle - most, middle + most))).items():
        wrong(place, NO_ANSWER if reason.startswith(numbers.MISSING) else reason)
    return (values - middle) * (1.0 if favoured[0] == "a" else -1.0), most
