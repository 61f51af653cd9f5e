"""What lines of type mean, by their places and looks alone."""

from __future__ import annotations

from itertools import pairwise

from bookwheel.formats.typeset import Cell, Line, blocks, sizes, without_margins
from bookwheel.formats.writing import layout


def line(
    text: str, height: float, size: float = 10, *, bold: bool = False, mono: bool = False, left: float = 50
) -> Line:
    return Line(text, left, height, height, size, bold, mono)


def row(height: float, *cells: tuple[str, float]) -> Line:
    """Return a line with wide gaps: texts, and where each begins."""
    made = tuple(Cell(text, left, left + 5 * len(text)) for text, left in cells)
    return Line(" ".join(text for text, _ in cells), cells[0][1], height, height, 10, False, False, made)


def shown(*page: Line) -> str:
    return layout(blocks(page, sizes(page)))


BODY = [line("Some words of text that go on and on.", 500 - 12 * number) for number in range(4)]


def test_larger_type_is_a_heading_and_the_largest_the_highest() -> None:
    page = [line("Title", 600, 20), line("Part", 560, 14), *BODY, line("Other part", 400, 14)]

    assert [text for text in shown(*page).split("\n") if text.startswith("#")] == [
        "# Title",
        "## Part",
        "## Other part",
    ]


def test_a_heading_over_two_lines_is_one() -> None:
    assert shown(line("A long", 600, 20), line("title", 578, 20), *BODY).startswith("# A long title\n\n")


def test_bold_lines_are_headings_unless_most_of_the_text_is_bold() -> None:
    assert "# Alone" in shown(line("Alone", 530, bold=True), *BODY)
    assert "#" not in shown(*(one._replace(bold=True) for one in BODY))
    assert "#" not in shown(line("A sentence, in bold.", 530, bold=True), *BODY)


def test_chapters_of_a_table_of_contents_are_no_headings() -> None:
    assert "#" not in shown(line("1 Turning . . . . . . 7", 600, 14), *BODY)


def test_a_wide_gap_ends_a_paragraph_whatever_the_usual_distance() -> None:
    for distance in (12, 20):
        heights = [600, 600 - distance, 600 - 2 * distance, 600 - 4 * distance, 600 - 5 * distance]
        text = shown(*(line(f"line {number}", height) for number, height in enumerate(heights)))

        assert text == "line 0\nline 1\nline 2\n\nline 3\nline 4"


def test_code_keeps_its_indentation() -> None:
    page = [*BODY, line("if a < b:", 400, mono=True), line("pass", 388, mono=True, left=74)]

    assert shown(*page).endswith("```\nif a < b:\n    pass\n```")


def test_rows_with_gaps_below_each_other_are_a_table() -> None:
    page = [
        *BODY,
        row(400, ("Name", 100), ("Size", 250), ("Price", 400)),
        row(386, ("wheel", 50), ("2 m | a < b", 240), ("12", 420)),
        row(372, ("gear", 50), ("7", 415)),
    ]

    assert shown(*page).endswith(
        "| Name | Size | Price |\n| --- | --- | --- |\n| wheel | 2 m \\| a < b | 12 |\n| gear |  | 7 |"
    )


def test_what_only_looks_like_a_table_is_none() -> None:
    numbered = [row(400 - 14 * n, (f"{n}.", 50), ("an item", 90)) for n in range(1, 4)]
    single = [*BODY[:2], row(476, ("left", 50), ("right", 300)), BODY[3]]
    crossing = [
        row(400, ("a" * 30, 50), ("b", 250)),
        row(386, ("c", 50), ("d" * 40, 90)),
        row(372, ("e", 50), ("f", 250)),
    ]

    assert "|" not in shown(*BODY, *numbered)
    assert shown(*single).count("\n\n") == 0  # a gap within a paragraph does not tear it apart
    assert "|" not in shown(*crossing)


def test_tables_apart_are_two() -> None:
    first = [row(400 - 14 * n, ("a", 50), ("b", 200), ("c", 300)) for n in range(2)]
    second = [row(200 - 14 * n, ("d", 80), ("e", 260)) for n in range(3)]

    assert shown(*first, *second).count("\n| --- |") == 2


def test_running_titles_and_page_numbers_are_left_out() -> None:
    pages = [[line("The book", 800), *BODY, line(f"page {number}", 20)] for number in range(4)]

    assert without_margins(pages) == [BODY] * 4
    assert without_margins([[line(f"Part {number}", 800, 14), *BODY] for number in range(4)])[0][0].text == "Part 0"
    assert without_margins(pages[:2]) == pages[:2]  # of two pages nobody can tell
    assert all(one != other for one, other in pairwise(pages))
