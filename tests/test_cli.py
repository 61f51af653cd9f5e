"""The command line as a user meets it: real processes, real files, a store of their own."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bookwheel import VERSION
from bookwheel.cli import COMMANDS
from bookwheel.index.semantics import SAVE

WATCHER = """
import os, sys
folder = os.environ["WATCHED_FOLDER"]
def note(event, arguments):
    if event == "open" and str(arguments[0]).startswith(folder):
        os.write(2, b"opened " + str(arguments[0])[len(folder):].encode() + b"\\n")
sys.addaudithook(note)
"""


class Desk:
    """A folder of documents, a place for the store, and the command at hand."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.docs = place / "docs"
        self.store = place / "data" / "bookwheel"
        (self.docs / "sub").mkdir(parents=True)
        (self.docs / "a.md").write_text(
            "# Anchor\n\nAn anchor holds.\n\n## Chain\n\nIt is of iron.\n\n# Rope\n\nHemp.\n"
        )
        (self.docs / "sub" / "b c.txt").write_text("Bellows\n\nThey blow.")

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BOOKWHEEL_", "LANCEDB_", "PYTHONUNBUFFERED"))
        }
        words_alone = {"BOOKWHEEL_EMBEDDER": "none"}  # the model has tests of its own
        return {**kept, **words_alone, "XDG_DATA_HOME": str(self.place / "data"), **(extra or {})}

    def command(self, *words: str, python: tuple[str, ...] = ()) -> list[str]:
        return [sys.executable, *python, "-m", "bookwheel", *words]

    def run(
        self, *words: str, python: tuple[str, ...] = (), code: int = 0, extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end and check its exit code."""
        done = subprocess.run(
            self.command(*words, python=python),
            cwd=self.place,
            env=self.environment(extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    def json(self, *words: str) -> Any:
        """Return what a command prints as data."""
        return json.loads(self.run(*words, "--json").stdout)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path.resolve())


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk whose documents are indexed, for tests that only look."""
    desk = Desk(tmp_path_factory.mktemp("settled").resolve())
    (desk.docs / "program.py").write_text("pass\n")
    desk.run("ingest", "docs")
    return desk


# help and versions


def test_version_is_printed(settled: Desk) -> None:
    done = settled.run("--version")

    assert (done.stdout, done.stderr) == (f"bookwheel {VERSION}\n", "")


def test_help_names_every_command(settled: Desk) -> None:
    done = settled.run("--help")

    assert done.stderr == ""
    for name, (_, summary, _) in COMMANDS.items():
        assert re.search(rf"^ +{name}\s+{re.escape(summary)}", done.stdout, re.MULTILINE)


ORG = ("headlines", "todos", "todo", "schedule")


@pytest.mark.parametrize("name", [*(one for one in COMMANDS if one != "org"), *(f"org {inner}" for inner in ORG)])
def test_every_command_has_help_with_its_options(settled: Desk, name: str) -> None:
    done = settled.run(*name.split(), "--help")

    assert done.stdout.startswith(f"usage: bookwheel {name} ")
    assert "--store DIR" in done.stdout
    assert ("--json" in done.stdout) == (name != "serve")
    assert done.stderr == ""


# each command in words and as data


def test_ingest_says_what_it_did(desk: Desk) -> None:
    first = desk.run("ingest", "docs")
    second = desk.run("ingest", "docs")

    assert first.stdout == "2 indexed, 0 unchanged, 0 dropped, 0 skipped, 0 embedded\n"
    assert second.stdout == "0 indexed, 2 unchanged, 0 dropped, 0 skipped, 0 embedded\n"
    assert first.stderr == second.stderr == ""


def test_ingest_gives_what_it_did_as_data(desk: Desk) -> None:
    assert desk.json("ingest", "docs") == {"indexed": 2, "unchanged": 0, "dropped": 0, "skipped": 0, "embedded": 0}


def test_ingest_names_what_it_left_out(desk: Desk) -> None:
    (desk.docs / "bad.md").write_bytes(b"\0\1\2\3")

    done = desk.run("ingest", "docs", "--log-level", "error")

    assert done.stdout == "2 indexed, 0 unchanged, 0 dropped, 1 skipped, 0 embedded\n"
    assert done.stderr == "left out: bad.md: this is not text: it holds NUL bytes\n"


def test_ingest_of_one_file_takes_in_that_file_alone(desk: Desk) -> None:
    assert desk.json("ingest", "docs/a.md") == {"indexed": 1, "unchanged": 0, "dropped": 0, "skipped": 0, "embedded": 0}
    assert [one["path"] for one in desk.json("list")] == ["a.md"]


def test_search_shows_passages_with_their_places(settled: Desk) -> None:
    done = settled.run("search", "iron chain", "docs")

    lines = done.stdout.splitlines()
    assert re.fullmatch(r"0\.\d\d  Anchor › Chain", lines[0])
    assert lines[1:] == [f"      {settled.docs}/a.md:5", "      ## Chain It is of iron.", ""]
    assert done.stderr == ""


def test_search_gives_passages_as_data(settled: Desk) -> None:
    (hit,) = settled.json("search", "iron chain", "docs")

    assert 0 < hit.pop("score") <= 1
    assert hit == {
        "uri": hit["uri"],
        "library": "docs",
        "path": "a.md",
        "file": f"{settled.docs}/a.md",
        "title": "Anchor",
        "bytes": 68,
        "headings": ["Anchor", "Chain"],
        "section": "anchor/chain",
        "lines": [5, 7],
        "page": 0,
        "excerpt": "## Chain It is of iron.",
        "match": "content",
    }


def test_search_without_a_path_covers_all_that_was_indexed(desk: Desk) -> None:
    desk.run("ingest", "docs")
    (desk.docs / "new.md").write_text("An anchor too.")

    assert sorted(hit["path"] for hit in desk.json("search", "anchor")) == ["a.md", "new.md"]


def test_search_says_when_there_is_nothing(settled: Desk) -> None:
    assert settled.run("search", "zeppelin", "docs").stdout == "Nothing found for 'zeppelin' in 2 documents.\n"
    assert settled.json("search", "zeppelin", "docs") == []


def test_search_of_a_folder_that_is_gone_shows_nothing_of_it(desk: Desk) -> None:
    desk.run("ingest", "docs")
    desk.docs.rename(desk.place / "moved")

    assert desk.json("search", "anchor") == []
    assert desk.json("list") == []


@pytest.mark.parametrize(("limit", "count"), [("1", 1), ("2", 2), ("99", 3)])
def test_search_shows_no_more_than_asked_for(desk: Desk, limit: str, count: int) -> None:
    for name in "xyz":
        (desk.docs / f"{name}.md").write_text(f"zeppelin {name * 3}")

    assert len(desk.json("search", "zeppelin", "docs", "--limit", limit)) == count


def test_search_can_be_kept_to_a_library(desk: Desk) -> None:
    (desk.place / "more").mkdir()
    (desk.place / "more" / "c.md").write_text("anchor")
    desk.run("ingest", "docs", "more")

    assert [hit["path"] for hit in desk.json("search", "anchor", "--library", "more")] == ["c.md"]
    assert (
        "there is no library nowhere; there are: docs, more"
        in desk.run("search", "anchor", "--library", "nowhere", code=1).stderr
    )


def test_list_names_documents_with_their_titles(settled: Desk) -> None:
    assert settled.run("list", "docs").stdout == "docs/a.md  Anchor\ndocs/sub/b c.txt  Bellows\n"


def test_list_gives_documents_as_data(settled: Desk) -> None:
    listed = settled.json("list", "docs")

    assert [{key: one[key] for key in one if key != "uri"} for one in listed] == [
        {"library": "docs", "path": "a.md", "file": f"{settled.docs}/a.md", "title": "Anchor", "bytes": 68},
        {
            "library": "docs",
            "path": "sub/b c.txt",
            "file": f"{settled.docs}/sub/b c.txt",
            "title": "Bellows",
            "bytes": 19,
        },
    ]


def test_libraries_are_told_with_their_counts(settled: Desk) -> None:
    assert settled.run("libraries").stdout == f"docs  2 documents, 4 chunks  {settled.docs}\n"
    assert settled.json("libraries") == [{"library": "docs", "root": str(settled.docs), "documents": 2, "chunks": 4}]


def test_toc_shows_the_headings(settled: Desk) -> None:
    assert settled.run("toc", "docs/a.md").stdout == (
        "Anchor  [anchor]  54 characters, line 1\n"
        "  Chain  [anchor/chain]  26 characters, line 5\n"
        "Rope  [rope]  14 characters, line 9\n"
    )


def test_toc_gives_the_headings_as_data(settled: Desk) -> None:
    assert settled.json("toc", "docs/a.md") == [
        {"id": "anchor", "title": "Anchor", "level": 1, "line": 1, "character_count": 54},
        {"id": "anchor/chain", "title": "Chain", "level": 2, "line": 5, "character_count": 26},
        {"id": "rope", "title": "Rope", "level": 1, "line": 9, "character_count": 14},
    ]


def test_read_prints_the_file(settled: Desk) -> None:
    assert settled.run("read", "docs/a.md").stdout == (settled.docs / "a.md").read_text()
    assert settled.run("read", "docs/sub/b c.txt").stdout == "Bellows\n\nThey blow.\n"


def test_read_prints_a_section(settled: Desk) -> None:
    assert settled.run("read", "docs/a.md", "--section", "anchor/chain").stdout == "## Chain\n\nIt is of iron.\n\n"


def test_read_gives_text_as_data(settled: Desk) -> None:
    assert settled.json("read", "docs/a.md", "--section", "rope") == {
        "file": f"{settled.docs}/a.md",
        "section": "rope",
        "text": "# Rope\n\nHemp.\n",
        "tokens_left_out": 0,
    }


def test_read_takes_the_address_of_every_document_listed(desk: Desk) -> None:
    more = desk.place / "more with space"
    more.mkdir()
    (more / "a.md").write_text("# Another\n")
    desk.run("ingest", "docs", str(more))

    listed = desk.json("list")
    texts = {one["file"]: desk.json("read", one["uri"]) for one in listed}

    assert {file: text["file"] for file, text in texts.items()} == {one["file"]: one["file"] for one in listed}
    assert len(texts) == 3


def test_info_tells_what_there_is(desk: Desk) -> None:
    (desk.docs / "bad.md").write_bytes(b"\0\1\2\3")
    desk.run("ingest", "docs")

    facts = desk.json("info")
    lines = desk.run("info").stdout.splitlines()

    assert facts.pop("store_bytes") > 0
    assert facts == {
        "version": VERSION,
        "python": platform.python_version(),
        "store": str(desk.store),
        "documents": 2,
        "chunks": 4,
        "model": "none",
        "embedded": "100 %",
        "libraries": [{"library": "docs", "root": str(desk.docs), "documents": 2, "chunks": 4}],
        "problems": [{"library": "docs", "path": "bad.md", "reason": "this is not text: it holds NUL bytes"}],
    }
    assert lines[0] == f"version: {VERSION}"
    assert lines[4:8] == ["documents: 2", "chunks: 4", "model: none", "embedded: 100 %"]
    assert lines[-2:] == [
        f"library docs: 2 documents in {desk.docs}",
        "left out: docs/bad.md: this is not text: it holds NUL bytes",
    ]


# how much is shown, and why


def test_search_folds_what_is_said_twice(desk: Desk) -> None:
    for name in ("one", "two"):
        (desk.docs / f"{name}.txt").write_text("Zeppelins\n\nA zeppelin is an airship.\n")

    (hit,) = desk.json("search", "airship", "docs")
    lines = desk.run("search", "airship", "docs").stdout.splitlines()

    assert (hit["path"], hit["also"]) == ("one.txt", ["docs/two.txt"])
    assert lines[-2:] == ["      the same in: docs/two.txt", ""]


def test_search_explains_when_asked_to(settled: Desk) -> None:
    (hit,) = settled.json("search", "iron chain", "docs", "--explain")
    lines = settled.run("search", "iron chain", "docs", "--explain").stdout.splitlines()

    fields = hit["why"].pop("fields")
    assert hit["why"] == {}
    assert fields.keys() == {"body", "heading", "title", "path", "keywords", "description"}
    assert {name for name, score in fields.items() if score > 0} == {"body", "heading"}
    assert lines[-2:] == ["      fields: " + ", ".join(f"{name} {score}" for name, score in fields.items()), ""]


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_without_a_model_every_mode_goes_by_words(settled: Desk, mode: str) -> None:
    done = settled.run("search", "iron chain", "docs", "--mode", mode)

    assert done.stdout == settled.run("search", "iron chain", "docs").stdout


def test_search_shows_whole_passages_up_to_a_budget(settled: Desk) -> None:
    shown = settled.json("search", "iron blow", "docs", "--max-tokens", "1000")
    some = settled.json("search", "iron blow", "docs", "--max-tokens", str(shown[0]["tokens"]))

    texts = {"a.md": "## Chain\n\nIt is of iron.", "sub/b c.txt": "Bellows\n\nThey blow."}
    assert {one["path"]: (one["text"], one["tokens"]) for one in shown} == {
        "a.md": (texts["a.md"], 6),
        "sub/b c.txt": (texts["sub/b c.txt"], 5),
    }
    assert [one["path"] for one in some] == [one["path"] for one in shown]
    assert [one["text"] for one in some] == [shown[0]["text"], ""]
    assert [one["tokens"] for one in some] == [one["tokens"] for one in shown]


def test_search_names_passages_that_the_budget_leaves_out(settled: Desk) -> None:
    done = settled.run("search", "iron chain", "docs", "--max-tokens", "3")

    assert done.stdout == "docs://docs/a.md [5, 7] (6 tokens)\n## Chain\n\n"


def test_read_keeps_to_a_budget_and_tells_what_is_left(settled: Desk) -> None:
    done = settled.run("read", "docs/a.md", "--max-tokens", "8")
    shown = settled.json("read", "docs/a.md", "--max-tokens", "8")

    assert done.stdout == "# Anchor\n\nAn anchor holds.\n"
    assert done.stderr == "about 10 tokens more; `bookwheel toc` lists the sections\n"
    assert shown == {
        "file": f"{settled.docs}/a.md",
        "section": None,
        "text": "# Anchor\n\nAn anchor holds.",
        "tokens_left_out": 10,
    }


def test_read_within_the_budget_is_untouched(settled: Desk) -> None:
    done = settled.run("read", "docs/a.md", "--max-tokens", "17")

    assert (done.stdout, done.stderr) == ((settled.docs / "a.md").read_text(), "")


# bench, reindex


def test_bench_tells_how_often_the_expected_came_first(settled: Desk, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"query": "iron chain", "expected": ["docs://docs/a.md"]}\n\n'
        '{"query": "bellows", "expected": ["docs://sub/b%20c.txt"]}\n'
        '{"query": "zeppelin", "expected": ["docs://docs/a.md"]}\n'
        '{"query": "anchor", "expected": ["docs://docs/absent.md"]}\n'
    )

    lexical = settled.json("bench", str(questions), "docs")["lexical"]
    lines = settled.run("bench", str(questions)).stdout.splitlines()

    assert lexical == {"hit@1": 0.5, "hit@5": 0.5, "hit@10": 0.5, "MRR": 0.5, "nDCG@10": 0.5}
    assert lines[:2] == [
        "mode     hit@1  hit@5  hit@10  MRR    nDCG@10",
        "lexical  0.500  0.500  0.500   0.500  0.500",
    ]


def test_reindex_without_a_model_makes_nothing(settled: Desk) -> None:
    assert settled.run("reindex", "docs").stdout == "0 passages embedded with none\n"
    assert settled.json("reindex") == {"model": "none", "embedded": 0}


def test_reindex_with_a_model_that_cannot_be_had_fails(settled: Desk) -> None:
    done = settled.run("reindex", "docs", "--embedder", "some/model", "--log-level", "error", code=1)

    assert done.stdout == ""
    assert done.stderr == "bookwheel: the model some/model needs the extra 'hub': pip install 'bookwheel[hub]'\n"


def test_search_goes_on_without_a_model_that_cannot_be_had(settled: Desk) -> None:
    extra = {"BOOKWHEEL_EMBEDDER": "some/model"}

    done = settled.run("search", "iron chain", "docs", extra=extra)

    assert done.stdout == settled.run("search", "iron chain", "docs").stdout
    assert done.stderr == "semantic ranking ready for 0 %; `bookwheel reindex` finishes it\n"


def test_the_bundled_model_finds_by_meaning(desk: Desk) -> None:
    (desk.docs / "cat.md").write_text("# Cat\n\nThe cat sleeps on the warm windowsill.\n")
    words = ("search", "a feline napping in the sun")
    model = ("--embedder", "minilm")

    ingested = desk.json("ingest", "docs", *model)
    by_words = desk.json(*words, *model, "--mode", "lexical")
    both = desk.json(*words, *model, "--explain")

    assert ingested == {"indexed": 3, "unchanged": 0, "dropped": 0, "skipped": 0, "embedded": 5}
    assert by_words == []
    assert [hit["path"] for hit in both] == ["cat.md"]
    assert (both[0]["why"]["words"], both[0]["why"]["meaning_rank"]) == (0.0, 1)
    assert desk.json("info", *model)["model"] == "minilm"


def test_reindex_makes_what_is_missing_and_forgets_what_is_gone(desk: Desk) -> None:
    model = {"BOOKWHEEL_EMBEDDER": "minilm"}
    desk.run("ingest", "docs", "--embedder", "none")
    waiting = desk.run("search", "iron", extra=model)
    first = desk.run("reindex", extra=model)
    (desk.docs / "a.md").write_text("# Anchor\n\nAn anchor holds.\n")

    second = desk.run("reindex", extra=model)

    assert waiting.stderr == "semantic ranking ready for 0 %; `bookwheel reindex` finishes it\n"
    assert (first.stdout, second.stdout) == ("4 passages embedded with minilm\n", "0 passages embedded with minilm\n")
    assert "embedded: 100 %" in desk.run("info", extra=model).stdout.splitlines()


@pytest.mark.parametrize("name", ["libraries", "list", "info"])
def test_an_empty_store_is_no_error(desk: Desk, name: str) -> None:
    assert desk.json(name) == [] if name != "info" else desk.json(name)["documents"] == 0


# called wrongly, gone wrong


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["search"], "the following arguments are required: QUERY"),
        (["ingest"], "the following arguments are required: PATH"),
        (["toc", "a", "b"], "unrecognized arguments: b"),
        (["search", "x", "--limit", "0"], "'0' is too few; give 1 or more"),
        (["search", "x", "--limit", "many"], "'many' is too few; give 1 or more"),
        (["search", "x", "--max-tokens", "0"], "'0' is too few; give 1 or more"),
        (["read", "docs/a.md", "--max-tokens", "-1"], "'-1' is too few; give 1 or more"),
        (["search", "x", "--mode", "magic"], "invalid choice: 'magic'"),
        (["list", "--model-folder", "s3://bucket"], "model_folder in the command line is 's3://bucket'"),
        (["bench"], "the following arguments are required: QUERIES.jsonl"),
        (["bench", "docs/a.md"], "line 1 of docs/a.md must be an object with a query and a list of expected URIs"),
        (["list", "--colour"], "unrecognized arguments: --colour"),
        (["list", "--max-file-size", "0"], "max_file_size in the command line is '0'"),
        (["list", "--store", "s3://bucket"], "store in the command line is 's3://bucket'"),
        (["serve", "--face", "masks"], "face in the command line is 'masks'"),
    ],
)
def test_a_wrong_call_exits_with_two(settled: Desk, words: list[str], told: str) -> None:
    done = settled.run(*words, code=2)

    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ingest", "absent"], "bookwheel: there is no file or folder absent; check the path\n"),
        (["search", "x", "absent"], "bookwheel: there is no file or folder absent; check the path\n"),
        (["serve", "absent"], "bookwheel: there is no file or folder absent; check the path\n"),
        (["absent"], "bookwheel: there is no file or folder absent; check the path\n"),
        (["toc", "absent.md"], "bookwheel: there is no file or folder absent.md; check the path\n"),
        (["read", "docs/a.md", "--section", "no"], "docs/a.md has no section no; see: bookwheel toc docs/a.md\n"),
        (["read", "docs://no.md"], "there is no document docs://no.md; `bookwheel list` names those there are\n"),
        (["list", "docs", "--store", "docs/a.md"], "name another folder with --store\n"),
        (["bench", "no.jsonl"], "bookwheel: no.jsonl cannot be read: No such file or directory\n"),
        (["reindex", "absent"], "bookwheel: there is no file or folder absent; check the path\n"),
        (["read", "docs"], "bookwheel: "),
        (["toc", "docs/program.py"], "bookwheel: "),
    ],
)  # fmt: skip
def test_what_goes_wrong_exits_with_one_and_a_sentence(settled: Desk, words: list[str], told: str) -> None:
    done = settled.run(*words, code=1)

    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("variable", ["BOOKWHEEL_STORE", "LANCEDB_URI"])
def test_the_environment_chooses_the_store(desk: Desk, variable: str) -> None:
    desk.run("ingest", "docs", extra={variable: str(desk.place / "elsewhere")})

    assert (desk.place / "elsewhere").is_dir()
    assert not desk.store.exists()


def test_reading_a_file_leaves_no_trace_in_the_store(desk: Desk) -> None:
    desk.run("toc", "docs/a.md")
    desk.run("read", "docs/a.md")

    assert desk.json("libraries") == []


# the short form


@pytest.mark.parametrize("words", [["docs"], ["docs/a.md"], ["serve", "docs"], [], ["--no-watch", "docs"]])
def test_serving_ends_well_when_the_client_leaves(desk: Desk, words: list[str]) -> None:
    with subprocess.Popen(
        desk.command(*words),
        cwd=desk.place,
        env=desk.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        output, errors = process.communicate(b"", timeout=30)

    assert (process.returncode, output) == (0, b"")
    assert b"Traceback" not in errors


def test_serving_nobody_at_all_ends_well(desk: Desk) -> None:
    done = desk.run("docs")

    assert done.stdout == ""
    assert "Traceback" not in done.stderr


# only what is needed is imported


def imported(desk: Desk, *words: str) -> set[str]:
    done = desk.run(*words, python=("-X", "importtime"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["search", "--help"], ["list"], ["list", "docs"], ["toc", "docs/a.md"], ["libraries"]],
)
def test_a_quick_answer_imports_nothing_heavy(settled: Desk, words: list[str]) -> None:
    assert imported(settled, *words).isdisjoint({"mcp", "numpy", "anyio", "pydantic", "watchfiles", "Stemmer"})


def test_search_does_not_import_the_protocol(settled: Desk) -> None:
    found = imported(settled, "search", "anchor")

    assert "numpy" in found
    assert found.isdisjoint({"mcp", "anyio", "pydantic", "watchfiles"})


# interrupted, cut off


def test_an_interrupted_ingest_is_finished_by_the_next(desk: Desk) -> None:
    for number in range(2_000):
        (desk.docs / f"{number:04}.md").write_text(f"# Page {number}\n\n" + "anchor and chain " * 60)
    hooks = desk.place / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(WATCHER)
    extra = {"PYTHONPATH": str(hooks), "WATCHED_FOLDER": str(desk.docs) + "/"}

    with subprocess.Popen(
        desk.command("ingest", "docs"),
        cwd=desk.place,
        env=desk.environment(extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("opened 0300"):
                break
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)

    told = [line for line in errors.splitlines() if not line.startswith("opened ")]
    assert (process.returncode, output) == (130, "")
    assert told == ["bookwheel: interrupted; what was done is kept"]
    kept = desk.json("info")["documents"]
    assert kept > 0, "what was done is kept"
    assert desk.json("ingest", "docs") == {
        "indexed": 2_002 - kept,
        "unchanged": kept,
        "dropped": 0,
        "skipped": 0,
        "embedded": 0,
    }
    assert desk.json("info")["documents"] == 2_002
    assert len(desk.json("search", "chain")) == 10


def test_an_interrupted_reindex_is_finished_by_the_next(desk: Desk) -> None:
    for number in range(146):
        (desk.docs / f"{number}.txt").write_text(f"page {number}")
    desk.run("ingest", "docs")
    hooks = desk.place / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(WATCHER)
    model = {"BOOKWHEEL_EMBEDDER": "minilm"}
    extra = {**model, "PYTHONPATH": str(hooks), "WATCHED_FOLDER": str(desk.store) + "/"}

    with subprocess.Popen(
        desk.command("reindex"),
        cwd=desk.place,
        env=desk.environment(extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("opened embed-minilm.lock"):
                break
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)

    told = [line for line in errors.splitlines() if not line.startswith("opened ")]
    rest = json.loads(desk.run("reindex", "--json", extra=model).stdout)["embedded"]
    assert (process.returncode, output, told) == (130, "", ["bookwheel: interrupted; what was done is kept"])
    assert rest in {150, 150 - SAVE}, "it ends between two writes"
    assert "embedded: 100 %" in desk.run("info", extra=model).stdout.splitlines()


@pytest.mark.parametrize(
    "words", [["list", "docs"], ["read", "docs/long.txt"], ["search", "*", "docs", "--limit", "500"]]
)
def test_output_that_nobody_reads_to_the_end_is_no_error(desk: Desk, words: list[str]) -> None:
    (desk.docs / "long.txt").write_text("anchor\n" * 200_000)
    for number in range(300):
        (desk.docs / f"{number}.md").write_text(f"# A title that is rather long, of document {number}\n")

    with subprocess.Popen(
        desk.command(*words), cwd=desk.place, env=desk.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()

    assert (process.returncode, errors) == (0, b"")


def test_short_output_that_nobody_reads_is_no_error(desk: Desk) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        desk.command("list", "docs"),
        cwd=desk.place,
        env=desk.environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")
