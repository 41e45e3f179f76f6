"""Options declared once for many verbs.

A group is a dataclass whose fields are annotated as typer options. A verb takes the group as one parameter; `verb`
shows typer the fields instead, and assembles the group when the verb is called.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import typer


class _FlagsWithoutType:
    """Mixin for help in which flags have no type: ``--json``, not ``--json <bool>``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of a command, including ``--help``."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the command it is mixed into
        for parameter in params:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return params


class Command(_FlagsWithoutType, typer.core.TyperCommand):
    """A verb."""


class Group(_FlagsWithoutType, typer.core.TyperGroup):
    """A verb with subcommands."""


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """The function with each group replaced by its options."""
    hints = typing.get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in groups:
            parameters += _options_of(groups[parameter.name])
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
    parameters.sort(key=lambda parameter: parameter.kind)

    @functools.wraps(function)
    def called(**arguments: Any) -> None:
        for name, kind in groups.items():
            arguments[name] = kind(**{field.name: arguments.pop(field.name) for field in fields(kind)})
        function(**arguments)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions have it
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
