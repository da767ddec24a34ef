# SPDX-License-Identifier: MIT
"""The version and options of a GCC, read once per compiler.

They are read from the compiler's own help and cached under a hash of the compiler. If the cache
cannot be written, they are read again.
"""

import json
import math
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym.files import cache_path, keep
from compiler_gym_gcc.actions import options as kinds
from compiler_gym_gcc.actions.options import GccOOption, Option
from compiler_gym_gcc.toolchain.gcc import Gcc, read_first_lines
from compiler_gym_gcc.toolchain.help import (
    list_refused_settings,
    read_optimizers,
    read_params,
    without_refused,
)

__all__ = ["GccSpec", "get_spec"]

_CACHE_VERSION = 2
"""The version of the cache; increase it if the same help is parsed differently."""


class GccSpec(NamedTuple):
    """A GCC, its version and all of its options."""

    gcc: Gcc
    version: str
    """The first line of ``gcc --version``."""
    options: list[Option]
    """The levels, then the flags, then the parameters, as the compiler lists them."""
    identity: str = ""
    """Hexadecimal digits that change when the compiler is replaced."""

    @property
    def size(self) -> int:
        """The number of configurations; each option can also keep its default."""
        return math.prod(len(option) + 1 for option in self.options)


@cache
def get_spec(gcc_bin: str) -> GccSpec:
    """Return the spec of the compiler `gcc_bin`.

    Raises `EnvironmentNotSupported` if it is missing, is not GCC, or fails.
    """
    gcc = Gcc(gcc_bin)
    version, identity = gcc.version_text(), gcc.identity()
    path = cache_path("gcc-options") / f"{identity}-{_CACHE_VERSION}.json"
    options = _read_options(path)
    if options is None:
        options = _ask_compiler(gcc)
        _write_options(path, options)
    return GccSpec(gcc, version, options, identity)


def _ask_compiler(gcc: Gcc) -> list[Option]:
    def ask_help(*words: str) -> str:
        return gcc.answer(*words).stdout.decode(errors="replace")

    optimizers = gcc.answer("--help=optimizers")
    text = optimizers.stdout.decode(errors="replace")
    options = read_optimizers(text, ask_help("-Q", "--help=optimizers"))
    if not any(isinstance(option, GccOOption) for option in options):
        raise EnvironmentNotSupported(
            f"{gcc.bin} --help=optimizers lists no options, so it does not seem to be GCC "
            f"(status {optimizers.returncode}: {read_first_lines(optimizers)})"
        )
    options += read_params(ask_help("--help=params"), ask_help("-Q", "--help=params"))
    words = list_refused_settings(options)
    result = gcc.answer("-###", *words, "-x", "c", "-c", "/dev/null")
    return without_refused(options, result.stderr.decode(errors="replace"))


def _read_options(path: Path) -> list[Option] | None:
    try:
        rows = json.loads(path.read_bytes())
        return [_option(*row) for row in rows] or None
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _option(kind: str, *fields: object) -> Option:
    values = [tuple(cast("list[str]", f)) if isinstance(f, list) else f for f in fields]
    if kind not in kinds.__all__:
        raise ValueError(f"no kind of option {kind!r}")
    return getattr(kinds, kind)(*values)


def _write_options(path: Path, options: list[Option]) -> None:
    rows = [[type(option).__name__, *astuple(option)] for option in options]  # type: ignore[call-overload]  # every kind is a dataclass
    keep(path, json.dumps(rows).encode())
