"""Commands over judgements of your own: new, import, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from evalkit import ROOT, DataError
from evalkit.reports.cli.words import a_path, data_names, options, say


@click.group()
def new() -> None:
    """Start a campaign of your own, or a further study."""


@new.command("campaign")
@click.argument("name")
@click.option("--out", type=a_path, default=".", metavar="DIR", help="where the folder goes (default: here)")
@options("new-campaign")
@click.pass_context
def new_campaign(context: click.Context, name: str, out: Path, **told: Any) -> None:
    """Data template, checklist, instructions, report.

    All in a new folder NAME. With systems' outputs, also who judges what: for Pearmut, as CSV and as workbooks.

    \b
    Examples:
      evalkit new campaign spring --outputs outputs/ --source source.txt --protocol ESA --annotators 8 --hours 5
      evalkit new campaign our_class --class --protocol ESA --annotators 12   (what lesson 0 needs)
    """
    from evalkit.reports import starter

    wishes, said = {option: value for option, value in told.items() if value not in (None, ())}, list[str]()
    if not wishes:
        print(starter.campaign(name, out))
        return
    if wishes.get("everybody") and "outputs" not in wishes:
        wishes = for_a_class() | wishes
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name in {"outputs", "protocol", "annotators"} - wishes.keys():
            raise DataError(f"--{option.name} is lacking. Pass it: {option.help}.")
    from evalkit.campaign.design import make

    folder = starter.campaign(name, out, fill=lambda folder: said.extend(make(name, folder, **wishes)))
    say("\n".join(said))
    print(folder)


def for_a_class() -> dict[str, Any]:
    """Return the texts that a class judges that brings none of its own: those of lesson 0."""
    texts = ROOT / "notebooks" / "lessons" / "texts"
    beside = {name: texts / f"{name}.txt" for name in ("source", "documents")}
    return {"outputs": (texts / "outputs",), **beside, "pair": "deu-eng", "protocol": "ESA"}


@new.command("study")
@click.argument("name")
@click.option("--data", required=True, metavar="SET", shell_complete=data_names, help="the data set that it reads")
@click.option("--title", required=True, metavar="TEXT", help="its title: the question, in a line")
def new_study(name: str, data: str, title: str) -> None:
    """A notebook that runs at once, and its entry in studies.toml."""
    from evalkit.reports import starter

    print(starter.study(name, dataset=data, title=title))


def print_formats(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the table of formats, and end."""
    if wanted:
        from evalkit.data.importing import formats

        print(formats())
        context.exit()


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=a_path, metavar="FILE...")
@click.option("--formats", is_flag=True, is_eager=True, expose_value=False, callback=print_formats, help="list them")
@options("import")
def import_files(files: tuple[Path, ...], out: Path, **told: Any) -> None:
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

    told |= {name: dict(told[name]) for name in ("values", "words")}
    told["columns"] = {ours: theirs.split("+") if "+" in theirs else theirs for ours, theirs in told["columns"]}
    report, written = import_campaign(list(files), out, tell=say, **told)
    say("\n".join(report.sentences()))
    for path in written:
        print(path)


@click.command()
@click.argument("source", type=a_path, metavar="REPORT.json|CAMPAIGN.parquet")
@click.option("--out", type=a_path, required=True, metavar="DIR", help="the folder for the files")
@click.option("--annotators", is_flag=True, help="of a campaign: a page for each, about their own judgements")
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
    say("\n".join(report.sentences()))
    [outcome] = execute.run(["campaign"], Layout(reports=out), values={"file": str(campaign)})
    if outcome.status == "ok":
        say(json.loads((out / "campaign.json").read_text(encoding="utf-8"))["headline"])
    print(outcome.path)
    own = "evalkit import YOUR_FILE && evalkit run campaign -p file=campaign.parquet"
    say(f"With judgements of your own (a row each: system, segment, annotator, score):\n  {own}")
    return int(outcome.status == "failed")


COMMANDS = [demo, new, import_files, export]
