"""Prints the table of all settings, or with `--write` renews it in README.md."""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from handlers.section import Section, variable
from handlers.settings import ConversationSettings, CrmSettings, Settings

PAGE: Final = Path(__file__).parents[1] / "README.md"
BEGIN: Final = "<!-- settings: python -m handlers.settings_table --write -->\n"
END: Final = "<!-- end of settings -->\n"

SECTIONS: Final[dict[str, type[Section]]] = {
    "The service": Settings,
    "Conversations": ConversationSettings,
    "The CRM": CrmSettings,
}


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(prog="python -m handlers.settings_table", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write it into README.md")
    if parser.parse_args().write:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(table())


def table() -> str:
    """Return the table, the same text for the same settings."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for title, section in SECTIONS.items():
        lines.append(f"| **{title}** | | |")
        lines += [_row(name, info) for name, info in section.model_fields.items()]
    return "\n".join(lines) + "\n"


def renewed(page: str) -> str:
    """Return a page with the table of now between its marks.

    Raises:
        ValueError: it has no marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"{PAGE.name} has no place for the settings"
        raise ValueError(message)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(name: str, info: FieldInfo) -> str:
    secret = " Secret." if SecretStr in _kinds(info.annotation) else ""
    text = (info.description or "").replace("|", "\\|")
    return f"| `{variable(name)}` | {_default(info.default)} | {text}{secret} |"


def _default(value: Any) -> str:
    if value is None or value == "":
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return (annotation, *getattr(annotation, "__args__", ()))


if __name__ == "__main__":
    main()
