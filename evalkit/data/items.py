"""What names a segment and an item: the columns that tell one from another."""

import pandas as pd

#: What tells one segment of a language pair from another, for documents may number their own.
SEGMENT = ("doc", "segment")
#: What tells one judged item of a language pair from another: whose translation of which segment.
ITEM = ["system", *SEGMENT]


def segment_key(table: pd.DataFrame) -> tuple[str, ...]:
    """Say which columns name a segment across systems: ``SEGMENT``, or the number alone where there is no ``doc``.

    Some files name a document anew for each system and number segments throughout. These are told by three facts: no
    two systems share a document's segment, they do share numbers, and none has a number in two of its documents,
    though one has several. Then the number alone is the name.

    >>> table = pd.DataFrame({"system": list("AABB"), "doc": list("deev"), "segment": list("1112")})
    >>> segment_key(table), segment_key(table.assign(doc=["a", "b", "c", "d"], segment=list("1212")))
    (('doc', 'segment'), ('segment',))
    """
    if "doc" not in table or "system" not in table:
        return SEGMENT if "doc" in table else ("segment",)
    pair = [name for name in ("src_lang", "tgt_lang") if name in table]
    full = table[[*pair, *ITEM]].drop_duplicates()
    documents = full.drop_duplicates([*pair, "system", "doc"])
    anew = not (full.duplicated([*pair, *SEGMENT]).any() or full.duplicated([*pair, "system", "segment"]).any())
    several = documents.duplicated([*pair, "system"]).any()
    return ("segment",) if anew and several and full.duplicated([*pair, "segment"]).any() else SEGMENT


def segment_names(table: pd.DataFrame) -> pd.Series:
    """Name each row's segment by the columns of ``segment_key``: rows of one name are translations of one sentence.

    >>> segment_names(pd.DataFrame({"system": "A", "doc": ["d", "e", "d"], "segment": "1"})).nunique()
    2
    """
    number = table["segment"].astype("str")
    return number if len(segment_key(table)) == 1 else number + "\t" + table["doc"].astype("str")
