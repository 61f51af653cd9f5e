"""What the tools of the `org` contract are called, take and say of themselves."""

from __future__ import annotations

from bookwheel.faces.base import Declared, object_schema, rows_schema

MOST = 50  # matches of a full-text search, unless more are asked for

_STRINGS = {"type": "array", "items": {"type": "string"}}
_FILES = {**_STRINGS, "description": "Files to search in (defaults to all)"}
_TAGS = {**_STRINGS, "description": "Required tags, inherited ones count"}
_URI = {"type": "string", "description": "URI of the headline, as other tools give it"}
_RANGE = {
    "type": "object",
    "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
    "description": 'Date range, such as {"from": "2024-01-01", "to": "2024-12-31"}',
}
_ARCHIVED = {"type": "boolean", "default": False, "description": "Include archived and commented trees"}
_NOTE = {"type": "string", "description": "Note to record where the state asks for one"}
_OBJECT = {"type": "object"}
_ROWS = rows_schema("result")

TOOLS = (
    Declared(
        "org-search-headlines",
        "Searches headline titles in Org files, with tags if wanted. Then read a resourceUri, or change a task "
        "with org-update-todo-state or org-schedule-task.",
        object_schema(
            ["query"],
            query={"type": "string", "description": "Text to search for in headline titles"},
            files=_FILES,
            tags=_TAGS,
            excludeTags={**_STRINGS, "description": "Tags to exclude"},
            caseSensitive={"type": "boolean", "default": False, "description": "Case-sensitive search"},
        ),
        "_search_headlines",
        _ROWS,
    ),
    Declared(
        "org-get-todos",
        "Lists TODO items by state, tags and dates, done ones too unless states are given.",
        object_schema(
            files=_FILES,
            states={**_STRINGS, "description": 'TODO states to include (e.g., ["TODO", "NEXT"])'},
            tags=_TAGS,
            scheduled=_RANGE,
            deadline=_RANGE,
            includeArchived=_ARCHIVED,
        ),
        "_get_todos",
        _ROWS,
    ),
    Declared(
        "org-search-content",
        "Searches the whole text of Org files; each match has its context and the URI of its headline.",
        object_schema(
            ["query"],
            query={"type": "string", "description": "Text to search for"},
            files=_FILES,
            includeArchived=_ARCHIVED,
            maxResults={"type": "number", "description": f"Limit number of results (default {MOST})"},
        ),
        "_search_content",
        _ROWS,
    ),
    Declared(
        "org-update-todo-state",
        "Changes the TODO state of a headline as Org does: repeaters, logging, statistics. currentState must "
        "be what it is now.",
        object_schema(
            ["resourceUri", "currentState", "newState"],
            resourceUri=_URI,
            currentState={"type": "string", "description": 'Current TODO state ("" for none)'},
            newState={"type": "string", "description": 'New TODO state ("" to remove it)'},
            note=_NOTE,
        ),
        "_update_todo_state",
        _OBJECT,
        writes=True,
        destroys=True,
        repeatable=False,
    ),
    Declared(
        "org-schedule-task",
        "Sets or removes the SCHEDULED or DEADLINE date of a headline.",
        object_schema(
            ["resourceUri"],
            resourceUri=_URI,
            scheduled={"type": "string", "description": 'Date in org format (e.g., "2024-12-25")'},
            deadline={"type": "string", "description": "Date in org format"},
            removeScheduled={"type": "boolean", "default": False, "description": "Remove the scheduled date"},
            removeDeadline={"type": "boolean", "default": False, "description": "Remove the deadline"},
            note=_NOTE,
        ),
        "_schedule_task",
        _OBJECT,
        writes=True,
        destroys=True,
    ),
    Declared(
        "org-get-properties",
        "Returns the properties of a headline's drawer.",
        object_schema(
            ["resourceUri"],
            resourceUri=_URI,
            properties={**_STRINGS, "description": "Specific properties to retrieve"},
        ),
        "_get_properties",
        _OBJECT,
    ),
    Declared(
        "org-get-todo-config",
        "Tells which TODO keywords there are, in which order, and which of them are final.",
        object_schema(),
        "_get_todo_config",
        _OBJECT,
    ),
    Declared(
        "org-get-tag-config",
        "Returns the tag configuration as literal Elisp values.",
        object_schema(),
        "_get_tag_config",
        _OBJECT,
    ),
)
