"""Load an archive of XSTS judgements whose columns the user names."""

from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, files, schemas

MEMBER = "NLLB_200_XSTS_annotation_data.tsv"
_NEEDED = ("src_lang", "tgt_lang", "score")


def ratings(paths: list[Path], *, columns: dict[str, str | list[str]] | None = None) -> pd.DataFrame:
    """Load a table of XSTS scores on 1-5 from the annotation file inside the archive.

    columns: our name -> the archive's; ``score`` may list several columns, one per annotator of a row, who is then
    called by the column's name. Needed are src_lang, tgt_lang and score. What the archive may not have gets a
    plain value: system "nllb-200", doc "all", segment the text of ``source`` or else the row, item_type "system".
    An annotator is needed where all scores stand in one column. Cells without a score are left out and
    counted in ``attrs["excluded"]`` only where several columns are listed, for there not everyone judged every row.
    Raises DataError naming the columns found and needed.
    """
    raw = delimited.table(files.member(paths[0], MEMBER), origin=MEMBER, delimiter="\t")
    names = dict(columns) if columns else {name: name for name in schemas.RATINGS.columns if name in raw}
    scores = names.get("score", [])
    scores = [scores] if isinstance(scores, str) else list(scores)
    needed = [*_NEEDED, "annotator"] if len(scores) == 1 else list(_NEEDED)
    unknown = set(names) - set(schemas.RATINGS.columns)
    absent = [theirs for theirs in [*scores, *(str(v) for k, v in names.items() if k != "score")] if theirs not in raw]
    lacking = [name for name in needed if not names.get(name)]
    if unknown or absent or lacking:
        raise DataError(
            f"{MEMBER}: the columns here are {', '.join(raw)}; needed are {', '.join(needed)}"
            + _listed("not mapped", lacking)
            + _listed("not in the file", absent)
            + _listed("not ours", sorted(unknown))
            + ". Name them with columns={'src_lang': …, 'tgt_lang': …, 'score': [one column per annotator]}."
        )
    plain = {"system": "nllb-200", "doc": "all", "item_type": "system"}
    parts = []
    for score in scores:
        part = raw[[v for k, v in names.items() if k != "score"]].set_axis([k for k in names if k != "score"], axis=1)
        part = part.assign(score=raw[score], **{k: v for k, v in plain.items() if k not in part})
        if "annotator" not in part:
            part["annotator"] = score
        if "segment" not in part:
            part["segment"] = part["source"] if "source" in part else part.index.astype("str")
        parts.append(part)
    frame = pd.concat(parts)
    unjudged = frame["score"].isna() if len(scores) > 1 else pd.Series(False, index=frame.index)
    order = [name for name in schemas.RATINGS.columns if name in frame]
    frame = schemas.check(frame.loc[~unjudged, order], schemas.RATINGS, origin=MEMBER, scale=(1, 5))
    frame.attrs["excluded"] = {"cells without a score": int(unjudged.sum())}
    return frame


def _listed(title: str, names: list[str]) -> str:
    """Print a list of names for a message; an empty one prints as nothing."""
    return f"; {title}: {', '.join(names)}" if names else ""
