"""What the server writes about itself, as lines of text or of JSON on standard error.

One line for each request, and never an argument, a URI, an answer or a credential in it. What a client chose (a name, a
path) is cut short and stripped of control characters, so that nobody can write lines of their own.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

LIBRARIES = ("mcp", "uvicorn", "sse_starlette", "asyncio", "watchfiles")  # they speak up only when something is wrong
LONGEST = 100  # characters of a name that a client chose
SEEN = "bookwheel.seen"  # set in the scope of an HTTP request that was logged as a request of the protocol
CONTROL = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160), 0x2028, 0x2029)}

log = logging.getLogger(__name__)


def configure(level: str, form: str = "text") -> None:
    """Log from *level* on, as lines of "text" or "json"."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json() if form == "json" else Text("%(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def tell(message: str, level: int = logging.INFO) -> None:
    """Write a line that everybody must see, whatever they want logged."""
    root = logging.getLogger()
    if not root.handlers:
        print(message, file=sys.stderr, flush=True)  # noqa: T201 - nobody has set up a log
    root.handle(logging.LogRecord(__name__, level, "", 0, message, None, None))


class Text(logging.Formatter):
    """One line of text a record, but for a traceback below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        """Return the line without control characters."""
        line = super().formatMessage(record)
        return line if line.isprintable() else line.translate(CONTROL)


class Json(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def request(method: str, params: Mapping[str, Any] | None, started: float, failed: bool, origin: str) -> None:
    """Log one request of the protocol: what was asked for by name, how long it took, how it went, which way it came."""
    if not log.isEnabledFor(logging.INFO):
        return
    name = params.get("name") if params and method in {"tools/call", "prompts/get"} else None
    fields = {
        "method": brief(method),
        "name": brief(name) if isinstance(name, str) else "",
        "ms": round(1000 * (time.perf_counter() - started), 1),
        "outcome": "error" if failed else "ok",
        "transport": origin,
    }
    _write(logging.INFO, " ".join(_worded(fields)), fields)


def _worded(fields: Mapping[str, object]) -> list[str]:
    return [f"{value} ms" if key == "ms" else str(value) for key, value in fields.items() if value != ""]


def exchange(level: int, status: int, scope: Mapping[str, Any], reason: str = "") -> None:
    """Log one HTTP request that the protocol has not seen."""
    if not log.isEnabledFor(level):
        return
    fields = {
        "status": status,
        "http": brief(scope["method"]),
        "path": brief(scope["path"]),
        "client": scope["client"][0] if scope.get("client") else "",
        "reason": reason.strip(),
    }
    _write(level, " ".join(str(value) for value in fields.values() if value != ""), fields)


def _write(level: int, message: str, fields: Mapping[str, object]) -> None:
    """Write a record, without looking for the line of code it came from: that costs more than all the rest."""
    record = logging.LogRecord(log.name, level, "", 0, message, None, None)
    record.fields = fields
    log.handle(record)


def brief(text: str) -> str:
    """Return the beginning of a text that a client chose."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
