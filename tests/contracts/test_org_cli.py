"""Org in the shell: the same headlines, tasks and edits as agents get."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.harness import PATIENCE, WORDS_ALONE, Json, command, requirement, write
from contracts.notebook import LIBRARY, PLAN_ID

Run = Callable[..., str]
PLAN = "org://tasks.org/headline/Project%20Alpha/Write%20the%20plan"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of Org files."""
    return write(tmp_path / "notes", LIBRARY)


@pytest.fixture
def bookwheel(tmp_path: Path, notes: Path) -> Run:
    """Run `bookwheel org`, check its exit code, and return what it printed, or complained of."""

    def run(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            command("org", *words, "--store", tmp_path / "store"),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **WORDS_ALONE},
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        return done.stderr if code else done.stdout

    return run


@requirement("org.object", "org.no-emacs", "org.file-settings")
def test_headlines_as_json_are_one_object_a_line(bookwheel: Run, notes: Path) -> None:
    lines = [json.loads(line) for line in bookwheel("headlines", str(notes / "tasks.org"), "--json").splitlines()]

    assert [one["title"] for one in lines] == [
        "Project Alpha",
        "Write the plan",
        "Detail",
        "Call the harbour",
        "Weigh anchor",
        "Wind",
    ]
    assert lines[1] == {
        "file": str(notes / "tasks.org"),
        "line": 7,
        "level": 2,
        "title": "Write the plan",
        "path": ["Project Alpha", "Write the plan"],
        "todo": "TODO",
        "done": False,
        "priority": "A",
        "tags": ["urgent"],
        "all_tags": ["home", "work", "urgent"],
        "scheduled": "<2024-06-10 Mon +1w>",
        "deadline": "<2024-06-20 Thu -2d>",
        "closed": None,
        "properties": {"ID": PLAN_ID, "EFFORT": "1:30"},
        "id": PLAN_ID,
        "archived": False,
        "commented": False,
        "uri": PLAN,
    }
    assert lines[4]["closed"] == "[2024-05-02 Thu 09:00]"


@requirement("org.object", "org.archive-files")
def test_headlines_of_a_folder_are_those_of_all_its_files(bookwheel: Run, notes: Path) -> None:
    every = [json.loads(line) for line in bookwheel("headlines", str(notes), "--json").splitlines()]
    lines = bookwheel("headlines", str(notes)).splitlines()

    assert {Path(one["file"]).relative_to(notes).as_posix() for one in every} == {
        name for name in LIBRARY if name.endswith(".org")
    }
    assert len(lines) == len(every)
    assert "tasks.org:7: ** TODO [#A] Write the plan :urgent:" in lines
    flags = {one["title"]: (one["archived"], one["commented"]) for one in every}
    assert (flags["Old task"], flags["Under quiet"], flags["Lonely"]) == ((True, False), (False, True), (False, False))


@requirement("org.todos.all", "org.todos.archived", "org.todos.states")
def test_todos_are_lines_or_an_array(bookwheel: Run, notes: Path) -> None:
    lines = bookwheel("todos", str(notes / "tasks.org")).splitlines()
    some = json.loads(bookwheel("todos", str(notes), "--state", "BUG", "--state", "WAIT", "--json"))

    assert lines == [
        "TODO Write the plan  [tasks.org:7]  scheduled <2024-06-10 Mon +1w>  deadline <2024-06-20 Thu -2d>",
        "NEXT Call the harbour  [tasks.org:16]  deadline <2024-07-01 Mon 10:00>",
        "DONE Weigh anchor  [tasks.org:18]  scheduled <2024-05-01 Wed>",
        "WAIT Wind  [tasks.org:20]",
    ]
    assert [(one["todo"], one["title"]) for one in some] == [("BUG", "It leaks"), ("WAIT", "Wind")]
    assert bookwheel("todos", str(notes / "odd.org")).count("\n") == 1


@requirement("org.setting.keywords")
def test_keywords_are_a_setting_here_too(bookwheel: Run, tmp_path: Path) -> None:
    place = str(write(tmp_path / "other", {"a.org": "* BUG A\n* TODO B\n"}))

    assert bookwheel("todos", place, "--org-todo-keywords", "type: BUG | FIXED") == "BUG A  [a.org:1]\n"
    assert bookwheel("todos", place, "--org-todo-keywords", "") == ""


@requirement("org.update.success", "org.write.bytes", "org.update.uri")
@pytest.mark.parametrize(
    "uri", ["org://tasks.org/headline/Wind", "org-headline://tasks.org#Wind", "org://notes/tasks.org/headline/Wind"]
)
def test_todo_sets_a_state_of_what_is_indexed(bookwheel: Run, notes: Path, uri: str) -> None:
    bookwheel("headlines", str(notes))

    if "//notes/" in uri:  # with one folder names need not say which, with two they may
        bookwheel("headlines", str(write(notes.parent / "more", {"b.org": "* B\n"})))
    said = bookwheel("todo", uri, "NEXT")

    assert said == "success: True, previousState: WAIT, newState: NEXT\n"
    assert "\n* NEXT Wind" in (notes / "tasks.org").read_text()


@requirement("org.update.uri", "org.principle.uri")
def test_uri_that_headlines_printed_works_with_more_folders_too(bookwheel: Run, notes: Path, tmp_path: Path) -> None:
    (line,) = bookwheel("headlines", str(notes / "sub"), "--json").splitlines()
    bookwheel("headlines", str(write(tmp_path / "more", {"b.org": "* B\n"})))

    bookwheel("todo", json.loads(line)["uri"], "TODO")

    assert (notes / "sub/deep/lonely.org").read_text() == "* TODO Lonely\nA pangolin.\n"


@requirement("org.update.current", "org.update.mismatch")
def test_todo_expects_a_state_if_it_is_told_to(bookwheel: Run, notes: Path) -> None:
    before = (notes / "tasks.org").read_bytes()
    bookwheel("headlines", str(notes))

    said = bookwheel("todo", "org://tasks.org/headline/Wind", "DONE", "--expect", "TODO", code=1)

    assert said.startswith("bookwheel: ")
    assert "WAIT" in said
    assert (notes / "tasks.org").read_bytes() == before


@requirement("org.update.success", "org.note", "org.update.new")
def test_todo_records_a_note_and_answers_as_json(bookwheel: Run, notes: Path) -> None:
    bookwheel("headlines", str(notes))
    uri = "org://tasks.org/headline/Wind"

    said = json.loads(bookwheel("todo", uri, "CANCELLED", "--note", "No wind.", "--json"))
    gone = json.loads(bookwheel("todo", uri, "", "--json"))

    assert said == {"success": True, "previousState": "WAIT", "newState": "CANCELLED"}
    assert gone == {"success": True, "previousState": "CANCELLED", "newState": ""}
    assert "  No wind.\n" in (notes / "tasks.org").read_text()


@requirement("org.schedule.scheduled", "org.schedule.deadline", "org.schedule.remove-deadline", "org.schedule.returns")
def test_schedule_sets_and_removes_dates(bookwheel: Run, notes: Path) -> None:
    bookwheel("headlines", str(notes))
    uri = "org://lonely.org/headline/Lonely"

    def content() -> str:
        return (notes / "sub/deep/lonely.org").read_text()

    said: Json = json.loads(bookwheel("schedule", uri, "2024-12-25 10:00 +1w", "--json"))
    scheduled = content()
    bookwheel("schedule", uri, "2024-12-31", "--deadline")
    both = content()
    bookwheel("schedule", uri, "--remove")
    bookwheel("schedule", uri, "--remove", "--deadline")

    assert (said["success"], said["scheduled"]) == (True, "<2024-12-25 Wed 10:00 +1w>")
    assert scheduled == "* Lonely\nSCHEDULED: <2024-12-25 Wed 10:00 +1w>\nA pangolin.\n"
    assert both == "* Lonely\nDEADLINE: <2024-12-31 Tue> SCHEDULED: <2024-12-25 Wed 10:00 +1w>\nA pangolin.\n"
    assert content() == "* Lonely\nA pangolin.\n"


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such headline": (["todo", "org://tasks.org/headline/Absent", "DONE"], 1, "Absent"),
    "no such file": (["todo", "org://absent.org/headline/A", "DONE"], 1, "org://absent.org/headline/A"),
    "no such state": (["todo", "org://tasks.org/headline/Wind", "NONSENSE"], 2, "CANCELLED"),
    "no headline": (["todo", "org://tasks.org", "DONE"], 2, "headline"),
    "no date": (["schedule", "org://tasks.org/headline/Wind", "tomorrow"], 2, "YYYY-MM-DD"),
    "nothing to do": (["schedule", "org://tasks.org/headline/Wind"], 2, "nothing to do"),
    "date and removal": (["schedule", "org://tasks.org/headline/Wind", "2024-01-01", "--remove"], 2, "removed"),
    "no such setting": (["todos", "--org-set", "org-nonsense=t"], 2, "org-nonsense"),
    "no such folder": (["todos", "absent"], 1, "absent"),
    "no such command": (["nonsense"], 2, "nonsense"),
    "no command": ([], 2, "WHAT"),
}


@requirement("org.dates.bad", "org.update.new", "org.errors")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_the_exit_code(bookwheel: Run, notes: Path, name: str) -> None:
    words, code, said = WRONG[name]
    before = (notes / "tasks.org").read_bytes()
    bookwheel("headlines", str(notes))

    assert said in bookwheel(*words, code=code)
    assert (notes / "tasks.org").read_bytes() == before


@requirement("org.write.locked")
def test_lock_of_emacs_is_told(bookwheel: Run, notes: Path) -> None:
    bookwheel("headlines", str(notes))
    (notes / ".#tasks.org").symlink_to("you@far.example.1")

    assert "you@far.example" in bookwheel("todo", "org://tasks.org/headline/Wind", "DONE", code=1)
