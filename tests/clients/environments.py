"""Where the clients live: environments of their own below `.clients/`, made once for the versions named here."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".clients"

LANGCHAIN = ("langchain-mcp-adapters==0.3.2", "mcp==1.30.0")
OPENAI_AGENTS = ("openai-agents==0.24.0", "mcp==2.3.0")
NODE_PACKAGES = (
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/inspector@2.12.0",
)
NODE = "22.23.3"
OLDEST_NODE = (22, 19)  # what the inspector asks for


def shown(pin: str) -> str:
    """Return a package and its version as people write it."""
    return pin.rpartition("/")[2].replace("==", " ").replace("@", " ")


def python(name: str, pins: tuple[str, ...]) -> str:
    """Return the interpreter of an environment that has these packages."""
    program = FOLDER / name / "bin/python"

    def make() -> None:
        run(sys.executable, "-m", "venv", FOLDER / name)
        run(program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins)

    ensure(name, pins, make)
    return str(program)


def node() -> str:
    """Return a Node that is new enough, beside the packages; the machine's own if that is one."""
    if not shutil.which("npm"):
        sys.exit("npm is needed for the TypeScript clients and the inspector; install Node")
    own = shutil.which("node") or ""
    fits = own and version(own) >= OLDEST_NODE
    runtime = f"node-{sys.platform}-{'arm64' if platform.machine() in {'arm64', 'aarch64'} else 'x64'}"
    pins = NODE_PACKAGES if fits else (*NODE_PACKAGES, f"{runtime}@{NODE}")

    def make() -> None:
        home().mkdir(parents=True)
        (home() / "package.json").write_text('{"private": true}\n')
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", *pins)

    ensure("node", pins, make)
    for driver in Path(__file__).parent.glob("*.mjs"):
        shutil.copy(driver, home())  # Node looks for packages beside the program that imports them
    return own if fits else str(home() / f"node_modules/{runtime}/bin/node")


def home() -> Path:
    """Return the folder of the Node packages."""
    return FOLDER / "node"


def inspector() -> str:
    """Return the program of the inspector."""
    return str(home() / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")


def version(program: str) -> tuple[int, ...]:
    """Return the version of a Node."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said)))


def ensure(name: str, pins: tuple[str, ...], make: Callable[[], None]) -> None:
    """Make an environment, unless it is there with these packages."""
    stamp, wanted = FOLDER / f"{name}.pins", "\n".join(pins)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"installing {', '.join(pins)}", flush=True)
    shutil.rmtree(FOLDER / name, ignore_errors=True)
    make()
    stamp.write_text(wanted)


def run(*words: str | Path) -> None:
    """Run a program, in the folder of the Node packages if there is one; raises CalledProcessError if it fails."""
    subprocess.run(list(map(str, words)), cwd=home() if words[0] == "npm" else None, check=True)
