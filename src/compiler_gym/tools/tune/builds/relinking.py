# SPDX-License-Identifier: MIT
"""Commands that compile the sources of a binary again, and link it as its build did.

A driver is one compiler: its command, and what it is told besides. What a build decided that
is now decided elsewhere is left out.
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
"""What stands on the command line for one known input."""
_LITTLE = 1 << 20
"""Bytes of free space with which a failing command may have failed of it."""
_SECONDS = 1800.0
_SHOWN = 3000
_FOR_LINKER = "-Wl,"
"""How words begin that are for a linker alone."""


@dataclass(frozen=True, slots=True)
class Driver:
    """How one compiler is called for the objects and the linked file of a binary."""

    c: tuple[str, ...]
    """The command that compiles, whatever the language."""
    cxx: tuple[str, ...]
    """The command that links C++."""
    quiet: tuple[str, ...] = ()
    """What keeps it from warning: nobody reads it."""
    linker: tuple[str, ...] = ()
    """What chooses the linker."""
    left_out: tuple[str, ...] = ()
    """How flags of a build begin that are not passed on."""
    not_understood: tuple[str, ...] = ()
    """Words in front of a source that are another compiler's."""

    def compile_words(self, unit: Unit, flags: Sequence[str], output: Path) -> list[str]:
        """Return the command that compiles `unit`, with `flags` after its own."""
        *own, source = unit.command.arguments(unit.source)
        own = [
            word
            for word in own
            if word not in self.not_understood and not is_listed(word, self.left_out)
        ]
        words = [*self.c, *self.quiet, *own, *flags, *unit.command.debug]
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
        """Return the command that links `binary` to `output`; `place` puts known inputs.

        Of two equal options the last counts: the build's own stand behind ours for the linker.
        """
        command = binary.command
        late = [flag for flag in (*self.linker, *flags) if flag.startswith(_FOR_LINKER)]
        words = [*(self.cxx if binary.is_cxx else self.c), *self.quiet, *late]
        words += [flag for flag in command.flags if not is_listed(flag, self.left_out)]
        inputs = {input.word: input for input in binary.inputs}
        seen = set[str]()
        for source in command.sources:
            words += place(inputs[source.name])
        for word in command.link_words:
            known = inputs.get(word)
            if known is None or not known.units:
                words += [] if is_listed(word, self.left_out) else [word]
            elif word not in seen:
                words += place(known)
                seen.add(word)
        stripped = ("-Wl,--strip-all",) if strip and not command.debug else ()
        others = [flag for flag in (*self.linker, *flags) if flag not in late]
        return [*words, *others, *stripped, "-o", str(output)]


def run_command(words: Sequence[str], cwd: Path) -> None:
    """Run one command of a build; raise `ProjectError` with what it says where it fails."""
    try:
        done = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
            check=False, env=build_variables(),
            start_new_session=True,  # a Ctrl-C is for the search, which hands over what it has
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ProjectError(f"no end within {_SECONDS:g} s: {shlex.join(words)}") from None
    except OSError as error:
        raise ProjectError(f"cannot run {words[0]} in {cwd}: {error.strerror}") from error
    if done.returncode:
        printed = Printed(_SHOWN)
        printed.add(done.stderr or done.stdout)
        said = printed.last_lines()
        if shutil.disk_usage(cwd).free < _LITTLE:
            said += "\nThe disk is nearly full there: make room, and go on with --resume"
        raise ProjectError(f"{shlex.join(words)}\nin {cwd} ended with {done.returncode}:\n{said}")
