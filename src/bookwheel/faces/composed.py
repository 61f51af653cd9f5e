"""Several faces as one: the union of their tools, resources and prompts, each answered by the face it is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bookwheel import VERSION
from bookwheel.errors import NotFound
from bookwheel.faces.base import Answer, Arguments, Content, Face, Gap, Identity, Page, Template, Tool
from bookwheel.model import Record
from bookwheel.prompts import Prompt

INSTRUCTIONS = (
    "Documents of the served folders. Search first; then look at a table of contents and read only the sections you "
    "need. Cite what you use by its URI or file name and its lines."
)


class Composed(Face):
    """Faces side by side; every tool keeps its name, and where two have one of the same name, the first answers."""

    name = "composed"
    completes = True
    changes_tools = True

    def __init__(self, faces: Sequence[Face], instructions: str = "") -> None:
        self._faces = faces
        self.identity = Identity("bookwheel", VERSION, f"{INSTRUCTIONS}\n\n{instructions}".strip())
        self.has_resources = any(face.has_resources for face in faces)
        self.has_prompts = any(face.has_prompts for face in faces)

    @property
    def tools(self) -> Sequence[Tool]:  # type: ignore[override]  # they come and go with what there is to serve
        """The tools of all faces."""
        named: dict[str, Tool] = {}
        for face in self._faces:
            for tool in face.tools:
                named.setdefault(tool.name, tool)
        return list(named.values())

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name, of the first face that has one."""
        return next((found for face in self._faces if (found := face.find(name))), None)

    def call(self, name: str, arguments: Arguments) -> Answer:
        """Run a tool in the face it is from, errors in that face's words too."""
        return self._owner(name).call(name, arguments)

    def mishap(self, name: str, arguments: Arguments) -> Answer:
        """Word a bug as the face of that tool does."""
        return self._owner(name).mishap(name, arguments)

    def settle(self) -> None:
        """Wait a moment for what decides which tools there are, in every face."""
        for face in self._faces:
            face.settle()

    def forbid_writes(self) -> None:
        """Take away every tool that changes anything, of every face."""
        for face in self._faces:
            face.forbid_writes()

    def _owner(self, name: str) -> Face:
        for face in self._faces:
            if any(tool.name == name for tool in face.tools):
                return face
        raise NotFound(f"there is no tool {name}; there are: {', '.join(tool.name for tool in self.tools)}")

    # resources

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
        rest = self.resources(f"{turn + 1}:")
        return Page(page.resources + rest.resources, rest.following)

    def read(self, uri: str) -> Sequence[Content]:
        """Return what a resource of any face holds."""
        for face in self._faces:
            try:
                return face.read(uri)
            except NotFound:
                continue
        raise NotFound(f"Resource not found: {uri}", uri=uri)

    def templates(self) -> Sequence[Template]:
        """Return the families of resources of all faces."""
        return [template for face in self._faces for template in face.templates()]

    def address(self, record: Record, line: int = 0) -> str:
        """Return the URI of a document, from the first face that shows it."""
        return next((uri for face in self._faces if (uri := face.address(record, line))), "")

    # prompts

    def prompts(self) -> Sequence[Prompt]:
        """Return the prompts of all faces."""
        return [prompt for face in self._faces for prompt in face.prompts()]

    def prompt(self, name: str, values: Mapping[str, str]) -> tuple[Prompt, str]:
        """Return a prompt of any face and its text."""
        for face in self._faces:
            if any(one.name == name for one in face.prompts()):
                return face.prompt(name, values)
        return super().prompt(name, values)

    def complete(self, gap: Gap) -> Sequence[str]:
        """Return what any face knows to stand in a gap."""
        return list(dict.fromkeys(value for face in self._faces for value in face.complete(gap)))
