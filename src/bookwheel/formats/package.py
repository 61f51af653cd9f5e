"""Open the zip files that documents come in, and the XML in them, without being harmed.

Sizes are checked before anything is unpacked. XML is decoded by us and given to the parser as text, so that no
encoding can hide the declaration of an entity, and with such a declaration it is refused.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from bookwheel.errors import ParseFailed, TooLarge
from bookwheel.formats.encoding import marked

Element = ET.Element

MOST_MEMBERS = 20_000
LARGEST = 500_000_000  # bytes of all members, unpacked
LARGE = 20_000_000  # bytes from which on a member's ratio counts
RATIO = 200  # unpacked to packed: XML has 10 to 60
DEEPEST = 500  # elements within each other: our readers descend by recursion

_DECLARED = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)""")
_PLAIN = re.compile(
    r"(?i)utf-?8|us-ascii|ascii|iso-8859-1?[0-9]|latin-?1|windows-125[0-8]|shift_jis|euc-jp|gb18030|koi8-r"
)
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/([a-zA-Z]+)/([a-zA-Z]+)")
_REMOTE = re.compile(r"[a-zA-Z][\w+.-]*:")


class Package:
    """A zip file whose members were found to be of a sane size."""

    def __init__(self, data: bytes, what: str) -> None:
        self.what = what
        try:
            self.zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise damaged(what) from error
        self.names = frozenset(check(self.zip.infolist(), what))

    def read(self, name: str) -> bytes:
        """Return a member's bytes. Raises ParseFailed where it is missing or damaged."""
        try:
            return self.zip.read(name)
        except KeyError as error:
            raise ParseFailed(
                f"this is not {self.what}: the part {name} is missing; check where it comes from"
            ) from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError) as error:
            raise damaged(self.what) from error

    def xml(self, name: str) -> Element:
        """Return a member as XML, in the names of the older of the two Office standards."""
        return parse(_STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", self.read(name)), self.what)

    def maybe(self, name: str) -> Element | None:
        """Return a member as XML, None where it is missing."""
        return self.xml(name) if name in self.names else None


def check(members: list[zipfile.ZipInfo], what: str) -> Iterator[str]:
    """Yield the members' names. Raises TooLarge for what would unpack without end, ParseFailed for a locked one."""
    if len(members) > MOST_MEMBERS or sum(one.file_size for one in members) > LARGEST:
        raise TooLarge(f"this file unpacks to more than {LARGEST // 1_000_000} MB, or to too many parts: split it")
    for one in members:
        if one.file_size > LARGE and one.file_size > RATIO * max(one.compress_size, 1):
            raise TooLarge("this file unpacks to hundreds of times its size, as made to harm: it is not opened")
        if one.flag_bits & 1:
            raise ParseFailed(f"this file is encrypted: save {what} without a password, and try again")
        yield one.filename


def damaged(what: str) -> ParseFailed:
    """Return the error for a file that is cut off or broken."""
    return ParseFailed(f"this is not {what}, or it is damaged: open it in its own program and save it anew")


def parse(data: bytes, what: str) -> Element:
    """Return the root of XML *data*. Raises ParseFailed if it is broken, declares entities or is nested too deep."""
    text = decode_xml(data)
    if "<!ENTITY" in text:
        raise ParseFailed("this file declares XML entities, which are not expanded here: save it without them")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no entities: checked above
    except ET.ParseError as error:
        raise damaged(what) from error
    if depth(root) > DEEPEST:
        raise ParseFailed(f"this file is nested more than {DEEPEST} levels deep, as made to harm: it is not read")
    return root


def decode_xml(data: bytes) -> str:
    """Return XML as text, without what its first line says of its encoding."""
    declared = _DECLARED.match(data[:200].lstrip(b"\xef\xbb\xbf"))
    name = marked(data) or (declared[1].decode("ascii") if declared else "utf-8")
    codec = name if marked(data) or _PLAIN.fullmatch(name) else "utf-8"
    text = data.decode(codec, "replace").removeprefix("\ufeff")
    return re.sub(r"^<\?xml[^>]*\?>", "", text, count=1)


def depth(root: Element) -> int:
    """Return how many levels of elements there are, at most one more than is allowed."""
    level, deep = [root], 0
    while level and deep <= DEEPEST:
        level = [child for element in level for child in element]
        deep += 1
    return deep


def relations(package: Package, part: str) -> Mapping[str, tuple[str, str]]:
    """Return what a part of an Office file refers to, by id: the last word of the kind, and the address or member."""
    folder, name = posixpath.split(part)
    root = package.maybe(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
    found: dict[str, tuple[str, str]] = {}
    for one in root if root is not None else ():
        target = one.get("Target", "")
        if one.get("TargetMode") != "External":
            target = resolve(folder, target)
        found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target)
    return found


def resolve(folder: str, target: str) -> str:
    """Return the member that *target* means, seen from *folder*."""
    if _REMOTE.match(target):
        return target
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join(folder, path)).lstrip("/") if path else ""


def properties(package: Package, name: str = "docProps/core.xml") -> dict[str, str]:
    """Return title, description and keywords from the properties of an Office or OpenDocument file."""
    root = package.maybe(name)
    found: dict[str, str] = {}
    for element in root.iter() if root is not None else ():
        key = element.tag.rpartition("}")[2]
        if key in {"title", "description", "keywords"} and element.text:
            found[key] = element.text
    return found


def local(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]
