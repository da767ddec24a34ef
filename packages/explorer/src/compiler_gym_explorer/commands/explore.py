# SPDX-License-Identifier: MIT
"""``compiler-gym explore``: an interactive prompt for one environment."""

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Annotated, TextIO

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.options import LimitOptions, make_arguments, spread
from compiler_gym.cli.kit.output import Json, errors, heading
from compiler_gym.cli.kit.programs import (
    DEFAULT_ENVIRONMENT,
    ActionSpaceName,
    EnvName,
    ProgramName,
    find_program,
)

__all__ = ["explore"]


@spread
def explore(
    program: ProgramName,
    env: EnvName = DEFAULT_ENVIRONMENT,
    action_space: ActionSpaceName = None,
    reward: Annotated[
        str | None,
        typer.Option(
            help="Reward to show; `compiler-gym describe` lists them.",
            autocompletion=_completing.rewards,
        ),
    ] = None,
    limits: LimitOptions = None,
    json: Json = False,
) -> None:
    """Try actions on a program by hand, with undo.

    Type the name of an action to apply it, or ``help`` to list the commands. Commands can
    also be piped in, one per line; with --json each reply is one line.

    compiler-gym explore cbench-v1/qsort
    """
    from compiler_gym.registration import make
    from compiler_gym_explorer.commands.terminal import Explorer

    with make(env, **make_arguments(action_space, limits)) as environment:
        if reward is not None or environment.reward_space is None:
            environment.reward_space = reward or next(iter(environment.reward), None)
        benchmark = find_program(environment, program)
        with closing(Explorer(environment, benchmark)) as explorer:
            explorer.start()
            source = _terminal() if program.startswith("-") else sys.stdin
            is_interactive = source.isatty() and not json
            if is_interactive:
                _complete_words(explorer.words())
                errors().print("Type the name of an action, or", heading("help", " for help."))
            explorer.show_start(as_json=json)
            for line in _command_lines(source, explorer, is_interactive=is_interactive):
                if not explorer.obey(line, as_json=json):
                    break


def _terminal() -> TextIO:
    """Open the terminal, since the program was read from standard input."""
    try:
        return open("/dev/tty", encoding="utf-8")
    except OSError:
        from compiler_gym.errors import BenchmarkInitError

        raise BenchmarkInitError(
            "the program was read from standard input, and there is no terminal for commands; "
            "pass the program as a file"
        ) from None


def _command_lines(source: TextIO, explorer: object, *, is_interactive: bool) -> Iterator[str]:
    if not is_interactive or source is not sys.stdin:
        for line in source:
            yield line.strip()
        return
    while True:
        try:
            yield input(f"{explorer}> ").strip()
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print("  (type quit to exit)")


def _complete_words(words: list[str]) -> None:
    """Make the Tab key complete commands, actions and names of spaces."""
    try:
        import readline
    except ImportError:
        return
    readline.set_completer_delims(" ")
    readline.set_completer(
        lambda text, state: ([f"{w} " for w in words if w.startswith(text)] + [None])[state]
    )
    readline.parse_and_bind("tab: complete")
