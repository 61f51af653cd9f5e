"""What parent and child say to each other: a head of JSON and a body of bytes, each behind its length.

Only data crosses, and nothing that the child says is run: it may have been taken over by the file it read.
"""

from __future__ import annotations

import json
import struct
from dataclasses import astuple
from typing import IO, Any

from bookwheel.model import Document, Section, Source

PIECE = 1 << 20  # bytes read at a time

_LENGTHS = struct.Struct(">QQ")

Head = dict[str, Any]


def send(stream: IO[bytes], head: Head, body: bytes) -> None:
    """Write one message."""
    packed = json.dumps(head).encode()
    stream.write(_LENGTHS.pack(len(packed), len(body)) + packed)
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes], most: int) -> tuple[Head, bytes] | None:
    """Return the next message, None if the other side is gone. Raises ValueError for one of over *most* bytes."""
    lengths = _exactly(stream, _LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    size, length = _LENGTHS.unpack(lengths)
    if size + length > most:
        raise ValueError(f"a message of {size + length} bytes")
    packed, body = _exactly(stream, size), _exactly(stream, length)
    return (json.loads(packed), body) if len(packed) == size and len(body) == length else None


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """Return that many bytes, less only if there are no more: a stream without a buffer gives what it has."""
    parts, left = list[bytes](), size
    while left and (part := stream.read(min(left, PIECE))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def pack(document: Document) -> tuple[Head, bytes]:
    """Return a document as a message."""
    head = {
        "kind": document.kind,
        "metadata": dict(document.metadata),
        "problem": document.problem,
        "body": document.body,
        "heading": document.heading,
        "paragraph": document.paragraph,
        "sections": [astuple(one) for one in document.sections],
        "pages": document.pages,
    }
    return head, document.text.encode("utf-8", "replace")


def unpack(source: Source, head: Head, body: bytes) -> Document:
    """Return the document in a message. Raises ValueError, TypeError or KeyError where it holds none."""
    return Document(
        source,
        body.decode("utf-8"),
        str(head["kind"]),
        {str(key): value for key, value in head["metadata"].items()},
        str(head["problem"]),
        int(head["body"]),
        str(head["heading"]),
        str(head["paragraph"]),
        tuple(Section(str(one[0]), str(one[1]), *map(int, one[2:])) for one in head["sections"]),
        tuple(map(int, head["pages"])),
    )
