"""Import WMT's Mechanical Turk files: a header cut by spaces over rows cut by tabs, scores raw or standardised."""

import re
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, mturk
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing.cells import numbers
from evalkit.data.importing.files.rows import Rows, Seen
from evalkit.data.importing.formats import Format, Head, Match
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejecting, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import Looks

_MEANS = re.compile(r"mean-sd[\w.-]*\.txt$")
_WHOLE, _MOST = re.compile(r"\d{1,3}(\.0+)?"), 10  # raw scores; a standardised one is never so high
_KEY = ["Input.src", "Input.trg", "sys_id", "rid", "sid", "WorkerId", "type", "HITId"]
_NAMES = {
    "src_lang": "Input.src",
    "tgt_lang": "Input.trg",
    "system": "sys_id",
    "doc": "rid",
    "segment": "sid",
    "annotator": "WorkerId",
    "score": "score",
    "item_type": "type",
    "hit": "HITId",
}


def is_companion(name: str) -> bool:
    """Tell whether a file only holds workers' means, which are read together with the ratings beside it."""
    return bool(_MEANS.search(name))


def _match(head: Head, options: Options) -> Match:
    """Fits where the first line, cut at white space, names WMT's columns."""
    line, cells = head.rows[0]
    names = " ".join(cells).split()
    lacks = [name for name in mturk.COLUMNS if name not in names]
    found = names if names == mturk.COLUMNS else []
    return Match(0.99 * (1 - len(lacks) / len(mturk.COLUMNS)), ", ".join(lacks), found, line, "by its first line")


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read ratings by crowd workers; quality-control copies are matched with what they copy."""
    means = _means(head)
    workers = _workers(means, report) if means else None
    frame = options.looks.alike(rows.frame, _NAMES)
    reject = Rejecting(frame, "WorkerId")
    for column in (*_KEY, "score"):
        reject(np.flatnonzero(frame[column].isna()), column, "is empty: fill it in, or drop the row")
    codes = _languages(frame)
    for column in ("Input.src", "Input.trg"):
        reject(np.flatnonzero(~frame[column].isin(list(codes))), column, "is no language that is known: correct it")
    reason = f"is none of {', '.join(mturk.ITEM_TYPES)}: correct it"
    reject(np.flatnonzero(~frame["type"].isin(list(mturk.ITEM_TYPES))), "type", reason)
    values, wrong = numbers.read(frame["score"], ".")
    if workers is None:
        wrong |= numbers.off_scale(values, options.scale or MTURK.scale)
    for place, reason in wrong.items():
        reject([place], "score", reason)
    if workers is None or means is None:
        reason = "is no whole number, as raw scores are and those of the first rows: correct it"
        if all(map(_WHOLE.fullmatch, _scores(head))):
            reject(np.flatnonzero(values != np.round(values)), "score", reason)
    else:
        known_workers = workers.set_index("annotator")
        mean, sd = (frame["WorkerId"].map(known_workers[name]) for name in ("mean", "sd"))
        reject(np.flatnonzero(mean.isna() | sd.isna()), "WorkerId", f"has no mean and deviation in {means.name}")
        score = values * sd.to_numpy(float) + mean.to_numpy(float)
        uneven = ~(np.abs(score - score.round()) < 1e-3) | (score < -0.5) | (score > 100.5)
        reject(np.flatnonzero(uneven), "score", f"gives no whole score from 0 to 100 with {means.name}")
    raw = frame[reject.kept]
    again = raw.duplicated(_KEY)
    late = [
        Rejection(int(line), "", "", "repeats an earlier judgement of the same HIT: drop one of them")
        for line in raw.index[again]
    ]
    raw = raw[~again]
    report.mapping |= {ours: {"theirs": name, "how": "layout"} for ours, name in _NAMES.items()}
    report.orientation = "higher is better, as in WMT's direct assessment"
    beside = [Seen.at(means)] if means else []
    scale = options.scale or MTURK.scale
    found = raw
    if len(raw):
        found = mturk.of_rows(raw, workers, origin=head.name, codes=codes)
        aliases = options.pseudonyms.column(found["annotator"])
        found = found.assign(annotator=aliases, hit=raw["HITId"] + "/" + aliases)
    return Converted(found, [*reject.rows, *late], _NAMES, scale, beside=beside)


def _languages(frame: pd.DataFrame) -> dict[str, str]:
    """Return the codes of a file's languages: as in WMT's own files, else as people write them."""
    written = {str(text) for column in ("Input.src", "Input.trg") for text in frame[column].dropna().unique()}
    found = {text: mturk.LANGUAGES.get(text) or languages.code(text) for text in written}
    return {text: code for text, code in found.items() if code}


def _scores(head: Head) -> list[str]:
    """List the scores of the first rows."""
    return [row[10].strip() for row in head.below if len(row) == len(mturk.COLUMNS)]


def _means(head: Head) -> Path | None:
    """Find the file of workers' means beside standardised scores; None where the first scores are raw, 0 to 100.

    Files whose scores stand for several systems (redup) share another's: what turns all first scores into whole ones
    from 0 to 100 is taken, the name most alike first.
    """
    cells = _scores(head)
    first, _ = numbers.read(pd.Series(cells, dtype="str"), ".")
    if len(cells) and (
        all(map(_WHOLE.fullmatch, cells)) or (((first >= 0) & (first <= 100)).all() and first.max() > _MOST)
    ):
        return None
    folder = sorted(path for path in head.path.parent.glob("*.txt") if is_companion(path.name))
    alike = sorted(folder, key=lambda path: -SequenceMatcher(None, path.name, head.name).ratio())
    if found := next((path for path in alike if _recovers(path, head)), None):
        return found
    beside = re.sub(r"good-stnd.*\.csv$", "trk-mean-sd.txt", head.name)
    wrong = (
        f" ({', '.join(path.name for path in folder[:5])} does not turn them into scores from 0 to 100)"
        if folder
        else ""
    )
    raise DataError(
        f"{head.name} holds standardised scores. Put the workers' means and deviations beside it, as "
        f"{beside if beside != head.name else 'ad-csen-trk-mean-sd.txt'}{wrong}, and keep WMT's file names."
    )


def _recovers(means: Path, head: Head) -> bool:
    """Tell whether workers' means and deviations turn most of a file's first scores into whole ones from 0 to 100."""
    try:
        workers = mturk.statistics(means).drop_duplicates("annotator").set_index("annotator")
    except DataError:
        return False
    first = pd.DataFrame([row for row in head.below if len(row) == len(mturk.COLUMNS)], columns=mturk.COLUMNS)
    mean, sd = (first["WorkerId"].str.strip().map(workers[name]).astype(float) for name in ("mean", "sd"))
    score = numbers.read(first["score"], ".")[0] * sd + mean
    return bool(((score - score.round()).abs().lt(1e-3) & score.between(-0.5, 100.5)).mean() > 0.5)


def _workers(means: Path, report: Report) -> pd.DataFrame:
    """Read the workers' means and deviations."""
    workers = Looks().alike(mturk.statistics(means))
    if workers["annotator"].duplicated().any():
        raise DataError(f"{means.name}: the names of two workers look alike. Tell them apart in both files.")
    if is_unfinished(means):
        report.note(f"{means.name}: {UNFINISHED.format(where='its last line')}")
    report.note(f"raw scores were recovered from standardised ones with {means.name}")
    return workers


MTURK = Format("mturk-da", "WMT's Mechanical Turk ratings", (0, 100), _match, _convert)
