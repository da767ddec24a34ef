# SPDX-License-Identifier: MIT
"""The list of commands, and the entrance that the shell calls."""

import sys

import typer

from compiler_gym.cli._failures import exit_status_of
from compiler_gym.cli._programs import SUFFIXES
from compiler_gym.cli.bisect import bisect
from compiler_gym.cli.cc import cc
from compiler_gym.cli.datasets import datasets
from compiler_gym.cli.demo import demo
from compiler_gym.cli.describe import describe
from compiler_gym.cli.envs import envs
from compiler_gym.cli.explore import explore
from compiler_gym.cli.leaderboard import leaderboard
from compiler_gym.cli.new import new
from compiler_gym.cli.reduce import reduce
from compiler_gym.cli.replay import replay
from compiler_gym.cli.run import run
from compiler_gym.cli.runs import runs
from compiler_gym.cli.search import search
from compiler_gym.cli.validate import validate
from compiler_gym.cli.version import version

__all__ = ["app", "main"]

app = typer.Typer(
    name="compiler-gym",
    help="Optimise programs with a compiler, one action at a time.",
    epilog=f"A program is a URI (cbench-v1/qsort), a path ({SUFFIXES}) or - for standard input.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    envs,
    describe,
    search,
    replay,
    validate,
    bisect,
    reduce,
    runs,
    explore,
    new,
    version,
):
    app.command()(command)
# An action may look like an option: -Oz is one.
app.command(context_settings={"ignore_unknown_options": True})(run)
app.add_typer(datasets)
app.add_typer(leaderboard)
app.command(
    add_help_option=False,
    context_settings={
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "allow_interspersed_args": False,
    },
)(cc)


def main() -> None:
    """Run the command line and leave with its exit status; errors are one line each."""
    try:
        app(standalone_mode=True)
    except BaseException as error:
        status = exit_status_of(error)
        if status is None:
            raise
        sys.exit(status)
