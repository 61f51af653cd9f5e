"""The pages keep up with the program: settings, commands, options, links."""

from __future__ import annotations

import re
import runpy
import subprocess
from argparse import ArgumentParser
from pathlib import Path

import pytest

from bookwheel.cli import COMMANDS
from bookwheel.org import NAMES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


@pytest.fixture(scope="module")
def text() -> str:
    """All pages as one."""
    return "\n".join(page.read_text("utf-8") for page in PAGES)


def test_the_page_of_settings_is_the_generated_one() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "generate.py"))

    assert (ROOT / "docs" / "settings.md").read_text("utf-8") == made["settings_page"]()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_told_of(text: str, name: str) -> None:
    assert re.search(rf"\bbookwheel {name}\b", text)


def flags() -> list[str]:
    """Return every flag of every command; one that switches off needs no word of its own."""
    parser = ArgumentParser(conflict_handler="resolve", add_help=False)
    for _, _, add in COMMANDS.values():
        add(parser)
    inner = [one for action in parser._actions if isinstance(action.choices, dict) for one in action.choices.values()]
    found = {flag for one in (parser, *inner) for action in one._actions for flag in action.option_strings}
    found -= {"-h", "--help"}
    return sorted(flag for flag in found if flag.replace("--no-", "--", 1) not in found - {flag})


@pytest.mark.parametrize("flag", flags())
def test_every_option_is_told_of(text: str, flag: str) -> None:
    assert re.search(rf"(?<![\w-]){flag}(?![\w-])", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text("utf-8")) if "://" not in link]

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_no_file_names_the_host_of_a_package_registry() -> None:
    hosts = [".".join(parts).encode() for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]

    assert [str(file) for file in files if file.is_file() and any(host in file.read_bytes() for host in hosts)] == []


def test_the_page_of_org_names_every_variable_that_is_heeded() -> None:
    page = (ROOT / "docs" / "org.md").read_text("utf-8")

    assert [name for name in NAMES if f"`{name}`" not in page] == []
