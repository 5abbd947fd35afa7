"""Commands over judgements of your own: new, import, export."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evalkit import ROOT, DataError
from evalkit.reports.cli.words import Pair, Scale, a_path, data_names

#: What is asked for where it lacks: the question, the type of the answer, and what stands for none where it may lack.
_ASKED: dict[str, tuple[str, Any, Any]] = {
    "protocol": ("Protocol (DA, SQM, XSTS, ESA, cESA, MQM, preference)", str, None),
    "source": ("File of source texts", Path, None),
    "annotators": ("Annotators (how many, or their names, with commas)", str, None),
    "documents": ("File of documents' names (empty: ten lines each)", Path, ""),
    "hours": ("Hours of each annotator (0: all is judged)", float, 0.0),
}
_FILE: dict[str, Any] = {"type": a_path, "metavar": "FILE"}
_FILES: dict[str, Any] = {"type": a_path, "multiple": True}
_PAIRS: dict[str, Any] = {"type": Pair(), "multiple": True}
_OPTIONS = [
    click.option(
        "--outputs", **_FILES, metavar="PATH", help="systems' outputs: files, a folder, mt-metrics-eval's (repeatable)"
    ),
    click.option("--source", **_FILE, help="the source texts, a line a segment"),
    click.option("--reference", **_FILE, help="a person's translation, judged like a system"),
    click.option("--references/--no-references", default=None, help="judge people's translations, too (the default)"),
    click.option("--documents", **_FILE, help="a document's name a line (default: ten lines each)"),
    click.option("--pair", metavar="PAIR", help="the languages, like eng-deu"),
    click.option("--protocol", metavar="NAME", help="DA, SQM, XSTS, ESA, cESA, MQM or preference"),
    click.option("--annotators", metavar="N", help="how many, or their names, with commas"),
    click.option("--hours", type=float, metavar="H", help="of each annotator (default: all documents are judged)"),
    click.option("--seconds", type=float, metavar="S", help="that a judgement takes (default: the pilot's, or usual)"),
    click.option("--overlap", type=float, metavar="SHARE", help="of documents that two judge (default: 0.2)"),
    click.option("--calibration", type=int, metavar="N", help="items that all judge (default: a tenth, 20 at most)"),
    click.option("--degraded", type=float, metavar="SHARE", help="shown again, degraded on purpose (default: 0.05)"),
    click.option("--repeats", type=float, metavar="SHARE", help="shown again as they are (default: 0.05)"),
    click.option(
        "--opponents", type=int, metavar="N", help="of preference: that a system meets in a document (default: all)"
    ),
    click.option("--pilot", **_FILE, help="earlier judgements: times, scatter, what a calibration set is chosen from"),
    click.option(
        "--class",
        "everybody",
        is_flag=True,
        default=None,
        help="everybody judges all; without --outputs lesson 0's texts",
    ),
    click.option("--seed", type=int, metavar="N", help="of all that is drawn (default: 7)"),
]


def _for_a_class() -> dict[str, Any]:
    """Return the texts that a class judges that brings none of its own: those of lesson 0."""
    texts = ROOT / "notebooks" / "lessons" / "texts"
    return {
        "outputs": (texts / "outputs",),
        "source": texts / "source.txt",
        "documents": texts / "documents.txt",
        "pair": "deu-eng",
        "protocol": "ESA",
    }


def designed(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of a design."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked(told: dict[str, Any]) -> dict[str, Any]:
    """Ask for what is lacking where somebody can answer; return what is told then, without what is not.

    Without outputs no campaign is designed, and nothing is returned. Raises DataError where something is lacking and
    nobody is there, or flags are given without outputs.
    """
    person = sys.stdin is not None and sys.stdin.isatty()
    given = {name: value for name, value in told.items() if value not in (None, ())}
    if not given and person:
        question = "Systems' outputs, a folder or files with commas (empty: only a template)"
        answer = click.prompt(question, default="", show_default=False, err=True)
        if paths := tuple(Path(part.strip()) for part in answer.split(",") if part.strip()):
            given["outputs"] = paths
    if not given:
        return {}
    if given.get("everybody") and "outputs" not in given:
        given = _for_a_class() | given
    if "outputs" not in given:
        raise DataError(f"--{next(iter(given))} is for a campaign of systems. Name their outputs with --outputs PATH.")
    layout = any((path / "system-outputs").is_dir() for path in given["outputs"])
    for name, (question, kind, none) in _ASKED.items():
        if name in given or (layout and kind is Path) or (none is not None and not person):
            continue
        if not person:
            raise DataError(f"--{name} is lacking. Pass it: {question[0].lower()}{question[1:]}.")
        answer = click.prompt(question, type=kind, default=none, show_default=False, err=True)
        if none is None or answer != kind(none):
            given[name] = answer
    return given


FORMATS = (
    *("auto", "appraise", "esa", "mqm", "mturk-da", "xsts", "mt-metrics-eval", "preferences", "csv", "pearmut"),
    *("label-studio", "doccano", "prodigy"),
)


@click.group()
def new() -> None:
    """Start a campaign of your own, or a further study."""


@new.command("campaign")
@click.argument("name")
@click.option("--out", type=a_path, default=".", metavar="DIR", help="where the folder goes (default: here)")
@designed
def new_campaign(name: str, out: Path, **told: Any) -> None:
    """Data template, checklist, instructions, report.

    All in a new folder NAME. With systems' outputs, also who judges what: for Pearmut, as CSV and as workbooks.

    \b
    Examples:
      evalkit new campaign spring --outputs outputs/ --source source.txt --protocol ESA --annotators 8 --hours 5
      evalkit new campaign our_class --class --protocol ESA --annotators 12   (what lesson 0 needs)
    """
    from evalkit.reports import starter

    wishes, said = asked(told), list[str]()
    if not wishes:
        print(starter.campaign(name, out))
        return
    from evalkit.campaign.design import make

    folder = starter.campaign(name, out, fill=lambda folder: said.extend(make(name, folder, **wishes)))
    print("\n".join(said), file=sys.stderr)
    print(folder)


@new.command("study")
@click.argument("name")
@click.option("--data", required=True, metavar="SET", shell_complete=data_names, help="the data set that it reads")
@click.option("--title", required=True, metavar="TEXT", help="its title: the question, in a line")
def new_study(name: str, data: str, title: str) -> None:
    """A notebook that runs at once, and its entry in studies.toml."""
    from evalkit.reports import starter

    print(starter.study(name, dataset=data, title=title))


def _print_formats(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the table of formats, and end."""
    if wanted:
        from evalkit.data.importing import formats

        print(formats())
        context.exit()


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=a_path, metavar="FILE...")
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_formats,
    help="print what can be imported",
)
@click.option("--format", type=click.Choice(FORMATS), default="auto", help="default: recognise it")
@click.option("--out", type=a_path, default="campaign.parquet", metavar="PARQUET", help="default: campaign.parquet")
@click.option(
    "--map", "columns", **_PAIRS, metavar="OURS=THEIRS", help="which column is which of ours (repeatable; A+B joins)"
)
@click.option(
    "--value", "values", **_PAIRS, metavar="OURS=TEXT", help="of all rows, or of a file (repeatable): wave2.csv:doc=b"
)
@click.option("--mapping", type=a_path, metavar="TOML", help="a file with columns, values, scale and the like")
@click.option("--scale", type=Scale(), metavar="LOW:HIGH", help="the ends of the scale (default: the format's)")
@click.option("--replace", is_flag=True, help="write over a result of other files; its own an import renews without it")
@click.option("--check", is_flag=True, help="print the receipt and write nothing")
@click.option("--allow-rejected", is_flag=True, help="go on though more than 1 row in 100 cannot be read")
@click.option("--pseudonyms/--keep-names", default=True, help="replace annotators' names (the default), or keep them")
@click.option("--salt", metavar="TEXT", help="what pseudonyms are made with (default: your own, kept)")
@click.option("--sheet", metavar="NAME", help="the sheet of a workbook")
@click.option("--encoding", metavar="NAME", help="of a text file (default: found out)")
@click.option(
    "--batches", **_FILES, metavar="JSON", help="what Appraise was given: which segment each item is (repeatable)"
)
@click.option("--design", type=a_path, metavar="JSON", help="of the campaign's beginning (default: design.json beside)")
@click.option("--accounts", **_FILE, help="which account is whose (CSV of two columns, or JSON)")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="an annotator that is a model (repeatable)")
@click.option(
    "--metric",
    "metric_columns",
    multiple=True,
    metavar="[NAME=]COLUMN",
    help="a column of automatic scores; COLUMN- where lower is better, COLUMN+ where higher is (repeatable)",
)
@click.option(
    "--metrics",
    "metric_files",
    **_FILES,
    metavar="FILE",
    help="automatic scores: a table (system, doc, segment, score), or mt-metrics-eval's files (repeatable)",
)
@click.option("--weights", metavar="SCHEME", help="of marked errors: a scheme, or like minor=1,major=5,critical=10")
@click.option("--lower-is-better/--higher-is-better", default=None, help="of scores (default: by headings and scores)")
@click.option("--positive", metavar="HEADING", help="of one number for two systems: whose column high numbers favour")
@click.option("--wide", type=click.Choice(["systems", "annotators", "criteria"]), help="what columns of scores are")
@click.option("--map-values", "words", **_PAIRS, metavar="WORD=SCORE", help="the score that a word means")
@click.option("--decimal", type=click.Choice([".", ","]), help="the decimal mark (default: found out)")
def import_files(
    files: tuple[Path, ...],
    out: Path,
    columns: tuple[tuple[str, str], ...],
    values: tuple[tuple[str, str], ...],
    scale: list[str] | None,
    pseudonyms: bool,
    words: tuple[tuple[str, str], ...],
    **options: Any,
) -> None:
    """Read a campaign of your own.

    Makes one table of ratings out of exports and spreadsheets.

    \b
    Examples:
      evalkit import appraise_export.csv
      evalkit import scores.xlsx --sheet Scores --map annotator=Linguist --value src_lang=eng
      evalkit import ratings.csv --metric comet --metric TER- --metrics en-de/BLEU-refA.seg.score
      evalkit import ratings.csv --mapping mapping.toml --scale 1:5 --out campaign.parquet

    Files (CSV, TSV, JSON Lines, XLSX) appear when everything went well, all at once. The same files imported again
    renew the result; a result of other files is left alone unless you pass --replace. Rejected rows are listed in
    campaign.rejected.csv: file, line, value and reason, without annotators' names.
    """
    from evalkit.data.importing import import_campaign

    report, written = import_campaign(
        list(files),
        out,
        values=dict(values),
        scale=scale,
        keep_names=not pseudonyms,
        words=dict(words),
        columns={ours: theirs.split("+") if "+" in theirs else theirs for ours, theirs in columns},
        tell=progress(),
        **options,
    )
    print("\n".join(report.sentences()), file=sys.stderr)
    for path in written:
        print(path)


def progress(every: float = 2.0) -> Callable[[str], None]:
    """Make a function that prints a line on stderr, at most one in so many seconds."""
    last = time.monotonic()

    def tell(line: str) -> None:
        nonlocal last
        if time.monotonic() - last > every:
            last = time.monotonic()
            print(line, file=sys.stderr)

    return tell


@click.command()
@click.argument("source", type=a_path, metavar="REPORT.json|CAMPAIGN.parquet")
@click.option("--out", type=a_path, required=True, metavar="DIR", help="the folder for the files")
@click.option(
    "--annotators", is_flag=True, help="of a campaign: one page for each annotator, about their own judgements"
)
def export(source: Path, out: Path, annotators: bool) -> None:
    """Tables for a paper, or feedback for annotators.

    \b
    Examples:
      evalkit export reports/campaign.json --out for-the-paper
      evalkit export campaign.parquet --annotators --out feedback

    Of a report: its tables as CSV, Parquet and LaTeX, the methods with their references (methods.bib), and a human
    evaluation datasheet, also for the form of HEDS 3.0; what no file tells is a blank to fill in. In CSV, text that a
    spreadsheet would run as a formula has an apostrophe before it. With --annotators, of an imported campaign: one
    page a person, with own habits beside the others', and items to look at again; it ranks and names nobody else.

    The files appear all at once, in place of an earlier export; one that you changed since, such as a datasheet that
    you filled in, stops the export.
    """
    from evalkit import DataError, campaign, data
    from evalkit.reports import export

    if annotators != (source.suffix != ".json"):
        raise DataError("Name a report (.json), or with --annotators an imported campaign (.parquet).")
    if annotators:
        told = campaign.give_feedback(data.open_campaign(source)[0])
        found = campaign.export_pages({name: export.feedback(name, own) for name, own in told.items()}, out)
    else:
        found = campaign.export(source, out)
    for path in found:
        print(path)


@click.command()
@click.option("--out", type=a_path, default="demo", metavar="DIR", help="a folder for its files (default: ./demo)")
def demo(out: Path) -> int:
    """Import and report on a real small campaign.

    3,120 judgements of nine translations, WMT23 English to German (Song et al. 2025, Apache License 2.0), which come
    with this suite: no network is needed. The folder has the file, what the import made of it, and the report.
    """
    from evalkit.data.importing import import_campaign
    from evalkit.reports import execute
    from evalkit.reports.notebooks import write_text
    from evalkit.reports.studies import Layout

    out = out.resolve()
    write_text(out / "wmt23.csv", (ROOT / "data" / "demo" / "wmt23.csv").read_text(encoding="utf-8"))
    report, [campaign, *_] = import_campaign([out / "wmt23.csv"], out / "wmt23.parquet", replace=True)
    print("\n".join(report.sentences()), file=sys.stderr)
    [outcome] = execute.run(["campaign"], Layout(reports=out), values={"file": str(campaign)})
    if outcome.status == "ok":
        print(json.loads((out / "campaign.json").read_text(encoding="utf-8"))["headline"], file=sys.stderr)
    print(outcome.path)
    own = "evalkit import YOUR_FILE && evalkit run campaign -p file=campaign.parquet"
    print(f"With judgements of your own (a row each: system, segment, annotator, score):\n  {own}", file=sys.stderr)
    return int(outcome.status == "failed")


COMMANDS = [demo, new, import_files, export]
