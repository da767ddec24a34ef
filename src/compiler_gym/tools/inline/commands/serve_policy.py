# SPDX-License-Identifier: MIT
"""``compiler-gym serve-policy``."""

from pathlib import Path
from typing import Annotated

import typer

from compiler_gym.cli.kit.options import CompilerName
from compiler_gym.cli.kit.output import errors

__all__ = ["serve_policy"]


def serve_policy(
    context: typer.Context,
    policy: Annotated[
        str, typer.Argument(help="default, FILE.py[:NAME], FILE.c or FILE.so: what decides.")
    ],
    channel: Annotated[
        Path | None,
        typer.Option(
            help="Answer at the pipes CHANNEL.in and CHANNEL.out, one compiler at a time."
        ),
    ] = None,
    compiler: CompilerName = None,
) -> None:
    """Let a policy decide in stock compilers: `serve-policy default -- make`.

    The command behind `--` finds clang, clang++ and opt on PATH that ask the policy about each
    call that they may inline. Without a command they are served until Ctrl-C.
    """
    from compiler_gym.lazy import part

    command = context.args[1:] if context.args[:1] == ["--"] else context.args
    serve = part("heuristics", compiler).serve
    status = serve(policy, command=command, channel=channel, say=_print_note)
    raise typer.Exit(status)


def _print_note(text: str) -> None:
    errors().print(text, soft_wrap=True)
