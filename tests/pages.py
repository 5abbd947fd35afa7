"""A campaign's report as tests read it: verdicts of checks by key, and the numbers in sentences, never their words."""

import functools
import re
from dataclasses import dataclass

from evalkit import campaign
from evalkit.campaign import first_page, sentences
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.findings import Finding
from tests.makers import SOURCE, ratings


@dataclass(frozen=True)
class Page:
    """What a report of a campaign says: analyses, checks by key, the headline."""

    found: Analysis
    checks: dict[str, Finding]
    headline: str
    trust: str

    @property
    def verdicts(self):
        """Verdicts by key, without their signs."""
        return {key: check.result.partition(" ")[2] for key, check in self.checks.items()}

    def told(self, *parts):
        """What is said of some of the analyses, as one text."""
        return " ".join(text for part in parts for text in sentences.say(getattr(self.found, part)))


def plain(systems=2, documents=6, people=3, **options):
    """A small campaign in which everybody judges everything, in whole points, and the first system is best."""
    return ratings(systems=systems, documents=documents, people=people, **{"step": 1, "gap": 10, "level": 70} | options)


def opened(table, spans=None, **options):
    """Look at a table as a campaign, on the scale of 0 to 100 where it does not say another one."""
    whole = table.reset_index(drop=True)
    whole.attrs = {"scale": (0.0, 100.0), "source": SOURCE} | table.attrs
    return campaign.from_ratings(whole, spans, **options)


def analysed(table, spans=None, *, resamples=20, score="auto", unit="auto", **options):
    """Open a table as a campaign, and make all analyses."""
    return campaign.analyse(opened(table, spans, **options), resamples=resamples, score=score, unit=unit)


def ranked(table, *, resamples=20, score="auto", unit="auto", lines="units", **options):
    """Open a table as a campaign, and rank its systems."""
    mine = opened(table, **options)
    return campaign.rank_systems(mine, resamples=resamples, score=score, unit=unit, lines=lines)


def errors_in(table, *, error_type="unstated", severity="minor"):
    """One marked error in each judgement of a table."""
    key = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    more = ["item_type"] if "item_type" in table else []
    spans = table[key + more].assign(span="1", error_type=error_type, severity=severity).reset_index(drop=True)
    spans.attrs = {"scale": (0.0, 100.0), "source": SOURCE} | table.attrs
    return spans


def page(found, spans=None, **options):
    """What the report of a table of ratings, or of analyses that were made, says."""
    found = found if isinstance(found, Analysis) else analysed(found, spans, **options)
    checks = campaign.run_checks(found)
    by_group = {check.group: check for check in checks}
    return Page(found, by_group, first_page.headline(found, checks), first_page.trust(checks))


def telling(analysis):
    """Have whatever an analysis finds said, too: in a sentence or more, none with a gap where a number should be."""

    @functools.wraps(analysis)
    def found(*given, **options):
        result = analysis(*given, **options)
        said = " ".join(sentences.say(result))
        assert said
        assert not {"nan", "NaT", "inf"} & set(re.findall(r"\w+", said)), said
        return result

    return found


def numbers(text):
    """The numbers of a text, in its order; thousands as one number."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text.replace("\u2212", "-"))
    return [float(one) for one in re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?", plain)]
