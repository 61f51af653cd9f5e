"""Org in the shell: headlines and tasks as lines or JSON, and the edits that agents can make."""

from __future__ import annotations

import argparse
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookwheel.cli.core import catalog_of, folders_of, known_folders, settings_of
from bookwheel.cli.printing import data, line, warn
from bookwheel.errors import BookwheelError, Invalid

if TYPE_CHECKING:
    from bookwheel.cli.arguments import Add
    from bookwheel.faces.org import Org
    from bookwheel.folders import Folder
    from bookwheel.org import Headline
    from bookwheel.outlines import OrgFile
    from bookwheel.settings import Settings


def add(parser: ArgumentParser, printing: Add) -> None:
    """Add what `bookwheel org` takes."""
    inner = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    for name, run, summary, arguments in (
        ("headlines", headlines, "list every headline", ("paths",)),
        ("todos", todos, "list tasks", ("paths",)),
        ("todo", todo, "set the state of a task", ("uri", "state")),
        ("schedule", schedule, "schedule a task, or set its deadline", ("uri", "date")),
    ):
        one = inner.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        one.set_defaults(run=run)
        for argument in arguments:
            _argument(one, argument)
        printing(one)
    inner.choices["todos"].add_argument("--state", action="append", metavar="STATE", help="only tasks in this state")
    inner.choices["todo"].add_argument("--expect", metavar="STATE", help="only if this is its state now")
    inner.choices["todo"].add_argument("--note", metavar="TEXT", help="note to record where the state asks for one")
    inner.choices["schedule"].add_argument("--deadline", action="store_true", help="set the deadline instead")
    inner.choices["schedule"].add_argument("--remove", action="store_true", help="remove the date")


def _argument(parser: ArgumentParser, name: str) -> None:
    if name == "paths":
        parser.add_argument("paths", nargs="*", metavar="PATH", help="only these (default: all indexed folders)")
    elif name == "date":
        parser.add_argument(
            "date", nargs="?", metavar="DATE", help="as Org writes it: 2024-12-25, 2024-12-25 10:00 +1w"
        )
    else:
        about = {"uri": "org:// URI of a headline", "state": "new state; '' removes it"}[name]
        parser.add_argument(name, metavar=name.upper(), help=about)


def headlines(options: argparse.Namespace) -> int:
    """Print every headline: as an outline, or one JSON object a line."""
    encoder = json.JSONEncoder(ensure_ascii=False)
    for file, headline in _headlines(options):
        if options.json:
            line(encoder.encode(headline_facts(file, headline)))
        else:
            line(f"{file.name}:{headline.line_number}: {headline.line.rstrip()}")
    return 0


def todos(options: argparse.Namespace) -> int:
    """Print every task, archived and commented ones apart."""
    found = [
        (file, headline)
        for file, headline in _headlines(options)
        if headline.keyword
        and (not options.state or headline.keyword in options.state)
        and not (headline.archived or headline.commented)
    ]
    if options.json:
        data([headline_facts(file, headline) for file, headline in found])
        return 0
    for file, headline in found:
        dates = "".join(f"  {name} {when}" for name, when in _dates(headline) if when)
        line(f"{headline.keyword} {headline.title}  [{file.name}:{headline.line_number}]{dates}")
    return 0


def _dates(headline: Headline) -> list[tuple[str, str | None]]:
    return [("scheduled", headline.scheduled), ("deadline", headline.deadline)]


def todo(options: argparse.Namespace) -> int:
    """Set the state of a task."""
    settings = settings_of(options)
    face = _face(settings)
    current = options.expect if options.expect is not None else face.state(options.uri)
    arguments = {"resourceUri": options.uri, "currentState": current, "newState": options.state}
    if options.note:
        arguments["note"] = options.note
    return _call(face, "org-update-todo-state", arguments, options)


def schedule(options: argparse.Namespace) -> int:
    """Schedule a task, or set its deadline, or remove either."""
    if options.date is None and not options.remove:
        raise Invalid("nothing to do; give a date, or --remove")
    kind = "deadline" if options.deadline else "scheduled"
    arguments: dict[str, Any] = {"resourceUri": options.uri, f"remove{kind.title()}": options.remove}
    if options.date is not None:
        arguments[kind] = options.date
    return _call(_face(settings_of(options)), "org-schedule-task", arguments, options)


def _call(face: Org, name: str, arguments: dict[str, Any], options: argparse.Namespace) -> int:
    """Run a tool and print its answer; what goes wrong is raised as it is, and ends in the exit code for it."""
    tool = next(one for one in face.tools if one.name == name)
    answer = tool.call(tool.check(arguments))
    if options.json:
        data(answer.data)
    else:
        line(", ".join(f"{key}: {value}" for key, value in (answer.data or {}).items() if value is not None))
    return 0


def _face(settings: Settings) -> Org:
    from bookwheel.cli.serving import org_settings  # noqa: PLC0415 - brings all faces
    from bookwheel.faces.org import Org  # noqa: PLC0415
    from bookwheel.outlines import Outlines  # noqa: PLC0415

    catalog = catalog_of(settings, known_folders(settings))
    catalog.whole = False
    catalog.sync()
    return Org(Outlines(catalog, org_settings(settings)), settings.store / "locks")


def _headlines(options: argparse.Namespace) -> Iterator[tuple[OrgFile, Headline]]:
    """Yield the headlines of all Org files in the folders, as they are on disk; the index is not asked."""
    from bookwheel.cli.serving import org_settings  # noqa: PLC0415 - brings all faces
    from bookwheel.folders import Found, scan  # noqa: PLC0415
    from bookwheel.outlines import OrgFile, Outlines  # noqa: PLC0415

    settings = settings_of(options)
    catalog = catalog_of(settings, _folders(settings, [Path(path) for path in options.paths]))
    outlines = Outlines(catalog, org_settings(settings))
    roots = {folder.library: folder.root for folder in catalog.wanted}
    for found in chain.from_iterable(map(scan, catalog.wanted)):
        if not isinstance(found, Found):
            continue
        source = found.source
        file = OrgFile(catalog.name(source), Path(source.location), roots[source.library])
        try:
            outline = outlines.open(file)
        except BookwheelError as error:
            warn(f"left out: {file.name}: {error.message}")
            continue
        yield from ((file, headline) for headline in outline.headlines)


def _folders(settings: Settings, paths: list[Path]) -> list[Folder]:
    """Return the folders to look in, of whatever size their Org files are."""
    from bookwheel.outlines import SUFFIXES  # noqa: PLC0415

    folders = folders_of(settings, paths) if paths else known_folders(settings)
    catalog_of(settings, folders).register()  # so that a URI of theirs is enough for the commands that follow
    kinds = SUFFIXES if any(path.is_file() for path in paths) else frozenset({".org"})
    return [replace(folder, suffixes=kinds, max_file_size=sys.maxsize) for folder in folders]


def headline_facts(file: OrgFile, headline: Headline) -> dict[str, object]:
    """Return all that is known of a headline."""
    from bookwheel.faces.org import headline_uri  # noqa: PLC0415

    return {
        "file": str(file.path),
        "line": headline.line_number,
        "level": headline.level,
        "title": headline.title,
        "path": list(headline.path),
        "todo": headline.keyword,
        "done": headline.done,
        "priority": headline.priority,
        "tags": list(headline.own_tags),
        "all_tags": list(headline.tags),
        "scheduled": headline.scheduled,
        "deadline": headline.deadline,
        "closed": headline.closed,
        "properties": dict(headline.properties),
        "id": headline.id,
        "archived": headline.archived,
        "commented": headline.commented,
        "uri": headline_uri(file, headline),
    }
