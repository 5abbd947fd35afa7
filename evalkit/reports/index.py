"""The overview: one card for each report in the reports folder, built from the JSON beside it.

Links from one report to another lead over it, so that none is dead where a report was not made. A report says the same
bytes whatever else is in its folder, so it cannot know which others are there. The index, made anew by every run,
knows: it has an anchor for each study that a report in the folder refers to.
"""

from __future__ import annotations

import re
from typing import Any

from evalkit.reports import export, findings, notebooks, tally
from evalkit.reports.studies import Layout, Study, read_studies

_REFERENCE = re.compile(r'href="index\.html#([A-Za-z_]\w*)"')
OWN, PAPERS = "", "Check: papers, computed again"  # one's own stand under how to run them


def page(layout: Layout) -> str:
    """Return the overview as one self-contained HTML page: what is no paper's first, each in ``studies.toml``'s order.

    Studies that left nothing in the reports folder are not on it.
    """
    studies = read_studies(layout)
    pages = [page for name in studies if (page := layout.reports / f"{name}.html").is_file()]
    referred = {name for page in pages for name in _REFERENCE.findall(page.read_text("utf-8", errors="replace"))}
    cards = [one for study in studies.values() if (one := card(study, layout))["status"]]
    shown = {each["study"].name for each in cards}
    own = [one for one in cards if not one["study"].link]
    papers = [one for one in cards if one["study"].link]
    total = tally.count(row for each in cards if each["report"] for row in each["report"]["published"])
    template = export.pages().get_template("overview.html.j2")
    return template.render(
        groups=[(title, group) for title, group in ((OWN, own), (PAPERS, papers)) if group],
        simulated=any(each["simulated"] for each in cards),
        tallied=tally.shown(total),
        absent=[(name, studies[name].title if name in studies else "") for name in sorted(referred - shown)],
        api=(layout.reports / "api" / "index.html").is_file(),
    )


def card(study: Study, layout: Layout) -> dict[str, Any]:
    """Return what the overview says of one study; a failed or skipped run stands beside an earlier good report.

    Its status is '' where the study left nothing in the folder.
    """
    reports = layout.reports
    report = findings.read_report(reports / f"{study.name}.json")
    latest = findings.read_report(reports / f"{study.name}.failed.json")
    good = report if report and report.get("status") == "ok" and (reports / f"{study.name}.html").exists() else None
    trouble = next((one for one in (latest, None if good else report) if one and one.get("status")), None)
    counts = tally.count(good["published"] if good else ())
    simulated = bool(good and findings.simulated(good))
    reference = findings.read_report(layout.reference / f"{study.name}.json") if simulated else None
    return {
        "study": study,
        "report": good,
        "status": trouble["status"] if trouble else "ok" if good else "",
        "reason": trouble.get("reason", "") if trouble else "",
        "kept": bool(good and trouble),
        "simulated": simulated,
        "kinds": sorted({source["source"] for source in good["data"]}) if good else [],
        "agreement": tally.brief(counts),
        "earlier": findings.earlier(reference),
    }


if __name__ == "__main__":  # the reports that are there, once more, with what `make docs` has put beside them
    notebooks.write_text(Layout().reports / "index.html", page(Layout()))
