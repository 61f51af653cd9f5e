"""The org contract: headlines, tasks and text, found by what they are."""

from __future__ import annotations

import json

import pytest

from contracts.conftest import Start
from contracts.harness import Json, Reader, requirement
from contracts.notebook import LIBRARY, PLAN, PLAN_ID, WIND, fault, found, rows

ALPHA: Json = {
    "heading": "Project Alpha",
    "todo": None,
    "priority": None,
    "tags": ["home", "work"],
    "scheduled": None,
    "deadline": None,
    "resourceUri": "org://tasks.org/headline/Project%20Alpha",
    "file": "tasks.org",
    "level": 1,
}
BOLD = "*Bold* and [[https://example.org][a link]]"


# headlines


@requirement("org.object", "org.object.dates", "org.object.todo-type", "org.tools.uris", "org.tools.both-uris")
@requirement("org.headlines.returns", "org.headlines.purpose")
@pytest.mark.parametrize(
    ("query", "expected"), [("write the", PLAN), ("Wind", WIND), ("project", ALPHA)], ids=["full", "state", "plain"]
)
def test_headline_is_an_object_with_the_keys_of_the_contract(org_server: Reader, query: str, expected: Json) -> None:
    assert rows(org_server.call("org-search-headlines", query=query)) == [expected]


@requirement("org.object.dates")
def test_time_of_a_date_is_shown_as_written(org_server: Reader) -> None:
    (one,) = rows(org_server.call("org-search-headlines", query="harbour"))

    assert (one["deadline"], one["deadlineDate"], one["scheduled"]) == ("<2024-07-01 Mon 10:00>", "2024-07-01", None)
    assert "scheduledDate" not in one


QUERIES: dict[str, tuple[Json, list[str]]] = {
    "part of a word": ({"query": "arbou"}, ["Call the harbour"]),
    "any case": ({"query": "WRITE The"}, ["Write the plan"]),
    "exact case": ({"query": "Write", "caseSensitive": True}, ["Write the plan"]),
    "other case": ({"query": "write", "caseSensitive": True}, []),
    "case off": ({"query": "write", "caseSensitive": False}, ["Write the plan"]),
    "not the text": ({"query": "narwhal"}, []),
    "not the keyword": ({"query": "NEXT Call"}, []),
    "not the tags": ({"query": ":urgent:"}, []),
    "no pattern": ({"query": ".*"}, []),
    "odd letters": ({"query": "Q4/Q1 plan? 100% [x] Ü"}, ["Q4/Q1 plan? 100% [x] ü #1"]),
    "backslash": ({"query": "\\slash"}, ["Back\\slash\\..\\..\\etc"]),
    "markup": ({"query": "[a link]"}, [BOLD]),
    "equal titles": ({"query": "same"}, ["Same", "Same", "Same"]),
    "archived and commented too": (
        {"query": "", "files": ["odd.org"], "tags": ["ARCHIVE"]},
        ["Attic", "Old task"],
    ),
    "comment": ({"query": "quiet"}, ["Quiet", "Under quiet"]),
    "own tag": ({"query": "", "tags": ["urgent"]}, ["Write the plan", "Detail"]),
    "tag inherited": (
        {"query": "", "tags": ["work"]},
        ["Project Alpha", "Write the plan", "Detail", "Call the harbour", "Weigh anchor"],
    ),
    "tag of the file": ({"query": "w", "tags": ["home"]}, ["Write the plan", "Weigh anchor", "Wind"]),
    "all tags": ({"query": "", "tags": ["work", "urgent"]}, ["Write the plan", "Detail"]),
    "no such tag": ({"query": "", "tags": ["work", "a"]}, []),
    "no tags": ({"query": "wind", "tags": []}, ["Wind"]),
    "without": (
        {"query": "", "tags": ["home"], "excludeTags": ["urgent"]},
        ["Project Alpha", "Call the harbour", "Weigh anchor", "Wind"],
    ),
    "without any of two": (
        {"query": "", "tags": ["home"], "excludeTags": ["urgent", "weather"]},
        ["Project Alpha", "Call the harbour", "Weigh anchor"],
    ),
    "without inherited": ({"query": "", "files": ["tasks.org"], "excludeTags": ["work"]}, ["Wind"]),
    "one file": ({"query": "l", "files": ["kinds.org"]}, ["It leaks", "It leaked", "A letter", "Another letter"]),
    "two files": ({"query": "t", "files": ["one/twin.org", "two/twin.org"]}, ["First twin", "Second twin"]),
    "base name": ({"query": "", "files": ["lonely.org"]}, ["Lonely"]),
    "odd file": ({"query": "", "files": ["sub folder/my file[1] ü #.org"]}, ["Odd name"]),
    "no files": ({"query": "lonely", "files": []}, ["Lonely"]),
}


@requirement(
    "org.headlines.query",
    "org.headlines.files",
    "org.headlines.tags",
    "org.headlines.exclude-tags",
    "org.headlines.case",
)
@pytest.mark.parametrize("name", QUERIES)
def test_headlines_are_found_by_title_and_tags(org_server: Reader, name: str) -> None:
    arguments, expected = QUERIES[name]

    assert found(org_server.call("org-search-headlines", **arguments)) == expected


@requirement("org.headlines.purpose", "org.tools.uris", "org.principle.uri", "org.uri.nth")
def test_every_headline_is_found_and_its_uri_reads_its_tree(org_reader: Reader) -> None:
    every = rows(org_reader.call("org-search-headlines", query=""))
    lines = [org_reader.text(one["resourceUri"]).splitlines()[0] for one in every]

    written = [
        line
        for name in sorted(LIBRARY)
        for line in str(LIBRARY[name]).splitlines()
        if name.endswith(".org") and line.startswith("*") and line.lstrip("*").startswith(" ")
    ]
    assert sorted(lines) == sorted(written)
    assert len({one["resourceUri"] for one in every}) == len(every)


@requirement("org.headlines.files", "org.errors")
@pytest.mark.parametrize("tool", ["org-search-headlines", "org-get-todos", "org-search-content"])
@pytest.mark.parametrize("name", ["absent.org", "readme.md", "", "../tasks.org", "/etc/passwd"])
def test_file_that_is_not_served_is_an_error(org_reader: Reader, tool: str, name: str) -> None:
    query = {} if tool == "org-get-todos" else {"query": "a"}

    assert name in fault(org_reader.call(tool, files=["tasks.org", name], **query))["message"]


@requirement("org.file-settings", "org.headlines.tags", "org.setting.set")
def test_inheritance_of_tags_is_a_setting(org: Start) -> None:
    text = "#+FILETAGS: :f:\n* A :a:x:\n** B :b:\n"

    off = org({"a.org": text}, "--org-set", "org-use-tag-inheritance=nil")
    some = org({"a.org": text}, "--org-set", 'org-tags-exclude-from-inheritance=("x")')

    assert [one["tags"] for one in rows(off.call("org-search-headlines", query=""))] == [["a", "x"], ["b"]]
    assert [one["tags"] for one in rows(some.call("org-search-headlines", query=""))] == [
        ["f", "a", "x"],
        ["f", "a", "b"],
    ]


# tasks

TODOS: dict[str, tuple[Json, list[str]]] = {
    "done ones too": ({"files": ["tasks.org"]}, ["Write the plan", "Call the harbour", "Weigh anchor", "Wind"]),
    "no archived or commented ones": ({"files": ["odd.org"]}, [BOLD]),
    "archived and commented ones": (
        {"files": ["odd.org"], "includeArchived": True},
        ["Under quiet", "Old task", BOLD],
    ),
    "one state": ({"states": ["NEXT"]}, ["Call the harbour"]),
    "states": ({"states": ["DONE", "WAIT"]}, ["Weigh anchor", "Wind"]),
    "state of another file": ({"files": ["tasks.org"], "states": ["BUG"]}, []),
    "states are of one case": ({"states": ["todo"]}, []),
    "no states": (
        {"files": ["tasks.org"], "states": []},
        ["Write the plan", "Call the harbour", "Weigh anchor", "Wind"],
    ),
    "tags": ({"tags": ["work"]}, ["Write the plan", "Call the harbour", "Weigh anchor"]),
    "two tags": ({"tags": ["home", "urgent"]}, ["Write the plan"]),
    "scheduled": ({"scheduled": {"from": "2024-06-01", "to": "2024-06-30"}}, ["Write the plan"]),
    "first day": ({"scheduled": {"from": "2024-06-10", "to": "2024-06-30"}}, ["Write the plan"]),
    "last day": ({"scheduled": {"from": "2024-06-01", "to": "2024-06-10"}}, ["Write the plan"]),
    "after": ({"scheduled": {"from": "2024-06-11"}}, []),
    "open end": ({"scheduled": {"from": "2024-01-01"}}, ["Write the plan", "Weigh anchor"]),
    "open start": ({"scheduled": {"to": "2024-05-31"}}, ["Weigh anchor"]),
    "any date": ({"scheduled": {}}, ["Write the plan", "Weigh anchor"]),
    "deadline": ({"deadline": {"from": "2024-06-20", "to": "2024-07-01"}}, ["Write the plan", "Call the harbour"]),
    "deadline with a time": ({"deadline": {"from": "2024-07-01", "to": "2024-07-01"}}, ["Call the harbour"]),
    "both": ({"scheduled": {"from": "2024-01-01"}, "deadline": {"to": "2024-12-31"}}, ["Write the plan"]),
    "everything": (
        {
            "files": ["tasks.org"],
            "states": ["TODO", "NEXT"],
            "tags": ["work"],
            "scheduled": {"from": "2024-06-10", "to": "2024-06-10"},
            "deadline": {"from": "2024-06-20", "to": "2024-06-20"},
        },
        ["Write the plan"],
    ),
}


@requirement(
    "org.todos.purpose",
    "org.todos.all",
    "org.todos.archived",
    "org.todos.files",
    "org.todos.states",
    "org.todos.tags",
    "org.todos.scheduled",
    "org.todos.deadline",
)
@pytest.mark.parametrize("name", TODOS)
def test_tasks_are_found_by_state_tags_and_dates(org_server: Reader, name: str) -> None:
    arguments, expected = TODOS[name]

    assert found(org_server.call("org-get-todos", **arguments)) == expected


@requirement("org.todos.returns", "org.tools.both-uris", "org.object")
def test_tasks_are_whole_headline_objects(org_server: Reader) -> None:
    assert rows(org_server.call("org-get-todos", states=["TODO", "WAIT"], tags=["home"])) == [PLAN, WIND]


@requirement("org.todos.all", "org.todos.files")
def test_tasks_of_all_files_come_unless_some_are_named(org_server: Reader) -> None:
    files = {one["file"] for one in rows(org_server.call("org-get-todos"))}

    assert files == {"kinds.org", "odd.org", "tasks.org"}


@requirement("org.todos.scheduled", "org.todos.deadline", "org.errors")
@pytest.mark.parametrize("kind", ["scheduled", "deadline"])
@pytest.mark.parametrize("span", [{"from": "tomorrow"}, {"to": "2024-13-40"}, {"from": "01/02/2024"}])
def test_range_of_no_dates_is_an_error_that_shows_the_form(org_server: Reader, kind: str, span: Json) -> None:
    assert "YYYY-MM-DD" in fault(org_server.call("org-get-todos", **{kind: span}))["message"]


@requirement("org.todos.archived", "org.file-settings")
def test_archive_tag_is_inherited_and_comment_covers_its_tree(org: Start) -> None:
    reader = org(
        {
            "a.org": "* TODO Old :ARCHIVE:\n** TODO Older\n* COMMENT Quiet\n** TODO Hushed\n* TODO Here\n",
            "b.org": "#+FILETAGS: :ARCHIVE:\n* TODO All of it\n",
        }
    )

    assert found(reader.call("org-get-todos")) == ["Here"]
    assert found(reader.call("org-get-todos", includeArchived=True)) == ["Old", "Older", "Hushed", "Here", "All of it"]


# text


def matches(reader: Reader, **arguments: object) -> list[tuple[str, str]]:
    """Return the URI and the line of each match."""
    return [(one["resourceUri"], one["match"]) for one in rows(reader.call("org-search-content", **arguments))]


DETAIL = "org://tasks.org/headline/Project%20Alpha/Write%20the%20plan/Detail"
SWIMS = (PLAN["resourceUri"], "The narwhal swims past the plan.")
SMALL = (DETAIL, "A small narwhal.")
AGAIN = (WIND["resourceUri"], "Nothing but a NARWHAL, and narwhal again.")
CONTENT: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "any case": ({"query": "Narwhal"}, [SWIMS, SMALL, AGAIN]),
    "some words": ({"query": "narwhal swims past"}, [SWIMS]),
    "not in this order": ({"query": "swims narwhal"}, []),
    "one": ({"query": "narwhal", "maxResults": 1}, [SWIMS]),
    "two": ({"query": "narwhal", "maxResults": 2}, [SWIMS, SMALL]),
    "more than there are": ({"query": "narwhal", "maxResults": 1000}, [SWIMS, SMALL, AGAIN]),
    "a file": ({"query": "narwhal", "files": ["odd.org"]}, []),
    "before the first headline": (
        {"query": "albatross"},
        [("org://tasks.org", "Told before the first headline: an albatross.")],
    ),
    "a headline": (
        {"query": "Weigh"},
        [("org://tasks.org/headline/Project%20Alpha/Weigh%20anchor", "** DONE Weigh anchor")],
    ),
    "a property": ({"query": ":Effort:   1:30"}, [(PLAN["resourceUri"], ":Effort:   1:30")]),
    "no pattern": ({"query": "n.rwhal"}, []),
    "a subfolder": ({"query": "pangolin"}, [("org://sub/deep/lonely.org/headline/Lonely", "A pangolin.")]),
    "not archived": ({"query": "walrus"}, []),
    "archived": (
        {"query": "walrus", "includeArchived": True},
        [("org://odd.org/headline/Quiet", "A hushed walrus."), ("org://odd.org/headline/Attic", "A dusty walrus.")],
    ),
    "nothing": ({"query": "xqzzvwkj"}, []),
}


@requirement(
    "org.content.purpose",
    "org.content.query",
    "org.content.files",
    "org.content.archived",
    "org.content.most",
    "org.content.returns",
)
@pytest.mark.parametrize("name", CONTENT)
def test_text_is_found_with_the_headline_that_contains_it(org_server: Reader, name: str) -> None:
    arguments, expected = CONTENT[name]

    assert matches(org_server, **arguments) == expected


@requirement("org.content.returns", "org.tools.both-uris")
def test_match_has_its_context_and_both_uris(org_server: Reader) -> None:
    (one,) = rows(org_server.call("org-search-content", query="swims"))

    assert "The narwhal swims past the plan." in one["context"]
    assert (one["resourceUri"], one["orgId"], one["idUri"]) == (
        PLAN["resourceUri"],
        PLAN_ID,
        f"org://id/{PLAN_ID}",
    )
    assert one["file"] == "tasks.org"
    assert "swims" in org_server.text(one["resourceUri"])


@requirement("org.content.most")
def test_results_are_limited_even_if_nobody_asks(org: Start) -> None:
    reader = org({"a.org": "".join(f"* Task {number}\nA gnu.\n" for number in range(200))})

    assert len(rows(reader.call("org-search-content", query="gnu"))) < 200
    assert len(rows(reader.call("org-search-content", query="gnu", maxResults=200))) == 200


@requirement("org.content.query")
def test_line_of_a_match_is_that_of_the_file(org: Start) -> None:
    reader = org({"a.org": "\ufeff* A\r\nOne.\r\nA gnu.\r\n"})

    (one,) = json.loads(reader.call("org-search-content", query="gnu").text)

    assert (one["line"], one["match"]) == (3, "A gnu.")


@requirement("org.content.query", "org.headlines.query", "model.scanner.bom-crlf")
def test_search_sees_a_file_as_it_is_now(org: Start) -> None:
    reader = org({"a.org": "* TODO Before\n"})
    before = found(reader.call("org-get-todos"))

    (reader.folder / "a.org").write_text("* TODO After\nA gnu.\n")

    assert (before, found(reader.call("org-get-todos"))) == (["Before"], ["After"])
    assert matches(reader, query="gnu") == [("org://a.org/headline/After", "A gnu.")]
