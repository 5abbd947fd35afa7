"""Read preferences: of two translations the better one or a tie, or ranks of several in one row.

A comparison becomes two judgements, one of each system: 1 for the one that won, 0 for the other, .5 for both in a tie.
"""

import re
import shlex
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import numbers, scales, vocabulary
from evalkit.data.importing.judgements import Rows
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.scales import Ends
from evalkit.data.importing.tables import EXCLUDED, Judgements, Table, constant, mapped_cells, text_digest
from evalkit.data.importing.vocabulary import OURS, bare, fitting, listed, meaning, ordered, words
from evalkit.data.names import plain

#: The two systems of a comparison.
SIDES = ("a", "b")
_HEADINGS, _WORDS = vocabulary.lists("comparisons"), vocabulary.lists("answers")
_PLACES = {side: "|".join(_WORDS[side]) for side in SIDES}
#: What a system is called in headings; what else may have been compared, such as prompts of one system.
STEMS, _CONDITION = "|".join(_WORDS["stems"]), "|".join(_WORDS["conditions"])
_NAMED = f"name|id|tag|system|model|label|{_CONDITION}"
#: What heads the systems of a comparison: system_a, model 1, left_system, text1_tag, or what they worked under:
#: system_a_condition, prompt_b.
_OF_SYSTEM = {
    side: re.compile(
        rf"({STEMS}|{_CONDITION})(?:{place})({_NAMED})?|(?:{place})(system|sys|model|engine|{_CONDITION})({_NAMED})?"
    )
    for side, place in _PLACES.items()
}
_SLOT = re.compile(rf"(?:{STEMS})(\d{{1,2}})({_NAMED})?")
_SLOT_RANK = re.compile(rf"(?:(?:{STEMS})(\d{{1,2}}))?rank(?:ing)?(\d{{1,2}})?")
_RANK = re.compile(r"rank(?:ing)?[\W_]+(?P<after>.{1,60})|(?P<before>.{1,60}?)[\W_]+rank(?:ing)?", re.IGNORECASE)
#: What names a side in an answer, its words written as one.
_SIDE = {side: re.compile(rf"(?:{STEMS}|t)?(?:{place})(?:one|{STEMS})?") for side, place in _PLACES.items()}
_ON_SCREEN = re.compile("left|right|first|second")
_NUMBER = re.compile(r"[+-]?\d{1,3}(\.\d{1,3})?", re.ASCII)
_MAP = (
    "Say what each answer is worth for the first system: --map-values ANSWER=1, --map-values ANSWER=0, 0.5 for a tie."
)
_STEPS = 10  # a scale of so many steps to either side may end where its numbers do
_ANSWERED = 0.9  # share of a column's cells that are answers where it holds them
_FEW = 20  # names of conditions; prompts themselves are more
_SHOWN = 20  # pairs of systems whose wins and ties are told
Systems = dict[str, pd.Series]


# Which columns are what


@dataclass(frozen=True)
class Columns:
    """What the columns of a table of comparisons are, and what it lacks to be one.

    names: ours -> the heading; ours are system_a and system_b, hypothesis_a and hypothesis_b, preference (who won),
    score (how far one leads), first (who stood first) besides those of judgements. ranks: column of ranks -> the column
    of the systems at that place of a screen (on_screen), or the system that its heading names. lacks: None where the
    table is far from one of comparisons. why: by what it is one.
    """

    names: dict[str, str]
    ranks: dict[str, str]
    on_screen: bool = False
    lacks: list[str] | None = None
    why: str = "by its headings"

    @property
    def compares(self) -> bool:
        """Whether a row compares two systems and says how."""
        answered = {"preference", "score"} & {*self.names}
        return {"system_a", "system_b"} <= {*self.names} and bool(answered) and not self.on_screen


def columns(table: Table, options: Options) -> Columns:
    """Find out which columns are the two systems, the answer or the lead, or systems and their ranks."""
    ranks, on_screen = _ranks(table.header)
    names = _names(table, options, {*ranks, *(ranks.values() if on_screen else ())})
    if ranks and not on_screen and {"system", "score"} & {*names}:
        ranks, names = {}, _names(table, options, ())
    have = {*names, *options.values}
    if ranks:
        what = "columns of systems with their ranks" if on_screen else "columns of ranks, one per system"
        needed = () if on_screen and "source" in have else ("segment", "annotator")
        wanted = [name for name in needed if name not in have]
        return Columns(names, ranks, on_screen, wanted, f"by its {len(ranks)} {what}")
    found = Columns(names, {})
    if ("system" in names and not found.compares) or not ("preference" in have or {"system_a", "system_b"} <= have):
        return found
    wanted = [name for name in ("system_a", "system_b", "preference") if name not in have]
    by_answers = wanted == ["system_a", "system_b"] and name_two(table.samples(names["preference"]))
    if by_answers or (wanted == ["preference"] and "score" in names):
        wanted = []
    return replace(found, lacks=wanted + ["segment"] * (not {"segment", "source"} & have))


def lacks(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to be one of comparisons, None where it is far from one; and why it is one."""
    found = columns(table, options)
    return found.lacks, found.why


def demand_one(table: Table, options: Options) -> None:
    """Refuse to read rows that compare two systems as judgements of one."""
    if (found := columns(table, options)).compares:
        raise DataError(
            f"{table.name}: each row compares two systems ({found.names['system_a']} and {found.names['system_b']}), "
            "so none is the system of the row. Import it with --format preferences, without naming a system."
        )


def head_two(names: Iterable[str]) -> bool:
    """Tell whether names of fields speak of two systems, or of their translations.

    >>> head_two(["source", "model_left", "model_right"]), head_two(["source", "system"])
    (True, False)
    """
    return bool({*_of_side("a", names)} & {*_of_side("b", names)})


def _names(table: Table, options: Options, passed: Collection[str]) -> dict[str, str]:
    """Map our names to headings: those that the user tells, then the systems, the answer, and all others."""
    names = {ours: theirs for ours, theirs in options.single.items() if theirs}
    if names.get("score") in table.header and are_answers(table.samples(names["score"])):
        names.setdefault("preference", names.pop("score"))  # a choice is no score, whatever it is called
    told = {*names}
    free = [name for name in table.header if name not in {*names.values(), *passed}]

    def take(ours: str, fitting: list[str]) -> None:
        """Give a column of ours the first heading that fits, where it has none yet."""
        if fitting and ours not in {*names, *options.values, *options.columns}:
            names[ours] = fitting[0]
            free.remove(fitting[0])

    for side, heading in zip(SIDES, _sides(table, free) or ()):
        take(f"system_{side}", [heading])
    two = {"system_a", "system_b"} <= {*names}
    systems = {cell for side in SIDES for cell in table.samples(names[f"system_{side}"])} if two else set()
    take("preference", fitting("preference", free, ordered("choices")))
    take("preference", [name for name in free if meaning(name) == "score" and name_two(table.samples(name))])
    choosing = [name for name in free if two and listed("choosing") & {*words(name)}]
    take("preference", [name for name in choosing if are_answers(table.samples(name), systems)])
    for ours in ("hypothesis_a", "hypothesis_b", *OURS, "first", "screen"):
        if ours != "hypothesis" or "hypothesis_a" not in names:
            take(ours, fitting(ours, free, [ours, *_HEADINGS.get(ours, ())]))
    take("segment", [name for name in free if bare(name) == "srcindex"])
    if two and "preference" not in {*names, *options.values}:
        leads = [name for name in free if listed("leads") & {*words(name)}]
        take("score", [name for name in leads if numbers.is_numeric(table.samples(name))])
    if "item_type" in names and "item_type" not in told:
        names["domain"] = names.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return names


def _sides(table: Table, free: list[str]) -> tuple[str, str] | None:
    """Choose the headings of both systems: pairs that differ in their cells, names before conditions and texts."""
    texts = [name for name in free if not numbers.is_numeric(table.samples(name))]
    first, second = (_of_side(side, texts) for side in SIDES)
    pairs = [(first[parts], second[parts], parts) for parts in first if parts in second]

    def order(pair: tuple[str, str, tuple[str, ...]]) -> tuple[bool, bool, bool]:
        cells = table.cells[[*pair[:2]]].head(_FEW * 2 + 9).dropna()
        is_text = bare(pair[0]) in _HEADINGS["hypothesis_a"]
        other = is_text or bool({*pair[2]} & {*_WORDS["conditions"]})
        few = max(len(cells) / 2, 0 if is_text else _FEW)
        alike = len(cells) > 0 and bool(cells.iloc[:, 0].eq(cells.iloc[:, 1]).all())
        return other and len({*cells.to_numpy().ravel()}) > few, alike, other

    best = min(pairs, key=order, default=None)
    return best[:2] if best and not order(best)[0] else None  # texts hardly recur


def _of_side(side: str, names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Map what headings say beside the side to those that may name its system."""
    matches = {name: _OF_SYSTEM[side].fullmatch(bare(name)) for name in names}
    return {tuple(one.groups("")): name for name, one in reversed(matches.items()) if one}


def _ranks(header: list[str]) -> tuple[dict[str, str], bool]:
    """Map columns of ranks to those of the systems on a screen, where every place has both; else to systems' names.

    The second value tells which. Fewer than two are none.

    >>> _ranks(["system1Number", "system1Id", "system2Id", "system1rank", "system2rank"])
    ({'system1rank': 'system1Id', 'system2rank': 'system2Id'}, True)
    >>> _ranks(["segment", "rank_DeepL", "GPT-4 rank", "rank"])
    ({'rank_DeepL': 'DeepL', 'GPT-4 rank': 'GPT-4'}, False)
    """
    named = {one[1]: name for name in header if (one := _SLOT.fullmatch(bare(name)))}
    ranked = {one[1] or one[2]: name for name in header if (one := _SLOT_RANK.fullmatch(bare(name)))}
    if 1 < len(ranked) == len({*named} & {*ranked}):
        return {ranked[place]: named[place] for place in named if place in ranked}, True
    ranks = {name: one["after"] or one["before"] for name in header if (one := _RANK.fullmatch(name.strip()))}
    return (ranks if len(ranks) > 1 else {}), False


# Judgements


def convert(rows: Rows) -> Judgements:
    """Read comparisons, each as two judgements, or rows of ranks, each as a judgement per system."""
    table, options, receipt = rows.table, rows.options, rows.receipt
    if "system" in options.values or options.columns.get("system"):
        demand_one(table, options)
    found = columns(table, options)
    rows.names = names = dict(found.names)
    own = {*found.ranks, *(found.ranks.values() if found.on_screen else ())}
    maker = "" if own else names.pop("system", "")
    header = [name for name in table.header if name not in {*own, maker, names.get("segment")}]
    if "segment" not in rows.known:
        rows.give(segment=mapped_cells(rows.column("source"), text_digest))
        receipt.segments = "segments are named by their source texts (eight digits of a hash)"
    if maker:
        rows.note(f"{maker}, which made both of what was compared, is part of the segment's name")
        rows.give(segment=rows.column("segment") + " " + rows.cells[maker].fillna(""))
    if "annotator" not in rows.known:
        rows.values["annotator"] = "unnamed"
        rows.note("no column names annotators (annotator is 'unnamed'); --value annotator=… names one, --map a column")
    rows.complete(header, made=["system", "score"])
    read = _ranked(rows, found) if own else _compared(rows)
    read.ratings = read.ratings.sort_index(kind="stable")
    read.names, read.read = {"annotator": names.get("annotator", "")}, len(read.ratings) + len(rows.gone)
    return read


def _compared(rows: Rows) -> Judgements:
    """Turn each comparison into two judgements."""
    names, cells = rows.names, rows.cells
    systems, ours = _systems(rows), "preference" if "preference" in rows.known else "score"
    asked = names.get(ours, ours)
    worth, wrong, scale = _worth(rows, rows.column(ours), systems)
    same = systems["a"].str.casefold().eq(systems["b"].str.casefold())
    itself = "is the system that it is compared with: correct one of them"
    rows.reject(np.flatnonzero(same), names.get("system_b", "system_b"), itself)
    rows.refuse(asked, wrong)
    rows.reject(np.flatnonzero(np.isnan(worth)), asked, "there is no answer", EXCLUDED)
    made = {"system": systems["a"], "against": systems["b"], "score": pd.Series(worth, cells.index).map(repr)}
    if "hit" not in names:
        where = [cells[names[name]].fillna("") for name in ("doc", "segment", "criterion") if name in names]
        named = [" ".join(filter(None, parts)) for parts in zip(constant("", cells.index), *where)]
        each = [f"{place}: {a} | {b}" for place, a, b in zip(named, systems["a"], systems["b"])]
        made["hit"] = pd.Series(each, cells.index, dtype="str")  # text, though no row may be left
    if (place := _stood_first(rows, systems)) is not None:
        made["screen_place"] = place
    if {"hypothesis_a", "hypothesis_b"} & {*names}:
        made["hypothesis"] = rows.column("hypothesis_a")
    rows.give(**made)
    rows.values["item_type"] = "system"  # a person's translation too, for it competes like any other
    found = rows.judgements(scale=scale)
    one = found.ratings
    other = one.assign(system=one["against"], against=one["system"], score=sum(scale) - one["score"])
    if "screen_place" in one:
        other["screen_place"] = 3 - one["screen_place"]
    if "hypothesis" in one:
        other["hypothesis"] = rows.column("hypothesis_b").loc[one.index]
    found.ratings = pd.concat([one, other]).sort_index(kind="stable")
    _tell_wins(found.ratings, sum(scale) / 2, rows.table.name, rows.receipt)
    return found


def _systems(rows: Rows) -> Systems:
    """Name both systems of each comparison: by their columns or, where there are none, by the answers themselves."""
    if {"system_a", "system_b"} <= rows.known:
        looks, own = rows.options.looks, {side: rows.column(f"system_{side}") for side in SIDES}
        return {side: looks.alike(pd.DataFrame({"system": cells}))["system"] for side, cells in own.items()}
    answers = rows.column("preference").dropna()
    said = {answer.casefold(): answer for answer in sorted(answers.unique(), reverse=True) if not is_tie(answer)}
    if len(said) != 2:
        raise DataError(
            f"The column {rows.names['preference']} names {len(said)} systems ({', '.join([*said.values()][:5])}). "
            "Name the columns of the two that were compared: --map system_a=… --map system_b=…."
        )
    return {side: constant(name, rows.cells.index) for side, name in zip(SIDES, sorted(said.values()))}


def _tell_wins(ratings: pd.DataFrame, middle: float, origin: str, receipt: Receipt) -> None:
    """Tell wins and ties of pairs of systems. ratings: two a comparison, of which each pair keeps the same one."""
    one = ratings[ratings["system"] < ratings["against"]]
    lead = np.sign(one["score"] - middle)
    counts = pd.crosstab([one["system"], one["against"]], lead).reindex(columns=[1, 0, -1], fill_value=0)
    for (first, second), (won, ties, lost) in zip(counts.index[:_SHOWN], counts.to_numpy().tolist()):
        receipt.note(f"{origin}: {first} against {second}: {won:,} won, {ties:,} ties, {lost:,} lost")


def _stood_first(rows: Rows, systems: Systems) -> pd.Series | None:
    """Return the place of each comparison's first system, or unknown; None where nothing tells. The receipt says how.

    A column ``first`` tells: A or B, in whatever words, or a system's name. So do headings such as left_system, and
    answers such as "left". Where the file says only A and B, A is taken to have stood first if some pair comes in both
    orders; with one order throughout, place and system could not be told apart anyway.
    """
    names, cells = rows.names, rows.cells
    if "first" in names:
        told = zip(cells[names["first"]].fillna("unknown"), systems["a"].fillna(""), systems["b"].fillna(""))
        place: dict[float | str, str] = {1.0: "1", 0.0: "2"}
        found = pd.Series([place.get(_meant(said, pair)) for said, *pair in told], cells.index)
        return found if found.notna().any() else None
    if not {"system_a", "system_b"} <= {*names}:
        return None
    answers = cells[names["preference"]].dropna().unique() if "preference" in names else []
    pairs = {*zip(systems["a"].dropna(), systems["b"].dropna())}
    headed = all(_ON_SCREEN.search(bare(names[f"system_{side}"])) for side in SIDES)
    if headed or any(_ON_SCREEN.search(answer.casefold()) for answer in answers):
        rows.note("which translation stood first (left) is taken from the words left, right, first and second")
    elif any((b, a) in pairs for a, b in pairs):
        rows.note(f"{names['system_a']} is taken to have stood first (left): pairs of systems come in both orders")
    else:
        return None
    return constant("1", cells.index)


# Ranks of several translations in one row: a judgement of each system, minus its rank


def _ranked(rows: Rows, found: Columns) -> Judgements:
    """Read a judgement per system of each row: minus its rank."""
    if rows.options.lower_is_better is False:
        raise DataError("Ranks are better the lower they are, 1 the best. Drop --higher-is-better.")
    cells = rows.cells.assign(**{"(screen)": [f"row {line}" for line in rows.lines]}).set_axis(rows.lines)
    ranks, others = [*found.ranks], [name for name in cells if name not in found.ranks]
    long = cells.melt(others, ranks, "(heading)", "(score)", ignore_index=False)
    named = cells[[*found.ranks.values()]].melt()["value"] if found.on_screen else long["(heading)"].map(found.ranks)
    long = long.assign(**{"(system)": named.array}).dropna(how="all", subset=["(system)", "(score)"])
    there = long["(score)"].notna() & ~(long["(score)"].isin(["-1", "-1.0"]) & found.on_screen)  # as WMT wrote none
    rows.receipt.blank_cells += int((~there).sum())
    rows.receipt.orientation = f"lower is better by the headings ({', '.join(ranks)}): the score is minus the rank"
    rows.take(long[there].sort_index(kind="stable"))
    screen = rows.names.get("screen", "(screen)")  # one person may rank other systems on the same segment again
    rows.names |= {"system": "(system)", "score": "(score)", "screen": screen}
    rows.names.setdefault("hit", screen)
    read = rows.judgements(scale=(1, len(ranks)), lower={""})
    for row in (row for row in rows.gone.values() if row.column == "(score)"):
        row.column = rows.cells["(heading)"][row.line]
    _tell_ranks(read.ratings, rows.receipt)
    return read


def _tell_ranks(ratings: pd.DataFrame, receipt: Receipt) -> None:
    """Tell how many screens there are, and which share of its untied comparisons on them each system won."""
    ranks = ratings[["screen", "annotator", "system", "score"]]
    met = ranks.merge(ranks, on=["screen", "annotator"])
    met = met[met["system_x"].ne(met["system_y"]) & met["score_x"].ne(met["score_y"])]
    won = met["score_x"].gt(met["score_y"]).groupby(met["system_x"]).mean().sort_values(ascending=False)
    told = ", ".join(f"{name} {share:.3f}" for name, share in won.head(_SHOWN).items())
    receipt.note(f"{ratings['screen'].nunique():,} screens; share of untied comparisons that each system won: {told}")


# What somebody answered who was asked which of two is better, in words


def _said(text: str) -> list[str]:
    """Cut an answer into its words, small, without those that change nothing; signs are words.

    >>> _said("System A is a bit better!"), _said("A>>B")
    (['system', 'a'], ['a', '>', 'b'])
    """
    small = re.sub(r"([<>=])\1*", r" \1 ", plain(str(text)).casefold().replace("'", ""))
    small = " ".join(re.split(r"[_\s.:!-]+", small))
    small = re.sub(r"\ba (bit|little)\b", "", small)
    return [word for word in small.split() if word not in _WORDS["beside"]]


def is_tie(answer: str) -> bool:
    """Tell whether an answer says that neither translation is better.

    >>> is_tie("No preference"), is_tie("both are equally good"), is_tie("A = B"), is_tie("A")
    (True, True, True, False)
    """
    said = [word for word in _said(answer) if word not in _WORDS["how_good"]]
    if "=" in said:
        sides = " ".join(said).split("=")
        return all(not side.strip() or _sides_named(side.split(), ()) for side in sides)
    return bool(said) and ("".join(said) in _WORDS["tie"] or all(word in _WORDS["tie"] for word in said))


def is_none(answer: str) -> bool:
    """Tell whether an answer says that there is none.

    >>> is_none("I can't tell"), is_none("not sure, sorry"), is_none("tie")
    (True, True, False)
    """
    return "".join(_said(answer)).startswith(tuple(_WORDS["none"]))


def _winners(answer: str, pair: Iterable[str] = ()) -> set[str]:
    """Say which side is the better one by an answer: none where it says none, both where it can be read either way.

    pair: the names of both systems. Signs compare what stands before them, else the first side, with what stands behind
    them, else the other.

    >>> [_winners(answer) for answer in ("left", "System B is slightly better", "A > B", "2>1", "<")]
    [{'a'}, {'b'}, {'a'}, {'b'}, {'b'}]
    >>> _winners("both"), _winners("y", ["x", "y"]), sorted(_winners("b", ["b", "a"]))
    (set(), {'b'}, ['a', 'b'])
    """
    said = _said(answer)
    if not said or (_NUMBER.fullmatch(answer) and said != [answer]):  # -1 is no place
        return set()
    sign = next((at for at, word in enumerate(said) if word in ("<", ">")), None)
    if sign is None:
        return _sides_named(said, pair)
    before = _sides_named(said[:sign], pair) if sign else {"a"}
    behind = _sides_named(said[sign + 1 :], pair) if said[sign + 1 :] else {*SIDES} - before
    clear = len(before) == len(behind) == 1 and before != behind
    return (before if said[sign] == ">" else behind) if clear else set()


def _sides_named(said: list[str], pair: Iterable[str]) -> set[str]:
    """Say which sides words name, by their places or by their systems' names."""
    named = {side for side, name in zip(SIDES, pair) if _said(name) == said}
    return named | {side for side in SIDES if _SIDE[side].fullmatch("".join(said))}


def _meant(answer: str, pair: Iterable[str]) -> float | str:
    """Say what an answer is worth for the first system, or why that cannot be told.

    >>> _meant("tie", ["x", "y"]), _meant("y", ["x", "y"]), _meant("left", ["x", "y"]), _meant("system b", ["x", "y"])
    (0.5, 0.0, 1.0, 0.0)
    >>> _meant("b", ["b", "a"])
    'is the name of one system and the place of the other: name the systems otherwise, or pass --map-values'
    """
    won = _winners(answer, pair)
    if len(won) > 1:
        return "is the name of one system and the place of the other: name the systems otherwise, or pass --map-values"
    if won:
        return 1.0 if won == {"a"} else 0.0
    return 0.5 if is_tie(answer) else f"is neither A, B nor a tie, nor a system's name: correct it. {_MAP}"


def are_answers(cells: list[str], systems: Iterable[str] = ()) -> bool:
    """Tell whether cells say in words which of two is better: nearly all that say anything, and one names a side.

    systems: names that an answer may give instead.

    >>> are_answers(["a", "tie", "b", "n/a"]), are_answers(["tie", "same"]), are_answers(["a", "cat", "b", "dog"])
    (True, False, False)
    """
    said = [cell for cell in cells if cell.casefold() not in numbers.ABSENT and not is_none(cell)]
    said = [cell for cell in said if not _NUMBER.fullmatch(cell)]
    names = [_said(name) for name in systems]
    ties = sum(map(is_tie, said))
    clear = ties + sum(not is_tie(cell) and (bool(_winners(cell)) or _said(cell) in names) for cell in said)
    return 0 < ties < clear and clear >= _ANSWERED * len(said) and len(said) > len(cells) / 2


def name_two(cells: list[str]) -> bool:
    """Tell whether answers are two names and a word for a tie, as mt, human, tie."""
    answers = {cell.casefold() for cell in cells}
    ties = {answer for answer in answers if is_tie(answer)}
    return bool(ties) and len(answers - ties) == 2 and not any(map(_NUMBER.fullmatch, answers))


# What answers are worth for the first of two systems


def _worth(rows: Rows, answers: pd.Series, systems: Systems) -> tuple[np.ndarray, dict[int, str], Ends]:
    """Return each comparison's score of the first system, NaN where it has none, what is wrong then, and the scale.

    The score is 1, 0 or, in a tie, .5; or how far the first system leads, by a number whose direction is told. An
    answer that says that there is none is not wrong.
    """
    options, receipt = rows.options, rows.receipt
    receipt.note("a comparison is a judgement of each system: hit is the comparison, against the other system")
    numeric = not options.words and numbers.is_numeric([str(cell) for cell in answers.dropna()])
    told = options.words or _of_places(answers)
    if numeric and (options.positive or not told):
        receipt.orientation = f"higher is better: the score is how far {answers.name} favours it, as --positive tells"
        return _leads(rows, answers)
    if told and not options.words:
        receipt.note("preference 1 was read as the first system, 2 as the second, 0 as a tie")
    receipt.orientation = "higher is better: the score is the share of comparisons won, a tie half"
    return *_shares(answers, systems, told, receipt), (0.0, 1.0)


def _of_places(answers: pd.Series) -> dict[str, float]:
    """Say what numbers are worth that name the better one: 1 the first, 2 the second, 0 neither; nothing of others.

    >>> _of_places(pd.Series(["2", "1", "tie"])), _of_places(pd.Series(["0", "1"])), _of_places(pd.Series(["1", "5"]))
    ({'2': 0.0, '1': 1.0}, {}, {})
    """
    number = {str(answer): float(answer) for answer in answers.dropna().unique() if _NUMBER.fullmatch(answer)}
    worth = {0.0: 0.5, 1.0: 1.0, 2.0: 0.0}
    if 2.0 not in number.values() or not {*number.values()} <= {*worth}:
        return {}
    return {answer: worth[value] for answer, value in number.items()}


def _shares(
    answers: pd.Series, systems: Systems, told: dict[str, float], receipt: Receipt
) -> tuple[np.ndarray, dict[int, str]]:
    """Return which share of each comparison the first system won, NaN where it is not known, and why it is not.

    told: what answers (small) are worth.
    """
    for word, share in told.items():
        if not 0 <= share <= 1:
            raise DataError(f"--map-values {word}={share:g} is outside 0-1. {_MAP}")
    distinct = [str(answer) for answer in answers.dropna().unique()]
    ties = {"".join(_said(answer)) for answer in distinct if is_tie(answer)} - {"none", "both", "neither"}
    none = numbers.ABSENT - (set() if ties else {"none"})  # where "tie" is a tie, "none" is no answer
    if of_first := [answer for answer in distinct if _said(answer) in (["<"], [">"])]:
        receipt.note(f"{', '.join(map(repr, of_first[:5]))} speaks of the first system; --map-values tells otherwise")

    def worth(answer: str, pair: list[str]) -> float | str:
        small = answer.casefold()
        if small in told:
            return told[small]
        if small in none or is_none(small):
            return np.nan
        if _NUMBER.fullmatch(small.replace("−", "-")):
            return f"is a number, and nothing says what it means. {_MAP}"
        return _meant(answer, pair)

    answered = zip(answers, systems["a"], systems["b"])
    said = [np.nan if pd.isna(answer) else worth(answer, [*map(str, pair)]) for answer, *pair in answered]
    wrong = {place: one for place, one in enumerate(said) if isinstance(one, str)}
    return np.array([np.nan if isinstance(one, str) else one for one in said]), wrong


def _leads(rows: Rows, cells: pd.Series) -> tuple[np.ndarray, dict[int, str], Ends]:
    """Read numbers on a scale from one system to the other: the first one's lead, what is no number, and its scale.

    The middle of the scale that is told, else 0, is no preference. Raises DataError where nothing says whose side high
    numbers are on, with what heads either system to be named with ``--positive``; or which number is the middle.
    """
    positive, scale = rows.options.positive, rows.options.scale
    values, unread = numbers.read(cells, rows.options.decimal)
    low, high = np.nanmin(values), np.nanmax(values)
    ends = f"from {low:g} to {high:g}"
    kinds = ("system", "hypothesis")
    sides = {side: [rows.names[f"{kind}_{side}"] for kind in kinds if f"{kind}_{side}" in rows.names] for side in SIDES}
    ways = " or ".join(f"--positive {shlex.quote([*sides[side], side.upper()][0])}" for side in SIDES)
    favoured = [side for side in SIDES if positive in sides[side] or _winners(positive) == {side}]
    if positive and len(favoured) != 1:
        raise DataError(f"--positive {positive!r:.60} names neither side. Pass {ways}.")
    if not favoured or (low >= 0 and not scale):
        scaled = " with --scale LOW:HIGH, whose middle is no preference" if low >= 0 else ""
        raise DataError(
            f"{cells.name} is one number for two systems ({ends}), and nothing says which of them higher numbers favour"
            f"{', or which number is no preference' * bool(scaled)}. Pass {ways}{scaled}. If each number is an answer "
            f"of its own: {_MAP}"
        )
    if not scale:
        most = float(np.ceil(max(-low, high)))
        most = most if most <= _STEPS else max(most, 100.0)
        scale = (-most, most)
        rows.receipt.scale_from = f"{scales.GUESSED} ({ends}); --scale LOW:HIGH states another"
    wrong = {place: one for place, one in unread.items() if not one.startswith(numbers.MISSING)}
    middle = sum(scale) / 2
    lead = (values - middle) * (1.0 if favoured == ["a"] else -1.0)
    return lead, wrong | numbers.off_scale(values, scale), (scale[0] - middle, scale[1] - middle)
