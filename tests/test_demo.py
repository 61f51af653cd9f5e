"""The demonstration runs as it is and shows what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def test_the_demonstration_shows_a_search_a_section_and_a_configuration() -> None:
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        env={**os.environ, "BOOKWHEEL_EMBEDDER": "none"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    search, _, rest = done.stdout.partition("It reads one section")
    section, _, configuration = rest.partition("paste this into its MCP configuration:")
    assert "Search results: 3 matches" in search
    assert "1. docs://manual/troubleshooting.md" in search
    assert "E-1042" in section
    server = json.loads(configuration)["mcpServers"]["bookwheel"]
    assert Path(server["command"]).is_file()
    assert server["args"] == ["serve", str(DEMO.parent / "library")]
