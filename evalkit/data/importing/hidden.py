"""Write rows that were rejected without the names of people."""

from evalkit.data.importing import columns
from evalkit.data.importing.formats import Reader
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.report import Rejection


class Hidden:
    """Write a row's cells without the names of people."""

    def __init__(self, header: list[str], reader: Reader, aliases: Pseudonyms):
        self.header, self.aliases = header, aliases
        names = reader.names
        used = {name for ours, name in names.items() if ours != "annotator"}
        own = [names["annotator"]] if names.get("annotator") in self.header else []
        people = getattr(reader, "people", [])  # headings that are annotators themselves
        self.places = {self.header.index(name) for name in own} | {
            place
            for place, name in enumerate(self.header)
            if name not in used and name not in people and columns.personal(name)
        }
        self.titles = [self.aliases.one(name) if name in people else name for name in self.header]
        self.people = {self.aliases.one(name) for name in people}

    def told(self, row: Rejection) -> Rejection:
        """Hide the row's annotator in what is said of it."""
        row.value, row.reason = (self.aliases.within(text, row.annotator) for text in (row.value, row.reason))
        return row

    def named(self, cells: list[str], row: Rejection) -> dict[str, str]:
        """Write a whole row under its headings; where evaluators have a column each, only the rejected one's cell."""
        found = self._named(cells, row.annotator)
        others = self.people - {row.column} if row.column in self.people else ()
        return found | dict.fromkeys(others, "")

    def _named(self, cells: list[str], annotator: str | None) -> dict[str, str]:
        if self.aliases.keep:
            return dict(zip(self.header, cells))
        hidden = {}
        for place, cell in enumerate(cells[: len(self.header)]):
            if place in self.places:
                cell = self.aliases.mask(cell) if cell.strip() else cell
            hidden[self.titles[place]] = self.aliases.within(cell, annotator) if place not in self.places else cell
        return hidden

    def pieces(self, cells: list[str]) -> list[str]:
        """Write the cells of a row that cannot be cut: every cell that may be a name is hidden."""
        if self.aliases.keep:
            return cells
        shift = abs(len(cells) - len(self.header))
        unsafe = {place + step for place in self.places for step in range(-shift, shift + 1)}
        if len(cells) == len(self.header) and self.places:  # a quote that never closes: cells may run into each other
            unsafe |= {place for place, cell in enumerate(cells) if '"' in cell}
        return [
            self.aliases.mask(cell) if place in unsafe and cell.strip() else self.aliases.hidden(cell)
            for place, cell in enumerate(cells)
        ]
