"""The benchmarks' tree of Markdown comes out the same each time, and as large as asked for."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "corpus.py"

make_tree: Callable[..., None] = runpy.run_path(str(SCRIPT))["make_tree"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}


def headings(text: str) -> list[str]:
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^#{1,6} .+$", prose, re.MULTILINE)


def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    make_tree(tmp_path / "one", files=40, megabytes=0.4)
    make_tree(tmp_path / "two", files=40, megabytes=0.4)

    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_another_seed_gives_another_tree(tmp_path: Path) -> None:
    make_tree(tmp_path / "one", files=10, megabytes=0.1, seed=1)
    make_tree(tmp_path / "two", files=10, megabytes=0.1, seed=2)

    assert contents(tmp_path / "one").keys().isdisjoint(contents(tmp_path / "two"))


@pytest.mark.parametrize(("files", "megabytes"), [(20, 0.1), (100, 1.0), (50, 1.5)])
def test_tree_has_the_files_and_the_size_asked_for(tmp_path: Path, files: int, megabytes: float) -> None:
    make_tree(tmp_path, files=files, megabytes=megabytes)

    tree = contents(tmp_path)
    assert len(tree) == files
    assert sum(map(len, tree.values())) == pytest.approx(megabytes * 1_000_000, rel=0.05)


def test_each_file_has_one_title_and_five_to_twelve_headings(tmp_path: Path) -> None:
    make_tree(tmp_path, files=60, megabytes=0.6)

    found = [headings(text.decode()) for text in contents(tmp_path).values()]
    assert all(5 <= len(lines) <= 12 for lines in found)
    assert all([line.startswith("# ") for line in lines] == [True] + [False] * (len(lines) - 1) for lines in found)
    assert len({lines[0] for lines in found}) == 60


def test_vocabulary_grows_with_the_tree(tmp_path: Path) -> None:
    make_tree(tmp_path / "small", files=20, megabytes=0.2)
    make_tree(tmp_path / "large", files=200, megabytes=2.0)

    small, large = (
        len({word for text in contents(tmp_path / name).values() for word in re.findall(rb"\w+", text.lower())})
        for name in ("small", "large")
    )
    assert 2 < large / small < 6  # ten times the text: between Heaps' exponents 0.3 and 0.8


def test_sentences_come_from_the_named_folder(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "harbour.md").write_text("# Harbour\n\n" + "The pilot boat leaves at the turn of the tide. " * 12)

    make_tree(tmp_path / "tree", files=5, megabytes=0.02, source=source)

    assert all(b"pilot" in text for text in contents(tmp_path / "tree").values())


def test_a_folder_without_prose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name another folder"):
        make_tree(tmp_path / "tree", source=tmp_path)
