# SPDX-License-Identifier: MIT
"""Commands that compile the sources of a binary again and link them as its build did.

A driver represents one compiler with additional flags. It drops those flags of the build that a
plan decides.
"""

import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds import is_listed
from compiler_gym.errors import ProjectError
from compiler_gym.sandbox import Printed, build_variables
from compiler_gym.tools.tune.builds.binaries import Binary, Input, Unit

__all__ = ["Driver", "Place", "run_command"]

Place = Callable[[Input], Sequence[str]]
"""A function that returns the arguments for one known input."""
_LITTLE = 1 << 20
"""Free space in bytes below which a full disk may be the cause of a failure."""
_SECONDS = 1800.0
_SHOWN = 3000
_FOR_LINKER = "-Wl,"
"""The prefix of flags that only the linker reads."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The commands of one compiler for the objects and the linked file of a binary."""

    c: tuple[str, ...]
    """The command that compiles all languages, and links C."""
    cxx: tuple[str, ...]
    """The command that links C++."""
    quiet: tuple[str, ...] = ()
    """Flags that suppress warnings."""
    linker: tuple[str, ...] = ()
    """Flags that choose the linker."""
    left_out: tuple[str, ...] = ()
    """Prefixes of the build's flags that are dropped."""
    not_understood: tuple[str, ...] = ()
    """Flags for sources that only another compiler supports."""

    def compile_words(self, unit: Unit, flags: Sequence[str], output: Path) -> list[str]:
        """Return the command that compiles `unit`, with `flags` after its own flags."""
        *own_flags, source = unit.command.arguments(unit.source)
        own_flags = [
            word
            for word in own_flags
            if word not in self.not_understood and not is_listed(word, self.left_out)
        ]
        words = [*self.c, *self.quiet, *own_flags, *flags, *unit.command.debug]
        return [*words, "-c", source, "-o", str(output)]

    def link_words(
        self,
        binary: Binary,
        place: Place,
        flags: Sequence[str],
        output: Path,
        *,
        strip: bool = True,
    ) -> list[str]:
        """Return the command that links `binary` to `output`; `place` returns known inputs.

        The build's own linker flags come after ours, because the last of two equal options counts.
        """
        command = binary.command
        linker_flags = [flag for flag in (*self.linker, *flags) if flag.startswith(_FOR_LINKER)]
        words = [*(self.cxx if binary.is_cxx else self.c), *self.quiet, *linker_flags]
        words += [flag for flag in command.flags if not is_listed(flag, self.left_out)]
        inputs = {input.word: input for input in binary.inputs}
        linked = set[str]()
        for source in command.sources:
            words += place(inputs[source.name])
        for word in command.link_words:
            file = inputs.get(word)
            if file is None or not file.units:
                words += [] if is_listed(word, self.left_out) else [word]
            elif word not in linked:
                words += place(file)
                linked.add(word)
        stripped = ("-Wl,--strip-all",) if strip and not command.debug else ()
        other_flags = [flag for flag in (*self.linker, *flags) if flag not in linker_flags]
        return [*words, *other_flags, *stripped, "-o", str(output)]


def run_command(words: Sequence[str], cwd: Path) -> None:
    """Run one command of a build; raise `ProjectError` with its output if it fails."""
    try:
        result = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
            check=False, env=build_variables(),
            start_new_session=True,  # Ctrl-C must only reach the search
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ProjectError(f"{shlex.join(words)} did not finish within {_SECONDS:g} s") from None
    except OSError as error:
        raise ProjectError(f"cannot run {words[0]} in {cwd}: {error.strerror}") from error
    if result.returncode:
        printed = Printed(_SHOWN)
        printed.add(result.stderr or result.stdout)
        output = printed.last_lines()
        if shutil.disk_usage(cwd).free < _LITTLE:
            output += "\nThe disk is nearly full: free some space, then continue with --resume"
        raise ProjectError(f"{shlex.join(words)}\nfailed in {cwd} ({result.returncode}):\n{output}")
