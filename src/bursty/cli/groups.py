"""Options declared once for many verbs.

A group is a dataclass whose fields are annotated as typer options. A verb takes the group as one parameter; `verb`
shows typer the fields instead, and assembles the group when the verb is called.
"""

from __future__ import annotations

import functools
import inspect
import os
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import typer

#: The verbs in the order of use, which is that of the help.
ORDER = (
    "demo",
    "import",
    "info",
    "cluster",
    "discover",
    "topics",
    "classify",
    "compare",
    "train",
    "predict",
    "infer",
    "evaluate",
    "report",
)


#: Verbs that do not begin with a path of documents.
_WITHOUT_DOCUMENTS = ("demo", "predict", "infer", "evaluate", "report", "papers")


class _PlainTypes:
    """Mixin for help without types of Python: ``--json`` and ``PATH``, not ``--json <bool>`` and ``PATH <path>``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of a command, including ``--help``."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the command it is mixed into
        for parameter in params:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None
        return params


class Command(_PlainTypes, typer.core.TyperCommand):
    """A verb."""


class Group(_PlainTypes, typer.core.TyperGroup):
    """A verb with subcommands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of use; typer would put those with subcommands last."""
        names = list(super().list_commands(ctx))
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb and its arguments; a path where the verb should be gets an error of its own."""
        if args[0] not in self.list_commands(ctx) and os.path.exists(args[0]):
            verbs = [name for name in self.list_commands(ctx) if name not in _WITHOUT_DOCUMENTS]
            ctx.fail(f"{args[0]!r} is a path: '{ctx.command_path} VERB {args[0]}', where VERB is {', '.join(verbs)}")
        return super().resolve_command(ctx, args)


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
