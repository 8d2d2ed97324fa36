"""What --help looks like: commands and options under the heading they belong to.

Plain text: the renderer that Typer would draw panels with costs as much as everything else together.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

_OPTIONS: Final = "Options"
_ARGUMENTS: Final = "Arguments"
_COMMANDS: Final = "Commands"
_MARGIN: Final = 6

Row = tuple[str, str]


class HelpedCommand(TyperCommand):
    """A command whose help groups its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options, each group under its heading."""
        _write(formatter, _parameters(self.get_params(ctx), ctx))


class HelpedGroup(TyperGroup):
    """A group whose help groups its commands, and names them before its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options, each group under its heading."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        width = formatter.width - _MARGIN - max(len(name) for name, _ in commands)
        _write(
            formatter,
            [
                (
                    str(getattr(command, "rich_help_panel", None) or _COMMANDS),
                    (name, command.get_short_help_str(width)),
                )
                for name, command in commands
                if command is not None
            ],
        )
        _write(formatter, _parameters(self.get_params(ctx), ctx))


def _parameters(parameters: Sequence[Any], ctx: Any) -> Iterable[tuple[str, Row]]:
    ordered = sorted(parameters, key=lambda each: each.param_type_name != "argument")
    for parameter in ordered:
        row = parameter.get_help_record(ctx)
        if row is not None:
            is_argument = parameter.param_type_name == "argument"
            panel = getattr(parameter, "rich_help_panel", None)
            yield str(panel or (_ARGUMENTS if is_argument else _OPTIONS)), row


def _write(formatter: Any, rows: Iterable[tuple[str, Row]]) -> None:
    sections: dict[str, list[Row]] = defaultdict(list)
    for heading, row in rows:
        sections[heading].append(row)
    for heading, members in sections.items():
        with formatter.section(heading):
            formatter.write_dl(members)
