"""From a user's options to what is served: sources and folders, one catalog, and the faces over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel.catalog import Catalog, Shelf
from bookwheel.cli.access import access_of
from bookwheel.cli.core import catalog_of, folders_of, watch_of
from bookwheel.errors import Invalid
from bookwheel.faces.acdc import Acdc, Boosts
from bookwheel.faces.acdc_config import Organisation, read_config
from bookwheel.faces.base import Face
from bookwheel.faces.composed import Composed
from bookwheel.faces.docs import Docs
from bookwheel.faces.search import Search
from bookwheel.faces.sections import DEFAULTS, Sections
from bookwheel.ignore import Patterns
from bookwheel.prompts import Prompts
from bookwheel.settings import FACES, Settings

if TYPE_CHECKING:
    from bookwheel.folders import Folder
    from bookwheel.server.mcp import FaceServer

EVERYWHERE = "0.0.0.0"  # noqa: S104 - where the acdc contract listens


@dataclass(frozen=True, slots=True)
class Serving:
    """What is served, and the faces it can be shown by."""

    settings: Settings
    organisation: Organisation | None
    catalog: Catalog
    prompts: Prompts

    @property
    def names(self) -> tuple[str, ...]:
        """The faces that the user asked for, or that have something to serve."""
        return self.settings.face or tuple(name for name in FACES if name != "acdc" or self.organisation)

    @property
    def folders(self) -> list[Folder]:
        """Every folder whose changes matter."""
        return [*self.catalog.wanted, *self.prompts.folders]

    def face(self, shelf: Shelf) -> Face:
        """Return the face the user asked for, or all of them as one, over a shelf."""
        return self.alone(self.names[0], shelf) if len(self.names) == 1 else self._composed(shelf)

    def alone(self, name: str, shelf: Shelf) -> Face:
        """Return one face as if there were no other."""
        return self._finished(self._make(shelf, alone=True)[name]())

    def _composed(self, shelf: Shelf) -> Face:
        makers = self._make(shelf, alone=False)
        faces = [makers[name]() for name in self.names]
        said = self.organisation if "acdc" in self.names else None
        if said or not self.settings.face:
            description = said.descriptions.get("search", "") if said else ""
            faces.insert(0, Search(shelf, Composed(faces).address, self.settings.search_max_results, description))
        return self._finished(Composed(faces, said.identity.instructions if said else ""))

    def _finished(self, face: Face) -> Face:
        if self.settings.read_only:
            face.forbid_writes()
        return face

    def _make(self, shelf: Shelf, alone: bool) -> dict[str, Callable[[], Face]]:
        """Return how to make each face."""
        settings = self.settings
        sources = {folder.library for folder in self.catalog.wanted if folder.required}
        plain = [folder for folder in self.catalog.wanted if folder.library not in sources]
        patterns = Patterns(settings.include or DEFAULTS.include, settings.exclude or DEFAULTS.exclude)
        folders = shelf.limited_to({folder.library for folder in plain})
        where = str(plain[0].root) if len(plain) == 1 and not sources else ""
        return {
            "docs": lambda: Docs(folders, alone),
            "sections": lambda: Sections(folders if alone else shelf, patterns, where, alone),
            "acdc": lambda: Acdc(shelf.limited_to(sources), self._known(), self.prompts, boosts(settings), alone),
        }

    def _known(self) -> Organisation:
        if self.organisation is None:
            raise Invalid("the acdc face needs --config (or ACDC_MCP_CONFIG): a file that names its content sources")
        return self.organisation

    def server(self, name: str = "") -> FaceServer:
        """Return what carries one face alone, or the one the user asked for, as each caller may see it."""
        from bookwheel.server.mcp import FaceServer  # noqa: PLC0415 - a second that a wrong setting need not cost

        def show(shelf: Shelf) -> Face:
            return self.alone(name, shelf) if name else self.face(shelf)

        return FaceServer(show(self.catalog), lambda libraries: show(self.catalog.limited_to(libraries)))


def serve(serving: Serving) -> None:
    """Serve over the transport that the user chose, until the client leaves or a signal comes."""
    settings, catalog = serving.settings, serving.catalog
    watch = watch_of(settings, serving.folders)
    access = access_of(settings, [folder.library for folder in catalog.wanted])
    if settings.transport == "stdio":
        from bookwheel.server.run import serve as serve_stdio  # noqa: PLC0415 - the same

        serve_stdio(serving.server(), catalog, watch)
        return
    from bookwheel.server.http import Listen, serve_http  # noqa: PLC0415 - half of all starts do without

    host = settings.host or (EVERYWHERE if settings.face == ("acdc",) else "127.0.0.1")
    listen = Listen(host, settings.port, access, settings.allowed_hosts)
    serve_http(serving.server(), {name: serving.server(name) for name in serving.names}, catalog, watch, listen)


def boosts(settings: Settings) -> Boosts:
    """Return how an organisation's search ranks."""
    return Boosts(
        settings.search_keywords_boost,
        settings.search_name_boost,
        settings.search_content_boost,
        settings.search_max_results,
    )


def serving_of(settings: Settings) -> Serving:
    """Return what the user wants served; raises Invalid or NotFound if that cannot be."""
    wanted = settings.face or FACES
    organisation = None
    if "acdc" in wanted and (settings.content or settings.face == ("acdc",)):
        organisation = _organisation(settings)
    sources = [source.resources(settings.max_file_size) for source in organisation.sources] if organisation else []
    paths = [] if settings.face == ("acdc",) else settings.paths or ([] if sources else [Path()])
    prompts = Prompts([source.prompts() for source in organisation.sources] if organisation else [])
    return Serving(settings, organisation, catalog_of(settings, [*sources, *folders_of(settings, paths)]), prompts)


def _organisation(settings: Settings) -> Organisation:
    if settings.config is None:
        raise Invalid("the acdc face needs --config (or ACDC_MCP_CONFIG): a file that names its content sources")
    return read_config(settings.content, settings.config)
