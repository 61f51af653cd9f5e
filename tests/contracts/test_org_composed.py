"""Org beside other faces: it comes and goes with the files, and one search finds its tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal

from contracts.harness import (
    ERAS,
    PATIENCE,
    Json,
    Reader,
    eventually,
    handshake,
    plain,
    request,
    requirement,
    serving,
    wired,
    write,
)
from contracts.notebook import LIBRARY, PLAN_ID, found, told

WRITING = {"org-update-todo-state", "org-schedule-task"}
READING = {
    "org-search-headlines",
    "org-get-todos",
    "org-search-content",
    "org-get-properties",
    "org-get-todo-config",
    "org-get-tag-config",
}
PLAN = "org://tasks.org/headline/Project%20Alpha/Write%20the%20plan"
CHANGED = "notifications/tools/list_changed"


@pytest.fixture(scope="module", params=ERAS)
def composed(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server of a folder with Org files, in each era."""
    base = tmp_path_factory.mktemp("composed")
    folder = write(base / "notes", LIBRARY)
    arguments = (folder, "--store", base / "store")
    with serving(portal, folder, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        yield reader


def names(reader: Reader) -> set[str]:
    return {tool["name"] for tool in reader.tools()}


def org_names(reader: Reader) -> set[str]:
    return {name for name in names(reader) if name.startswith("org-")}


def org_uris(reader: Reader) -> list[str]:
    return [one["uri"] for one in reader.resources() if one["uri"].startswith("org://")]


def hits(reader: Reader, query: str) -> list[Json]:
    answer = reader.call("search", query=query)
    assert answer.data is not None, answer.text
    return list(answer.data["results"])


@requirement("composed.org", "composed.names", "composed.faces")
def test_tools_and_resources_of_org_stand_beside_the_others(composed: Reader) -> None:
    assert names(composed) >= READING | WRITING | {"search", "search_documents", "read_sections"}
    assert {"org://tasks.org", "org://tasks.org/outline", "org://config/todo-states"} <= set(org_uris(composed))
    assert composed.text(PLAN).startswith("** TODO [#A] Write the plan")
    assert found(composed.call("org-get-todos", states=["NEXT"])) == ["Call the harbour"]


@requirement("composed.search.structured", "composed.search.libraries", "org.principle.uri")
@pytest.mark.parametrize(
    ("query", "uri"),
    [
        ("swims past", PLAN),
        ("weather wind", "org://tasks.org/headline/Wind"),
        ("pangolin", "org://sub/deep/lonely.org/headline/Lonely"),
        ("quokka", "org://sub%20folder/my%20file%5B1%5D%20%C3%BC%20%23.org/headline/Odd%20name"),
        ("albatross", "org://tasks.org"),
    ],
)
def test_search_finds_a_task_by_the_uri_of_its_headline(composed: Reader, query: str, uri: str) -> None:
    first = hits(composed, query)[0]

    assert first["uri"] == uri
    assert query.split(maxsplit=1)[0] in composed.text(uri)


@requirement("composed.search.structured", "org.principle.uri")
@pytest.mark.parametrize(
    "query",
    ["urgent", "2024-06-10", "2024-06-20", "SCHEDULED 2024-06-10", PLAN_ID, "Effort 1:30", "Effort"],
)
def test_tags_dates_and_properties_can_be_searched_for(composed: Reader, query: str) -> None:
    assert hits(composed, query)[0]["uri"] == PLAN


@requirement("composed.search.structured", "org.principle.uri")
@pytest.mark.parametrize(
    ("state", "uri"),
    [("NEXT", "org://tasks.org/headline/Project%20Alpha/Call%20the%20harbour"), ("BUG", "org://kinds.org")],
)
def test_states_can_be_searched_for(composed: Reader, state: str, uri: str) -> None:
    assert any(one["uri"].startswith(uri) for one in hits(composed, state))


@requirement("composed.search.text")
def test_text_of_a_search_cites_the_headline(composed: Reader) -> None:
    assert f"]({PLAN}): " in composed.call("search", query="swims past").text


@requirement("composed.read-only", "org.read-only")
def test_read_only_takes_away_what_writes(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", LIBRARY)
    arguments = (folder, "--read-only", "--store", tmp_path / "store")

    with serving(portal, folder, tmp_path / "log", *arguments, cwd=tmp_path) as reader:
        tools = [plain(tool) for tool in reader.portal.call(reader.client.list_tools).tools]

    assert {tool["name"] for tool in tools if tool["name"].startswith("org-")} == READING
    assert [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]] == []


@requirement("composed.narrowed", "composed.org")
def test_named_beside_others_it_comes_with_its_files_too(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", LIBRARY)
    arguments = (folder, "--face", "docs,org", "--store", tmp_path / "store")

    with serving(portal, folder, tmp_path / "log", *arguments, cwd=tmp_path) as reader:
        assert names(reader) == {"search_documents"} | READING | WRITING


# coming and going


@contextmanager
def hearing(reader: Reader) -> Iterator[None]:
    """Put what a modern client hears of tools where its other notices go."""
    stream: AbstractAsyncContextManager[Any] = reader.client.listen(tools_list_changed=True)

    async def pass_on(subscription: Any) -> None:
        async for event in subscription:
            reader.notices.put(event)

    with reader.portal.wrap_async_context_manager(stream) as subscription:
        task = reader.portal.start_task_soon(pass_on, subscription)
        yield
        task.cancel()


@requirement("composed.org", "model.list-changed")
def test_org_comes_with_the_first_file_and_goes_with_the_last(portal: BlockingPortal, tmp_path: Path, era: str) -> None:
    folder = write(tmp_path / "notes", {"a.md": "# A\n"})
    arguments = (folder, "--store", tmp_path / "store")

    def templates() -> list[str]:
        found = reader.portal.call(reader.client.list_resource_templates).resource_templates
        return [one.uri_template for one in found if one.uri_template.startswith("org://")]

    with serving(portal, folder, tmp_path / "log", *arguments, mode=ERAS[era], cwd=tmp_path) as reader:
        assert (org_names(reader), org_uris(reader), templates()) == (set(), [], [])
        write(folder, {"sub/tasks.org": "* TODO A\n"})
        eventually(lambda: org_names(reader), READING | WRITING, PATIENCE)
        assert len(templates()) == 4
        assert org_uris(reader) == ["org://config/todo-states", "org://sub/tasks.org", "org://sub/tasks.org/outline"]
        uri = "org://sub/tasks.org/headline/A"
        assert told(reader.call("org-update-todo-state", resourceUri=uri, currentState="TODO", newState="DONE")) == {
            "success": True,
            "previousState": "TODO",
            "newState": "DONE",
        }
        (folder / "sub/tasks.org").unlink()
        eventually(lambda: len(org_names(reader)), 0, PATIENCE)
        assert (org_uris(reader), templates()) == ([], [])


@requirement("composed.org", "model.list-changed")
def test_modern_client_is_told_that_tools_have_come(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"a.md": "# A\n"})
    arguments = (folder, "--store", tmp_path / "store")

    with (
        serving(portal, folder, tmp_path / "log", *arguments, mode=ERAS["modern"], cwd=tmp_path) as reader,
        hearing(reader),
    ):
        assert org_names(reader) == set()
        write(folder, {"tasks.org": "* TODO A\n"})
        reader.await_change(lambda: org_names(reader) == READING | WRITING, "Tool")


@requirement("composed.org", "model.list-changed")
def test_handshake_client_is_told_that_tools_have_come_and_gone(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"a.md": "# A\n"})

    with wired(tmp_path / "log", folder, "--store", tmp_path / "store") as wire:

        def times() -> int:
            return [json.loads(line).get("method") for line in wire.lines].count(CHANGED)

        wire.send(*handshake("2025-11-25"), request(1, "tools/list"))
        greeting = wire.answer(0)["result"]
        wire.answer(1)
        write(folder, {"tasks.org": "* TODO A\n"})
        eventually(times, 1, PATIENCE)
        wire.send(request(2, "tools/list"))
        after = {tool["name"] for tool in wire.answer(2)["result"]["tools"]}
        (folder / "tasks.org").unlink()
        eventually(times, 2, PATIENCE)

    assert greeting["capabilities"]["tools"]["listChanged"] is True
    assert after >= READING | WRITING


@requirement("composed.org", "composed.search.structured", "org.update.success")
def test_search_finds_the_new_state_right_after_an_edit(portal: BlockingPortal, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"a.org": "#+TODO: TODO | ABANDONED\n* TODO Quixotic\n", "b.md": "# B\n"})
    uri = "org://a.org/headline/Quixotic"

    with serving(portal, folder, tmp_path / "log", folder, "--store", tmp_path / "store", cwd=tmp_path) as reader:
        before = hits(reader, "abandoned quixotic")[0]["content"]
        reader.call("org-update-todo-state", resourceUri=uri, currentState="TODO", newState="ABANDONED")
        after = hits(reader, "abandoned quixotic")[0]

    assert "ABANDONED Quixotic" not in before
    assert "ABANDONED Quixotic" in after["content"]
    assert after["uri"] == uri
