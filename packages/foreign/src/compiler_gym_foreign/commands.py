# SPDX-License-Identifier: MIT
"""``compiler-gym conformance``, and ``compiler-gym sdk`` for authors of services."""

from pathlib import Path
from typing import Annotated

import typer

from compiler_gym.cli.kit.output import Json, output, print_json, style_text
from compiler_gym.errors import BenchmarkNotFoundError, InvalidParameterError

__all__ = ["conformance", "sdk"]

BROKEN = 1
"""The exit status if a check fails."""
_TEXT = b"first   \n\n\n    second\n"


def conformance(
    service: Annotated[
        list[str], typer.Argument(help="The program and its arguments, or its TOML file.")
    ],
    program: Annotated[
        Path | None,
        typer.Option(
            help="Program that the service can read [default: one from the TOML file, or a text]."
        ),
    ] = None,
    carrier: Annotated[
        str | None, typer.Option(help="Transport for the messages: descriptor, stdio or socket.")
    ] = None,
    json: Json = False,
) -> None:
    """Check that a program follows the session protocol: `conformance -- ./my-service`.

    It replays transcripts, sends malformed messages, and measures round trips. Exits with
    status 1 if a check fails.
    """
    from compiler_gym.service import SessionSource
    from compiler_gym.session import BenchmarkSpec
    from compiler_gym_foreign.conformance import check_service

    command, transport, contents = service, carrier or "descriptor", _TEXT
    uri = "benchmark://conformance-v0/text"
    if len(service) == 1 and service[0].endswith(".toml"):
        from compiler_gym.registration import make
        from compiler_gym_foreign import read_plugin

        plugin = read_plugin(service[0])
        command, transport = list(plugin.service), carrier or plugin.carrier
        if program is None:
            with make(service[0]) as env:
                first = next(env.datasets.benchmarks(), None)
            if first is not None:
                uri, contents = str(first.uri), first.contents
    if program is not None:
        try:
            uri, contents = f"file://{program.absolute()}", program.read_bytes()
        except OSError as error:
            raise BenchmarkNotFoundError(f"cannot read {program}: {error.strerror}") from error
    source = SessionSource.of_program(command, transport)
    console, broken, rows = output(), 0, list[dict[str, str]]()
    for check in check_service(source, BenchmarkSpec(uri, contents)):
        broken += bool(check.problem)
        if json:
            rows.append({"check": check.name, "problem": check.problem, "detail": check.detail})
            continue
        mark = style_text("broken", "bold red") if check.problem else style_text("kept  ", "green")
        console.print(mark, f" {check.name}")
        for text in filter(None, (check.problem, check.detail)):
            console.print(f"        {text}")
    if json:
        print_json({"service": command, "broken": broken, "checks": rows})
    else:
        console.print(f"{broken} promises are not kept" if broken else "Every promise is kept.")
    if broken:
        raise typer.Exit(BROKEN)


def sdk() -> None:
    """Print the folder with the C++ header, the message schema and sample transcripts."""
    from compiler_gym.service import sdk_path

    path = sdk_path()
    if not path.is_dir():
        raise InvalidParameterError(f"{path} does not exist: install compiler_gym again")
    typer.echo(path)
