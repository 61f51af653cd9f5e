"""Several faces as one: the union of their tools and resources, each answered by the face it is from."""

from __future__ import annotations

from collections.abc import Sequence

from bookwheel import VERSION
from bookwheel.errors import NotFound
from bookwheel.faces.base import Answer, Arguments, Content, Face, Identity, Page

INSTRUCTIONS = (
    "Documents of the served folders. Search with search_documents, or list the files, look at a table of contents "
    "and read only the sections you need. Cite what you use by its URI or file name and its lines."
)


class Composed(Face):
    """Faces side by side; every tool keeps its name."""

    name = "composed"

    def __init__(self, faces: Sequence[Face]) -> None:
        self._faces = faces
        self.identity = Identity("bookwheel", VERSION, INSTRUCTIONS)
        self.tools = [tool for face in faces for tool in face.tools]
        self.has_resources = any(face.has_resources for face in faces)

    def call(self, name: str, arguments: Arguments) -> Answer:
        """Run a tool in the face it is from, errors in that face's words too."""
        return self._owner(name).call(name, arguments)

    def mishap(self, name: str, arguments: Arguments) -> Answer:
        """Word a bug as the face of that tool does."""
        return self._owner(name).mishap(name, arguments)

    def _owner(self, name: str) -> Face:
        for face in self._faces:
            if any(tool.name == name for tool in face.tools):
                return face
        raise NotFound(f"there is no tool {name}; there are: {', '.join(tool.name for tool in self.tools)}")

    def resources(self, cursor: str) -> Page:
        """Return the resources of one face after the other; the cursor says whose turn it is."""
        shown = [face for face in self._faces if face.has_resources]
        place, _, inner = cursor.partition(":")
        turn = int(place) if place.isdecimal() else 0
        if turn >= len(shown):
            return Page(())
        page = shown[turn].resources(inner)
        if page.following:
            return Page(page.resources, f"{turn}:{page.following}")
        return Page(page.resources, f"{turn + 1}:" if turn + 1 < len(shown) else "")

    def read(self, uri: str) -> Sequence[Content]:
        """Return what a resource of any face holds."""
        for face in self._faces:
            try:
                return face.read(uri)
            except NotFound:
                continue
        raise NotFound(f"Resource not found: {uri}", uri=uri)
