"""Every headline has an address, and is found by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import NotFound
from bookwheel.org.address import address, find
from bookwheel.org.outline import parse

TEXT = """\
* Plan
** TODO Q4/Q1 [#A] :tag:
** Why? 100%
** Same
*** Below the first
** Same
*** Below the second
*{blank}
* COMMENT Plan
** Back\\slash
*** 紙 & ink
""".format(blank=" ")
lines = st.builds("{} {}".format, st.sampled_from(["*", "**", "***"]), st.text(alphabet="aA/?%n=2# ", max_size=6))


def test_addresses_are_readable() -> None:
    assert [address(headline) for headline in parse(TEXT).headlines] == [
        "Plan",
        "Plan/Q4%2FQ1%20%5B%23A%5D",
        "Plan/Why%3F%20100%25",
        "Plan/Same",
        "Plan/Same/Below%20the%20first",
        "Plan/Same?n=2",
        "Plan/Same/Below%20the%20second",
        "",
        "Plan?n=2",
        "Plan/Back%5Cslash",
        "Plan/Back%5Cslash/%E7%B4%99%20&%20ink",
    ]


@given(st.lists(lines, min_size=1, max_size=8))
def test_a_headline_is_found_by_its_address(found: list[str]) -> None:
    outline = parse("\n".join(found))

    for headline in outline.headlines:
        assert find(outline, address(headline)) is headline


def test_the_first_of_equal_titles_is_meant() -> None:
    outline = parse(TEXT)

    assert find(outline, "Plan/Same") is outline.headlines[3]


@pytest.mark.parametrize("wrong", ["Plan/Missing", "Missing", "Same", "Plan/Same?n=3", "Plan/"])
def test_an_address_that_leads_nowhere_is_not_found(wrong: str) -> None:
    with pytest.raises(NotFound):
        find(parse(TEXT), wrong)


def test_what_is_not_found_is_told_with_what_is_there() -> None:
    with pytest.raises(NotFound) as caught:
        find(parse(TEXT), "Plan/Missing")

    assert caught.value.details["known"] == ["Q4/Q1 [#A]", "Why? 100%", "Same", "Same"]
