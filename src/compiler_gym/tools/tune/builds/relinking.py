# SPDX-License-Identifier: MIT
"""Commands that compile the sources of a binary again and link them as its build did.

The arguments of the build's own link stay as they are, in their order; ours come before and after
them. Only files are exchanged: an archive for a new one with the same members. A driver represents
one compiler with additional flags. It drops those flags of the build that a plan decides.
"""

import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.builds import is_listed, is_thin_archive, iterate_arguments
from compiler_gym.errors import ProjectError
from compiler_gym.sandbox import Printed, build_variables
from compiler_gym.tools.tune.builds.binaries import Binary, Input, Place, Unit

_LITTLE = 1 << 20
"""Free space in bytes below which a full disk may be the cause of a failure."""
_SECONDS = 1800.0
_SHOWN = 3000
_FOR_LINKER = "-Wl,"
"""The prefix of flags that only the linker reads."""
_EMPTY = "empty.a"
"""An archive without members, instead of an object that another one contains."""


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

    def compile_words(self, unit: Unit, flags: Sequence[str], output: Path) -> list[str]:
        """Return the command that compiles `unit`, with `flags` after its own flags."""
        *own_flags, source = unit.command.arguments(unit.source)
        own_flags = [word for word in own_flags if not is_listed(word, self.left_out)]
        words = [*self.c, *self.quiet, *own_flags, *flags, *unit.command.debug]
        return [*words, "-c", source, "-o", str(output)]

    def link_words(
        self, binary: Binary, exchange: "Exchange", flags: Sequence[str], output: Path
    ) -> list[str]:
        """Return the command that links `binary` to `output`, with the files of `exchange`.

        The build's own linker flags come after ours, because the last of two equal options counts.
        """
        ours = [*self.linker, *flags]
        linker_flags = [flag for flag in ours if flag.startswith(_FOR_LINKER)]
        words = [*(self.cxx if binary.is_cxx else self.c), *self.quiet, *linker_flags]
        words += [*exchange.before, *self._exchange_words(binary, exchange.files)]
        other_flags = [flag for flag in ours if flag not in linker_flags]
        stripped = ("-Wl,--strip-all",) if not binary.command.debug else ()
        return [*words, *other_flags, *stripped, "-o", str(output)]

    def _exchange_words(
        self, binary: Binary, files: Mapping[Place, Sequence[str]]
    ) -> Iterator[str]:
        """Yield the arguments of the build's link with `files` instead of those at their places."""
        languages = {source.name: source.language for source in binary.command.sources}
        for argument in iterate_arguments(binary.command.words[1:]):
            at, word = (argument.at + 1, 0), argument.word
            if argument.is_file:
                names = files.get(at, [f"./{word}" if word.startswith("-") else word])
                language = languages.get(word) if at in files else None
                yield from ("-x", "none", *names, "-x", language) if language else names
            elif is_listed(argument.value if word == "-Xclang" else word, self.left_out):
                continue
            elif word.startswith(_FOR_LINKER):
                parts = enumerate(word.split(",")[1:])
                texts = [text for n, part in parts for text in files.get((at[0], n), [part])]
                joined = ",".join(["-Wl", *texts])
                is_plain = joined.count(",") == len(texts)
                yield from [joined] if is_plain else [w for t in texts for w in ("-Xlinker", t)]
            elif argument.has_value:
                for text in files.get((at[0] + 1, 0), [argument.value]):
                    yield from (word, text)
            else:
                yield word


@dataclass(frozen=True, slots=True)
class Step:
    """One command and its working directory."""

    words: Sequence[str]
    cwd: Path

    def run(self) -> str:
        """Run the command and return its output; raise `ProjectError` if it fails."""
        return run_command(self.words, self.cwd)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The files to link instead of those of a build."""

    steps: tuple[Step, ...] = ()
    """The commands that make the new archives."""
    before: tuple[str, ...] = ()
    """The arguments in front of those of the build."""
    files: Mapping[Place, Sequence[str]] = field(default_factory=dict[Place, Sequence[str]])
    """The new files, by the place of the old one in the command."""
    linked: Mapping[Unit, str] = field(default_factory=dict[Unit, str])
    """The name that the linker prints for the object of each source."""


def name_objects(binary: Binary, folder: Path) -> dict[Unit, Path]:
    """Return a path in `folder` for the object of each source, named like the archive's member."""
    names = {unit: f"{unit.path.stem}.o" for unit in binary.units}
    for input in binary.inputs:
        for name, number in input.members:
            if number is not None:
                names[input.units[number]] = Path(name).name
    return {unit: folder / str(at) / names[unit] for at, unit in enumerate(binary.units)}


def exchange_files(
    binary: Binary,
    objects: Mapping[Unit, Path | None],
    folder: Path,
    *,
    archiver: str = "ar",
    program: Path | None = None,
) -> Exchange:
    """Return the files to link in `binary` with `objects` instead of those of its sources.

    An object of None is left out, because the object `program` contains it; other sources that are
    not in `objects` keep the object of the build. New archives are written in `folder`.
    """
    steps, before = list[Step](), list[str]()
    files, linked = dict[Place, Sequence[str]](), dict[Unit, str]()
    archives = dict[Path, Path]()
    for input in binary.inputs:
        if not input.members and input.units and objects.keys() >= set(input.units):
            paths = dict.fromkeys(objects[unit] for unit in input.units)
            names = [str(path) for path in paths if path is not None]
            linked |= {unit: str(objects[unit]) for unit in input.units}
            if not names and program is not None:
                names, program = [str(program)], None
            files[input.at] = names or [str(folder / _EMPTY)]
        elif input.members and not objects.keys().isdisjoint(input.units):
            path = folder / str(len(archives)) / input.path.name
            if input.path not in archives:
                archives[input.path] = path
                steps += _make_archive(input, objects, path, archiver)
                linked |= {
                    input.units[number]: f"{path}({Path(name).name})"
                    for name, number in input.members
                    if number is not None
                }
            path = archives[input.path]
            if input.is_library:
                before.append(f"-L{path.parent}")
            else:
                files[input.at] = [str(path)]
    if [str(folder / _EMPTY)] in files.values():
        steps += _archive_steps(folder / _EMPTY, (), archiver)
    first = [] if program is None else [str(program)]
    return Exchange(tuple(steps), tuple(dict.fromkeys([*first, *before])), files, linked)


def _make_archive(
    input: Input, objects: Mapping[Unit, Path | None], path: Path, archiver: str
) -> Iterator[Step]:
    """Yield the commands that make an archive with the members of `input`, in their order."""
    folder, is_thin = path.parent, is_thin_archive(input.path)
    counts, members = Counter[str](), list[str]()
    own, renamed = dict[int, list[str]](), dict[Path, Path]()
    for full_name, number in input.members:
        name = Path(full_name).name
        counts[name] += 1
        member = folder / str(counts[name]) / name
        if number is None or input.units[number] not in objects:
            if is_thin:
                member = input.path.parent / full_name
            else:
                own.setdefault(counts[name], []).append(name)
        elif (made := objects[input.units[number]]) is None:
            continue
        elif made.name == name:
            member = made
        else:
            renamed[member] = made
        members.append(str(member))
    folders = {str(folder / str(count)) for count in own} | {str(p.parent) for p in renamed}
    if folders:
        yield Step(["mkdir", "-p", *sorted(folders)], input.path.parent)
    for count, names in own.items():
        words = [archiver, "xN", str(count), str(input.path), *names]
        yield Step(words, folder / str(count))
    for member, made in renamed.items():
        yield Step(["ln", "-sf", str(made), str(member)], input.path.parent)
    yield from _archive_steps(path, members, archiver)


def _archive_steps(path: Path, members: Sequence[str], archiver: str) -> Iterator[Step]:
    yield Step(["mkdir", "-p", str(path.parent)], Path("/"))
    yield Step(["rm", "-f", str(path)], Path("/"))
    yield Step([archiver, "qcsD", str(path), *members], Path("/"))


def run_command(words: Sequence[str], cwd: Path) -> str:
    """Run one command of a build and return its output; raise `ProjectError` if it fails."""
    try:
        result = subprocess.run(
            words,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env=build_variables(),
            start_new_session=True,  # Ctrl-C must only reach the search
        )
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
    return result.stdout.decode(errors="surrogateescape")
