"""Read e-mail (.eml, .msg): subject, who and when, the text, the names of what is attached."""

from __future__ import annotations

import datetime as dt
import io
import re
import struct
from collections.abc import Iterator, Sequence
from email.message import EmailMessage, MIMEPart
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.errors import ParseFailed
from bookwheel.formats.html import convert as convert_page
from bookwheel.formats.html import page_text, without_scripts
from bookwheel.formats.lines import fold, uniform
from bookwheel.formats.made import Made, document
from bookwheel.formats.writing import heading, join, literal
from bookwheel.model import Document, Source

if TYPE_CHECKING:
    from olefile import OleFileIO

DEEPEST = 5  # messages within messages
HEADERS = ("From", "To", "Cc", "Date")
NOTHING = "this message has no text"

_DAY_ONE = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)  # from which Outlook counts
_SENT = (0x0039, 0x0E06)  # when it was sent, when it came
_TIME = 0x0040


def read(source: Source, data: bytes) -> Document:
    """Return the message in *data*, in the form of the internet; its text is Markdown."""
    return document(source, convert(data), NOTHING)


def convert(data: bytes) -> Made:
    """Return a message as Markdown."""
    from email import message_from_bytes, policy  # noqa: PLC0415 - slow to import

    message = message_from_bytes(data, policy=policy.default)
    if not message.keys() or not any(
        key in message for key in ("From", "To", "Date", "Subject", "Message-ID", "Received")
    ):
        raise ParseFailed("this is not an e-mail message: it has no From, Date or Subject; rename it to what it is")
    assert isinstance(message, EmailMessage)  # noqa: S101 - the policy makes them
    return Made(write(message))


class Letter(NamedTuple):
    """What is told of a message, from whatever form it was in."""

    subject: str
    known: Sequence[tuple[str, str]]  # names and values of what its head says
    text: str
    attached: Sequence[str]  # names


def write(message: EmailMessage, depth: int = 0) -> str:
    """Return a message with those inside it as Markdown."""
    known = [(name, fold(str(message.get(name, "")))) for name in HEADERS]
    inner, attached = list[str](), list[str]()
    for part in message.iter_attachments() if message.is_multipart() else ():
        if part.get_content_type() == "message/rfc822" and depth < DEEPEST:
            inner += [write(one, depth + 1) for one in part.iter_parts() if isinstance(one, EmailMessage)]
        elif name := part.get_filename():
            attached.append(fold(name))
    return join([compose(Letter(fold(str(message.get("Subject", ""))), known, body(message), attached), depth), *inner])


def compose(letter: Letter, depth: int = 0) -> str:
    """Return the parts of a message in their order; empty where it says nothing."""
    if not letter.text.strip() and not letter.subject:
        return ""
    facts = "\n".join(f"- {name}: {value}" for name, value in letter.known if value)
    names = "\n".join(["Attached:", "", *(f"- {name}" for name in letter.attached)]) if letter.attached else ""
    return join([heading(depth + 1, letter.subject), facts, letter.text, names])


def body(message: EmailMessage) -> str:
    """Return the text of a message: what was written as plain text, else the HTML of it."""
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    if part.get_content_subtype() == "html":
        return convert_page(without_scripts(_decoded(data, part) or page_text(data)))
    return written(_decoded(data, part) or data.decode("utf-8", "replace"))


def _decoded(data: bytes, part: MIMEPart) -> str:
    """Return the text of a part in the encoding it names; empty where that is none."""
    try:
        return data.decode(part.get_content_charset("utf-8"))
    except (LookupError, UnicodeDecodeError, ValueError):
        return ""


def written(text: str) -> str:
    """Return plain text as Markdown; what it quotes stays a quote."""
    lines = "\n".join(line.rstrip() for line in uniform(text).split("\n")).strip("\n")
    return re.sub(r"^\\(?=>)", "", literal(lines), flags=re.MULTILINE)


# Outlook's own form


def read_outlook(source: Source, data: bytes) -> Document:
    """Return the message in *data*, in Outlook's form; its text is Markdown."""
    return document(source, convert_outlook(data), NOTHING)


def convert_outlook(data: bytes) -> Made:
    """Return a message of Outlook's as Markdown."""
    import olefile  # noqa: PLC0415 - only where such a message is read

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            if not ole.exists("__properties_version1.0"):
                raise ParseFailed("this is an old Office file, not an Outlook message: rename it to what it is")
            return Made(outlook(ole))
    except (OSError, ValueError, IndexError, struct.error, TypeError) as error:
        raise ParseFailed("this is not an Outlook message, or it is damaged: save it anew, as .eml perhaps") from error


def outlook(ole: OleFileIO) -> str:
    """Return the message in an opened file as Markdown."""
    sender = fold(f"{string(ole, 0x0C1A)} <{string(ole, 0x5D01) or string(ole, 0x0C1F)}>").removesuffix("<>").strip()
    known = [("From", sender), ("To", string(ole, 0x0E04)), ("Cc", string(ole, 0x0E03)), ("Date", sent(ole))]
    text = written(string(ole, 0x1000))
    page = binary(ole, "__substg1.0_10130102") or string(ole, 0x1013).encode()
    if not text.strip() and page:
        text = convert_page(without_scripts(page_text(page)))
    if not text.strip() and ole.exists("__substg1.0_10090102"):
        raise ParseFailed("this message is kept as RTF only: save it from Outlook as .eml or plain text")
    facts = [(name, fold(value)) for name, value in known]
    return compose(Letter(fold(string(ole, 0x0037)), facts, text, list(attached(ole))))


def attached(ole: OleFileIO) -> Iterator[str]:
    """Yield the names of what is attached."""
    for folder in sorted({path[0] for path in ole.listdir() if path[0].startswith("__attach_version1.0")}):
        if name := string(ole, 0x3707, f"{folder}/") or string(ole, 0x3704, f"{folder}/"):
            yield fold(name)


def string(ole: OleFileIO, tag: int, folder: str = "") -> str:
    """Return a property that is text; empty where it is missing."""
    if wide := binary(ole, f"{folder}__substg1.0_{tag:04X}001F"):
        return wide.decode("utf-16-le", "replace")
    return binary(ole, f"{folder}__substg1.0_{tag:04X}001E").decode("cp1252", "replace")


def binary(ole: OleFileIO, name: str) -> bytes:
    """Return the bytes of a stream; none where it is missing."""
    return bytes(ole.openstream(name).read()) if ole.exists(name) else b""


def sent(ole: OleFileIO) -> str:
    """Return when the message was sent; empty where it does not say."""
    entries = binary(ole, "__properties_version1.0")[32:]
    for place in range(0, len(entries) - 15, 16):
        kind, tag, _, value = struct.unpack_from("<HHIq", entries, place)
        if kind == _TIME and tag in _SENT and 0 < value < 3 * 10**18:
            return (_DAY_ONE + dt.timedelta(microseconds=value // 10)).isoformat(" ", "seconds")
    return ""
