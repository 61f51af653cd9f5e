"""How well search does on a user's own questions: what is asked, and how it is counted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.catalog import Catalog
from bookwheel.cli.bench import MODES, Question, measure, read_questions
from bookwheel.errors import Invalid, NotFound
from bookwheel.folders import Folder

SECOND = 1 / math.log2(3)  # what an answer at the second rank gains
THIRD = 1 / 2
NAMES = ("hit@1", "hit@5", "hit@10", "MRR", "nDCG@10")


def ask(query: str, *expected: str) -> Question:
    return Question(query, frozenset(expected))


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """Twelve documents about wheels, in a known order: the more often one says it, the better."""
    root = tmp_path.resolve() / "docs"
    root.mkdir()
    for number in range(1, 13):
        (root / f"{number:02}.txt").write_text(f"page{number}\n\n" + "wheel " * (13 - number) + "filler " * number)
    made = Catalog(tmp_path / "store", [Folder(root, "docs", suffixes=frozenset({".txt"}))])
    made.sync()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("question", "figures"),
    [
        (ask("wheel", "01.txt"), (1, 1, 1, 1, 1)),
        (ask("wheel", "docs/01.txt"), (1, 1, 1, 1, 1)),
        (ask("wheel", "02.txt"), (0, 1, 1, 1 / 2, SECOND)),
        (ask("wheel", "06.txt"), (0, 0, 1, 1 / 6, 1 / math.log2(7))),
        (ask("wheel", "11.txt"), (0, 0, 0, 0, 0)),
        (ask("wheel", "absent.txt"), (0, 0, 0, 0, 0)),
        (ask("zeppelin", "01.txt"), (0, 0, 0, 0, 0)),
        (ask("wheel", "other/01.txt"), (0, 0, 0, 0, 0)),
        (ask("wheel", "01.txt", "03.txt"), (1, 1, 1, 1, (1 + THIRD) / (1 + SECOND))),
        (ask("wheel", "02.txt", "03.txt"), (0, 1, 1, 1 / 2, (SECOND + THIRD) / (1 + SECOND))),
        (ask("wheel", "01.txt", "absent.txt"), (1, 1, 1, 1, 1 / (1 + SECOND))),
        (ask("wheel", *(f"{number:02}.txt" for number in range(1, 13))), (1, 1, 1, 1, 1)),
    ],
)
def test_a_question_is_counted_by_the_ranks_of_its_answers(
    catalog: Catalog, question: Question, figures: tuple[float, ...]
) -> None:
    assert measure(catalog, [question])["lexical"] == pytest.approx(dict(zip(NAMES, figures, strict=True)))


def test_figures_are_means_over_all_questions_in_every_mode(catalog: Catalog) -> None:
    questions = [ask("wheel", "01.txt"), ask("wheel", "02.txt"), ask("wheel", "06.txt"), ask("zeppelin", "01.txt")]

    figures = measure(catalog, questions)

    assert tuple(figures) == MODES
    assert figures["lexical"] == pytest.approx(
        {
            "hit@1": 1 / 4,
            "hit@5": 2 / 4,
            "hit@10": 3 / 4,
            "MRR": (1 + 1 / 2 + 1 / 6) / 4,
            "nDCG@10": (1 + SECOND + 1 / math.log2(7)) / 4,
        }
    )


def test_no_figure_is_above_one_where_two_libraries_share_a_path(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"wheel {name}")
    folders = [Folder(tmp_path.resolve() / name, name, suffixes=frozenset({".txt"})) for name in ("one", "two")]
    catalog = Catalog(tmp_path / "store", folders)
    catalog.sync()

    figures = measure(catalog, [ask("wheel", "a.txt")])
    catalog.close()

    assert figures["lexical"] == dict.fromkeys(NAMES, 1.0)


# the file of questions


def test_questions_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '\ufeff{"query": "where", "expected": ["docs://notes/a%20b.md", "c.md"]}\r\n\n   \n'
        '{"query": "積読", "expected": ["docs://notes/積読.md"], "note": "more is ignored"}',
        "utf-8",
    )

    assert read_questions(file) == [ask("where", "notes/a b.md", "c.md"), ask("積読", "notes/積読.md")]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "no JSON",
        "[]",
        "null",
        "5",
        '"text"',
        "{}",
        '{"query": "where"}',
        '{"expected": ["a.md"]}',
        '{"query": "where", "expected": 5}',
        '{"query": "where", "expected": null}',
        '{"query": "where", "expected": [5]}',
        '{"query": "where", "expected": "docs://a.md"}',
        '{"query": "where", "expected": {"docs://a.md": 1}}',
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"query": "where", "expected": ["a.md"]}}\n\n{line}\n')

    with pytest.raises(Invalid) as caught:
        read_questions(file)

    assert caught.value.message == f"line 3 of {file} must be an object with a query and a list of expected URIs"


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_a_file_without_questions_is_refused_with_an_example(tmp_path: Path, content: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(content)

    with pytest.raises(Invalid, match=r'has no questions; a line looks like \{"query"'):
        read_questions(file)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"absent\.jsonl cannot be read: No such file"):
        read_questions(tmp_path / "absent.jsonl")


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(Invalid, match=r"questions\.jsonl"):
        read_questions(file)
