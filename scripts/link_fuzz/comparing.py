# SPDX-License-Identifier: MIT
"""Compare our link with clang's two, and find the fewest arguments with which they differ."""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.link_fuzz.cases import Case
from scripts.link_fuzz.linking import Compiler, Linked, link

__all__ = ["CLANG", "Difference", "Verdict", "judge", "shrink"]

CLANG: Mapping[str, Compiler] = {
    "-O2": Compiler(
        ("clang-22", "-O2", "-fuse-ld=lld"),
        ("clang++-22", "-O2", "-fuse-ld=lld"),
        ("-fno-lto",),
    ),
    "-Oz -flto": Compiler(
        ("clang-22", "-Oz", "-flto", "-fuse-ld=lld"),
        ("clang++-22", "-Oz", "-flto", "-fuse-ld=lld"),
    ),
}
_HARMLESS = ("--strip", "--set-section", "--remove-section")
_GNU = Compiler(("clang-22", "-O2"), ("clang++-22", "-O2"), ("-fno-lto",))
"""The opinion of clang's usual linker, asked where we differ from both of the others."""
_STRIPPED = frozenset({"section .symtab", "section .debug_info", "section .gdb_index"})


@dataclass(frozen=True, slots=True)
class Difference:
    """A property that our link shares with neither of clang's."""

    kind: str
    detail: str
    is_ours: bool = True  # False: clang -flto has it, too


@dataclass(frozen=True, slots=True)
class Verdict:
    """The differences of a case, if any, and the notes that our compiler printed."""

    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    status: int | None

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of the differences that are ours."""
        return frozenset(each.kind for each in self.differences if each.is_ours)


def judge(
    case: Case, ours: Compiler, pools: Mapping[str, Path], keep: Path | None = None
) -> Verdict:
    """Link `case` with `ours` and with clang, from the objects in `pools`, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = keep or Path(folder)

        def linked(name: str, compiler: Compiler, pool: str) -> Linked:
            (scratch / name).mkdir(parents=True)
            return link(case, compiler, pools[pool], scratch / name)

        mine = linked("ours", ours, "ours")
        native, whole = (linked(name, compiler, name) for name, compiler in CLANG.items())
        # A script, or an edit of machine code, has no meaning for bitcode.
        references = (
            [native] if case.is_placed or _is_edited(case, native, whole) else [native, whole]
        )
        is_stripped = "--recipe" in case.way
        differences = tuple(_differences(mine, references, is_stripped=is_stripped))
        if any(each.is_ours for each in differences):
            references.append(linked("GNU ld", _GNU, "-O2"))
            differences = tuple(_differences(mine, references, is_stripped=is_stripped))
    return Verdict(differences, mine.notes, native.status)


def _is_edited(case: Case, native: Linked, whole: Linked) -> bool:
    """Return True if a command fails for bitcode alone that would change the program."""
    steps = zip(case.steps, native.steps, whole.steps, strict=True)
    failed = [step for step, status, of_bitcode in steps if status != of_bitcode]
    return any(step[0] != "strip" and not step[1].startswith(_HARMLESS) for step in failed)


def _differences(
    mine: Linked, references: Sequence[Linked], *, is_stripped: bool
) -> Iterator[Difference]:
    native = references[0]
    if any("Traceback" in line for line in (*mine.lines, *mine.notes)):
        yield Difference("traceback", " / ".join(mine.lines[-2:]))
    if mine.steps != native.steps:
        yield Difference("preparation", f"{mine.steps}, not {native.steps}")
    yield from _one_of("status", [str(each.status) for each in (mine, *references)])
    yield from _messages(mine, references)
    yield from _sets("files left", [each.files for each in (mine, *references)])
    alike = [each for each in references if each.status == mine.status]
    if mine.status:
        yield from _one_of("output of failure", [each.mode for each in (mine, *alike)])
    elif alike:
        facts = mine.facts | (alike[0].facts & _STRIPPED if is_stripped else frozenset())
        yield from _one_of("mode", [each.mode for each in (mine, *alike)])
        yield from _sets("headers", [facts, *(each.facts for each in alike)])
        yield from _sets("dynamic symbols", [_steady(each.symbols) for each in (mine, *alike)])
        yield from _sets("members", [each.marks for each in (mine, *alike)])
        yield from _one_of("program", [each.ran for each in (mine, *alike)])
        yield from _sets("traced files", [_counted(each.loaded) for each in (mine, *alike)])


def _one_of(kind: str, values: Sequence[str]) -> Iterator[Difference]:
    """Compare the first of `values` with the others, of which one has to be the same."""
    mine, *others = values
    if others and mine not in others:
        kind += ", where clang's differ" if len(set(others)) > 1 else ""
        yield Difference(kind, f"{mine!r}; clang: {'; '.join(map(repr, dict.fromkeys(others)))}")
    elif others and mine != others[0]:
        yield Difference(kind, f"{mine!r}; clang: {others[0]!r}", is_ours=False)


def _sets(kind: str, values: Sequence[frozenset[str]]) -> Iterator[Difference]:
    """Compare each element of the first of `values` for itself: clang's may each lack others."""
    mine, *others = values
    wrong = [f"+{each}" for each in sorted(mine.difference(*others))]
    wrong += [f"-{each}" for each in sorted(frozenset.intersection(*others) - mine)]
    if wrong:
        yield Difference(kind, " ".join(wrong)[:400])
    elif mine != others[0]:
        yield Difference(kind, " ".join(sorted(mine ^ others[0]))[:400], is_ours=False)


def _messages(mine: Linked, references: Sequence[Linked]) -> Iterator[Difference]:
    for word in ("error:", "warning:"):
        new = mine.problems(word).difference(*(each.problems(word) for each in references))
        if new:
            yield Difference(f"new {word[:-1]}", " / ".join(sorted(new))[:400])
    wanted = references[0].problems("error:")
    if mine.status and references[0].status and wanted and not mine.problems("error:"):
        yield Difference("no error", " / ".join(sorted(wanted))[:400])


def _steady(symbols: frozenset[str]) -> frozenset[str]:
    """Return `symbols` without inline functions and parts of libc: each level differs."""
    return frozenset(each for each in symbols if not re.match(r"WEAK \w+ _Z|\w+ \w+ __", each))


def _counted(loaded: Mapping[str, int]) -> frozenset[str]:
    """Return the files that --trace lists, each with its count."""
    return frozenset(f"{name} x{count}" for name, count in loaded.items())


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return `case` without all that it does not need to fail."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for at in reversed(range(len(case.drops()))):
            drops = case.drops()
            if at < len(drops) and drops[at] != case and fails(drops[at]):
                case, is_smaller = drops[at], True
    return case
