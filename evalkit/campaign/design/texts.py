"""Read what is to be judged: source, systems' outputs and references, a line a segment, and the documents."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.campaign.findings import Result, words
from evalkit.data import languages, mtme, registry

#: Segments of a document where no file tells documents.
BLOCK = 10
#: What a person's translation is called that was given as a file.
REFERENCE = "reference"


class Texts(Result):
    """What is to be judged, segment by segment.

    docs, sources: of each segment, which is named by its line, counted from 1. outputs: system -> its
    translations. humans: systems that are people's translations. inputs: name and digest of each file. notes: what
    was assumed. src_lang, tgt_lang: the languages, where they are told.
    """

    humans: frozenset[str] = frozenset()
    src_lang = tgt_lang = languages.UNKNOWN
    inputs = notes = ()

    @property
    def documents(self) -> dict[str, tuple[int, ...]]:
        """Each document's segments, by their places."""
        places = pd.Series(range(len(self.docs)))
        return {str(doc): tuple(own) for doc, own in places.groupby(np.array(self.docs), sort=False)}


def read_texts(
    outputs: Sequence[Path],
    *,
    source: Path | None = None,
    reference: Path | None = None,
    documents: Path | None = None,
    pair: str = "",
    references: bool = True,
) -> Texts:
    """Read a folder or files, a system each, beside source, reference and documents; or mt-metrics-eval's layout.

    documents: a document's name on each line (behind a tab, where there is one); an empty line goes on with the one
    before. None makes documents of ``BLOCK`` consecutive segments, which is noted. references: whether people's
    translations are judged, too. Raises DataError, in one sentence, for files that do not fit each other.
    """
    if len(outputs) == 1 and (outputs[0] / "system-outputs").is_dir():
        found = _mt_metrics_eval(outputs[0], pair)
    else:
        beside = [path for path in (source, reference, documents) if path]
        found = {"systems": _systems(outputs, beside), "source": source, "documents": documents}
        found["references"] = {REFERENCE: reference} if reference else {}
    if not found["source"]:
        raise DataError("The source texts are not named. Pass --source FILE, a segment a line.")
    humans = found["references"] if references else {}
    systems = {name: path for name, path in found["systems"].items() if name not in found["references"]}
    if not systems:
        raise DataError(f"{outputs[0]} holds no system's output. Name files or a folder of them, a file per system.")
    both = systems | humans
    files = [found["source"], *both.values(), *([found["documents"]] if found["documents"] else [])]
    sources = mtme.lines(found["source"])
    texts: dict[str, Sequence[str]] = {name: mtme.lines(path) for name, path in sorted(both.items())}
    for name, lines in texts.items():
        _demand_as_long(both[name], lines, found["source"], sources)
    notes: list[str] = []
    docs = _documents(found["documents"], sources, found["source"], notes)
    if empty := sum(not line.strip() for lines in texts.values() for line in lines):
        notes.append(f"{empty:,} translations are empty; they are shown as they are")
    src_lang, tgt_lang = _pair(found.get("pair", "") or pair, notes)
    inputs = [{"name": nameable(path).name, "digest": registry.digest(path)} for path in files]
    told = {"src_lang": src_lang, "tgt_lang": tgt_lang, "inputs": inputs, "notes": notes}
    return Texts(docs=docs, sources=sources, outputs=texts, humans=frozenset(humans), **told)


def _systems(paths: Sequence[Path], beside: Sequence[Path]) -> dict[str, Path]:
    """Name systems by their files."""
    inside = [file for path in paths if path.is_dir() for file in sorted(path.iterdir()) if file.is_file()]
    taken = {path.resolve() for path in beside}
    found: dict[str, Path] = {}
    for path in [*inside, *(path for path in paths if not path.is_dir())]:
        if path.name.startswith(".") or path.resolve() in taken:
            continue
        if path.stem in found:
            raise DataError(f"{found[path.stem].name} and {path.name} are one system's name. Rename one of them.")
        found[path.stem] = path
    return found


def _mt_metrics_eval(folder: Path, pair: str) -> dict:
    """Find the files of one language pair where mt-metrics-eval keeps them."""
    places = mtme.in_folder(folder)
    pairs = sorted({one.pair for one in places if one.part == "sources"})
    wanted = languages.split(pair) if pair else None
    fitting = [one for one in pairs if one == pair or (wanted and languages.split(one) == wanted)] if pair else pairs
    if len(fitting) != 1:
        raise DataError(words("refused.pairs", folder=folder, pairs=pairs or ["en-de"]))
    [name] = fitting
    return {
        "systems": mtme.named(places, "system-outputs", name),
        "source": mtme.named(places, "sources", name)[""],
        "documents": mtme.named(places, "documents", name).get(""),
        "references": mtme.named(places, "references", name),
        "pair": name,
    }


def _demand_as_long(path: Path, lines: Sequence[str], other: Path, others: Sequence[str]) -> None:
    if len(lines) != len(others):
        raise DataError(words("refused.lengths", path=path, lines=lines, other=other, others=others))


def _documents(path: Path | None, sources: Sequence[str], source: Path, notes: list[str]) -> list[str]:
    """Name the document of each segment."""
    if not path:
        notes.append(f"no file names documents, so {BLOCK} consecutive segments were taken as one (--documents FILE)")
        return [f"block-{place // BLOCK + 1}" for place in range(len(sources))]
    lines = [line.rpartition("\t")[2].strip() for line in mtme.lines(path)]
    _demand_as_long(path, lines, source, sources)
    docs = pd.Series(lines, range(1, len(lines) + 1)).replace("", None).ffill()
    if docs.head(1).isna().any():
        raise DataError(f"{path.name}, line 1 names no document. Write the first document's name there.")
    begins = docs[docs.ne(docs.shift())]
    for line, doc in begins[begins.duplicated()].items():
        began = begins.index[begins.eq(doc)][0]
        raise DataError(words("refused.document", path=path, line=line, doc=doc[:60], began=began))
    return docs.tolist()


def _pair(name: str, notes: list[str]) -> tuple[str, str]:
    """Read the languages; unknown ones are noted."""
    if not name:
        notes.append("nothing says the languages (--pair eng-deu)")
        return languages.UNKNOWN, languages.UNKNOWN
    found = languages.split(name)
    if not found:
        raise DataError(f"--pair {name!r} is no pair of languages that are known here. Write it like eng-deu.")
    return found[0], found[1]
