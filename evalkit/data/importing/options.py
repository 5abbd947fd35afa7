"""Gather what a user tells about a campaign's files, by flags or in a small TOML file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import designs, languages, registry, schemas
from evalkit.data.designs import Design
from evalkit.data.importing.accounts import owners
from evalkit.data.importing.cells.columns import EXTRAS, OTHERS, OURS
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.names import Looks, plain

#: What the columns of scores of a wide table can be.
WIDE = ("systems", "annotators", "criteria")
_SECTIONS = {"columns", "values", "item_types", "scale", "sheet", "encoding", "decimal", "format"}


@dataclass
class Options:
    """What the user told about a campaign's files, and what is to happen to names."""

    pseudonyms: Pseudonyms
    columns: dict[str, str | list[str]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    file_values: dict[str, dict[str, str]] = field(default_factory=dict)  # of single files, by their name
    item_types: dict[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    sheet: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    batches: tuple[Path, ...] = ()  # what Appraise was given: which segment each of its items is
    accounts: dict[str, str] = field(default_factory=dict)  # account -> person
    judges: tuple[str, ...] = ()  # annotators that are models
    metric_columns: tuple[str, ...] = ()  # columns of automatic scores, as NAME=COLUMN, + or - says what is better
    metric_files: tuple[Path, ...] = ()  # files of automatic scores
    weights: str | None = None  # of marked errors: a scheme's name, or like minor=1,major=5
    lower_is_better: bool | None = None
    positive: str = ""  # where one number is for two systems: whose side high ones are on, a heading or A or B
    wide: str | None = None  # what the score columns of a wide table are: one of WIDE
    words: dict[str, float] = field(default_factory=dict)  # words for scores, casefolded
    design: Design | None = None  # of a campaign that was designed here: the roles of its items
    looks: Looks = field(default_factory=Looks)

    @property
    def single(self) -> dict[str, str]:
        """Return our names that are mapped to one column each."""
        return {ours: theirs for ours, theirs in self.columns.items() if isinstance(theirs, str)}

    def of(self, name: str) -> "Options":
        """Return the options for one file: what was told of it alone comes before what was told of all."""
        return replace(self, values=self.values | self.file_values.get(name, {}))


def gathered(
    pseudonyms: Pseudonyms,
    *,
    columns: Mapping[str, str | list[str]] | None = None,
    values: Mapping[str, str] | None = None,
    item_types: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    batches: str | Path | Sequence[str | Path] = (),
    accounts: str | Path | None = None,
    judges: Sequence[str] = (),
    metric_columns: Sequence[str] = (),
    metric_files: str | Path | Sequence[str | Path] = (),
    weights: str | None = None,
    lower_is_better: bool | None = None,
    positive: str | None = None,
    wide: str | None = None,
    words: Mapping[str, float | str] | None = None,
    design: str | Path | None = None,
    mapping: str | Path | None = None,
) -> tuple[Options, str | None]:
    """Return the options and the format that the TOML file names; what is told directly comes before the file.

    Raises DataError for names that are not ours, a scale that is none, or a file that cannot be read.
    """
    file = _toml(Path(mapping)) if mapping else {}
    columns = {**file.get("columns", {}), **(columns or {})}
    values = {**file.get("values", {}), **(values or {})}
    item_types = {**file.get("item_types", {}), **(item_types or {})}
    for ours in columns:
        _demand_ours(ours)
    if wrong := sorted({*map(str, item_types.values())} - {*schemas.ITEM_TYPES}):
        raise DataError(f"item_types: {wrong[0]!r:.60} is none of {', '.join(schemas.ITEM_TYPES)}. Correct it.")
    of_files: dict[str, dict[str, str]] = {}
    for key in [key for key in values if ":" in key]:  # --value wave2.csv:doc=second
        name, _, ours = key.rpartition(":")
        of_files.setdefault(name, {})[ours] = values.pop(key)
    if wide not in (None, *WIDE):
        raise DataError(f"--wide {wide!r} is none of {', '.join(WIDE)}. Say what the columns of scores are.")
    decimal = decimal or file.get("decimal")
    if decimal not in (None, ".", ","):
        raise DataError(
            f"The decimal mark {decimal!r:.60} is neither a point nor a comma. Pass --decimal , or --decimal ."
        )
    people = owners(Path(accounts)) if accounts else {}
    pseudonyms.know(people)
    pseudonyms.public |= {plain(name) for name in judges}
    options = Options(
        pseudonyms,
        columns=columns,
        values=_values(values),
        file_values={name: _values(told) for name, told in of_files.items()},
        item_types={str(theirs): ours for theirs, ours in item_types.items()},
        scale=_scale(scale or file.get("scale")),
        sheet=sheet or file.get("sheet"),
        encoding=encoding or file.get("encoding"),
        decimal=decimal,
        batches=tuple(map(Path, [batches] if isinstance(batches, str | Path) else batches)),
        accounts=people,
        judges=tuple(plain(name) for name in judges),
        metric_columns=tuple(plain(text) for text in metric_columns),
        metric_files=tuple(map(Path, [metric_files] if isinstance(metric_files, str | Path) else metric_files)),
        weights=weights,
        lower_is_better=lower_is_better,
        positive=plain(positive or ""),
        wide=wide,
        words=_words(words or {}),
        design=designs.read(Path(design)) if design else None,
    )
    return options, file.get("format")


def _demand_ours(ours: str) -> None:
    """Refuse a name that is none of our columns."""
    if ours not in (*OURS, *EXTRAS, *OTHERS):
        raise DataError(f"{ours!r:.60} is none of our columns. Map one of {', '.join((*OURS, *EXTRAS, *OTHERS))}.")


def _values(values: Mapping[str, Any]) -> dict[str, str]:
    """Check values that all rows have; a language pair is two of them."""
    found = {ours: plain(str(value)) for ours, value in values.items()}
    for ours, value in found.items():
        _demand_ours(ours)
        if not value:
            raise DataError(f"--value {ours:.60}= gives no text. Write what all rows have, or leave it out.")
        if ours in ("score", "started", "ended", "probability", *EXTRAS):
            raise DataError(f"One value of {ours} for all rows makes no sense. Map a column with --map {ours}=….")
    if "pair" in found:
        if not (pair := languages.split(found.pop("pair"))):
            raise DataError("The language pair of all rows cannot be read. Write it like --value pair=en-de.")
        found |= dict(zip(("src_lang", "tgt_lang"), pair))
    return found


def _scale(scale: Any) -> tuple[float, float] | None:
    """Check the ends of a scale."""
    if scale is None:
        return None
    try:
        if isinstance(scale, str | dict) or any(isinstance(end, bool) for end in scale):
            raise ValueError(scale)
        low, high = map(float, scale)
    except (TypeError, ValueError, OverflowError) as problem:
        raise DataError(
            f"The scale {scale!r:.60} is not two numbers. Write the lowest and the highest score."
        ) from problem
    if not -1e15 < low < high < 1e15:
        raise DataError(f"The scale {low:g}-{high:g} does not go up. Write the lowest, then the highest score.")
    return low, high


def _words(words: Mapping[str, float | str]) -> dict[str, float]:
    """Check words for scores."""
    found = {}
    for word, value in words.items():
        try:
            found[plain(str(word)).casefold()] = float(value)
        except ValueError as problem:
            raise DataError(f"--map-values {word}={value}: the score is no number. Write like Good=4.") from problem
    return found


def _toml(path: Path) -> dict[str, Any]:
    """Read a mapping file, its sections and entries of the kinds that they are to be."""
    found = registry.toml(path, remedy="A mapping is a few lines of TOML, such as [columns] score = 'DA'.")
    if unknown := sorted(set(found) - _SECTIONS):
        raise DataError(f"{path.name}: {unknown[0]!r:.60} is not known. It may have {', '.join(sorted(_SECTIONS))}.")
    for section in ("columns", "values", "item_types"):
        if not isinstance(found.get(section, {}), dict):
            raise DataError(f"{path.name}: {section} is no section. Write [{section}], and below it ours = 'theirs'.")
    for name in ("sheet", "encoding", "decimal", "format"):
        if not isinstance(found.get(name, ""), str):
            raise DataError(f"{path.name}: {name} is no text. Put it in quotes.")
    for ours, theirs in found.get("columns", {}).items():
        if not (isinstance(theirs, str) or (theirs and isinstance(theirs, list) and all(map(_is_text, theirs)))):
            raise DataError(f"{path.name}: {ours:.60} names no column. Write its heading in quotes, or a list of them.")
    for section in ("values", "item_types"):
        for name, value in found.get(section, {}).items():
            if not (_is_text(value) or type(value) is int):  # 1.10 and 2024-01-01 would be written otherwise
                raise DataError(f"{path.name}: the value of {name!r:.60} in [{section}] is no text. Put it in quotes.")
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
