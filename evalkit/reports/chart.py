"""Which analysis for my data: the one list behind the decision chart, its table and its text."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from evalkit import DataError
from evalkit.reports import notebooks
from evalkit.reports.studies import Layout, read_studies


def ways(layout: Layout | None = None) -> pd.DataFrame:
    """List what a person may have and want to know, and which study answers, in the order of ``chart.toml``.

    Returns have, want, study: a row per question. Only studies that ``studies.toml`` names are in it, so the chart
    never leads to a notebook that is not there. Raises DataError where the file cannot be read or lacks a key.

    >>> ways().columns.tolist(), bool(ways()["study"].isin(read_studies(Layout())).all())
    (['have', 'want', 'study'], True)
    """
    layout = layout or Layout()
    path = layout.notebooks / "chart.toml"
    try:
        kinds = tomllib.loads(path.read_text(encoding="utf-8"))["kind"]
        rows = [(kind["have"], row["want"], row["study"]) for kind in kinds for row in kind["rows"]]
    except FileNotFoundError:
        raise DataError(f"There is no {path}. Put it beside studies.toml.") from None
    except KeyError as problem:
        raise DataError(
            f"{path} lacks the key {problem}. Give each [[kind]] have and rows of want and study."
        ) from None
    except ValueError as problem:
        raise DataError(f"{path} cannot be read: {problem}. Correct that line.") from None
    table = pd.DataFrame(rows, columns=["have", "want", "study"])
    return table[table["study"].isin(list(read_studies(layout)))].reset_index(drop=True)


def links(folder: str, layout: Layout | None = None) -> Markdown:
    """Link the notebooks of a folder beside the tour, ``studies`` or ``lessons``, each by its own first heading.

    Links start from the folder of the tour. Headings are the project's own texts, and stay plain text.
    """
    layout = layout or Layout()
    known = [study.notebook for study in read_studies(layout).values()]
    paths = known if folder == "studies" else sorted((layout.notebooks / folder).glob("*.ipynb"))
    lines = [f"- [{_title(path)}]({path.relative_to(layout.notebooks).as_posix()})" for path in paths]
    return Markdown("\n".join(lines))


def _title(path: Path) -> str:
    """Return a notebook's first heading, without what Markdown would take for markup."""
    heading = notebooks.source(notebooks.read(path)["cells"][0]).splitlines()[0].lstrip("# ")
    return "".join("\\" + sign if sign in "\\`*_[]<>" else sign for sign in heading)
