# SPDX-License-Identifier: MIT
"""Run one command of the fuzzer with one compiler, and record all that it leaves."""

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scripts.link_fuzz.cases import Case
from scripts.link_fuzz.units import Pool

__all__ = ["Compiler", "Linked", "compile_pool", "link"]

_FOLDERS = ("sub/with space", "com,ma", "Map", "CMakeFiles")
_SECONDS = 60.0
_TAGS = re.compile(
    r"\((NEEDED|SONAME|RPATH|RUNPATH|SYMBOLIC|BIND_NOW|TEXTREL|HASH|GNU_HASH|FLAGS|FLAGS_1|INIT|FINI"
    r"|VERDEF|PREINIT_ARRAY|DEBUG)\)\s+(.*)"
)
_VALUED = ("NEEDED", "SONAME", "RPATH", "RUNPATH", "FLAGS", "FLAGS_1")
_SECTIONS = re.compile(
    r"\] (\.(?:symtab|debug_info|gdb_index|note\.gnu\.build-id|extra|mine|mydata))"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """The commands of a compiler of C and of C++, and the options that end each link."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """The status of a link, its messages, and the files that it leaves."""

    steps: tuple[int, ...]
    status: int | None
    lines: tuple[str, ...]
    loaded: Mapping[str, int]  # files that --trace lists, and how often
    files: frozenset[str]
    mode: str = ""
    facts: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    ran: str = ""
    notes: tuple[str, ...] = field(default=())  # of our driver

    def problems(self, word: str) -> frozenset[str]:
        """Return the messages that contain `word`."""
        return frozenset(line for line in self.lines if word in line)


def compile_pool(pool: Pool, compiler: Compiler, folder: Path) -> None:
    """Fill `folder` with the sources of `pool`, and with their objects by `compiler`."""
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, text in pool.texts.items():
        (folder / name).write_text(text)
    (folder / "full.ld").write_text(_full_script())
    for name in pool.texts:
        words = compiler.cxx if name.endswith("cpp") else compiler.c
        words = ("gcc", "-O1") if name in pool.native or name == "host.c" else words
        more = ("-fno-builtin", "-ffreestanding") if name == "own.c" else ()
        subprocess.run([*words, *pool.options, *more, "-c", name], cwd=folder, check=True,
                       capture_output=True)  # fmt: skip
    for words in ("ar rcs libdyn.a dyn.o", "gcc -shared -fPIC dyn.c -o libdyn.so",
                  "gcc host.o -o host"):  # fmt: skip
        subprocess.run(words.split(), cwd=folder, check=True, capture_output=True)


@cache
def _full_script() -> str:
    """Return GNU ld's own script."""
    said = subprocess.run(["ld", "--verbose"], capture_output=True, check=True, text=True).stdout
    return said.split("=" * 50)[1]


def link(case: Case, compiler: Compiler, pool: Path, scratch: Path) -> Linked:
    """Run the commands of `case` in a copy of the folder `pool` below `scratch`."""
    here, temporary = scratch / "here", scratch / case.temporary
    shutil.copytree(pool, here)
    temporary.mkdir()
    for name, text in case.files.items():
        (here / name).write_text(text)
    if case.before == "file":
        (here / case.output).write_text("old")
        (here / case.output).chmod(0o640)
    elif case.before == "link":
        (here / "target").write_text("old")
        (here / case.output).symlink_to(here / "target")
    environment = dict(os.environ, TMPDIR=str(temporary), LC_ALL="C")
    steps = tuple(_run(step, here, environment, 0o022)[0] or 0 for step in case.steps)
    before = _files(here)
    words = [*(compiler.cxx if case.is_cxx else compiler.c), *case.arguments, *compiler.last]
    status, output, errors = _run(words, here, environment, case.umask)
    files = _files(here) - before - {case.output}
    files |= {f"TMPDIR/{name}" for name in _files(temporary)}
    lines = tuple(_normal(line, scratch) for line in errors.splitlines())
    traced = (
        line for line in output.splitlines() if re.fullmatch(r"[^ ]+\.(o|a|so)(\(.*\))?", line)
    )
    linked = Linked(
        steps, status, tuple(line for line in lines if not line.startswith("compiler-gym ")),
        Counter(line for line in traced if "/" not in line), frozenset(files),
        notes=tuple(line for line in lines if line.startswith("compiler-gym ")),
    )  # fmt: skip
    return _look(case, linked, here, environment)


def _look(case: Case, linked: Linked, here: Path, environment: Mapping[str, str]) -> Linked:
    """Return `linked` with what its file is made of and does when it runs."""
    path = here / case.output
    if not path.is_file() or linked.status != 0:
        kept = "" if not path.exists() else "file exists"
        return _with(linked, mode=kept)
    data = path.read_bytes()
    _, said, _ = _run(("readelf", "-WhlSd", "--dyn-syms", f"./{case.output}"), here, environment)
    facts = {f"type {kind}" for kind in re.findall(r"Type: +(\w+)", said)}
    facts |= {
        f"stack {flags.strip()}" for flags in re.findall(r"GNU_STACK.*0x0+ ([RWE]+) +0", said)
    }
    facts |= {"interpreter"} if "INTERP" in said else set()
    facts |= {f"{tag} {value if tag in _VALUED else ''}" for tag, value in _TAGS.findall(said)}
    facts |= {f"section {name}" for name in _SECTIONS.findall(said)}
    defined = r"(?:FUNC|OBJECT|NOTYPE|TLS|IFUNC) +(\w+) +(\w+) +(?!UND)\w+ (\S+)"
    symbols = {" ".join(row) for row in re.findall(defined, said.partition("'.dynsym'")[2])}
    marks = {mark.decode() for mark in re.findall(rb"(?:MARK|KEEP|USED|EDIT):\w+\.", data)}
    mode = f"{stat.S_IMODE(path.stat().st_mode):o}{' symlink' if path.is_symlink() else ''}"
    return _with(linked, mode=mode, facts=frozenset(facts), symbols=frozenset(symbols),
                 marks=frozenset(marks), ran=_execute(case, here, environment))  # fmt: skip


def _with(linked: Linked, **more: object) -> Linked:
    values = {name: getattr(linked, name) for name in Linked.__slots__}
    return Linked(**(values | more))  # type: ignore[arg-type]  # fields of the same record


def _execute(case: Case, here: Path, environment: Mapping[str, str]) -> str:
    """Return what the linked file prints and how it ends: as a program, or in one."""
    words = [f"./{case.output}"]
    if case.kind == "part":
        compiler = "clang++-22" if case.is_cxx else "clang-22"
        relink = [compiler, *words, "-o", "again"]
        if _run(relink, here, environment)[0] != 0:
            return "does not link again"
        words = ["./again"]
    elif case.kind == "shared":
        words = ["./host", *words]
    own = dict(environment, LD_LIBRARY_PATH=str(here))
    status, output, _ = _run(words, here, own)
    return f"{output}status {status}"


def _run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], umask: int = 0o022
) -> tuple[int | None, str, str]:
    """Return the status of a command, None if it takes too long, and its output and messages."""
    try:
        process = subprocess.Popen(
            words, cwd=folder, env=environment, umask=umask, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return 126, "", str(error)
    try:
        output, errors = process.communicate(timeout=_SECONDS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        status = None
    return (
        status,
        output.decode(errors="replace")[:50_000],
        errors.decode(errors="replace")[:50_000],
    )


def _files(folder: Path) -> frozenset[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return frozenset(re.sub(r"-[0-9a-f]{6,}", "-HASH", name) for name in found)


def _normal(line: str, scratch: Path) -> str:
    """Return `line` without what differs from one run of the same command to the next."""
    line = re.sub(r"\x1b\[[\d;]*m", "", line.replace(str(scratch), ""))
    line = re.sub(r"[^ ]*/[^ /]*-[0-9a-f]{6,}\.o|lto\.\w+", "TMP.o", line)
    line = re.sub(r"^(/usr/bin/)?(clang(\+\+)?|ld\.lld)(-22)?:", r"\2:", line)
    return line.replace("clang++", "clang")
