"""Vectors as signs: how far apart they are, and which are nearest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.index.embedding import Vectors
from bookwheel.index.signs import BLOCK, Signs, expected, nearest


def units(count: int, width: int, seed: int = 1) -> Vectors:
    """Return some vectors of unit length, the same each time."""
    made = np.random.default_rng(seed).normal(size=(count, width))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("width", [1, 16, 64, 100, 384])
@pytest.mark.parametrize("cuts", [[3], [1, 2], [BLOCK - 1, 2, BLOCK], [BLOCK, 2 * BLOCK + 5]])
def test_a_distance_is_the_number_of_signs_that_differ(width: int, cuts: list[int]) -> None:
    vectors, query = units(sum(cuts), width), units(1, width, seed=2)[0]
    signs = Signs()
    for some in np.split(vectors, np.cumsum(cuts)[:-1]):
        signs.add(some)

    found = signs.distances(query)

    assert found.tolist() == ((vectors < 0) != (query < 0)).sum(axis=1).tolist()


def test_the_distance_tells_the_cosine_but_for_chance() -> None:
    query, other = units(2, 384)
    steps = np.linspace(0, 1, 2_000)[:, None]
    vectors = steps * query + (1 - steps) * other
    vectors = np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
    signs = Signs()
    signs.add(vectors)

    found = expected(signs.distances(query), 384)

    assert found[-1] == 1.0
    assert np.abs(found - vectors @ query).mean() < 0.05


@given(st.lists(st.integers(0, 20), max_size=50), st.integers(1, 60))
def test_the_nearest_are_those_with_the_smallest_distances(distances: list[int], most: int) -> None:
    found = nearest(np.array(distances, np.uint16), most)

    assert len(set(found.tolist())) == len(found)
    assert sorted(distances[place] for place in found) == sorted(distances)[:most]
