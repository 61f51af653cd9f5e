"""Folders: what is served, what is passed over and why, and names that must not lead out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookwheel.containment import contain, stamp
from bookwheel.errors import Invalid, NotFound, OutsideRoots
from bookwheel.folders import Folder, Found, Skipped, admits, folder_for, scan
from bookwheel.model import Source, Stamp

NOBODY = 65534
GIT_ALONE = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty folder to serve, with a neighbour that must stay out of reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret")
    (tmp_path / "root").mkdir()
    return (tmp_path / "root").resolve()


def write(root: Path, *names: str, text: str = "x") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def served(folder: Folder) -> list[str]:
    return [item.source.path for item in scan(folder) if isinstance(item, Found)]


def passed_over(folder: Folder) -> dict[str, str]:
    return {item.path: item.reason for item in scan(folder) if isinstance(item, Skipped)}


def all_files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@contextmanager
def no_privileges() -> Iterator[None]:
    """Act as a user whom permissions bind; the superuser may read everything."""
    privileged = os.geteuid() == 0
    if privileged:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if privileged:
            os.seteuid(0)


# What is served


def test_a_file_comes_with_its_source_and_stamp(root: Path) -> None:
    write(root, "a/note.md", text="hello")
    stamp = Stamp.of((root / "a/note.md").stat())

    items = list(scan(Folder(root, "lib")))

    assert items == [Found(Source("lib", str(root / "a/note.md"), "a/note.md"), stamp)]


def test_files_come_sorted_with_those_of_a_folder_before_its_folders(root: Path) -> None:
    write(root, "b.md", "a/z.md", "a/b/c.md", "c/d.md", "a.md")

    names = served(Folder(root, "lib"))

    assert names == ["a.md", "b.md", "a/z.md", "a/b/c.md", "c/d.md"]


def test_hidden_and_never_served_entries_are_passed_over_in_silence(root: Path) -> None:
    write(root, "a.md", ".env", ".obsidian/x.md", ".git/config", "node_modules/p/x.md", "s/__pycache__/x.md")

    items = list(scan(Folder(root, "lib")))

    assert [item.source.path for item in items if isinstance(item, Found)] == ["a.md"]
    assert len(items) == 1


def test_hidden_files_can_be_served_but_never_those_of_git(root: Path) -> None:
    write(root, "a.md", ".env", ".obsidian/x.md", ".git/config", "node_modules/p/x.md")

    names = served(Folder(root, "lib", hidden=True))

    assert names == [".env", "a.md", ".obsidian/x.md"]


def test_suffixes_are_compared_without_case(root: Path) -> None:
    write(root, "a.md", "b.MD", "c.txt", "md", "d.md/e.html")

    names = served(Folder(root, "lib", suffixes=frozenset({".md"})))

    assert names == ["a.md", "b.MD"]


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ((), ["a.md", "b.txt", "docs/c.md", "docs/x/d.md", "docs/x/e.txt", "s.md/f.txt"]),
        (("**/*.md",), ["a.md", "docs/c.md", "docs/x/d.md"]),
        (("*.md",), ["a.md", "docs/c.md", "docs/x/d.md"]),
        (("/*.md",), ["a.md"]),
        (("./*.md",), ["a.md"]),
        (("docs/*.md",), ["docs/c.md"]),
        (("docs/**",), ["docs/c.md", "docs/x/d.md", "docs/x/e.txt"]),
        (("docs/",), ["docs/c.md", "docs/x/d.md", "docs/x/e.txt"]),
        (("docs/**/*.md",), ["docs/c.md", "docs/x/d.md"]),
        (("*.txt", "a.*"), ["a.md", "b.txt", "docs/x/e.txt", "s.md/f.txt"]),
        (("!a.md",), []),
        (("#",), []),
        (("[",), []),
    ],
)
def test_include_patterns_choose(root: Path, include: tuple[str, ...], expected: list[str]) -> None:
    write(root, "a.md", "b.txt", "docs/c.md", "docs/x/d.md", "docs/x/e.txt", "s.md/f.txt")
    folder = Folder(root, "lib", include=include)

    names = served(folder)

    assert names == expected
    assert [name for name in all_files(root) if admits(folder, name)] == expected


@pytest.mark.parametrize(
    ("exclude", "expected"),
    [
        (("*.tmp.md",), ["a.md", "modules/m.md", "x/b.md", "x/modules/n.md"]),
        (("modules/**", "*.tmp.md"), ["a.md", "x/b.md", "x/modules/n.md"]),
        (("modules",), ["a.md", "a.tmp.md", "x/b.md", "x/c.tmp.md"]),
        (("x/",), ["a.md", "a.tmp.md", "modules/m.md"]),
        (("**",), []),
    ],
)
def test_exclude_patterns_rule_out(root: Path, exclude: tuple[str, ...], expected: list[str]) -> None:
    write(root, "a.md", "a.tmp.md", "x/b.md", "x/c.tmp.md", "modules/m.md", "x/modules/n.md")
    folder = Folder(root, "lib", exclude=exclude)

    names = served(folder)

    assert names == expected
    assert [name for name in all_files(root) if admits(folder, name)] == expected


def test_exclude_beats_include(root: Path) -> None:
    write(root, "a.md", "b.md")

    names = served(Folder(root, "lib", include=("*.md",), exclude=("b.md",)))

    assert names == ["a.md"]


def test_include_patterns_of_limited_depth_spare_the_rest_of_the_tree(root: Path) -> None:
    patterns: list[tuple[str, ...]] = [(), ("/a.md",), ("x/*.md", "/a.md"), ("*.md",), ("x/**",), ("x/",)]

    depths = [Folder(root, "lib", include=include).depth for include in patterns]

    assert depths == [None, 1, 2, None, None, None]


# Ignore files

IGNORING: dict[str, dict[str, str]] = {
    "name anywhere": {".gitignore": "draft.md\n"},
    "folder": {".gitignore": "build/\n"},
    "anchored": {".gitignore": "/draft.md\n/sub/deep\n"},
    "negation": {".gitignore": "*.md\n!keep.md\n"},
    "no way back into an ignored folder": {".gitignore": "sub/\n!sub/keep.md\n"},
    "way back through folders": {".gitignore": "*\n!*/\n!*.txt\n"},
    "all but one folder": {".gitignore": "/*\n!/sub\n"},
    "nested": {".gitignore": "*.txt\n", "sub/.gitignore": "!*.txt\n/keep.md\n"},
    "nested is relative": {"sub/.gitignore": "/draft.md\ndeep/*.md\n"},
    "nested beats outer folder rule": {".gitignore": "build\n", "sub/.gitignore": "!build\n"},
    "stars": {".gitignore": "sub/**\n!sub/keep.md\n"},
    "stars in the middle": {".gitignore": "sub/**/draft.md\n"},
    "stars of folders": {".gitignore": "sub/**/\n"},
    "stars first": {".gitignore": "**/deep\n"},
    "classes": {".gitignore": "[a-d]raft.*\n[!k]eep.txt\n?.md\n"},
    "broken class": {".gitignore": "[a\nkeep.md\n"},
    "comments, blanks, escapes": {".gitignore": "# keep.md\n\n\\#hash.md\n\\!bang.md\na b.md  \n"},
    "CRLF and byte order mark": {".gitignore": "\ufeffkeep.md\r\nbuild/\r\n"},
    "later wins": {".gitignore": "keep.md\n!keep.md\nkeep.md\n"},
}
IGNORABLE = [
    *("keep.md", "draft.md", "keep.txt", "#hash.md", "!bang.md", "a b.md", "x.md", "build/x.md"),
    *("sub/keep.md", "sub/draft.md", "sub/keep.txt", "sub/build/keep.md", "sub/deep/draft.md", "sub/deep/keep.txt"),
]


@pytest.mark.parametrize("case", IGNORING)
def test_gitignore_hides_what_git_ignores(root: Path, case: str) -> None:
    write(root, *IGNORABLE)
    for name, text in IGNORING[case].items():
        write(root, name, text=text)
    subprocess.run(["git", "init", "-q", root], check=True, env=GIT_ALONE)
    command = ["git", "ls-files", "-o", "-z", "--exclude-standard"]
    git = subprocess.run(command, cwd=root, check=True, env=GIT_ALONE, capture_output=True, text=True).stdout
    folder = Folder(root, "lib", hidden=True)

    names = served(folder)

    assert sorted(names) == sorted(git.split("\0")[:-1])
    assert [name for name in IGNORABLE if admits(folder, name)] == [name for name in IGNORABLE if name in names]


def test_bookwheelignore_works_without_git_and_has_the_last_word(root: Path) -> None:
    write(root, "a.md", "b.md", "dist/c.md")
    write(root, ".gitignore", text="dist\n")
    write(root, ".bookwheelignore", text="b.md\n!dist\n")

    names = served(Folder(root, "lib"))

    assert names == ["a.md", "dist/c.md"]


def test_ignore_files_can_be_left_aside(root: Path) -> None:
    write(root, "a.md")
    write(root, ".gitignore", text="*\n")

    names = served(Folder(root, "lib", ignore_files=False))

    assert names == ["a.md"]


def test_ignore_files_above_the_root_count_up_to_the_work_tree(tmp_path: Path, root: Path) -> None:
    write(tmp_path, ".gitignore", text="a.md\n")
    write(root, "a.md", "docs/a.md", "docs/b.md", "docs/c.md")
    write(root, ".gitignore", text="/docs/b.md\n")
    (root / ".git").mkdir()
    folder = Folder(root / "docs", "lib")

    names = served(folder)

    assert names == ["a.md", "c.md"]
    assert [name for name in ["a.md", "b.md", "c.md"] if admits(folder, name)] == names


def test_a_root_that_its_repository_ignores_is_served_all_the_same(root: Path) -> None:
    write(root, "build/docs/a.md")
    write(root, ".gitignore", text="build\n*.md\n")
    (root / ".git").mkdir()

    names = served(Folder(root / "build/docs", "lib"))

    assert names == ["a.md"]


def test_an_ignore_file_that_is_a_pipe_or_a_link_is_not_read(root: Path) -> None:
    write(root, "a.md", "b/a.md", "rules")
    os.mkfifo(root / ".gitignore")
    (root / "b/.gitignore").symlink_to(root / "rules")

    names = served(Folder(root, "lib", include=("*.md",)))

    assert names == ["a.md", "b/a.md"]


# What cannot be served


def test_a_file_over_the_limit_is_passed_over_with_both_sizes(root: Path) -> None:
    write(root, "big.md", text="12345")
    write(root, "fits.md", text="1234")

    items = list(scan(Folder(root, "lib", max_file_size=4)))

    assert items[0] == Skipped("big.md", "it has 5 bytes, more than the limit of 4")
    assert [type(item) for item in items] == [Skipped, Found]


def test_pipes_and_sockets_are_passed_over_without_being_opened(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as plug, pushed(root):
        plug.bind("plug.md")

    reasons = passed_over(Folder(root, "lib"))

    reason = "it is a device, socket or pipe, not a file"
    assert reasons == {"pipe.md": reason, "plug.md": reason}


@contextmanager
def pushed(folder: Path) -> Iterator[None]:
    """Work in *folder*: a socket's path may not be long."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def test_links_are_followed_only_to_files_inside(root: Path) -> None:
    write(root, "real.md", ".hidden.md")
    write(root, ".git/config")
    (root / "good.md").symlink_to("real.md")
    (root / "shown.md").symlink_to(".hidden.md")
    (root / "git.md").symlink_to(".git/config")
    (root / "broken.md").symlink_to("absent.md")
    (root / "out.md").symlink_to("../outside/secret.md")
    (root / "out-and-broken.md").symlink_to("../outside/absent.md")
    (root / "out").symlink_to("../outside")
    (root / "loop.md").symlink_to("loop.md")
    folder = Folder(root, "lib")

    names, reasons = served(folder), passed_over(folder)

    outside = "it is a link that leads out of the served folder"
    assert names == ["good.md", "real.md", "shown.md"]
    assert reasons == {
        "broken.md": "it is a link that leads nowhere",
        "git.md": "it is a link into a folder that is never served",
        "loop.md": "it is a link that leads back to itself",
        "out": outside,
        "out-and-broken.md": outside,
        "out.md": outside,
    }


def test_a_linked_folder_is_visited_once_and_by_its_own_name_if_that_is_served(root: Path) -> None:
    write(root, "z/real.md", ".store/kept.md")
    write(root, ".gitignore", text="z/ignored.md\n")
    write(root, "z/ignored.md")
    (root / "a").symlink_to("z")
    (root / "b").symlink_to(".store")
    (root / "c").symlink_to(".store")
    (root / "z" / "up").symlink_to("..")
    folder = Folder(root, "lib")

    names, reasons = served(folder), passed_over(folder)

    assert names == ["z/real.md", "b/kept.md"]
    assert set(reasons) == {"a", "c", "z/up"}
    assert set(reasons.values()) == {"it is a link to a folder that is listed under another name"}
    assert [path for path in ["a/real.md", "a/ignored.md", "b/kept.md", "z/up/z/real.md"] if admits(folder, path)] == [
        "b/kept.md"
    ]


def test_what_may_not_be_read_is_passed_over() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        root.chmod(0o755)
        write(root, "closed.md", "open.md", "shut/a.md")
        (root / "closed.md").chmod(0)
        (root / "shut").chmod(0)

        with no_privileges():
            items = list(scan(Folder(root, "lib")))

        (root / "shut").chmod(0o700)
    assert [item for item in items if isinstance(item, Skipped)] == [
        Skipped("closed.md", "it cannot be read: permission denied"),
        Skipped("shut", "the folder cannot be read"),
    ]
    assert len(items) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every file name is text")
def test_names_that_cannot_be_spoken_are_passed_over_printably(root: Path) -> None:
    for name in (b"caf\xe9.md", b"two\nlines.md", b"..\\up.md", b"good\\name.md", b"bad\xff"):
        (root / os.fsdecode(name)).write_bytes(b"x")

    names, reasons = served(Folder(root, "lib")), passed_over(Folder(root, "lib", hidden=True))

    assert names == ["good\\name.md"]
    assert reasons == {
        "..\\up.md": "its name looks like a path that leads elsewhere",
        "bad\\udcff": "its name is not valid UTF-8",
        "caf\\udce9.md": "its name is not valid UTF-8",
        "two\nlines.md": "its name has control characters",
    }


def test_a_missing_root_is_said_at_once(root: Path) -> None:
    with pytest.raises(NotFound, match="is not there; check the path"):
        scan(Folder(root / "absent", "lib"))


# Folders


def test_a_single_file_is_a_folder_of_just_that_file(root: Path) -> None:
    write(root, "a [1]*.md", "a 1x.md", "sub/a [1]*.md")
    write(root, ".gitignore", text="*\n")

    folder = folder_for(root / "a [1]*.md", "lib", Folder(root, "", exclude=("*.md",)))

    assert served(folder) == ["a [1]*.md"]
    assert folder.depth == 1


def test_a_folder_keeps_the_options_it_is_given(root: Path) -> None:
    options = Folder(Path(), "", include=("*.md",), max_file_size=3)

    folder = folder_for(root, "lib", options)

    assert folder == Folder(root, "lib", include=("*.md",), max_file_size=3)


def test_a_folder_for_nothing_is_refused(root: Path) -> None:
    with pytest.raises(NotFound, match="there is no file or folder"):
        folder_for(root / "absent.md", "lib")


def test_the_scope_names_root_and_options_and_nothing_else(root: Path) -> None:
    folder = Folder(root, "lib", suffixes=frozenset({".md", ".txt", ".html"}))

    scopes = {
        folder.scope,
        replace(folder, suffixes=frozenset({".html", ".txt", ".md"})).scope,
        replace(folder, include=("*.md",)).scope,
        replace(folder, exclude=("*.md",)).scope,
        replace(folder, hidden=True).scope,
        replace(folder, library="other").scope,
    }

    assert len(scopes) == 4


def test_a_folder_can_be_made_again_from_its_scope(root: Path) -> None:
    folder = Folder(root, "lib", ("*.md",), ("draft*",), frozenset({".md", ".txt"}), 5, hidden=True, ignore_files=False)

    assert Folder.from_scope(folder.scope, "lib") == folder


# Names a caller gives

ESCAPES = [
    *("../outside/secret.md", "..", "a/../../outside/secret.md", "sub/../note.md", "./../outside/secret.md"),
    *("%2e%2e/outside/secret.md", "..%2foutside%2fsecret.md", "%2E%2E%2Foutside%2Fsecret.md", ".%2e/outside/secret.md"),
    *("..\\outside\\secret.md", "sub\\..\\note.md", "..%5coutside%5csecret.md", "sub\\note.md", "sub%5Cnote.md"),
    *("/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd", "\\etc\\passwd", "\\\\server\\share\\x.md", "%5c%5cserver%5cx"),
    *("C:\\Windows\\win.ini", "c:/Windows/win.ini", "C%3A%5Cx.md", "C:"),
    *("note.md\0", "note.md%00.txt", "no\nte.md", "note.md%0a", "\x7f", "\x85"),
    *("out/secret.md", "out", "out.md", "out/absent.md", "out.md/", "chain.md", "deep/out/secret.md"),
]


@pytest.fixture
def trapped(root: Path) -> Path:
    """A folder with links that lead out of it."""
    write(root, "note.md", "sub/note.md", "deep/x.md")
    (root / "out").symlink_to("../outside")
    (root / "deep" / "out").symlink_to("../../outside")
    (root / "out.md").symlink_to("../outside/secret.md")
    (root / "chain.md").symlink_to("out.md")
    return root


@pytest.mark.parametrize("name", ESCAPES)
def test_a_name_that_leads_out_is_refused(trapped: Path, name: str) -> None:
    with pytest.raises(OutsideRoots) as caught:
        contain(trapped, name)

    assert caught.value.message == f"{name} is not a path inside the served folder"
    assert caught.value.details == {"filename": name}


def test_a_refusal_is_the_same_whether_or_not_there_is_something_outside(trapped: Path) -> None:
    refusals = []
    for name in ("out/secret.md", "out/absent.md"):
        with pytest.raises(OutsideRoots) as caught:
            contain(trapped, name)
        refusals.append(caught.value.message.replace(name, ""))

    assert len(set(refusals)) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("absent.md", "sub", "sub/", "~/note.md", "~root", "%252e%252e/outside/secret.md", "%c0%ae%c0%ae/x"),
        *(
            "\ud800.md",
            "\udcff.md",
            "%ff.md",
            "x" * 5000,
            "note.md/x",
            "...",
            "．．/outside/secret.md",
            "$HOME",
            "loop",
        ),
    ],
)
def test_a_name_of_nothing_is_not_found(trapped: Path, name: str) -> None:
    (trapped / "loop").symlink_to("loop")

    with pytest.raises(NotFound) as caught:
        contain(trapped, name)

    assert caught.value.message.encode("utf-8").decode("utf-8").endswith(" is not in the served folder")
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("note.md", "note.md"),
        ("./note.md", "note.md"),
        ("a%20b.md", "a%20b.md"),
        ("a%2520b.md", "a%20b.md"),
        ("c d.md", "c d.md"),
        ("c%20d.md", "c d.md"),
        ("sub%2Fnote.md", "sub/note.md"),
        ("my%20file%5B1%5D%20%C3%BC%20%23.md", "my file[1] ü #.md"),
        ("back\\slash.md", "back\\slash.md"),
        ("back%5Cslash.md", "back\\slash.md"),
        ("link.md", "link.md"),
        ("a:b.md", "a:b.md"),
        ("~", "~"),
        ("..dots.md", "..dots.md"),
        ("%2e%2e.md", "%2e%2e.md"),
    ],
)
def test_a_name_is_found_raw_or_encoded_once(trapped: Path, name: str, path: str) -> None:
    write(trapped, "a%20b.md", "a b.md", "c d.md", "my file[1] ü #.md", "back\\slash.md", "a:b.md", "~", "..dots.md")
    write(trapped, "%2e%2e.md")
    (trapped / "link.md").symlink_to("sub/note.md")

    found = contain(trapped, name)

    assert found == trapped / path


def test_an_empty_name_is_invalid(root: Path) -> None:
    with pytest.raises(Invalid, match="the name is empty"):
        contain(root, "")


def test_a_long_name_is_cut_in_the_message(root: Path) -> None:
    with pytest.raises(OutsideRoots) as caught:
        contain(root, "../" * 1000)

    assert caught.value.message == f"{('../' * 67)[:200]} is not a path inside the served folder"


def test_a_root_behind_a_link_is_resolved_first(tmp_path: Path, root: Path) -> None:
    write(root, "note.md")
    (tmp_path / "alias").symlink_to(root)

    found = contain(tmp_path / "alias", "note.md")

    assert found == root / "note.md"


PIECES = [
    "..",
    ".",
    "/",
    "\\",
    "%2e",
    "%2E",
    "%2f",
    "%5c",
    "%25",
    "%00",
    "out",
    "note.md",
    "secret.md",
    "sub",
    "~",
    "C:",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.text() | st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_no_name_leads_out(trapped: Path, name: str) -> None:
    try:
        found = contain(trapped, name)
    except (OutsideRoots, NotFound, Invalid):
        return

    assert found.resolve().is_relative_to(trapped)
    assert found.is_relative_to(trapped)
    assert found.is_file()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("note.md", True),
        ("sub/note.md", True),
        ("absent.md", True),
        (".env", False),
        (".git/config", False),
        ("node_modules/x.md", False),
        (".hidden/x.md", False),
        ("ignored.md", False),
        ("sub/ignored.md", False),
        ("note.txt", False),
        ("out/secret.md", False),
        ("out.md", False),
        ("../outside/secret.md", False),
        ("sub/../note.md", False),
        ("./note.md", False),
        ("/note.md", False),
        ("sub//note.md", False),
        ("", False),
        ("no\0te.md", False),
        ("git.md", False),
        ("x" * 5000 + "/a.md", True),
    ],
)
def test_only_what_a_scan_would_list_is_admitted(trapped: Path, path: str, expected: bool) -> None:
    write(trapped, ".gitignore", text="ignored.md\n")
    write(trapped, ".git/config")
    (trapped / "git.md").symlink_to(".git/config")

    verdict = admits(Folder(trapped, "lib", suffixes=frozenset({".md"})), path)

    assert verdict is expected


def test_a_stamp_is_that_of_a_links_target(root: Path) -> None:
    write(root, "real.md", text="hello")
    os.utime(root / "real.md", ns=(1, 2))
    (root / "link.md").symlink_to("real.md")

    assert stamp(root / "link.md") == Stamp.of((root / "real.md").stat())


def test_a_stamp_changes_with_the_content_even_if_the_time_is_set_back(root: Path) -> None:
    write(root, "note.md", text="hello")
    before = stamp(root / "note.md")
    times = (before.modified, before.modified)

    while stamp(root / "note.md") == before:  # the clock of the file system may not have moved on yet
        write(root, "note.md", text="world")
        os.utime(root / "note.md", ns=times)

    assert stamp(root / "note.md").size == before.size


def test_a_stamp_of_nothing_is_not_found(root: Path) -> None:
    with pytest.raises(NotFound, match=r"absent.md is not there any more"):
        stamp(root / "absent.md")


def test_starting_does_not_load_the_pattern_library() -> None:
    code = "import sys, bookwheel.folders; print('pathspec' in sys.modules)"

    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert answer.stdout == "False\n"
