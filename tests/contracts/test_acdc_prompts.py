"""The acdc contract: prompts, their names, their arguments and what they are filled in to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest
from anyio.from_thread import BlockingPortal

from contracts.conftest import Open
from contracts.harness import ERAS, PATIENCE, Json, Reader, eventually, listening, requirement, serving, write
from contracts.sources import Content, configure, location, page, template

PAGES = {"a.md": page("A")}


def named(name: str, **more: object) -> Json:
    """Return an argument of a prompt file."""
    return {"name": name, "description": f"The {name}", **more}


def filled(reader: Reader, name: str, **arguments: str) -> str:
    """Return the text of a prompt's one message, without the white space around it."""
    (message,) = reader.prompt(name, **arguments)["messages"]
    assert message["role"] == "user"
    assert message["content"]["type"] == "text"
    return str(message["content"]["text"]).strip()


def names(reader: Reader) -> list[str]:
    return [one["name"] for one in reader.prompts()]


# which there are


@requirement(
    "acdc.prompts.discovery",
    "acdc.prompts.namespace",
    "acdc.prompts.example",
    "acdc.prompts.name",
    "acdc.prompts.file.name",
    "acdc.prompts.file.description",
    "acdc.prompts.file.arguments",
    "acdc.location.prompts",
    "acdc.principle.sources",
)
def test_prompts_are_listed_with_their_source_and_arguments(acdc_server: Reader) -> None:
    review, other = acdc_server.prompts()

    assert {key: review[key] for key in ("name", "description", "arguments")} == {
        "name": "docs:code-review",
        "description": "Review some code.",
        "arguments": [
            {"name": "language", "description": "The language", "required": False},
            {"name": "code", "description": "The code", "required": True},
        ],
    }
    assert (other["name"], other["description"], other.get("arguments") or []) == (
        "wiki:code-review",
        "Review a page.",
        [],
    )


@requirement("acdc.prompts.namespace", "acdc.prompts.file.placeholders", "acdc.prompts.placeholders")
def test_prompt_is_filled_in_by_its_own_source(acdc_server: Reader) -> None:
    assert filled(acdc_server, "docs:code-review", language="Ada", code="x := 1;") == (
        "Review this Ada code:\n\nx := 1;"
    )
    assert filled(acdc_server, "wiki:code-review") == "Look at the wiki."
    assert acdc_server.prompt("docs:code-review", code="x")["description"] == "Review some code."


@requirement("acdc.prompts.namespace")
@pytest.mark.parametrize("name", ["code-review", "nowhere:code-review", "docs:absent", "docs:", "", "docs/code-review"])
def test_unknown_prompt_is_an_error_that_names_it(acdc_server: Reader, name: str) -> None:
    error = acdc_server.refusal(lambda: acdc_server.prompt(name))

    assert error.code == -32602
    assert name in error.message


@requirement("acdc.location.prompts", "acdc.prompts.discovery")
def test_location_without_prompts_has_none(acdc: Open) -> None:
    reader = acdc({"docs": location(PAGES), "wiki": location(PAGES, {"x.md": template("x", "X\n")})})

    assert names(reader) == ["wiki:x"]


# what they are filled in to

GIVEN = {"a": "one", "b": "two"}
TEMPLATES: dict[str, tuple[str, Mapping[str, str], str]] = {
    "plain": ("Nothing to fill in.\n", {}, "Nothing to fill in."),
    "close": ("<{{.a}}|{{.b}}>\n", GIVEN, "<one|two>"),
    "spaced": ("<{{ .a }}|{{   .b   }}>\n", GIVEN, "<one|two>"),
    "twice": ("{{.a}} and {{.a}}\n", {"a": "x"}, "x and x"),
    "lines": ("# Head\n\n- {{.a}}\n\n    code {{.b}}\n", GIVEN, "# Head\n\n- one\n\n    code two"),
    "optional": ("<{{.a}}|{{.b}}>\n", {"a": "one"}, "<one|>"),
    "empty-optional": ("<{{.a}}|{{.b}}>\n", {"a": "one", "b": ""}, "<one|>"),
    "if-yes": ("<{{if .b}}{{.b}}!{{end}}>\n", GIVEN, "<two!>"),
    "if-no": ("<{{if .b}}{{.b}}!{{end}}>\n", {"a": "x"}, "<>"),
    "if-empty": ("<{{if .b}}{{.b}}!{{end}}>\n", {"a": "x", "b": ""}, "<>"),
    "else-yes": ("<{{if .b}}with {{.b}}{{else}}without{{end}}>\n", GIVEN, "<with two>"),
    "else-no": ("<{{if .b}}with {{.b}}{{else}}without{{end}}>\n", {"a": "x"}, "<without>"),
    "if-spaced": ("<{{ if .b }}yes{{ else }}no{{ end }}>\n", {"a": "x"}, "<no>"),
    "nested": ("<{{if .a}}{{if .b}}both{{else}}{{.a}}{{end}}{{end}}>\n", {"a": "x"}, "<x>"),
    "no-markup": ("<{{.a}}>\n", {"a": "{{.b}} {{if .b}} & <b> %s \\1 $x\n"}, "<{{.b}} {{if .b}} & <b> %s \\1 $x\n>"),
    "single-braces": ("{a} {.a} } { {{.a}}\n", {"a": "x"}, "{a} {.a} } { x"),
    "windows": ("One {{.a}}\r\nTwo\r\n", {"a": "x"}, "One x\r\nTwo"),
}
BAD_TEMPLATES = {
    "unclosed-braces": "Some {{.a text\n",
    "unclosed-if": "{{if .a}}never ended\n",
    "end-alone": "Text {{end}}\n",
    "else-alone": "Text {{else}}\n",
    "two-elses": "{{if .a}}1{{else}}2{{else}}3{{end}}\n",
    "range": "{{range .a}}x{{end}}\n",
    "function": "{{printf .a}}\n",
    "pipe": "{{.a | upper}}\n",
    "no-dot": "{{a}}\n",
    "nothing": "{{}}\n",
    "dotted": "{{.a.b}}\n",
    "if-nothing": "{{if}}x{{end}}\n",
    "else-if": "{{if .a}}1{{else if .b}}2{{end}}\n",
    "variable": "{{$x := .a}}{{$x}}\n",
    "with": "{{with .a}}x{{end}}\n",
}
ROOMS: Content = {
    "docs": location(
        PAGES,
        {
            **{
                f"{name}.md": template(name, text, named("a", required="a" in given), named("b", required=False))
                for name, (text, given, _) in TEMPLATES.items()
            },
            **{f"bad-{name}.md": template(f"bad-{name}", text, named("a")) for name, text in BAD_TEMPLATES.items()},
            "no-yaml.md": "---\nname: [unclosed\n---\nText.\n",
            "sub/folder/far.md": template("far", "Far {{.a}}.\n", named("a")),
            "file-name.md": template("other-name", "Other.\n"),
            "strict.md": template(
                "strict", "<{{.subject}}{{.tone}}>\n", named("subject"), named("tone", required=True)
            ),
            "bare.md": "---\nname: bare\ndescription: No arguments.\n---\nBare.\n",
            "not-a-prompt.txt": template("text", "Text.\n"),
        },
    )
}


@pytest.fixture(scope="module", params=ERAS)
def rooms(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server of many prompts, in each era."""
    base = tmp_path_factory.mktemp("rooms")
    config = configure(base / "content", ROOMS)
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with serving(portal, config.parent, base / "log", *arguments, mode=ERAS[request.param], cwd=base) as reader:
        yield reader


@requirement(
    "acdc.prompts.placeholders", "acdc.prompts.file.placeholders", "acdc.prompts.optional", "acdc.prompts.conditions"
)
@pytest.mark.parametrize("name", TEMPLATES)
def test_template_is_filled_in_as_specified(rooms: Reader, name: str) -> None:
    _, given, text = TEMPLATES[name]

    assert filled(rooms, f"docs:{name}", **given) == text


@requirement("acdc.prompts.skipped", "model.bad-file.others", "acdc.prompts.name", "acdc.prompts.subfolders")
def test_templates_that_cannot_be_filled_in_are_skipped_and_the_others_are_there(rooms: Reader) -> None:
    assert names(rooms) == sorted(f"docs:{name}" for name in [*TEMPLATES, "far", "other-name", "strict", "bare"])


@requirement("acdc.prompts.skipped", "model.bad-file.reported")
@pytest.mark.parametrize("name", [*(f"bad-{name}" for name in BAD_TEMPLATES), "no-yaml"])
def test_skipped_template_is_named_in_a_warning(rooms: Reader, name: str) -> None:
    rooms.prompts()

    def warned() -> bool:
        return any(re.search(rf"\b{re.escape(name)}\.md\b", line) for line in rooms.said().splitlines())

    eventually(warned, True, PATIENCE)
    assert rooms.refusal(lambda: rooms.prompt(f"docs:{name}", a="x")).code == -32602


@requirement("acdc.prompts.subfolders", "acdc.prompts.name")
def test_prompt_in_a_subfolder_has_the_name_of_its_front_matter(rooms: Reader) -> None:
    assert filled(rooms, "docs:far", a="away") == "Far away."
    assert filled(rooms, "docs:other-name") == "Other."
    assert filled(rooms, "docs:bare") == "Bare."


@requirement("acdc.prompts.required")
def test_argument_is_required_unless_the_file_says_otherwise(rooms: Reader) -> None:
    (strict,) = [one for one in rooms.prompts() if one["name"] == "docs:strict"]

    assert [(one["name"], one["required"]) for one in strict["arguments"]] == [("subject", True), ("tone", True)]


@requirement("acdc.prompts.missing", "acdc.prompts.required")
@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        ({"tone": "x"}, "subject"),
        ({"subject": "", "tone": "x"}, "subject"),
        ({"subject": "x"}, "tone"),
        ({"subject": "x", "tone": ""}, "tone"),
    ],
)
def test_missing_or_empty_required_argument_is_an_error_that_names_it(
    rooms: Reader, given: Mapping[str, str], culprit: str
) -> None:
    error = rooms.refusal(lambda: rooms.prompt("docs:strict", **given))

    assert error.code == -32602
    assert culprit in error.message


# changes while running


@pytest.fixture(scope="module", params=ERAS)
def living(
    request: pytest.FixtureRequest, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """A server whose prompts change, with a client that hears of it, in each era."""
    base = tmp_path_factory.mktemp("living")
    prompts = {f"{name}.md": template(name, "Old.\n") for name in ("fleeting", "growing", "fragile", "renamed")}
    config = configure(base / "content", {"docs": location(PAGES, prompts), "wiki": location(PAGES)})
    arguments = ("--face", "acdc", "--config", config, "--store", base / "store")
    with ExitStack() as stack:
        running = serving(portal, config.parent, base / "log", *arguments, mode=ERAS[request.param], cwd=base)
        reader = stack.enter_context(running)
        if request.param == "modern":
            stack.enter_context(listening(reader))
        reader.resources()
        reader.prompts()
        yield reader


@requirement("acdc.prompts.discovery", "model.list-changed")
def test_added_prompt_is_told_and_listed(living: Reader) -> None:
    write(living.folder / "docs/mcp-prompts", {"new/added.md": template("added", "New.\n")})

    living.await_change(lambda: "docs:added" in names(living), "Prompt")
    assert filled(living, "docs:added") == "New."


@requirement("acdc.prompts.discovery", "model.list-changed")
def test_first_prompt_of_a_location_is_told_and_listed(living: Reader) -> None:
    write(living.folder / "wiki/mcp-prompts", {"first.md": template("first", "First.\n")})

    living.await_change(lambda: "wiki:first" in names(living), "Prompt")


@requirement("acdc.prompts.name", "model.list-changed")
def test_changed_prompt_is_told_and_filled_in_anew(living: Reader) -> None:
    write(living.folder / "docs/mcp-prompts", {"growing.md": template("growing", "New {{.a}}.\n", named("a"))})

    def takes_an_argument() -> bool:
        return any(one["name"] == "docs:growing" and one.get("arguments") for one in living.prompts())

    living.await_change(takes_an_argument, "Prompt")
    assert filled(living, "docs:growing", a="text") == "New text."


@requirement("acdc.prompts.name", "model.list-changed")
def test_renamed_prompt_goes_by_its_new_name_alone(living: Reader) -> None:
    write(living.folder / "docs/mcp-prompts", {"renamed.md": template("other", "Old.\n")})

    living.await_change(lambda: "docs:other" in names(living) and "docs:renamed" not in names(living), "Prompt")


@requirement("acdc.prompts.discovery", "model.list-changed")
def test_removed_prompt_is_told_and_gone(living: Reader) -> None:
    (living.folder / "docs/mcp-prompts/fleeting.md").unlink()

    living.await_change(lambda: "docs:fleeting" not in names(living), "Prompt")
    assert living.refusal(lambda: living.prompt("docs:fleeting")).code == -32602


@requirement("acdc.prompts.skipped", "model.list-changed")
def test_prompt_that_turns_bad_is_gone_and_comes_back_when_it_is_mended(living: Reader) -> None:
    folder = living.folder / "docs/mcp-prompts"

    write(folder, {"fragile.md": template("fragile", "{{range .a}}\n")})
    living.await_change(lambda: "docs:fragile" not in names(living), "Prompt")
    eventually(lambda: "fragile.md" in living.said(), True)
    write(folder, {"fragile.md": template("fragile", "Mended.\n")})
    living.await_change(lambda: "docs:fragile" in names(living), "Prompt")
    assert filled(living, "docs:fragile") == "Mended."
