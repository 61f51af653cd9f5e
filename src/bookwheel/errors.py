"""What can go wrong, named after what went wrong.

    BookwheelError
    ├── NotFound         nothing of that name
    ├── Invalid          the caller asked for something that cannot be
    ├── Forbidden        it may exist, but not for this caller
    │   └── OutsideRoots the name leads out of the served folders
    ├── Unreadable       it is there, but gives no text
    │   ├── TooLarge     over the size limit
    │   └── ParseFailed  the bytes are not what their name promises
    │       └── Unsupported  there is no reader for files of that kind
    ├── Conflict         the world changed since the caller looked
    └── Unavailable      try again later

Every message is a sentence a stranger can act on; details carry the same as data.
"""

from __future__ import annotations


class BookwheelError(Exception):
    """An error with a message for people and details for programs."""

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class NotFound(BookwheelError):
    """Nothing of that name is here."""


class Invalid(BookwheelError):
    """The request itself makes no sense."""


class Forbidden(BookwheelError):
    """It is not for this caller."""


class OutsideRoots(Forbidden):
    """The name leads out of every served folder."""


class Unreadable(BookwheelError):
    """The file is there but gives no text."""


class TooLarge(Unreadable):
    """The file is over the size limit."""


class ParseFailed(Unreadable):
    """The bytes are not what their name promises."""


class Unsupported(ParseFailed):
    """There is no reader for files of that kind."""


class Conflict(BookwheelError):
    """Something changed since the caller last looked."""


class Unavailable(BookwheelError):
    """Not now: try again later."""
