"""Complete the receipt with what all judgements together show, and refuse what it shows to be misread."""

from __future__ import annotations

import pandas as pd

from evalkit import DataError
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import REFUSE_ABOVE
from evalkit.data.importing.report import Report
from evalkit.data.schemas import ITEM_TYPES, scored, with_pair


def refuse_many(report: Report, lost: str, *, allowed: bool) -> None:
    """Refuse a campaign of whose rows many were rejected.

    lost: what kind of judgements went with them, which nobody may allow; "" where the rows are merely broken. allowed:
    go on without those. Raises DataError with the reasons.
    """
    share = report.rows_rejected / max(report.rows_read, 1)
    if share <= REFUSE_ABOVE or (allowed and not lost):
        return
    reasons = "; ".join(f"{count:,} rows: {reason}" for reason, count in report.reasons.most_common(5))
    more = f"; {len(report.reasons) - 5} further reasons" if len(report.reasons) > 5 else ""
    first = report.first[0]
    example = f"line {first['line']} of {first['file']}, column {first['column']}: {first['value']} {first['reason']}"
    scale = ""
    if report.scale and any("is outside" in reason for reason in report.reasons):
        scale = " The scale is {:g} to {:g}".format(*report.scale) + f" ({report.scale_from})."
    raise DataError(
        f"{', '.join(entry['name'] for entry in report.files)}: {report.rows_rejected:,} of {report.rows_read:,} rows "
        f"({share:.1%}) cannot be read, and nothing was imported ({reasons}{more}). First: {example}.{scale} "
        + (lost or "Mend the file or the options, or pass --allow-rejected to go on without these rows.")
    )


def _tell_accounts(report: Report, options: Options) -> None:
    """Say which accounts nobody has. Raises DataError where the file of accounts names none of those met."""
    named, met = options.pseudonyms.accounts
    if options.accounts and not named:
        raise DataError(
            "The file of --accounts names none of the accounts of this campaign. Check that it belongs to it, and that "
            "its columns are account and person."
        )
    if options.accounts and named < met:
        report.note(f"--accounts names {named:,} of {met:,} accounts; each of the others counts as one person")


def complete(report: Report, ratings: pd.DataFrame, options: Options) -> None:
    """Put into the report what all judgements together show.

    ratings: those of people. Raises DataError where a file of accounts names none of theirs.
    """
    _tell_accounts(report, options)
    report.annotators = int(ratings["annotator"].nunique())
    apart = ["pair", *(["criterion"] if "criterion" in ratings else [])]
    counted = pd.concat([scored(own) for _, own in with_pair(ratings).reset_index(drop=True).groupby(apart)])
    if counted.duplicated([*apart, "system", "doc", "segment"]).any():
        report.note(
            "systems are ranked by the mean of segments, which counts a segment once, however often it was judged"
        )
    report.systems, report.people = _means(counted, "system"), _means(counted, "annotator")
    rest = ratings["item_type"].value_counts() - counted["item_type"].value_counts().reindex(ITEM_TYPES, fill_value=0)
    report.besides = {kind: int(number) for kind, number in rest.items() if number > 0}
    for note in options.looks.notes():
        report.note(note)


def _means(ratings: pd.DataFrame, by: str) -> list[dict[str, str | int | float]]:
    """List systems and people's translations, or annotators, by criterion, with judgements and mean, best first.

    Systems have a second mean, that of the ranking: every segment counts once, however often it was judged.
    """
    keys = [by, *(["criterion"] if "criterion" in ratings else [])]
    sizes, means = ratings.groupby(keys)["score"].size(), ratings.groupby(keys)["score"].mean()
    once = means
    if by == "system":
        once = ratings.groupby([*keys, "pair", "doc", "segment"])["score"].mean().groupby(keys).mean()
    rows = []  # in order: by criterion, what decides, and name; to sort a small frame takes ten times as long
    for names, count, mean, ranked in zip(sizes.index, sizes.tolist(), means.tolist(), once.tolist(), strict=True):
        own = dict(zip(keys, names if len(keys) > 1 else (names,), strict=True))
        told = own | {"judgements": count, "mean": round(mean, 6)}
        told |= {"mean of segments": round(ranked, 6)} if by == "system" else {}
        rows.append((own.get("criterion", ""), -ranked if by == "system" else -count, own[by], told))
    return [own for *_, own in sorted(rows, key=lambda row: row[:3])]
