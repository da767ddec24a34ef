# SPDX-License-Identifier: MIT
"""``compiler-gym version`` and ``compiler-gym help``."""

import platform
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.output import Json, print_json, show, table
from compiler_gym.lazy import load_named

if TYPE_CHECKING:
    from compiler_gym.registration import Compiler


def version(json: Json = False) -> None:
    """Print the versions of this library, its compilers and the system."""
    from importlib.metadata import version as version_of

    from compiler_gym.errors import EnvironmentNotSupported
    from compiler_gym.registration import compilers
    from compiler_gym.version import __version__

    versions = {"compiler_gym": __version__}
    for name, compiler in compilers().items():
        try:
            versions[name] = _find_version(compiler)
        except EnvironmentNotSupported as error:
            versions[name] = f"not available: {error}"
    versions["sandbox"] = sandbox_in_use()
    versions |= {"gymnasium": version_of("gymnasium"), "python": platform.python_version()}
    if json:
        print_json(versions)
        return
    rows = table("Part", "Version")
    for name, number in versions.items():
        rows.add_row(name, number)
    show(rows)


def show_help(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(help="The command.")] = None,
) -> None:
    """Show the help of a command.

    compiler-gym help datasets install
    """
    help_context: Any = context.find_root()
    for name in command or ():
        if not hasattr(help_context.command, "resolve_command"):
            help_context.fail(f"Got unexpected extra argument ({name})")
        _, subcommand, _ = help_context.command.resolve_command(help_context, [name])
        help_context = type(context)(subcommand, info_name=name, parent=help_context)
    typer.echo(help_context.get_help())


def _find_version(compiler: "Compiler") -> str:
    """Return the version of a compiler; start an environment only if there is no other way."""
    if compiler.version:
        version = load_named(compiler.version)
        return str(version() if callable(version) else version)
    from compiler_gym.registration import make

    with make(compiler.environments[0].id) as env:
        return env.compiler_version


def sandbox_in_use() -> str:
    """Return the sandbox for programs on this machine, and why it is not a stronger one."""
    from compiler_gym.errors import CompilerGymError
    from compiler_gym.sandbox import Sandbox, choose_tier, way, why_not

    try:
        tier = choose_tier()
        if tier is Sandbox.NAMESPACES:
            return f"{tier.value} ({way().name})"
        reason = why_not(Sandbox.NAMESPACES) or "chosen with COMPILER_GYM_SANDBOX"
    except CompilerGymError as error:
        return f"not available: {error}"
    return f"{tier.value} (not namespaces: {reason})"
