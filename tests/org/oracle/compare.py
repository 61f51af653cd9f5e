"""Ask Org itself what the golden files say, and compare; with --write, make them anew.

    python tests/org/oracle/compare.py [--write]

Needs Emacs, which emacs.sh installs. Ends with 1 if a golden file is not what Org says.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from operations import CASES, NOTE, Operation, operations  # noqa: E402 - it is found through the line above


def ask(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return Org's answers."""
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "requests.json"), Path(folder, "answers.json")
        question.write_text(json.dumps(requests))
        subprocess.run([HERE / "emacs.sh", question, answer], check=True)
        answers: list[dict[str, Any]] = json.loads(answer.read_text())
        return answers


def reading() -> dict[str, Any]:
    """Return what Org reads in every case, by file."""
    files = sorted(CASES.glob("*.org"))
    answers = ask([{"read": str(file)} for file in files])
    return {file.name: answer for file, answer in zip(files, answers, strict=True)}


def writing() -> dict[str, Any]:
    """Return what every write leaves, by name: which part of the file is replaced, and by what."""
    wanted = list(operations())
    answers = ask([request(operation) for operation in wanted])
    return {operation.name: splice(operation, answer) for operation, answer in zip(wanted, answers, strict=True)}


def request(operation: Operation) -> dict[str, Any]:
    """Return an operation in the words of answer.el."""
    return {
        "write": str(CASES / operation.file),
        "line": operation.line,
        "verb": operation.verb,
        "value": operation.value,
        "note": NOTE if operation.verb != "note" else operation.value,
        "settings": operation.settings,
    }


def splice(operation: Operation, answer: dict[str, Any]) -> Any:
    """Return the difference an answer makes, or its error."""
    if "error" in answer:
        return answer
    before, after = (CASES / operation.file).read_bytes().decode(), answer["text"]
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    rest = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), shorter - start)
    return [start, len(before) - rest, after[start : len(after) - rest]]


def main() -> int:
    """Compare all golden files with Org, or write them."""
    wrong = 0
    for name, found in (("reading", reading()), ("writing", writing())):
        file = CASES / f"{name}.json"
        text = (
            "{\n"
            + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in found.items())
            + "\n}\n"
        )
        if "--write" in sys.argv:
            file.write_text(text)
        known = json.loads(file.read_text())
        differing = [key for key in found.keys() | known.keys() if found.get(key) != known.get(key)]
        print(f"{name}: {len(found)} answers, {len(differing)} differ", *differing[:20], sep="\n  ")  # noqa: T201
        wrong += len(differing)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
