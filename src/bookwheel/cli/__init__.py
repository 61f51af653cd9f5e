"""The command line: one more caller of the catalog.

Nothing heavy is imported before a command needs it, so that `--help` and most answers come at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from bookwheel import VERSION
from bookwheel.cli import arguments, commands
from bookwheel.errors import BookwheelError, Invalid

DESCRIPTION = """\
Find the right passage in your files, read just that, cite it: for you here, for AI agents over MCP.

  bookwheel PATH…               serve folders to an agent (short for: bookwheel serve PATH…)
  bookwheel search "QUERY"      search everything indexed so far
  bookwheel COMMAND --help      more on one command
"""

COMMANDS = {
    "serve": (commands.serve, "serve folders to AI agents over MCP", arguments.serve),
    "ingest": (commands.ingest, "index folders or files", arguments.ingest),
    "search": (commands.search, "search what is indexed", arguments.search),
    "list": (commands.list_documents, "list documents", arguments.paths),
    "libraries": (commands.libraries, "list libraries", arguments.printing),
    "toc": (commands.toc, "show the table of contents of a file", arguments.file),
    "read": (commands.read, "print a document or one section of it", arguments.read),
    "org": (None, "list Org headlines and tasks, and change them", arguments.org),
    "info": (commands.info, "show versions, the store, counts, and files that could not be read", arguments.printing),
    "bench": (commands.bench, "measure how well search finds what you expect it to find", arguments.bench),
    "reindex": (commands.reindex, "make all vectors for a model, while servers go on", arguments.paths),
}


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit: 0 if it went well, 1 if it did not, 2 if it was called wrongly."""
    given = list(sys.argv[1:] if words is None else words)
    parser = build_parser()
    if not given or (given[0] not in COMMANDS and given[0] not in {"-h", "--help", "--version"}):
        given.insert(0, "serve")
    options = parser.parse_args(given)
    try:
        code = options.run(options)
        sys.stdout.flush()  # here, where a reader that has gone is no error
        sys.exit(code)
    except Invalid as error:
        parser.exit(2, f"bookwheel: {error.message}\n")
    except BookwheelError as error:
        parser.exit(1, f"bookwheel: {error.message}\n")
    except KeyboardInterrupt:
        parser.exit(130, "bookwheel: interrupted; what was done is kept\n")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read our output has seen enough
        sys.exit(0)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    shape = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser("bookwheel", description=DESCRIPTION, formatter_class=shape)
    parser.add_argument("--version", action="version", version=f"bookwheel {VERSION}")
    commands_ = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (run, summary, add) in COMMANDS.items():
        command = commands_.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if run:  # else its own commands say what to run
            command.set_defaults(run=run)
        add(command)
    return parser
