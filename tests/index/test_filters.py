"""Conditions on hits, and weights that a caller chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.catalog import Catalog
from bookwheel.errors import Invalid
from bookwheel.folders import Folder
from bookwheel.model import Query, as_time

FILES = {
    "keyword.md": "---\ntitle: One\nkeywords: [periscope]\n---\nNothing here.\n",
    "title.md": "---\ntitle: Periscope\n---\nNothing here.\n",
    "content.md": "---\ntitle: Three\n---\n" + "A periscope. " * 30,
    "description.md": "---\ntitle: Four\ndescription: periscope\n---\nNothing here.\n",
    "long.md": "# Long\n\n" + "".join(f"## Part {n}\n\nThe periscope of part {n}.\n\n" for n in range(5)),
}
WEIGHTS = {"keywords": 3.0, "title": 2.0, "content": 1.0}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """A catalog of five documents that have a word in five places."""
    root = tmp_path.resolve() / "docs"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    catalog = Catalog(tmp_path / "store", [Folder(root, "docs")])
    catalog.sync()
    return catalog


def found(catalog: Catalog, **options: object) -> list[str]:
    query = Query("periscope", **options)  # type: ignore[arg-type]
    return [hit.record.source.stem for hit in catalog.search(query).hits]


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        (WEIGHTS, ["keyword", "title", "content"]),
        ({**WEIGHTS, "title": 9.0}, ["title", "keyword", "content"]),
        ({**WEIGHTS, "content": 20.0}, ["content", "keyword", "title"]),
        ({**WEIGHTS, "keywords": 0.0}, ["title", "content"]),
    ],
)
def test_weights_decide_the_order(catalog: Catalog, weights: dict[str, float], order: list[str]) -> None:
    names = [name for name in found(catalog, weights=weights) if name != "long"]

    assert names == order


def test_without_any_weight_nothing_is_found(catalog: Catalog) -> None:
    assert found(catalog, weights=dict.fromkeys(WEIGHTS, 0.0)) == []


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({"title": "Periscope"}, {"title"}),
        ({"title": "Peri' OR '1'='1"}, set()),
        ({"file_type": "md", "title": "One"}, {"keyword"}),
        ({"file_type": "pdf"}, set()),
        ({"chunk_index": 2}, {"long"}),
        ({"page": 0, "chunk_index": 3}, {"long"}),
        ({"page": 1}, set()),
        ({"metadata": "x"}, set()),
        ({"content": "Nothing there."}, set()),
    ],
)
@pytest.mark.parametrize("text", ["periscope", "*"])
def test_conditions_narrow_the_hits(catalog: Catalog, where: dict[str, str | int], names: set[str], text: str) -> None:
    hits = catalog.search(Query(text, where=where)).hits

    assert {hit.record.source.stem for hit in hits} == names


def test_every_field_of_a_hit_can_be_a_condition(catalog: Catalog) -> None:
    hit = catalog.search(Query("part 3")).hits[0]
    record = hit.record
    where: dict[str, str | int] = {
        "doc_id": record.doc_id,
        "source": record.source.location,
        "title": record.title,
        "file_type": "md",
        "last_modified": as_time(record.stamp.modified),
        "page": 0,
        "chunk_index": hit.chunk.place,
        "content": catalog.passage(hit),
    }

    assert catalog.search(Query("part 3", where=where)).hits == (hit,)
    for name, value in where.items():
        other = {**where, name: "other" if isinstance(value, str) else 77}
        assert catalog.search(Query("part 3", where=other)).hits == ()


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"colour": "red"}, "a filter cannot ask for 'colour'; it can for: chunk_index, content, doc_id"),
        ({"1=1; --": "x"}, "a filter cannot ask for"),
        ({"page": True}, "the filter's page must be a text or a whole number"),
        ({"page": 1.5}, "the filter's page must be a text or a whole number"),
        ({"title": None}, "the filter's title must be a text or a whole number"),
        ({"title": ["a"]}, "the filter's title must be a text or a whole number"),
    ],
)
def test_a_wrong_condition_is_told(catalog: Catalog, where: dict[str, object], told: str) -> None:
    with pytest.raises(Invalid) as caught:
        found(catalog, where=where)

    assert told in caught.value.message
