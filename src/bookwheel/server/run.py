"""Run a face over standard input and output; keep an index fresh behind any transport: sync, watch, announce."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.to_thread

from bookwheel.catalog import Catalog
from bookwheel.errors import BookwheelError
from bookwheel.server.mcp import FaceServer
from bookwheel.server.stdio import streams
from bookwheel.sync import Changes

MANY = 200  # passages: fewer are embedded before anyone asks how far it is

log = logging.getLogger(__name__)
Refresh = Callable[[set[Path] | None], Awaitable[None]]  # of some files, or of everything
Watch = Callable[[Refresh], Awaitable[None]]
Announce = Callable[[bool], Awaitable[None]]  # whether resources have changed


def serve(server: FaceServer, catalog: Catalog, watch: Watch | None) -> None:
    """Serve one client over standard input and output until it leaves; *watch* calls for a sync when one is due."""
    anyio.run(_serve, server, catalog, watch)


async def _serve(server: FaceServer, catalog: Catalog, watch: Watch | None) -> None:
    async with streams() as (incoming, outgoing), anyio.create_task_group() as tasks:
        tasks.start_soon(leave_on_signal, tasks.cancel_scope.cancel)
        tasks.start_soon(_follow, server, catalog, watch)
        await server.run(incoming, outgoing, server.create_initialization_options())
        catalog.stop()
        tasks.cancel_scope.cancel()


async def _follow(server: FaceServer, catalog: Catalog, watch: Watch | None) -> None:
    """Index once the client has been greeted."""
    await server.greeted.wait()
    await keep_fresh(server.announce, catalog, watch)


async def leave_on_signal(leave: Callable[[], None]) -> None:
    """Call *leave* when the process is asked to end."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("stopping on %s", signal.Signals(number).name)
            leave()


async def keep_fresh(announce: Announce, catalog: Catalog, watch: Watch | None) -> None:
    """Index now, and again whenever something may have changed; tell clients of it."""
    due = Signal()

    async def refresh(paths: set[Path] | None) -> None:
        try:
            changes = await anyio.to_thread.run_sync(_refresh, catalog, paths, abandon_on_cancel=True)
        except BookwheelError as error:
            log.warning("the index could not be brought up to date: %s", error.message)
            return
        if changes:
            log.info("indexed %d documents, dropped %d", changes.indexed, changes.dropped)
        await announce(bool(changes))
        due.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_embed, catalog, due)
            await refresh(None)
            gc.freeze()  # what the start has made stays: the collector need not look at it again and again
            if watch:
                await watch(refresh)
    finally:
        catalog.stop()


def _refresh(catalog: Catalog, paths: set[Path] | None) -> Changes:
    """Bring the index up to date; return what is new since the last time, also if an edit or a search saw it first."""
    catalog.sync(paths=paths)
    return catalog.news()


async def _embed(catalog: Catalog, due: Signal) -> None:
    """Make vectors after every sync, behind everything else."""
    while True:
        await due.wait()
        try:
            made = await anyio.to_thread.run_sync(catalog.embed, _tell_tenths(), abandon_on_cancel=True)
        except BookwheelError as error:
            log.warning("vectors could not be made: %s", error.message)
            continue
        if made:
            log.info("made %d vectors; semantic ranking is ready", made)


def _tell_tenths() -> Callable[[int, int], None]:
    """Return what logs the progress of long work, ten times at most."""
    told = 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        if 10 * done // total > told and total > MANY:
            told = 10 * done // total
            log.info("semantic ranking: %d of %d new passages (%d %%)", done, total, 100 * done // total)

    return tell


class Signal:
    """Tells a waiting task that something is due; being told twice is being told once."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def set(self) -> None:
        """Tell it."""
        self._event.set()

    async def wait(self) -> None:
        """Wait until told, and be ready to be told again."""
        await self._event.wait()
        self._event = anyio.Event()
