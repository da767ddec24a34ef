# SPDX-License-Identifier: MIT
"""Compare our link with clang's two, and find the fewest arguments with which they differ."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import filterfalse
from pathlib import Path

from scripts.link_fuzz.cases import Case
from scripts.link_fuzz.linking import Compiler, Linked, link

__all__ = ["CLANG", "Difference", "Verdict", "judge", "shrink"]

CLANG: Mapping[str, Compiler] = {
    "-O2": Compiler(
        ("clang-22", "-O2", "-fuse-ld=lld"),
        ("clang++-22", "-O2", "-fuse-ld=lld"),
    ),
    "-Oz -flto": Compiler(
        ("clang-22", "-Oz", "-flto", "-fuse-ld=lld"),
        ("clang++-22", "-Oz", "-flto", "-fuse-ld=lld"),
    ),
}
_STRIPPED = ("section .symtab", "section .debug_info", "section .gdb_index")


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
    case: Case, ours: Compiler, pools: Mapping[str, Path], scratch: Path | None = None
) -> Verdict:
    """Link `case` with `ours` and with clang, from the objects in `pools`, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        results = {
            name: link(case, compiler, pools[name], _made((scratch or Path(folder)) / name))
            for name, compiler in (("ours", ours), *CLANG.items())
        }
    mine, native, whole = results["ours"], results["-O2"], results["-Oz -flto"]
    if case.is_placed or whole.steps != native.steps:
        whole = native  # A script or an edit that takes machine code says nothing of bitcode.
    found = tuple(_differences(mine, native, whole, is_stripped="recipe" in "".join(case.way)))
    return Verdict(found, mine.notes, native.status)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _differences(
    mine: Linked, native: Linked, whole: Linked, *, is_stripped: bool
) -> Iterator[Difference]:
    if any("Traceback" in line for line in (*mine.lines, *mine.notes)):
        yield Difference("traceback", " / ".join(mine.lines[-2:]))
    if mine.steps != native.steps:
        yield Difference("preparation", f"{mine.steps}, not {native.steps}")
    yield from _one_of("status", str(mine.status), str(native.status), str(whole.status))
    yield from _messages(mine, native, whole)
    yield from _sets("files left", mine.files, native.files, whole.files)
    if mine.status == 0 and 0 in (native.status, whole.status):
        native = native if native.status == 0 else whole
        whole = whole if whole.status == 0 else native
        yield from _one_of("mode", mine.mode, native.mode, whole.mode)
        facts = mine.facts | (native.facts & frozenset(_STRIPPED) if is_stripped else frozenset())
        yield from _sets("headers", facts, native.facts, whole.facts)
        symbols = (
            frozenset(filterfalse(_is_vague, each.symbols)) for each in (mine, native, whole)
        )
        yield from _sets("dynamic symbols", *symbols)
        yield from _sets("members", mine.marks, native.marks, whole.marks)
        yield from _one_of("program", mine.ran, native.ran, whole.ran)
        yield from _sets("traced files", *(_counted(each) for each in (mine, native, whole)))
    elif mine.status:
        yield from _one_of("output of failure", mine.mode, native.mode, whole.mode)


def _one_of(kind: str, mine: str, native: str, whole: str) -> Iterator[Difference]:
    if mine not in (native, whole):
        if native == whole:
            yield Difference(kind, f"{mine!r}; clang: {native!r}")
        else:
            detail = f"{mine!r}; clang: {native!r}; -flto: {whole!r}"
            yield Difference(f"{kind}, where clang's two differ", detail)
    elif mine != native:
        yield Difference(kind, f"{mine!r}; clang: {native!r}", is_ours=False)


def _sets(
    kind: str, mine: frozenset[str], native: frozenset[str], whole: frozenset[str]
) -> Iterator[Difference]:
    """Compare each element for itself: clang's two links may each lack others."""
    wrong = [f"+{each}" for each in sorted(mine - native - whole)]
    wrong += [f"-{each}" for each in sorted((native & whole) - mine)]
    if wrong:
        yield Difference(kind, " ".join(wrong)[:400])
    elif mine != native and mine - native == whole - native and native - mine == native - whole:
        yield Difference(kind, " ".join(sorted(mine ^ native))[:400], is_ours=False)


def _messages(mine: Linked, native: Linked, whole: Linked) -> Iterator[Difference]:
    for word in ("error:", "warning:"):
        new = mine.problems(word) - native.problems(word) - whole.problems(word)
        if new:
            yield Difference(f"new {word[:-1]}", " / ".join(sorted(new))[:400])
    wanted = native.problems("error:")
    if mine.status and native.status and wanted and not mine.problems("error:"):
        yield Difference("no error", " / ".join(sorted(wanted))[:400])


def _is_vague(symbol: str) -> bool:
    """Return True for an inline function, which each level of optimisation needs others of."""
    return symbol.startswith("WEAK DEFAULT _Z")


def _counted(linked: Linked) -> frozenset[str]:
    """Return the files that --trace lists, the second time under another name."""
    counts = Counter(linked.loaded)
    return frozenset(f"{name} x{count}" for name, count in counts.items())


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
