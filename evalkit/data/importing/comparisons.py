"""Read preferences: of two translations the better one or a tie, or ranks of several in one row.

A comparison becomes two judgements, one of each system: 1 for the one that won, 0 for the other, .5 for both in a tie.
"""

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

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

TITLE = "comparisons of two systems, or ranks"
NO_ANSWER = "there is no answer"
#: The two systems of a comparison, and the other one of each.
SIDES = ("a", "b")
_OTHER = {"a": "b", "b": "a"}
_HEADINGS = {ours: text.split() for ours, text in vocabulary.table("comparisons").items()}
_WORDS = {kind: text.split() for kind, text in vocabulary.table("answers").items()}
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
_ANSWERS = 3  # the first, the second, or a tie
_SHOWN = 20  # pairs of systems whose wins and ties are told
#: Headings of columns that are made.
_SYSTEM, _AGAINST, _SCORE, _HIT, _PLACE = "(system)", "(against)", "(score)", "(comparison)", "(place)"
_TEXT, _SEGMENT, _SCREEN, _RANKED = "(hypothesis)", "(segment)", "(screen)", "(rank)"
Systems = dict[str, pd.Series]


# Which columns are what


@dataclass(frozen=True)
class Columns:
    """What the columns of a table of comparisons are, and what it lacks to be one.

    names: ours -> the heading; ours are system_a and system_b, hypothesis_a and hypothesis_b, preference (who won),
    score (how far one leads), first (who stood first) besides those of judgements. places: column of a system -> column
    of its rank, on a screen of several. ranked: column of ranks -> the system that its heading names. lacks: None where
    the table is far from one of comparisons. why: by what it is one.
    """

    names: dict[str, str]
    places: dict[str, str]
    ranked: dict[str, str]
    lacks: list[str] | None
    why: str = "by its headings"

    @property
    def compares(self) -> bool:
        """Whether a row compares two systems and says how."""
        answered = {"preference", "score"} & {*self.names}
        return {"system_a", "system_b"} <= {*self.names} and bool(answered) and not self.places


def columns(table: Table, options: Options) -> Columns:
    """Find out which columns are the two systems, the answer or the lead, or systems and their ranks."""
    places, ranked = _places(table.header), _ranked_systems(table.header)
    names = _names(table, options, {*places, *places.values(), *ranked})
    if ranked and {"system", "score"} & {*names}:
        ranked, names = {}, _names(table, options, ())
    have = {*names, *options.values}
    if places or ranked:
        what = "columns of systems with their ranks" if places else "columns of ranks, one per system"
        needed = () if places and "source" in have else ("segment", "annotator")
        wanted = [name for name in needed if name not in have]
        return Columns(names, places, ranked, wanted, f"by its {len(places or ranked)} {what}")
    found = Columns(names, places, ranked, None)
    if ("system" in names and not found.compares) or not ("preference" in have or {"system_a", "system_b"} <= have):
        return found
    wanted = [name for name in ("system_a", "system_b", "preference") if name not in have]
    if wanted == ["preference"] and "score" in names:
        wanted = []
    if wanted == ["system_a", "system_b"] and name_two(table.samples(names["preference"])):
        wanted = []
    wanted += ["segment"] if not {"segment", "source"} & have else []
    return Columns(names, places, ranked, wanted)


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

    def take(ours: str, fits: Callable[[str], object]) -> None:
        """Give a column of ours the first free heading that fits, where it has none yet."""
        fitting = [name for name in free if fits(name)]
        if fitting and ours not in {*names, *options.values, *options.columns}:
            names[ours] = fitting[0]
            free.remove(fitting[0])

    for side, name in zip(SIDES, _sides(table, free) or ()):
        take(f"system_{side}", name.__eq__)
    for ours in ("hypothesis_a", "hypothesis_b"):
        take(ours, lambda name, ours=ours: bare(name) in _HEADINGS[ours])
    two = {"system_a", "system_b"} <= {*names}
    systems = {cell for side in SIDES for cell in table.samples(names[f"system_{side}"])} if two else set()
    for choice in ordered("choices"):  # the surest first
        take("preference", lambda name, choice=choice: bare(name) == choice)
    take("preference", lambda name: meaning(name) == "score" and name_two(table.samples(name)))
    if two:
        choosing = listed("choosing")
        take("preference", lambda name: choosing & {*words(name)} and are_answers(table.samples(name), systems))
    for ours in (*OURS, "first", "screen"):
        if ours != "hypothesis" or "hypothesis_a" not in names:
            take(ours, lambda name, ours=ours: bare(name) == bare(ours))
            take(ours, lambda name, ours=ours: bare(name) in _HEADINGS.get(ours, ()))
            take(ours, lambda name, ours=ours: meaning(name) == ours)
    take("segment", lambda name: bare(name) == "srcindex")
    if two and not {"preference"} & {*names, *options.values}:
        take("score", lambda name: listed("leads") & {*words(name)} and numbers.is_numeric(table.samples(name)))
    if "item_type" in names and "item_type" not in told:
        names["domain"] = names.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return names


def _sides(table: Table, free: list[str]) -> tuple[str, str] | None:
    """Choose the headings of both systems: pairs that differ in their cells, names before conditions and texts."""
    texts = [name for name in free if not numbers.is_numeric(table.samples(name))]
    first, second = (_of_side(side, texts) for side in SIDES)
    pairs = [(first[parts], second[parts], parts) for parts in first if parts in second]
    if not pairs and first and second:
        pairs = [(next(iter(first.values())), next(iter(second.values())), ("",))]

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


def _places(header: list[str]) -> dict[str, str]:
    """Map the columns of systems to those of their ranks, where every place has both; fewer than two are none.

    >>> _places(["system1Number", "system1Id", "system2Id", "system1rank", "system2rank"])
    {'system1Id': 'system1rank', 'system2Id': 'system2rank'}
    """
    named = {one[1]: name for name in header if (one := _SLOT.fullmatch(bare(name)))}
    ranked = {one[1] or one[2]: name for name in header if (one := _SLOT_RANK.fullmatch(bare(name)))}
    places = {named[place]: ranked[place] for place in named if place in ranked}
    return places if len(places) > 1 and len(places) == len(ranked) else {}


def _ranked_systems(header: list[str]) -> dict[str, str]:
    """Map the headings that say rank and a system's name to that name; fewer than two are none.

    >>> _ranked_systems(["segment", "rank_DeepL", "GPT-4 rank", "rank"])
    {'rank_DeepL': 'DeepL', 'GPT-4 rank': 'GPT-4'}
    """
    ranked = {name: one["after"] or one["before"] for name in header if (one := _RANK.fullmatch(name.strip()))}
    return ranked if len(ranked) > 1 and not _places(header) else {}


# Judgements


def convert(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read comparisons, each as two judgements, or rows of ranks, each as a judgement per system."""
    if "system" in options.values or options.columns.get("system"):
        demand_one(table, options)
    found = columns(table, options)
    names, values, cells = dict(found.names), dict(options.values), table.cells
    own = {*found.places, *found.places.values(), *found.ranked}
    maker = "" if own else names.pop("system", "")
    receipt.describe(names, "layout", [name for name in table.header if name not in {*own, maker}])
    if "segment" not in {*names, *values}:
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
    # -1 is no rank, as WMT wrote it
    ranks = {
        rank: (cells[name], cells[rank].mask(cells[rank].isin(["-1", "-1.0"]))) for name, rank in found.places.items()
    }
    ranks |= {rank: (constant(system, cells.index), cells[rank]) for rank, system in found.ranked.items()}
    if ranks:
        read = _ranked(cells, ranks, names, values, options, receipt)
    else:
        read = _compared(cells, names, values, options, receipt, table.name)
    read.ratings = read.ratings.sort_index(kind="stable")
    read.rejected = sorted(read.rejected, key=lambda row: row.line)
    read.names, read.read = {"annotator": names.get("annotator", "")}, len(read.ratings) + len(read.rejected)
    return read


def _compared(
    cells: pd.DataFrame, names: dict[str, str], values: dict[str, str], options: Options, receipt: Receipt, origin: str
) -> Judgements:
    """Turn each comparison into two judgements."""
    systems = _systems(cells, names, values, options)
    reject = Rejecting(cells, names.get("annotator"))
    same = systems["a"].str.casefold().eq(systems["b"].str.casefold())
    itself = "is the system that it is compared with: correct one of them"
    reject(np.flatnonzero(same), names.get("system_b", "system_b"), itself)
    first, scale = _of_first(cells, names, values, systems, options, receipt, reject)
    made = {_SYSTEM: systems["a"], _AGAINST: systems["b"], _SCORE: pd.Series(first, cells.index).map(repr)}
    ours = {"system": _SYSTEM, "against": _AGAINST, "score": _SCORE}
    if "hit" not in names:
        where = [cells[names[name]].fillna("") for name in ("doc", "segment", "criterion") if name in names]
        named = [" ".join(filter(None, parts)) for parts in zip(constant("", cells.index), *where)]
        made[_HIT] = [f"{place}: {a} | {b}" for place, a, b in zip(named, systems["a"], systems["b"])]
        ours["hit"] = _HIT
    shown = _stood_first(cells, names, systems, receipt)
    if shown.ne("unknown").any():
        made[_PLACE], ours["screen_place"] = shown.map({"a": "1", "b": "2"}), _PLACE
    texts = {side: cells.get(names.get(f"hypothesis_{side}", ""), constant("", cells.index)) for side in SIDES}
    if {"hypothesis_a", "hypothesis_b"} & {*names}:
        made[_TEXT], ours["hypothesis"] = texts["a"], _TEXT
    frame = cells.assign(**made)[reject.kept]
    given = _known(values) | {"item_type": "system"}  # a person's translation too, for it competes like any other
    known = _known({name: theirs for name, theirs in names.items() if name != "item_type"})
    found = converted(frame, known | ours, given, options, scale=scale, note=receipt.note, typed=True)
    found.rejected += reject.rows
    one = found.ratings
    other = one.assign(system=one["against"], against=one["system"], score=sum(scale) - one["score"])
    if "screen_place" in one:
        other["screen_place"] = 3 - one["screen_place"]
    if "hypothesis" in one:
        other["hypothesis"] = texts["b"][one.index]
    found.ratings = pd.concat([one, other]).sort_index(kind="stable")
    found.spans = _spans(cells, found.ratings)
    _tell_wins(one, sum(scale) / 2, origin, receipt)
    return found


def _known(names: Mapping[str, str]) -> dict[str, str]:
    """Keep what is of our columns."""
    return {name: theirs for name, theirs in names.items() if name in (*OURS, *EXTRAS)}


def _systems(cells: pd.DataFrame, names: dict[str, str], values: dict[str, str], options: Options) -> Systems:
    """Name both systems of each comparison: by their columns or, where there are none, by the answers themselves."""
    if {"system_a", "system_b"} <= {*names, *values}:
        columns = {ours[-1]: names[ours] for ours in ("system_a", "system_b") if ours in names}
        alike = {side: options.looks.alike(cells, {"system": name})[name] for side, name in columns.items()}
        return {side: alike.get(side, constant(values.get(f"system_{side}", ""), cells.index)) for side in SIDES}
    answers = cells[names["preference"]].dropna()
    said = sorted({answer for answer in answers.unique() if not is_tie(answer)})
    if len({answer.casefold() for answer in said}) != 2:
        raise DataError(
            f"The column {names['preference']} names {len(said)} systems ({', '.join(said[:5])}), so nothing says "
            "which two were compared. Name the columns of both with --map system_a=… --map system_b=…."
        )
    second = next(name for name in said if name.casefold() != said[0].casefold())
    return {"a": constant(said[0], cells.index), "b": constant(second, cells.index)}


def _tell_wins(ratings: pd.DataFrame, middle: float, origin: str, receipt: Receipt) -> None:
    """Tell wins and ties of each pair of systems. ratings: of the first system of each comparison."""
    in_order = ratings["system"] <= ratings["against"]
    pair = [
        ratings[one].where(in_order, ratings[other]) for one, other in (("system", "against"), ("against", "system"))
    ]
    lead = np.sign(ratings["score"] - middle) * np.where(in_order, 1, -1)
    counts = pd.crosstab(pair, lead).reindex(columns=[1, 0, -1], fill_value=0)
    if len(counts) > _SHOWN:
        receipt.note(f"{origin}: {len(counts):,} pairs of systems were compared; the first {_SHOWN} are told")
    for (one, other), (won, ties, lost) in zip(counts.index[:_SHOWN], counts.to_numpy().tolist()):
        receipt.note(f"{origin}: {one} against {other}: {won:,} won, {ties:,} ties, {lost:,} lost")


def _stood_first(cells: pd.DataFrame, names: Mapping[str, str], systems: Systems, receipt: Receipt) -> pd.Series:
    """Return of each comparison which stood first: "a", "b" or "unknown"; and tell the receipt how that is known.

    A column ``first`` tells: A or B, in whatever words, or a system's name. So do headings such as left_system, and
    answers such as "left". Where the file says only A and B, A is taken to have stood first if some pair comes in both
    orders; with one order throughout, place and system could not be told apart anyway.
    """
    if "first" in names:
        told = cells[names["first"]].fillna("unknown")
        sides = [
            "a" if said == a else "b" if said == b else side_of(said) for said, a, b in zip(told, *systems.values())
        ]
        found = pd.Series(sides, cells.index)
        if unread := (found.eq("unknown") & told.str.casefold().ne("unknown")).sum():
            receipt.note(
                f"which translation stood first is not known in {unread:,} rows, where {names['first']} is neither A, "
                "B nor a system's name"
            )
        return found
    shown = "unknown"
    if {"system_a", "system_b"} <= {*names}:
        headings = [bare(names[f"system_{side}"]) for side in SIDES]
        answers = cells[names["preference"]].dropna().unique() if "preference" in names else []
        pairs = {*zip(systems["a"].dropna(), systems["b"].dropna())}
        if all(map(_ON_SCREEN.search, headings)) or any(_ON_SCREEN.search(str(one).casefold()) for one in answers):
            shown = "a"
            receipt.note("which translation stood first (left) is taken from the words left, right, first and second")
        elif any((b, a) in pairs for a, b in pairs):
            shown = "a"
            receipt.note(
                f"{names['system_a']} is taken to have stood first (left): pairs of systems come in both orders"
            )
    return constant(shown, cells.index)


def _spans(cells: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame | None:
    """Take the stretches marked in both texts, where the file has them under ``annotations``; they have no severity."""
    if not {"annotations", "annotations.text1"} & {*cells}:
        return None
    keys = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    turns = ratings.groupby(level=0).cumcount() + 1  # the first row of a line is that of the first system
    rows = []
    for (line, rating), turn in zip(ratings[[*keys, "against"]].iterrows(), turns):
        text = f"text{turn}"
        if f"annotations.{text}" in cells:
            marks = _in_json(cells[f"annotations.{text}"][line])
        else:
            both = _in_json(cells["annotations"][line]) if "annotations" in cells else {}
            marks = both.get(text) if isinstance(both, dict) else None
        for mark in (one for one in (marks if isinstance(marks, list) else []) if isinstance(one, dict)):
            place = {end: mark.get(end) if type(mark.get(end)) is int else np.nan for end in ("start", "end")}
            words_of = mark.get("annotated_text")
            stretch = {**rating, **place, "text": words_of if isinstance(words_of, str) else None}
            rows += [stretch | {"error_type": str(label).casefold()} for label in mark.get("labels") or [UNSTATED]]
    if not rows:
        return None
    spans = pd.DataFrame(rows).assign(severity=UNSTATED, side="target")
    spans["span"] = spans.groupby(keys, sort=False).cumcount().add(1).astype("str")
    return spans[[*keys, "span", "error_type", "severity", "start", "end", "side", "text", "against"]]


def _in_json(cell: object) -> object:
    """Read what a cell says in JSON; what is none says nothing."""
    try:
        return json.loads(cell) if isinstance(cell, str) else None
    except (ValueError, RecursionError):
        return None


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
    cells = cells.assign(**{_SCREEN: [f"row {line}" for line in cells.index]})
    parts = [cells.assign(**{_SYSTEM: system, _RANKED: rank}) for system, rank in ranks.values()]
    long = pd.concat(parts).dropna(how="all", subset=[_SYSTEM, _RANKED])
    receipt.blank_cells += int(long[_RANKED].isna().sum())
    made = {"system": _SYSTEM, "score": _RANKED, "screen": names.get("screen", _SCREEN)}
    made["hit"] = names.get("hit", made["screen"])  # one person may rank other systems on the same segment again
    found = converted(
        long[long[_RANKED].notna()],
        _known(names) | made,
        _known(values),
        options,
        scale=(1, len(ranks)),
        note=receipt.note,
        lower=True,
    )
    kinds = np.where(people(found.ratings["system"], receipt.note), "reference", "system")
    found.ratings = found.ratings.assign(item_type=kinds)
    _tell_ranks(found.ratings, receipt)
    return found


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


# What somebody answered who was asked which of two is better, in words


def _said(text: str) -> list[str]:
    """Cut an answer into its words, small, without those that change nothing; signs are words.

    >>> _said("System A is a bit better!"), _said("A>>B")
    (['system', 'a', 'better'], ['a', '>', 'b'])
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
        return all(not side.strip() or _place(side.split()) for side in sides)
    return bool(said) and ("".join(said) in _WORDS["tie"] or all(word in _WORDS["tie"] for word in said))


def is_none(answer: str) -> bool:
    """Tell whether an answer says that there is none.

    >>> is_none("I can't tell"), is_none("not sure, sorry"), is_none("tie")
    (True, True, False)
    """
    return "".join(_said(answer)).startswith(tuple(_WORDS["none"]))


def side_of(answer: str) -> str:
    """Say which of two an answer names by its place as the better one: "a", "b", or "unknown".

    >>> side_of("left"), side_of("System B is slightly better"), side_of("A is worse"), side_of("both")
    ('a', 'b', 'b', 'unknown')
    >>> side_of("A > B"), side_of("2>1"), side_of("<"), side_of("worse"), side_of("better: B")
    ('a', 'b', 'b', 'b', 'b')
    """
    return _winner(answer, _place) or "unknown"


def _winner(answer: str, place: Callable[[list[str]], str]) -> str:
    """Say which side is the better one by an answer, "" where it says none. place: tells which side words name.

    What is only called better or worse, as in ``>``, is the first side.
    """
    said = _said(answer)
    if whole := place(said):
        return whole
    signs = [at for at, word in enumerate(said) if word in (*_WORDS["better"], *_WORDS["worse"])]
    if not signs:
        return ""
    before, sign, after = said[: signs[0]], said[signs[0]], said[signs[0] + 1 :]
    if after and not before and sign.isalpha() and after[0] != "than":  # prefer A
        before, after = after, []
    one = place(before) if before else "a"
    other = place([word for word in after if word != "than"]) if after else _OTHER.get(one, "")
    if {one, other} != {"a", "b"}:
        return ""
    return other if sign in _WORDS["worse"] else one


def _place(said: list[str]) -> str:
    """Say which side words name by its place; "" where they name none."""
    return next((side for side in SIDES if _SIDE[side].fullmatch("".join(said))), "")


def _meant(answer: str, pair: Collection[str]) -> float | str:
    """Say what an answer is worth for the first system, or why that cannot be told.

    >>> _meant("tie", ["x", "y"]), _meant("y", ["x", "y"]), _meant("left", ["x", "y"]), _meant("system b", ["x", "y"])
    (0.5, 0.0, 1.0, 0.0)
    >>> _meant("b", ["b", "a"])
    'is the name of one system and the place of the other: name the systems otherwise, or pass --map-values'
    """
    worth = {"a": 1.0, "b": 0.0}
    sides = dict(zip((" ".join(_said(name)) for name in pair), SIDES))
    named = _winner(answer, lambda said: sides.get(" ".join(said), "")) if len(sides) == 2 else ""
    placed = _winner(answer, _place)
    if named and placed and named != placed:
        return "is the name of one system and the place of the other: name the systems otherwise, or pass --map-values"
    if named or placed:
        return worth[named or placed]
    return 0.5 if is_tie(answer) else f"is neither A, B nor a tie, nor a system's name: correct it. {_MAP}"


def are_answers(cells: list[str], systems: Iterable[str] = ()) -> bool:
    """Tell whether cells say in words which of two is better: nearly all that say anything, and one names a side.

    systems: names that an answer may give instead.

    >>> are_answers(["a", "tie", "b", "n/a"]), are_answers(["tie", "same"]), are_answers(["a", "cat", "b", "dog"])
    (True, False, False)
    """
    said = [cell for cell in cells if cell.casefold() not in numbers.ABSENT and not is_none(cell)]
    said = [cell for cell in said if not _NUMBER.fullmatch(cell)]
    names = {" ".join(_said(name)) for name in systems}
    ties = [is_tie(cell) for cell in said]
    sided = [
        bool(_winner(cell, _place) or _winner(cell, lambda said: "a" if " ".join(said) in names else ""))
        for cell, tie in zip(said, ties)
        if not tie
    ]
    return any(sided) and sum(sided) + sum(ties) >= _ANSWERED * len(said) and len(said) > len(cells) / 2


def name_two(cells: list[str]) -> bool:
    """Tell whether answers are two names and a word for a tie, as mt, human, tie."""
    answers = {cell.casefold() for cell in cells}
    ties = {answer for answer in answers if is_tie(answer)}
    return bool(ties) and len(answers - ties) == 2 and not any(map(_NUMBER.fullmatch, answers))


# What answers are worth for the first of two systems


def _of_first(
    cells: pd.DataFrame,
    names: Mapping[str, str],
    values: Mapping[str, str],
    systems: Systems,
    options: Options,
    receipt: Receipt,
    reject: Rejecting,
) -> tuple[np.ndarray, tuple[float, float]]:
    """Return each comparison's score of the first system, and its scale: 1, 0, .5 for a tie; or how far it leads.

    Rows whose answer says neither are rejected.
    """
    asked = names.get("preference") or names.get("score", "")
    answers = cells[asked] if asked else constant(values["preference"], cells.index)

    def wrong(place: int, reason: str) -> None:
        reject([place], asked or "preference", reason, EXCLUDED if reason == NO_ANSWER else "rejected")

    numeric = not options.words and numbers.is_numeric([str(cell) for cell in answers.dropna()])
    if not (numeric and (options.positive or not ("preference" in {*names, *values} or _are_few(answers)))):
        receipt.orientation = "higher is better: the score is the share of comparisons won, a tie half"
        what, scale = "1 for the one that won, 0.5 for a tie", (0.0, 1.0)
        worth = _shares(answers, systems, options, receipt, wrong)
    else:
        headings = {
            side: [names[name] for name in (f"system_{side}", f"hypothesis_{side}") if name in names] or [side.upper()]
            for side in SIDES
        }
        worth, most = _leads(answers, headings, options, receipt, wrong)
        receipt.orientation = (
            f"higher is better: the score is how far {asked} favours the system over the other, as --positive tells"
        )
        what, scale = "the number in its favour, below 0 where it is against it", (-most, most)
    receipt.note(
        f"each comparison is two judgements, one of each system: {what}; hit is the comparison, against the other system"
    )
    return worth, scale


def _are_few(cells: pd.Series) -> bool:
    """Tell whether numbers are so few, and none below 0, that each is an answer rather than a place on a scale."""
    values = numbers.read(cells)[0]
    return bool(np.nanmin(values) >= 0 and len({*values[np.isfinite(values)]}) <= _ANSWERS)


def _shares(
    answers: pd.Series, systems: Systems, options: Options, receipt: Receipt, wrong: Callable[[int, str], None]
) -> np.ndarray:
    """Return what each answer is worth for the first system: 1, .5 or 0; NaN where it is none, which is told."""
    distinct = [str(answer) for answer in answers.dropna().unique()]
    figures = [answer for answer in distinct if _NUMBER.fullmatch(answer.replace("−", "-"))]
    worth = {answer: options.words[answer.casefold()] for answer in distinct if answer.casefold() in options.words}
    worth |= _of_numbers(figures, options, receipt) if figures and not options.words else {}
    ties = {"".join(_said(answer)) for answer in distinct if is_tie(answer)} - {"none", "both", "neither"}
    none = numbers.ABSENT - (set() if ties else {"none"})  # where "tie" is a tie, "none" is no answer
    if of_first := [
        answer for answer in distinct if _said(answer) in [[s] for s in (*_WORDS["better"], *_WORDS["worse"])]
    ]:
        receipt.note(
            f"{', '.join(map(repr, of_first[:5]))} was taken to speak of the first system, against the second; "
            "--map-values tells otherwise"
        )
    share = np.full(len(answers), np.nan)
    for place, (answer, *pair) in enumerate(zip(answers, systems["a"], systems["b"])):
        if answer in worth:
            said: float | str = worth[answer]
        elif pd.isna(answer) or answer.casefold() in none or is_none(answer):
            said = NO_ANSWER
        else:
            said = _meant(answer, [str(name) for name in pair])
        if isinstance(said, str):
            wrong(place, said)
        elif 0 <= said <= 1:
            share[place] = said
        else:
            wrong(place, f"is worth {said:g}, outside 0-1: correct --map-values")
    return share


def _of_numbers(figures: list[str], options: Options, receipt: Receipt) -> dict[str, float]:
    """Say what numbers mean as answers: 1 and 2 the places, 0 a tie; numbers on both sides of 0 lean to one of them.

    Raises DataError where that is ambiguous.
    """
    value = {text: float(text.replace("−", "-")) for text in figures}
    there = {*value.values()}
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
    low, high = (float(end(values[np.isfinite(values)])) for end in (np.min, np.max))
    ends, scale = f"from {low:g} to {high:g}", options.scale
    ways = " or ".join(f"--positive {shlex.quote(headings[side][0])}" for side in SIDES)
    favoured = [side for side in SIDES if options.positive in headings[side] or side_of(options.positive) == side]
    if options.positive and len(favoured) != 1:
        sides = ", ".join(headings["a"] + headings["b"])
        raise DataError(f"--positive {options.positive!r:.60} is none of {sides}. Pass {ways}.")
    if not favoured or (low >= 0 and not scale):
        scaled = " with --scale LOW:HIGH, whose middle is no preference" if low >= 0 else ""
        raise DataError(
            f"{cells.name} is one number for two systems ({ends}), and nothing says which of them higher numbers favour"
            f"{', or which number is no preference' * bool(scaled)}. Pass {ways}{scaled}."
        )
    if scale:
        middle, most = (scale[0] + scale[1]) / 2, (scale[1] - scale[0]) / 2
    else:
        middle, most = 0.0, float(np.ceil(max(-low, high)))
        most = most if most <= _STEPS else max(most, 100.0)
        receipt.scale_from = f"{scales.GUESSED} ({ends}); --scale LOW:HIGH states another"
    for place, reason in (unread | numbers.off_scale(values, (middle - most, middle + most))).items():
        wrong(place, NO_ANSWER if reason.startswith(numbers.MISSING) else reason)
    return (values - middle) * (1.0 if favoured[0] == "a" else -1.0), most
