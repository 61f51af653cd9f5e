"""Content locations as an organisation keeps them, and the config files that name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from contracts.harness import Answer, Files, Json, write

IDENTITY: Json = {
    "name": "Harbour Library",
    "version": "1.4.2",
    "instructions": "Search before you sail, and cite the page.",
}
LINE = re.compile(r"- \[([^\]]*)\] \[(.*)\]\((acdc://[^ ()]+)\): (.*) \(relevance: (\d+\.\d\d)\)")

Content = Mapping[str, Files]


def page(name: str, description: str = "A page.", body: str = "Text.\n", keywords: list[str] | None = None) -> str:
    """Return a resource file."""
    head = {"name": name, "description": description, **({"keywords": keywords} if keywords else {})}
    return f"---\n{yaml.safe_dump(head, allow_unicode=True, sort_keys=False)}---\n{body}"


def template(name: str, body: str, *arguments: Json, description: str = "A prompt.") -> str:
    """Return a prompt file."""
    head = {"name": name, "description": description, "arguments": list(arguments)}
    return f"---\n{yaml.safe_dump(head, allow_unicode=True, sort_keys=False)}---\n{body}"


def location(resources: Files, prompts: Files | None = None) -> Files:
    """Return the files of a content location."""
    return {
        **{f"mcp-resources/{name}": text for name, text in resources.items()},
        **{f"mcp-prompts/{name}": text for name, text in (prompts or {}).items()},
    }


def settle(base: Path, content: Content) -> list[Json]:
    """Write content locations below *base* and return the entries that name them."""
    for name, files in content.items():
        (base / name / "mcp-resources").mkdir(parents=True, exist_ok=True)
        write(base / name, files)
    return [{"name": name, "description": f"Pages of {name}.", "path": name} for name in content]


def configure(base: Path, content: Content, **more: Any) -> Path:
    """Write content locations below *base* and return the config file that names them."""
    config = {"server": IDENTITY, "content": settle(base, content), **more}
    place = base / "mcp-metadata.yaml"
    place.write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False), "utf-8")
    return place


def hits(answer: Answer, query: str, source: str = "") -> list[tuple[str, str, str, str, float]]:
    """Return (source, name, URI, snippet, relevance) of each hit, having checked every character of the text's form."""
    where = f" in source '{source}'" if source else ""
    assert not answer.error, answer
    if answer.text == f"No results found for '{query}'{where}":
        return []
    head = f"Search results for '{query}'{where}:\n\n"
    assert answer.text.startswith(head)
    *entries, rest = answer.text.removeprefix(head).split("\n\n")
    assert rest == "", "a blank line after each"
    matches = [LINE.fullmatch(entry) for entry in entries]
    assert all(matches), answer.text
    return [(one[1], one[2], one[3], one[4], float(one[5])) for one in matches if one]


# a library that is only read, and its figures

LIBRARY: Content = {
    "docs": location(
        {
            "guide.md": page(
                "Anchor Guide", "How to use an anchor.", "\n# Anchors\n\nDrop the anchor slowly.\n", ["mooring"]
            ),
            "guides/getting-started.md": page("Getting Started", "First steps.", "Weigh the anchor, then sail.\n"),
            "guides/deep/er/page.md": page("Deep Page", "Far below.", "A zeppelin runs above the harbour.\n"),
            "sub folder/my file[1] ü #.md": page("Odd Name", "An odd name.", "The quokka sleeps.\n"),
            "plain.md": "# No front matter\n\nA hidden narwhal.\n",
            "notes.txt": page("Text", "No Markdown.", "A hidden narwhal.\n"),
            "page.html": "<title>Page</title><p>A hidden narwhal.</p>",
        },
        {
            "code-review.md": template(
                "code-review",
                "Review this {{.language}} code:\n\n{{ .code }}\n",
                {"name": "language", "description": "The language", "required": False},
                {"name": "code", "description": "The code", "required": True},
                description="Review some code.",
            ),
        },
    ),
    "wiki": location(
        {
            "home.md": page("Wiki Home", "Where all begins.", "An anchor is told of here as well.\n"),
            "guide.md": page("Wiki Guide", "The other guide.", "Nothing but a submarine.\n"),
        },
        {"code-review.md": template("code-review", "Look at the wiki.\n", description="Review a page.")},
    ),
}
ENTRIES: list[Json] = [
    {"uri": "acdc://docs/guide", "name": "Anchor Guide", "description": "How to use an anchor."},
    {"uri": "acdc://docs/guides/deep/er/page", "name": "Deep Page", "description": "Far below."},
    {"uri": "acdc://docs/guides/getting-started", "name": "Getting Started", "description": "First steps."},
    {
        "uri": "acdc://docs/sub%20folder/my%20file%5B1%5D%20%C3%BC%20%23",
        "name": "Odd Name",
        "description": "An odd name.",
    },
    {"uri": "acdc://wiki/guide", "name": "Wiki Guide", "description": "The other guide."},
    {"uri": "acdc://wiki/home", "name": "Wiki Home", "description": "Where all begins."},
]
