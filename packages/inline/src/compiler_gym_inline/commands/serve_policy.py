# SPDX-License-Identifier: MIT
"""``compiler-gym serve-policy``: let a policy decide in stock compilers."""

from pathlib import Path
from typing import Annotated

import typer

from compiler_gym.cli.kit.options import CompilerName
from compiler_gym.cli.kit.output import errors

__all__ = ["serve_policy"]


def serve_policy(
    context: typer.Context,
    policy: Annotated[
        str, typer.Argument(help="Policy: default, FILE.py[:NAME], FILE.c or FILE.so.")
    ],
    channel: Annotated[
        Path | None,
        typer.Option(
            help="Answer on the pipes CHANNEL.in and CHANNEL.out, for one compiler at a time."
        ),
    ] = None,
    compiler: CompilerName = None,
) -> None:
    """Let a policy decide in stock compilers: `serve-policy default -- make`.

    The command after `--` runs with clang, clang++ and opt on PATH that ask the policy about
    each call they could inline. Without a command, the policy is served until Ctrl-C.

    compiler-gym serve-policy policy.py:decide -- make
    """
    from compiler_gym.lazy import part

    command = context.args[1:] if context.args[:1] == ["--"] else context.args
    serve = part("heuristics", compiler).serve
    status = serve(policy, command=command, channel=channel, say=_print_note)
    raise typer.Exit(status)


def _print_note(text: str) -> None:
    errors().print(text, soft_wrap=True)
