"""Write the pages that are made from declarations: `python docs/generate.py`."""

from __future__ import annotations

from pathlib import Path

from bookwheel.settings import OPTIONS, Option

PAGE = Path(__file__).with_name("settings.md")
HEAD = """\
# Settings

The stronger first: flags, environment, `.env` in the current folder, the file named by `--config`, defaults. The file
is YAML or JSON, with the names of this table as keys (`log_level`); `paths` are the folders. This page is made by
`docs/generate.py`.

| flag | environment | default | meaning |
|---|---|---|---|
"""


def settings_page() -> str:
    """Return the page about settings."""
    return HEAD + "".join(_row(option) for option in OPTIONS)


def _row(option: Option) -> str:
    flag = option.flag if option.switch else f"{option.flag} {option.metavar or option.name.upper()}"
    flag += f"`, `{option.short}" if option.short else ""
    names = ", ".join(f"`{name}`" for name in option.variables)
    shown = f"`{str(option.default).lower()}`" if option.default not in {None, (), ""} else ""
    return f"| `{flag}` | {names} | {shown} | {option.help} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), "utf-8")
