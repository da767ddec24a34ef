# SPDX-License-Identifier: MIT
"""Read the command lines of gcc and clang: which program does one build, and how?

A command is taken apart and put together again for our clang. Nothing is run here,
and a command that makes no code, such as ``-E``, is said to make none.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from compiler_gym.envs.llvm._compile import (
    IR_SUFFIXES,
    SOURCE_LANGUAGES,
    ClangInvocation,
)
from compiler_gym.errors import BenchmarkInitError

__all__ = ["CompilerCommand", "Mode", "Source"]


class Mode(Enum):
    """What a command makes."""

    OBJECT = "object"
    """One object for each source: ``-c``."""
    ASSEMBLY = "assembly"
    """One assembly file for each source: ``-S``."""
    PROGRAM = "program"
    """A program or a shared library."""
    NOTHING = "nothing"
    """No code: preprocessed text, dependencies, a version."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a command."""

    name: str
    """As the command names it."""
    language: str | None = None
    """What ``-x`` says; None leaves it to the name."""


@dataclass(frozen=True, slots=True)
class CompilerCommand:
    """A command of gcc or clang, taken apart.

    >>> command = CompilerCommand.parse("gcc -O2 -DN=1 -MD a.c b.o -o run -lm".split())
    >>> [source.name for source in command.sources], command.objects, command.flags
    (['a.c'], ('b.o',), ('-DN=1',))
    >>> command.mode.value, command.output, command.link_flags
    ('program', 'run', ('-lm',))
    """

    words: tuple[str, ...]
    """The command as it was given, response files put in their places."""
    cwd: Path
    """Where it is run."""
    mode: Mode
    """What it makes."""
    sources: tuple[Source, ...]
    """What it compiles."""
    objects: tuple[str, ...]
    """What it links without compiling it."""
    flags: tuple[str, ...]
    """What the front end and the code generator need to know."""
    link_flags: tuple[str, ...]
    """What only the linker needs to know."""
    output: str | None
    """What ``-o`` says."""
    level: str
    """The last of its ``-O`` options."""

    @classmethod
    def parse(cls, words: Sequence[str], cwd: str | Path | None = None) -> "CompilerCommand":
        """Return the command whose first word is the compiler, run in `cwd`."""
        directory = Path(cwd or ".").absolute()
        expanded = tuple(_without_launcher(list(_expanded(words, directory))))
        if not expanded:
            raise BenchmarkInitError("expected a compiler command, found nothing")
        parts = _Parts(expanded[0])
        parts.take(expanded[1:])
        return cls(
            expanded,
            directory,
            parts.mode if parts.sources or parts.objects else Mode.NOTHING,
            tuple(parts.sources),
            tuple(parts.objects),
            tuple(parts.flags),
            tuple(parts.link_flags),
            parts.output,
            parts.level,
        )

    @classmethod
    def from_text(cls, text: str, cwd: str | Path | None = None) -> "CompilerCommand":
        """Return the command that a shell would read in `text`."""
        try:
            return cls.parse(shlex.split(text), cwd)
        except ValueError as error:
            raise BenchmarkInitError(f"no command: {error}: {text}") from error

    @property
    def is_cxx(self) -> bool:
        """Whether the driver or a source is C++."""
        name = Path(self.words[0]).name
        languages = (s.language or SOURCE_LANGUAGES.get(Path(s.name).suffix) for s in self.sources)
        return "++" in name or any((language or "").startswith("c++") for language in languages)

    def output_of(self, source: Source) -> Path:
        """Return the file that this command makes of `source`, or of everything."""
        if self.output is not None:
            return self.cwd / self.output
        if self.mode is Mode.PROGRAM:
            return self.cwd / "a.out"
        suffix = ".o" if self.mode is Mode.OBJECT else ".s"
        return self.cwd / (Path(source.name).stem + suffix)

    def invocation(
        self, source: Source, *, timeout: float = 600, driver: str | None = None
    ) -> ClangInvocation:
        """Return the run of clang, or of `driver`, that makes bitcode of `source`."""
        name = source.name
        if os.path.isabs(name):
            # The name is part of the bitcode, the place of the tree must not be.
            name = os.path.relpath(name, self.cwd)
        language = source.language or _language_of(name, self.words[0])
        args = (*self.flags, *(("-x", language) if language else ()), name)
        paths = (self.cwd / name,)
        return ClangInvocation(args, timeout=timeout, cwd=self.cwd, sources=paths, driver=driver)

    def without_flags(self, unwanted: set[str]) -> "CompilerCommand":
        """Return the command less the flags that clang does not know."""
        return replace(self, flags=tuple(flag for flag in self.flags if flag not in unwanted))


class _Parts:
    """What is known of a command while its words are read one by one."""

    def __init__(self, driver: str) -> None:
        self.mode = Mode.PROGRAM
        self.sources: list[Source] = []
        self.objects: list[str] = []
        self.flags: list[str] = []
        self.link_flags: list[str] = []
        self.output: str | None = None
        self.level = "-O0"
        self._language: str | None = None

    def take(self, words: Sequence[str]) -> None:
        """Sort every word into its place."""
        rest = iter(words)
        for word in rest:
            if word == "--":
                for name in rest:
                    self._input(name)
            elif word == "-" or not word.startswith("-"):
                self._input(word)
            else:
                self._option(word, rest)

    def _option(self, word: str, rest: Iterator[str]) -> None:
        if word in _MODES:
            self.mode = _MODES[word]
        elif word == "-o" or (word.startswith("-o") and not word.startswith("-ob")):
            self.output = word[2:] or next(rest, "")
        elif word == "-x" or word.startswith("-x"):
            language = word[2:] or next(rest, "none")
            self._language = None if language == "none" else language
        elif word in _DROPPED_WITH_VALUE:
            next(rest, None)
        elif word in _LINK_WITH_VALUE:
            self.link_flags += [word, next(rest, "")]
        elif word in _WITH_VALUE:
            self.flags += [word, next(rest, "")]
        elif _LEVEL.fullmatch(word):
            self.level = word
        elif word.startswith(_LINK_PREFIXES) or word in _LINK_WORDS:
            self.link_flags.append(word)
        elif not _DROPPED.match(word):
            self.flags.append(word)

    def _input(self, name: str) -> None:
        suffix = Path(name).suffix
        is_source = suffix in SOURCE_LANGUAGES or suffix in (".s", ".S", ".sx", ".ll")
        if self._language is not None or is_source:
            self.sources.append(Source(name, self._language))
        else:
            self.objects.append(name)


_MODES = {
    "-c": Mode.OBJECT,
    "-S": Mode.ASSEMBLY,
    "-E": Mode.NOTHING,
    "-M": Mode.NOTHING,
    "-MM": Mode.NOTHING,
    "-fsyntax-only": Mode.NOTHING,
    "--version": Mode.NOTHING,
}
_LEVEL = re.compile(r"-O([0-9sgz]|fast)?")
_DROPPED = re.compile(
    r"-M(D|MD|P|G|F.+|T.+|Q.+|V|J.+)$|-Wp,-M|-Wa,|-g|-flto|-save-temps|--save-temps|-emit-llvm$"
    r"|-pipe$|-ftime-report|-fstack-usage$|-fdump-|-fdiagnostics-color|-Werror"
)
_DROPPED_WITH_VALUE = {"-MF", "-MT", "-MQ", "-MJ", "-dumpbase", "-dumpdir", "-dumpbase-ext",
                       "-aux-info", "-Xassembler", "-serialize-diagnostics"}  # fmt: skip
_LINK_WITH_VALUE = {"-L", "-l", "-T", "-u", "-z", "-e", "-Xlinker", "-rpath", "-framework", "-h",
                    "-soname"}  # fmt: skip
_LINK_PREFIXES = ("-l", "-L", "-Wl,", "-T", "-static", "-rdynamic", "-fuse-ld", "-nostart",
                  "-nodefaultlibs", "-nostdlib", "-shared")  # fmt: skip
_LINK_WORDS = {"-pie", "-no-pie", "-s", "-r"}
_WITH_VALUE = {"-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
               "-iprefix", "-iwithprefix", "-isysroot", "--sysroot", "-target", "-arch", "-B",
               "-Xclang", "-Xpreprocessor", "-mllvm", "--param", "-A", "-ivfsoverlay"}  # fmt: skip
_LAUNCHERS = {"ccache", "distcc", "sccache", "env", "libtool", "icecc"}


def _without_launcher(words: list[str]) -> list[str]:
    while len(words) > 1 and Path(words[0]).name in _LAUNCHERS:
        words = words[1:]
        while words and ("=" in words[0] or words[0].startswith("--")):
            words = words[1:]
    return words


def _expanded(words: Sequence[str], cwd: Path, depth: int = 0) -> Iterator[str]:
    for word in words:
        if not word.startswith("@") or depth > 8:
            yield word
            continue
        try:
            text = (cwd / word[1:]).read_text(errors="surrogateescape")
        except OSError:
            yield word
            continue
        try:
            inner = shlex.split(text)
        except ValueError as error:
            raise BenchmarkInitError(f"cannot read the response file {word}: {error}") from error
        yield from _expanded(inner, cwd, depth + 1)


def _language_of(name: str, driver: str) -> str | None:
    suffix = Path(name).suffix
    if suffix in IR_SUFFIXES:
        return "ir"
    if suffix in (".s", ".S", ".sx"):
        raise BenchmarkInitError(f"{name} is assembly: expected C, C++ or IR")
    language = SOURCE_LANGUAGES.get(suffix)
    return "c++" if language == "c" and Path(driver).name.rstrip("-.0123456789").endswith("++") \
        else language  # fmt: skip
