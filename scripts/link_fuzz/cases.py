# SPDX-License-Identifier: MIT
"""Random link commands: objects made and edited in every way, and options in every spelling."""

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.link_fuzz.units import COUNT, Pool

__all__ = ["Case", "make_case"]

Words = tuple[str, ...]

_OPTIONS = tomllib.loads((Path(__file__).parent / "options.toml").read_text())
_OUTPUTS = (
    "out|sub/out|with space|comma,name|testfile|conftest|Map/out|a.out|CMakeFiles/cmTC_1|out.so"
    "|-dash|sub/with space/o"
).split("|")
_KINDS = {
    "program": 12,
    "shared": 4,
    "static": 2,
    "static-pie": 1,
    "no-pie": 2,
    "pie": 1,
    "part": 2,
}
_SHARED = (
    ("-L.", "-ldyn"),
    ("libdyn.so",),
    ("-L.", "-l:libdyn.so"),
    ("-L.", "-Wl,-Bstatic", "-ldyn", "-Wl,-Bdynamic"),
)
_KIND_WORDS = {"program": (), "part": ("-r",)}
_INSERTED = (
    "SECTIONS { .mine : { mine_start = .; *uN.o(.data .data.*) *uN.o(.rodata .rodata.*)"
    " mine_end = .; } } INSERT AFTER .data;\n"
)


@dataclass(frozen=True, slots=True)
class Case:
    """A link: commands and files that come before it, and its arguments in pieces."""

    seed: int
    kind: str
    is_cxx: bool
    steps: tuple[Words, ...]
    chunks: tuple[Words, ...]
    files: Mapping[str, str]
    output: str
    before: str  # at the output's path before the link: "", "file" or "link"
    temporary: str
    umask: int
    way: Words

    @property
    def is_placed(self) -> bool:
        """True if a script places sections by the name of an object, which -flto does without."""
        packed = [text for name, text in self.files.items() if name.endswith(".rsp")]
        return any(".ld" in text for text in (*packed, *self.arguments))

    @property
    def arguments(self) -> list[str]:
        """Return what follows the compiler."""
        return [word for chunk in self.chunks for word in chunk]

    def drops(self) -> list["Case"]:
        """Return this case without each of its steps and pieces, one at a time."""
        fewer = [replace(self, chunks=_without(self.chunks, at)) for at in range(len(self.chunks))]
        fewer += [replace(self, steps=_without(self.steps, at)) for at in range(len(self.steps))]
        return [*fewer, replace(self, before="", temporary="tmp", umask=0o022)]


def _without(rows: tuple[Words, ...], at: int) -> tuple[Words, ...]:
    return (*rows[:at], *rows[at + 1 :])


def make_case(seed: int, pool: Pool, way: Words) -> Case:
    """Return the command of `seed` with units of `pool`."""
    rng = random.Random(f"case {seed}")
    kind = rng.choices(list(_KINDS), list(_KINDS.values()))[0]
    maker = _Maker(rng, pool, kind)
    units = maker.pick_units()
    chunks = maker.place(units)
    maker.add_files()
    for _ in range(rng.choice((0, 0, 1, 1, 2, 2, 3, 4, 5))):
        chunks.insert(rng.randint(0, len(chunks)), maker.option())
    if any(unit in chunk for unit in units for chunk in chunks):
        chunks.insert(0, pool.options)
    chunks.insert(rng.randint(0, len(chunks)), _KIND_WORDS.get(kind, (f"-{kind}",)))
    output = rng.choice(_OUTPUTS) if rng.random() < 0.5 else "out"
    if output != "a.out":
        form = rng.choice(
            (("-o", output), ("-o", output), ("-o" + output,), ("--output=" + output,))
        )
        chunks.insert(rng.randint(0, len(chunks)), form)
    while rng.random() < 0.2:
        chunks = maker.pack(chunks)
    return Case(
        seed, kind, maker.is_cxx, tuple(maker.steps), tuple(chunk for chunk in chunks if chunk),
        maker.files, output, rng.choice(("", "", "", "", "file", "link")),
        rng.choice(("tmp", "tmp", "tmp", "tmp with space", "tmp,comma")),
        rng.choice((0o022, 0o022, 0o077)), way,
    )  # fmt: skip


class _Maker:
    """The choices for one case, with the commands and files that they need."""

    def __init__(self, rng: random.Random, pool: Pool, kind: str) -> None:
        self.rng, self.pool, self.kind = rng, pool, kind
        self.steps: list[Words] = []
        self.files: dict[str, str] = {}
        self.is_cxx = False
        self.numbers: list[str] = []
        # GNU ld follows an archive's index for -r, and ar takes that from the IR before an edit.
        self.edits = 0.0 if kind == "part" else rng.choice((0.0, 0.0, 0.2))

    def pick_units(self) -> list[str]:
        """Return some sources and, mostly, all that they refer to."""
        rng, units = self.rng, self.pool.units
        picked = set(rng.sample(units, rng.randint(1, 6)))
        if rng.random() > 0.04:
            for unit in reversed(units):
                picked |= set(self.pool.needs[unit]) if unit in picked else set()
        self.is_cxx = any(unit.endswith("cpp") for unit in picked) and rng.random() > 0.01
        self.numbers = [unit[1:].partition(".")[0] for unit in sorted(picked)]
        picked |= {"own.c"} if rng.random() < 0.1 else set()
        result = sorted(picked)
        rng.shuffle(result)
        return [*result, "core.c"] if rng.random() < 0.5 else ["core.c", *result]

    def place(self, units: Sequence[str]) -> list[Words]:
        """Return the pieces of the command that name `units`: sources, objects and archives."""
        rng = self.rng
        chunks: list[Words] = [] if self.kind == "shared" else [("main.o",)]
        archives: dict[str, list[str]] = {}
        for unit in units:
            way = rng.choices(("object", "source", "archive"), (5, 1, 4))[0]
            if way == "archive":
                archives.setdefault(rng.choice(("a", "a", "b")), []).append(self._object(unit))
            elif way == "source":
                chunks.append(("-x", "c", unit, "-x", "none") if unit.endswith("c") else (unit,))
            else:
                chunks.append((self._object(unit),))
        if rng.random() < 0.1 and len(chunks) > 2 and all(c[0].endswith(".o") for c in chunks[-2:]):
            self.steps.append(("ld", "-r", *(c[0] for c in chunks[-2:]), "-o", "partial.o"))
            chunks[-2:] = [("partial.o",)]
        rng.shuffle(chunks)
        for name, members in archives.items():
            chunks += self._archive(name, members)
        if rng.random() < 0.15:
            chunks.append(rng.choice(_SHARED))
        if rng.random() < 0.03:
            chunks.append(chunks[0])
        return [*chunks, ("wrap.o",)] if rng.random() < 0.1 else chunks

    def _object(self, unit: str) -> str:
        """Return the name of the object of `unit`, edited or moved at times."""
        name, rng = unit.partition(".")[0] + ".o", self.rng
        if name[1].isdigit() and rng.random() < self.edits:
            tool = rng.choice(("objcopy", "objcopy", "llvm-objcopy-22"))
            edit = self._fill(rng.choice(_rows("edits")), name[1:-2])
            self.files[f"names_{name[1:-2]}.txt"] = (
                f"value_{name[1:-2]} value_{rng.randint(1, COUNT)}\n"
            )
            self.files["patch.bin"] = "patched"
            self.steps.append((tool, *edit, name))
        elif rng.random() < self.edits / 2:
            self.steps.append(("strip", "-g", name))
        if rng.random() < 0.05:
            moved = rng.choice(("sub/with space/", "sub/", "com,ma/")) + name
            self.steps.append(("cp", name, moved))
            return moved
        return name

    def _archive(self, name: str, members: list[str]) -> list[Words]:
        rng, path = self.rng, archive_path(self.rng, name)
        if rng.random() < 0.1:
            twin = "sub/" + members[0].rpartition("/")[2]
            other = self._object(rng.choice(self.pool.units))
            self.steps.append(("cp", other, twin))
            members = [*members, twin]
        flags = rng.choice(("rcs", "rcs", "qcs", "rcsT", "rcS"))
        tool = rng.choice(("ar", "ar", "llvm-ar-22"))
        self.steps.append((tool, flags, path, *members))
        named = self._named(path, name)
        if rng.random() < 0.3:
            return _whole(rng, named)
        form = rng.randrange(9)
        if form == 0:
            return [("-Wl,--start-group", *named, "-Wl,--end-group")]
        if form == 1:
            return [("-Wl,-(", *named, *named, "-Wl,-)")]
        if form == 2 and not any("," in member for member in members):
            return [("-Wl,--start-lib", *members, "-Wl,--end-lib")]
        if form == 3:
            return [named, named]
        if form == 4:
            self.files[f"lib{name}x.so"] = f'{rng.choice(("GROUP", "INPUT"))}("{path}")\n'
            return [(f"lib{name}x.so",)]
        return [named]

    def _named(self, path: str, name: str) -> Words:
        if "/" in path:
            return (path,)
        forms = ((path,), (path,), ("-L.", f"-l{name}"), ("-L.", f"-l:{path}"), (f"-Wl,{path}",))
        return self.rng.choice(forms)

    def option(self) -> Words:
        """Return an option of the linker or of the compiler, in some spelling."""
        if self.rng.random() < 0.25:
            return self._fill(self.rng.choice(_rows("compiler")))
        words = self._fill(self.rng.choice(_rows("linker")))
        return spell(self.rng, words)

    def _fill(self, words: Words, number: str = "") -> Words:
        if not number.isdigit():
            number = self.rng.choice(self.numbers) if self.rng.random() < 0.95 else "99"
        other = str(self.rng.randint(1, COUNT))
        return tuple(word.replace("_N", f"_{number}").replace("_R", f"_{other}") for word in words)

    def add_files(self) -> None:
        """Write the scripts and lists that options name."""
        numbers, number = self.numbers, self.rng.choice(self.numbers)
        exported = "; ".join(f"value_{each}" for each in numbers)
        self.files |= {
            "list.txt": f"{{ {exported}; pace; }};\n",
            "list2.txt": f"main\nvalue_{number}\n",
            "names.ver": f"{{ global: {exported}; local: *; }};\n",
            "nodes.ver": f"V1 {{ global: value_{number}; }}; V2 {{ global: value_*; }} V1;\n",
            "order.txt": "".join(f"value_{each}\n" for each in reversed(numbers)),
            "ins.ld": _INSERTED.replace("uN", f"u{number}"),
        }

    def pack(self, chunks: list[Words]) -> list[Words]:
        """Return `chunks` with some of them in a response file, which may name another one."""
        first = self.rng.randrange(len(chunks))
        last = self.rng.randint(first + 1, len(chunks))
        name = f"words{len(self.files)}.rsp"
        lines = [" ".join(quote(self.rng, word) for word in chunk) for chunk in chunks[first:last]]
        self.files[name] = self.rng.choice(("\n", " ", " \t\n")).join(lines)
        return [*chunks[:first], ("@" + name,), *chunks[last:]]


def archive_path(rng: random.Random, name: str) -> str:
    """Return where the archive `name` is made."""
    return rng.choice(
        (f"lib{name}.a", f"lib{name}.a", f"sub/lib{name}.a", f"sub/with space/{name}.a")
    )


def _rows(table: str) -> list[Words]:
    lines = _OPTIONS[table].splitlines()
    return [tuple(row.split()) for line in lines for row in line.split(" | ")]


def _whole(rng: random.Random, named: Words) -> list[Words]:
    """Return `named` between the options that load whole archives."""
    on, off = rng.choice(("--whole-archive", "-whole-archive")), "--no-whole-archive"
    joined = ",".join(word.removeprefix("-Wl,") for word in named)
    forms: tuple[Callable[[], Words], ...] = (
        lambda: (f"-Wl,{on}", *named, f"-Wl,{off}"),
        lambda: (f"-Wl,{on},-Bstatic", *named, f"-Wl,{off},-Bdynamic"),
        lambda: ("-Wl,--push-state", f"-Wl,{on}", *named, "-Wl,--pop-state"),
        lambda: (f"-Wl,--push-state,{on}", *named, "-Wl,--pop-state"),
        lambda: ("-Xlinker", on, *named, "-Xlinker", off),
        lambda: (f"-Wl,{on},{joined},{off}",),
        lambda: (f"-Wl,--push-state,{on},{joined},--pop-state",),
        lambda: ("-Wl,--push-state,--as-needed", f"-Wl,{on}", *named, "-Wl,--pop-state"),
        lambda: (f"-Wl,{on},--start-group", *named, f"-Wl,--end-group,{off}"),
    )
    return [rng.choice(forms)()]


def spell(rng: random.Random, words: Words) -> Words:
    """Return the linker's options as a compiler takes them."""
    if words[0].startswith("--") and words[0][2] not in "ol" and rng.random() < 0.2:
        words = (words[0][1:], *words[1:])
    form = rng.randrange(3)
    if form == 0:
        return tuple(each for word in words for each in ("-Xlinker", word))
    return (f"-Wl,{','.join(words)}",) if form == 1 else tuple(f"-Wl,{word}" for word in words)


def quote(rng: random.Random, word: str) -> str:
    """Return `word` as a response file holds it, in one of the ways that GNU tools read."""
    form = rng.randrange(4)
    if form == 0 and "'" not in word:
        return f"'{word}'"
    if form == 1:
        escaped = word.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return "".join(f"\\{c}" if c in " \t\\'\"" else c for c in word)
