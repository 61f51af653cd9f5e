"""From a user's options to the core: settings, folders, catalog, face, watch."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from bookwheel.cli.printing import progress_bar
from bookwheel.errors import NotFound
from bookwheel.logs import configure
from bookwheel.settings import Settings, load

if TYPE_CHECKING:
    from bookwheel.catalog import Catalog
    from bookwheel.folders import Folder
    from bookwheel.model import Document
    from bookwheel.server.run import Refresh, Watch
    from bookwheel.sync import Changes

Value = TypeVar("Value")


def settings_of(options: argparse.Namespace) -> Settings:
    """Return what the user chose, and log as they chose."""
    from bookwheel.faces.acdc_config import KEYS  # noqa: PLC0415
    from bookwheel.faces.sections import CONFIG_KEYS  # noqa: PLC0415

    settings = load(vars(options), os.environ, CONFIG_KEYS, KEYS)
    configure(settings.log_level, settings.log_format)
    return settings


def folders_of(settings: Settings, paths: Sequence[Path]) -> list[Folder]:
    """Return the folders that serve these paths."""
    from bookwheel import formats  # noqa: PLC0415
    from bookwheel.folders import Folder, folder_for  # noqa: PLC0415

    def wanted(path: Path) -> Folder:
        named = settings.include or path.is_file()  # data is read when it is asked for
        readable = frozenset(formats.READERS) if named else formats.SERVED
        return Folder(Path("/"), "", settings.include, settings.exclude, readable, settings.max_file_size)

    return [folder_for(path, path.resolve().name or "root", wanted(path)) for path in paths]


def known_folders(settings: Settings) -> list[Folder]:
    """Return every folder that the store knows and that is still there."""
    from bookwheel.folders import Folder  # noqa: PLC0415

    libraries = [one for one in catalog_of(settings, []).store.libraries() if not one.ingested]
    known = [Folder.from_scope(one.scope, one.name) for one in libraries]
    return [folder for folder in known if folder.root.is_dir()]


def catalog_of(settings: Settings, folders: Sequence[Folder]) -> Catalog:
    """Return a catalog of these folders."""
    from bookwheel.catalog import Catalog  # noqa: PLC0415
    from bookwheel.model import Terms  # noqa: PLC0415

    catalog = Catalog(settings.store, folders, settings.embedder, settings.model_folder, settings.language)
    catalog.terms = Terms(settings.max_upload, settings.allow_private_urls, settings.ingest_roots)
    return catalog


def synced(options: argparse.Namespace) -> Catalog:
    """Return a catalog of the named paths, or of every folder the store knows, brought up to date."""
    settings = settings_of(options)
    paths = [Path(path) for path in options.paths]
    catalog = catalog_of(settings, folders_of(settings, paths) if paths else known_folders(settings))
    sync(catalog)
    return catalog


def sync(catalog: Catalog) -> Changes:
    """Bring the index up to date, showing how far it is."""
    return interruptible(catalog, lambda: catalog.sync(progress_bar("files")))


def embed(catalog: Catalog) -> int:
    """Make the vectors that are missing, showing how far it is."""
    return interruptible(catalog, lambda: catalog.embed(progress_bar("passages embedded")))


def interruptible(catalog: Catalog, work: Callable[[], Value]) -> Value:
    """Do long work; the first Ctrl-C ends it soon, and what is done by then is kept."""
    before = signal.signal(signal.SIGINT, lambda *_: catalog.stop())
    try:
        done = work()
    finally:
        signal.signal(signal.SIGINT, before)
    if catalog.stopped:
        raise KeyboardInterrupt
    return done


def watch_of(settings: Settings, folders: Sequence[Folder]) -> Watch | None:
    """Return what follows changes of these folders, if the user wants that."""
    if not settings.watch:
        return None
    from bookwheel.watch import watch  # noqa: PLC0415

    async def follow(refresh: Refresh) -> None:
        await watch(folders, refresh, poll=settings.poll, interval=settings.refresh_interval)

    return follow


def document_of(options: argparse.Namespace) -> Document:
    """Return the document a command names: a file on disk, or a URI."""
    settings = settings_of(options)
    if "://" not in options.file:
        path = Path(options.file)
        return catalog_of(settings, folders_of(settings, [path])).read(path.resolve().name)
    head, _, tail = options.file.removeprefix("docs://").partition("/")
    for folder in known_folders(settings):
        if folder.library == unquote(head):
            return catalog_of(settings, [folder]).read(tail, encoded=True)
    raise NotFound(f"there is no document {options.file}; `bookwheel list` names those there are")
