# SPDX-License-Identifier: MIT
"""Read command lines of gcc and clang: the program that a command builds, and the options.

A command is split into parts that can be reassembled for another compiler. Nothing is run here.
Commands that produce no code, such as ``-E``, have the mode ``NOTHING``.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from compiler_gym.builds.watch import expand_response_files
from compiler_gym.errors import BenchmarkInitError

SET_APART = (
    "-fsanitize",
    "-fprofile",
    "-fcs-",
    "-fcoverage",
    "--coverage$",
    "-coverage$",
    "-ftest-coverage",
    "-fcreate-profile",
    "-fauto-profile",
    "-fmemory-profile",
    "-finstrument",
    "-fxray",
    "-pg$",
    "-p$",
    "--profile$",
    "-mfentry$",
    "-fwhole-program-vtables",
    "-fvirtual-function-elimination",
    "-fthinlto-index",
    "--offload",
    "-fopenmp-targets",
    "-m32$",
    "-mx32$",
    "-m16$",
)
"""Prefixes of flags that need special passes or another machine, so that passes must not be
changed. A trailing $ marks an exact flag. The compiled driver reads this list, too."""

IR_SUFFIXES = (".bc", ".ll")
"""Suffixes of IR files."""
RUST_OBJECT = ".rcgu.o"
"""The suffix of the objects that rustc writes. The compiled driver knows it, too."""
SOURCE_LANGUAGES = {
    ".c": "c",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
    ".C": "c++",
    ".c++": "c++",
    ".i": "cpp-output",
    ".ii": "c++-cpp-output",
}
"""The language of a source file by its suffix, as a value of clang's ``-x``."""


class Mode(Enum):
    """The kind of output of a command."""

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
    """The name in the command."""
    language: str | None = None
    """The value of ``-x``; None derives it from the name."""


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
    """The command line, with response files expanded."""
    cwd: Path
    """The working directory."""
    mode: Mode
    """The kind of output."""
    sources: tuple[Source, ...]
    """The files to compile."""
    objects: tuple[str, ...]
    """The files to link without compiling them."""
    flags: tuple[str, ...]
    """Flags for the front end and the code generator."""
    link_flags: tuple[str, ...]
    """Flags for the linker only."""
    link_words: tuple[str, ...]
    """Objects and link flags in the order of the command, which matters to a linker."""
    headers: tuple[str, ...]
    """Headers to precompile."""
    assembly: tuple[str, ...]
    """The objects that are assembly, which has no IR."""
    output: str | None
    """The value of ``-o``."""
    level: str
    """The last ``-O`` option."""
    emits_ir: bool = False
    """True if it emits bitcode or IR instead of objects or assembly."""
    debug: tuple[str, ...] = ()
    """The flags for debug information of a rerun; the original ones are dropped."""

    @property
    def is_set_apart(self) -> bool:
        """True if it uses special passes of the compiler: see `SET_APART`.

        >>> CompilerCommand.parse(["cc", "-fsanitize=address", "a.c"]).is_set_apart
        True
        """
        return any(map(is_listed, self.words))

    @classmethod
    def parse(cls, words: Sequence[str], cwd: str | Path | None = None) -> "CompilerCommand":
        """Return the command whose first word is the compiler, run in `cwd`."""
        directory = Path(cwd or ".").absolute()
        expanded = tuple(_without_launcher(expand_response_files([*words], str(directory))))
        if not expanded:
            raise BenchmarkInitError("the compiler command is empty")
        parts = _Parts()
        parts.take(expanded[1:])
        return cls(
            words=expanded,
            cwd=directory,
            mode=parts.mode if parts.sources or parts.objects else Mode.NOTHING,
            sources=tuple(parts.sources),
            objects=tuple(parts.objects),
            flags=tuple(parts.flags),
            link_flags=tuple(parts.link_flags),
            link_words=tuple(parts.link_words),
            headers=tuple(parts.headers),
            assembly=tuple(parts.assembly),
            output=parts.output,
            level=parts.level,
            emits_ir=parts.emits_ir,
        )

    @classmethod
    def from_text(cls, text: str, cwd: str | Path | None = None) -> "CompilerCommand":
        """Return the command in `text`, read like a shell does."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise BenchmarkInitError(f"cannot read the command: {error}: {text}") from error
        operators = [word for word in words if word in _SHELL]
        if operators:
            raise BenchmarkInitError(f"use a single command, without {operators[0]!r}: {text}")
        return cls.parse(words, cwd)

    @property
    def is_cxx(self) -> bool:
        """True if the driver or a source is C++."""
        name = Path(self.words[0]).name
        languages = (s.language or SOURCE_LANGUAGES.get(Path(s.name).suffix) for s in self.sources)
        return "++" in name or any((language or "").startswith("c++") for language in languages)

    def find_output(self, source: Source) -> Path:
        """Return the output file for `source`, or for all sources together."""
        if self.output is not None:
            return self.cwd / self.output
        if self.mode is Mode.PROGRAM:
            return self.cwd / "a.out"
        plain, llvm = (".o", ".bc") if self.mode is Mode.OBJECT else (".s", ".ll")
        return self.cwd / (Path(source.name).stem + (llvm if self.emits_ir else plain))

    def arguments(self, source: Source) -> tuple[str, ...]:
        """Return the arguments for a front end in `cwd` that compile `source` like this command."""
        name = source.name
        if os.path.isabs(name):
            # The name becomes part of the bitcode, which must not depend on the tree's location.
            name = os.path.relpath(name, self.cwd)
        name = _as_file(name)
        language = source.language or _detect_language(name, self.words[0])
        args = (*self.flags, *(("-x", language) if language else ()), name)
        if any(flag.startswith("-include") for flag in self.flags):
            # A precompiled header was made at the command's level, which differs from ours.
            args = ("-Xclang", "-fno-validate-pch", *args)
        return args

    def without_flags(self, unwanted: set[str]) -> "CompilerCommand":
        """Return the command without the given flags, which clang does not support."""
        return replace(self, flags=tuple(flag for flag in self.flags if flag not in unwanted))


class _Parts:
    """The parts of a command while its arguments are read one by one."""

    def __init__(self) -> None:
        self.mode = Mode.PROGRAM
        self.sources: list[Source] = []
        self.objects: list[str] = []
        self.headers: list[str] = []
        self.assembly: list[str] = []
        self.flags: list[str] = []
        self.link_flags: list[str] = []
        self.link_words: list[str] = []
        self.output: str | None = None
        self.level = "-O0"
        self.emits_ir = False
        self._language: str | None = None

    def take(self, words: Sequence[str]) -> None:
        """Add every argument to its part."""
        for argument in iterate_arguments(words):
            if argument.is_file:
                self._input(argument.word)
            else:
                self._option(argument.word, argument.value)

    def _option(self, word: str, value: str) -> None:
        mode = Mode.NOTHING if word.startswith(_PRINTING) else _MODES.get(word)
        if mode is not None:
            # The earliest phase wins, in any order of the flags.
            self.mode = min(self.mode, mode, key=_PHASES.index)
        elif word in _OUTPUT or (word.startswith("-o") and not word.startswith("-ob")):
            self.output = value or word[2:]
        elif word.startswith("-x"):
            language = value or word[2:]
            self._language = None if language == "none" else language
        elif word == "-emit-llvm":
            self.emits_ir = True
        elif word in _LINK_WITH_VALUE:
            self._link([word, value])
        elif word in _WITH_VALUE or word.startswith("-Xarch_"):
            self.flags += [word, value]
        elif _LEVEL.fullmatch(word):
            self.level = word
        elif word.startswith(_LINK_PREFIXES) or word in _LINK_WORDS:
            self._link([word])
        elif word not in _DROPPED_WITH_VALUE and not _DROPPED.match(word):
            self.flags.append(word)

    def _input(self, name: str) -> None:
        suffix = Path(name).suffix
        language = self._language
        if language is not None and language.startswith("assembler"):
            self._object(name, ["-x", language, name, "-x", "none"])
            self.assembly.append(name)
        elif suffix in _HEADERS or (language or "").endswith("-header"):
            self.headers.append(name)
        elif language is not None or suffix in (*SOURCE_LANGUAGES, *IR_SUFFIXES):
            self.sources.append(Source(name, language))
        else:
            self._object(_as_file(name), [_as_file(name)])
            if suffix in _ASSEMBLY:
                self.assembly.append(name)

    def _object(self, name: str, words: list[str]) -> None:
        self.objects.append(name)
        self.link_words += words

    def _link(self, words: list[str]) -> None:
        self.link_flags += words
        self.link_words += words


_PHASES = (Mode.NOTHING, Mode.ASSEMBLY, Mode.OBJECT, Mode.PROGRAM)
_MODES = {
    "-c": Mode.OBJECT,
    "-S": Mode.ASSEMBLY,
    "-E": Mode.NOTHING,
    "-M": Mode.NOTHING,
    "-MM": Mode.NOTHING,
    "-fsyntax-only": Mode.NOTHING,
    "--analyze": Mode.NOTHING,
    "--precompile": Mode.NOTHING,
    "-###": Mode.NOTHING,
}
_PRINTING = (
    "--version",
    "--help",
    "-dumpmachine",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpspecs",
    "-print-",
    "--print-",
)
_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".H", ".tcc"})
_ASSEMBLY = frozenset({".s", ".S", ".sx", ".asm"})
_SHELL = frozenset({"&&", "||", ";", "|", "&", ">", ">>", "<", "2>&1", "2>"})
_LEVEL = re.compile(r"-O([0-9sgz]|fast)?")
_DROPPED = re.compile(
    r"-M(D|MD|P|G|F.+|T.+|Q.+|V|J.+)$|-Wp,-M|-Wa,|-g|-flto|-save-temps|--save-temps"
    r"|-pipe$|-ftime-report|-fstack-usage$|-fdump-|-fdiagnostics-color|-Werror"
)
_DROPPED_WITH_VALUE = {
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-dumpbase",
    "-dumpdir",
    "-dumpbase-ext",
    "-aux-info",
    "-Xassembler",
    "-serialize-diagnostics",
    "-wrapper",
    "--serialize-diagnostics",
    "-dependency-file",
}
_LINK_WITH_VALUE = {
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-Xlinker",
    "-rpath",
    "-framework",
    "-h",
    "-soname",
    "-Ttext",
    "-Tdata",
    "-Tbss",
    "--library-directory",
}
_LINK_PREFIXES = (
    "-l",
    "-L",
    "-Wl,",
    "-T",
    "-static",
    "-rdynamic",
    "-fuse-ld",
    "-nostart",
    "-nodefaultlibs",
    "-nostdlib",
    "-shared",
)
_LINK_WORDS = {"-pie", "-no-pie", "-s", "-r"}
_WITH_VALUE = {
    "-I",
    "-D",
    "-U",
    "-F",
    "-G",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-isystem-after",
    "-isysroot",
    "-iframework",
    "-imultilib",
    "--sysroot",
    "-target",
    "-arch",
    "-B",
    "-Xclang",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-Xopenmp-target",
    "-mllvm",
    "--param",
    "-A",
    "-ivfsoverlay",
    "-vfsoverlay",
    "-include-pch",
    "-working-directory",
    "-resource-dir",
    "-mthread-model",
    "-meabi",
    "--config",
    "--include",
    "--include-directory",
    "--define-macro",
    "--undefine-macro",
}
_OUTPUT = {"-o", "--output"}
_ALL_WITH_VALUE = {"-x", *_OUTPUT, *_DROPPED_WITH_VALUE, *_LINK_WITH_VALUE, *_WITH_VALUE}
_LAUNCHERS = {"ccache", "distcc", "sccache", "env", "libtool", "icecc"}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Argument(NamedTuple):
    """One argument of a command, with the value in the next argument."""

    at: int
    """The position of `word`."""
    word: str
    value: str = ""
    has_value: bool = False
    is_file: bool = False
    """True if it is the name of an input."""


def iterate_arguments(words: Sequence[str]) -> Iterator[Argument]:
    """Yield the arguments in `words`, which do not include the compiler.

    >>> [argument.word for argument in iterate_arguments(["-o", "x", "a.o", "--", "-b.o"])]
    ['-o', 'a.o', '-b.o']
    """
    rest = enumerate(words)
    for at, word in rest:
        if word == "--":
            yield from (Argument(at, name, is_file=True) for at, name in rest)
        elif word == "-" or not word.startswith("-"):
            yield Argument(at, word, is_file=True)
        elif not (word in _ALL_WITH_VALUE or word.startswith("-Xarch_")):
            yield Argument(at, word)
        elif at + 1 < len(words):
            yield Argument(at, word, next(rest)[1], has_value=True)
        else:
            raise BenchmarkInitError(f"{word} needs a value, but the command ends after it")


def is_listed(word: str, flags: tuple[str, ...] = SET_APART) -> bool:
    """Return whether `word` is one of `flags`, which are written as in `SET_APART`.

    >>> [is_listed(word) for word in ("-coverage", "-Xclang=-fsanitize=address", "-pthread")]
    [True, True, False]
    """
    flag = word.removeprefix("-Xclang=")
    return flag.startswith(flags) or f"{flag}$" in flags


def _as_file(name: str) -> str:
    """Return `name` as an argument that cannot be mistaken for an option."""
    return f"./{name}" if name.startswith("-") and name != "-" else name


def _without_launcher(words: list[str]) -> list[str]:
    while len(words) > 1 and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    while len(words) > 1 and Path(words[0]).name in _LAUNCHERS:
        words = words[1:]
        while words and ("=" in words[0] or words[0].startswith("--")):
            words = words[1:]
    return words


def _detect_language(name: str, driver: str) -> str | None:
    suffix = Path(name).suffix
    if suffix in IR_SUFFIXES:
        return "ir"
    language = SOURCE_LANGUAGES.get(suffix)
    return (
        "c++"
        if language == "c" and Path(driver).name.rstrip("-.0123456789").endswith("++")
        else language
    )
