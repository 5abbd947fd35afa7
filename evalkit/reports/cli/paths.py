"""What every command takes for the path of a file or folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evalkit import nameable


class _Nameable(click.Path):
    """A path that reports and receipts can name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse bytes that are no text."""
        return nameable(Path(str(super().convert(value, param, ctx))))


a_path = _Nameable(path_type=Path)
