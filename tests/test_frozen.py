"""What holds later steps against what was frozen: a changed number is found, and chance excuses no more than it may."""

import pytest

from tests.frozen import __main__ as frozen_main
from tests.frozen.comparing import compare
from tests.frozen.store import Refused, Store
from tests.frozen.tables import frozen

ROWS = [{"system": name, "mean": mean, "n": 10} for name, mean in (("a", 1.0), ("b", 2.0), ("c", 3.0))]


def moved(by, rows=ROWS):
    return [row | {"mean": row["mean"] + by} for row in rows]


def test_equal_tables_have_no_difference_whatever_the_order_of_rows():
    assert compare(frozen([ROWS]), ROWS[::-1]) == ([], 9, 0)


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (moved(1e-8), ("a", "mean")),
        ([*ROWS[:2], ROWS[2] | {"n": 11}], ("c", "n")),
        (ROWS[:2], ("c", "")),
        ([*ROWS, {"system": "d", "mean": 1.0, "n": 1}], ("d", "")),
        ([{"system": "a", "mean": 1.0}, *ROWS[1:]], ("a", "n")),
        ([ROWS[0] | {"mean": None}, *ROWS[1:]], ("a", "mean")),
    ],
    ids=["a number", "a count", "a row less", "a row more", "a cell less", "nothing instead"],
)
def test_what_changed_is_a_difference(rows, where):
    found = compare(frozen([ROWS]), rows).differences
    assert (found[0].row, found[0].column) == where


def test_chance_excuses_four_standard_deviations_over_seeds_and_no_more():
    table = frozen([moved(by) for by in (0.0, 0.1, -0.1, 0.2, -0.2)])  # their standard deviation is 0.158
    assert compare(table, moved(0.6)) == ([], 9, 3)
    assert len(compare(table, moved(0.7)).differences) == 3
    assert len(compare(table, [row | {"n": 11} for row in ROWS]).differences) == 3


def tables(**made):
    """Stand in for what the package computes: one part, one file."""
    return {"part": lambda path, seeds=False: {"part/one": {name: [rows] for name, rows in made.items()}}}


def test_what_is_frozen_is_written_over_only_with_a_reason(tmp_path):
    store = Store(tmp_path)
    frozen_main.freeze([], store, tables(t=ROWS))
    assert frozen_main.compare_all([], store, tables(t=ROWS)) == 0
    assert frozen_main.compare_all([], store, tables(t=moved(1))) == 3
    for path in ("part", "part/one/t"):
        with pytest.raises(Refused, match="frozen already"):
            frozen_main.freeze([path], store, tables(t=moved(1)))
    (tmp_path / "changes.toml").write_text('[[change]]\ntable = "part/one/t"\nreason = "one more"\n', encoding="utf-8")
    frozen_main.freeze(["part/one/t"], store, tables(t=moved(1)))
    assert frozen_main.compare_all([], store, tables(t=moved(1))) == 0
    with pytest.raises(Refused, match="this very reason"):
        frozen_main.freeze(["part/one/t"], store, tables(t=moved(2)))


def test_a_table_that_is_gone_or_new_is_a_difference(tmp_path):
    store = Store(tmp_path)
    frozen_main.freeze([], store, tables(t=ROWS, u=ROWS))
    assert frozen_main.compare_all([], store, tables(t=ROWS)) == 1
    assert frozen_main.compare_all([], store, tables(t=ROWS, u=ROWS, v=ROWS)) == 1


def test_the_same_tables_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        Store(tmp_path / name).write("part/x", {"t": frozen([ROWS])})
    first, second = (tmp_path / name / "part" / "x.json.gz" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
