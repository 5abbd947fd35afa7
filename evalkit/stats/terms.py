"""What people call what the code names: the field's words for statistics, in tables, figures and sentences."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def display_name(name: str) -> str:
    """Say a name of the code in words: terms of the field as it writes them, blanks for underscores.

    >>> display_name("kendall_b"), display_name("higher_hit_mean"), display_name("tgt_lang")
    ("Kendall's τ-b", 'higher HIT mean', 'tgt lang')
    """
    words, parts = [], name.split("_")
    while parts:
        size = next((size for size in range(len(parts), 0, -1) if "_".join(parts[:size]) in _WORDS["terms"]), 0)
        words.append(_WORDS["terms"]["_".join(parts[:size])] if size else _WORDS["parts"].get(parts[0], parts[0]))
        parts = parts[max(size, 1) :]
    return " ".join(words)


def display_cell(column: str, value: object) -> object:
    """Say what a cell holds in words, where its column holds names of the code.

    >>> display_cell("statistic", "pearson"), display_cell("system", "pearson"), display_cell("statistic", 3)
    ("Pearson's r", 'pearson', 3)
    """
    return _WORDS["terms"].get(value, value) if column in _WORDS["naming"] and isinstance(value, str) else value


def join_names(names: Iterable[object]) -> str:
    """Name things in a sentence: all of a few, else the first four and how many others.

    >>> join_names(["A", "B", "C"]), join_names("ABCDEFG"), join_names(["A"])
    ('A, B and C', 'A, B, C, D and 3 others', 'A')
    """
    texts = [str(name) for name in names]
    if len(texts) > 5:
        return f"{', '.join(texts[:4])} and {len(texts) - 4} others"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def pluralize(number: int, one: str) -> str:
    """Count things in a sentence, whose plural ends in an s.

    >>> pluralize(1, "system"), pluralize(1200, "system"), pluralize(0, "system")
    ('1 system', '1,200 systems', '0 systems')
    """
    return f"{number:,} {one if number == 1 else one + 's'}"
