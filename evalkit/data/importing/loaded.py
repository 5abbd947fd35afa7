"""Import layouts that a loader of the suite reads as a whole: mt-metrics-eval's human scores, IndicMT-Eval's CSV."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import indicmt, mqm, mtme
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing.chunks import Chunk
from evalkit.data.importing.formats import Head, Match, Options, Report, ordered
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.steady import Seen
from evalkit.data.names import Looks
from evalkit.data.registry import digest

_PLACE = re.compile(
    r"(?P<pair>\w\w-\w\w)\.(?P<kind>[\w-]+)(?:\.(?P<rater>\w+))?\.(?P<level>seg|sys|domain|doc)\.(?P<what>score|rating)"
)
_INDIC = ["Source", "Reference", "Translation", "Error1_Type", "Error1_Severity", "Computed_scores", "model"]


def human_scores(folder: Path) -> list[Path]:
    """List the human judgements of segments in a folder of mt-metrics-eval: single raters' where they are.

    Raises DataError where there are none, or scores of several kinds or language pairs stand side by side.
    """
    found = [(path, match) for path in sorted(folder.rglob("*.seg.*")) if (match := _PLACE.fullmatch(path.name))
             and path.parent.name == "human-scores"]  # fmt: skip
    if not found:
        raise DataError(f"{folder} holds no human-scores/*.seg.score or *.seg.rating. Name the files to import.")
    ratings = [(path, match) for path, match in found if match["what"] == "rating"]
    chosen = ratings or found
    kinds = {match["kind"] for _, match in chosen}
    if len(kinds) > 1:
        raise DataError(f"{folder} holds scores of several kinds ({', '.join(sorted(kinds))}). Name the files of one.")
    return [path for path, _ in chosen]


def is_placed(path: Path) -> bool:
    """Tell whether a file is named as mt-metrics-eval names human scores."""
    return bool(_PLACE.fullmatch(path.name))


class Whole:
    """A file that its loader reads by itself; it has no rows here."""

    def __init__(self, path: Path):
        self.path, self.notes, self.head, self.digest = path, [], [(1, [path.name])], digest(path)
        if is_unfinished(path):
            self.notes.append(UNFINISHED.format(where="its last line"))

    def chunks(self, header: list[str], *, after: int) -> Iterator[Chunk]:
        """Yield one chunk without rows."""
        yield Chunk(pd.DataFrame(index=pd.Index([], name="line", dtype=int)), list)


class MtMetricsEval:
    """Human scores, a file per rater or kind of score, with a line per system and segment."""

    name, title, scale = "mt-metrics-eval", "human scores as mt-metrics-eval keeps them", None

    def match(self, head: Head, options: Options) -> Match:
        """Fits by its name: ``en-de.mqm.rater1.seg.rating``, ``en-de.mqm.seg.score``."""
        fits = bool(_PLACE.fullmatch(head.name))
        lacks = "a name like en-de.mqm.rater1.seg.rating or en-de.mqm.seg.score in a folder human-scores"
        return Match(1.0 if fits else -1.0, "" if fits else lacks, [head.name] if fits else [], 0, "by its name")

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> "Loaded":
        """Find the documents beside the scores."""
        name = _PLACE.fullmatch(head.name)
        if name["level"] != "seg":
            raise DataError(
                f"{head.name} holds means, not judgements. Import the file that ends in .seg.score instead."
            )
        docs = head.path.parent.parent / "documents" / f"{name['pair']}.docs"
        if not docs.is_file():
            raise DataError(f"{head.name} needs documents/{docs.name} in the folder above it. Keep the whole layout.")
        if is_unfinished(docs):
            report.note(f"{docs.name}: {UNFINISHED.format(where='its last line')}")
        paths = [head.path.absolute(), docs.absolute()]
        beside = [Seen.at(docs)]
        if name["what"] == "rating":
            return Loaded(lambda: (mqm.ratings(paths), mqm.spans(paths)), options, beside=beside)
        report.note(
            f"{head.name} holds one score a segment and does not say who gave it: annotator is {name['kind']!r}, and "
            "nothing can be said about agreement"
        )
        return Loaded(lambda: (_of_scores(mtme.segment_scores(paths)), None), options, named=True, beside=beside)


def _of_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Turn scores of a kind into ratings by an annotator of that name."""
    frame = scores.astype(dict.fromkeys(scores.select_dtypes("category"), "str")).rename(
        columns={"metric": "annotator"}
    )
    human = frame["system"].str.startswith("ref")
    return frame.assign(item_type=human.map({True: "reference", False: "system"}))


def is_indicmt(header: list[str]) -> bool:
    """Tell whether headings are those of IndicMT-Eval's CSV files."""
    return set(_INDIC) <= set(header)


def of_indicmt(head: Head, options: Options, report: Report) -> "Loaded":
    """Make ready to read a CSV file of IndicMT-Eval."""
    report.note("IndicMT-Eval: score is the file's Computed_scores, of 25; annotators are not named")
    path = head.path
    return Loaded(lambda: (indicmt.ratings([path]), indicmt.spans([path])), options, named=True)


class Loaded:
    """Let a loader read a file, and those ``beside`` it. ``named``: what stands for annotators is no person's name."""

    whole, scale, names = True, None, {}

    def __init__(self, load, options: Options, *, named: bool = False, beside: Sequence[Seen] = ()):
        self._load, self._options, self._named, self.beside = load, options, named, list(beside)
        self.columns = ordered({"src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score", "item_type"})

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Rows are read in the end."""
        return Converted(pd.DataFrame(index=frame.index[:0]), read=0)

    def finish(self, held: list[Converted]) -> Converted:
        """Read the file."""
        ratings, spans = self._load()
        ratings = self._options.looks.alike(ratings)
        spans = None if spans is None else Looks().alike(spans)  # the same names, told once
        if not self._named:
            ratings, spans = (table.assign(annotator=self._options.pseudonyms.column(table["annotator"].astype("str")))
                              for table in (ratings, spans))  # fmt: skip
        if spans is not None:
            spans = spans[_spans_of(spans)].reset_index(drop=True)
        index = pd.RangeIndex(1, len(ratings) + 1, name="line")
        return Converted(ratings[self.columns].set_axis(index), spans=spans, read=len(ratings))


def _spans_of(spans: pd.DataFrame) -> list[str]:
    """List the columns of spans that are kept."""
    return [name for name in spans if name not in ("source", "reference", "hypothesis", "row")]
