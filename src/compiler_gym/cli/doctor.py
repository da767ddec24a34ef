# SPDX-License-Identifier: MIT
"""``compiler-gym doctor``: the external programs that the features of this library need."""

import shutil
from collections.abc import Iterable
from dataclasses import asdict

import typer

from compiler_gym.cli.kit.output import (
    Json,
    output,
    print_command,
    print_json,
    show,
    style_text,
    table,
)
from compiler_gym.cli.version import sandbox_in_use
from compiler_gym.lazy import parts
from compiler_gym.registration import ExternalTool

INCOMPLETE = 1
"""The exit status if a required program is missing or unsuitable."""


def doctor(json: Json = False) -> None:
    """Check which external programs are missing, and show how to install them.

    LLVM is bundled, so passes and rewards need none of them. Exit status: 0 if all required
    programs work, otherwise 1.
    """
    tools: list[ExternalTool] = []
    for entry in parts("external_tools").values():
        tools += entry.load()()
    tools += _sandboxes()
    is_complete = all(_works(tool) for tool in tools if tool.is_required)
    if json:
        print_json(
            {
                "is_complete": is_complete,
                "sandbox": sandbox_in_use(),
                "tools": [asdict(tool) | {"works": _works(tool)} for tool in tools],
            }
        )
    else:
        _show_tools(tools)
    if not is_complete:
        raise typer.Exit(INCOMPLETE)


def _works(tool: ExternalTool) -> bool:
    return tool.path is not None and not tool.problem


def _sandboxes() -> list[ExternalTool]:
    enables = "tune: prevents a build from writing to your own folder"
    return [ExternalTool("bwrap", enables, "bubblewrap", shutil.which("bwrap"))]


def _show_tools(tools: Iterable[ExternalTool]) -> None:
    console = output()
    rows = table("Program", "State", "What it enables", typed=("Program",))
    for tool in tools:
        state = tool.version or "installed"
        style = "green"
        if not _works(tool):
            state = "missing" if tool.path is None else f"{tool.version} unsuitable".strip()
            state += ", required" * tool.is_required
            style = "bold red" if tool.is_required else "yellow"
        rows.add_row(tool.name, style_text(state, style), tool.enables)
    show(rows, console)
    console.print(f"Programs are run in the sandbox: {sandbox_in_use()}")
    for tool in tools:
        if _works(tool) and not shutil.which(tool.name):
            console.print(f"{tool.name}: {tool.path}", soft_wrap=True)
    lacking = [tool for tool in tools if not _works(tool)]
    for tool in lacking:
        if tool.problem:
            console.print(f"{tool.name}: {tool.problem}", style="yellow")
    for title, is_required in (
        ("Install what is required with:", True),
        ("Install the optional programs with:", False),
    ):
        packages = {tool.package for tool in lacking if tool.is_required == is_required} - {""}
        if packages:
            console.print(title)
            print_command(f"apt install {' '.join(sorted(packages))}", console)
    for archive in {tool.archive for tool in lacking if tool.archive}:
        console.print(f"If apt does not have these versions: {archive}")
