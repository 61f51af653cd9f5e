"""Take in a file that an HTTP client sends: to disk first, piece by piece, and from there into the index."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import anyio.to_thread
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from bookwheel.errors import BookwheelError, Forbidden, Invalid, TooLarge, Unsupported
from bookwheel.model import Ingested
from bookwheel.server.guard import Caller

PATH = "/upload"
FIELDS = 20  # parts of a form that are looked at
STATUSES = ((Unsupported, 422), (TooLarge, 413), (Invalid, 400), (Forbidden, 403), (BookwheelError, 500))

log = logging.getLogger(__name__)
Take = Callable[[Path, str, str, Mapping[str, object]], Ingested]  # file, its name, library, metadata


@dataclass(frozen=True, slots=True)
class Upload:
    """The route: a form with a file, and perhaps a library and metadata."""

    take: Take
    most: int  # bytes of a file

    async def answer(self, request: Request) -> Response:
        """Take in the file of a form; whatever goes wrong is told as the contract does."""
        try:
            _check(request.scope.get("user"))
            async with request.form(max_files=1, max_fields=FIELDS) as form:
                done = await self._ingest(form)
        except ClientDisconnect:
            return _fault("the client has left before all was sent", 400)
        except MultiPartException as error:
            return _fault(f"the form cannot be read: {error.message}", 400)
        except BookwheelError as error:
            return _fault(error.message, next(status for kind, status in STATUSES if isinstance(error, kind)))
        except Exception:
            log.exception("an upload failed")
            return _fault("it could not be taken in, and the server's log says why", 500)
        return JSONResponse(asdict(done))

    async def _ingest(self, form: FormData) -> Ingested:
        file, library = form.get("file"), form.get("library") or "default"
        if not isinstance(file, UploadFile) or not file.filename:
            raise Invalid("the form has no file; send one in the field `file`")
        if not isinstance(library, str):
            raise Invalid("the field `library` must be a text")
        metadata, name, source = _metadata(form.get("metadata")), file.filename, file.file
        return await anyio.to_thread.run_sync(lambda: self._keep(source, name, library, metadata))

    def _keep(self, source: BinaryIO, name: str, library: str, metadata: Mapping[str, object]) -> Ingested:
        with tempfile.NamedTemporaryFile() as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
            copy.flush()
            if copy.tell() > self.most:
                raise TooLarge(f"{name} has more than {self.most} bytes, which is the limit")
            return self.take(Path(copy.name), name, library, metadata)


def _check(user: object) -> None:
    """Raise Forbidden for a caller that may use some libraries alone."""
    if isinstance(user, Caller) and user.libraries is not None:
        raise Forbidden("this key does not let you upload")


def _metadata(given: object) -> Mapping[str, object]:
    if given is None or given == "":
        return {}
    try:
        metadata = json.loads(given) if isinstance(given, str) else None
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the field `metadata` is no JSON: {error}") from error
    if not isinstance(metadata, dict):
        raise Invalid("the field `metadata` must be a JSON object")
    return metadata


def _fault(message: str, status: int) -> Response:
    return JSONResponse({"status": "error", "error": message}, status)
