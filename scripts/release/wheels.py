# SPDX-License-Identifier: MIT
"""Builds the wheels of a release for a Python, and reads what came to lie in them."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.version import DISTRIBUTION, __version__

__all__ = [
    "JIT",
    "LICENSES",
    "MAIN",
    "Distribution",
    "build",
    "build_source",
    "complaints",
    "metadata_complaints",
]

LICENSES = {
    *("LICENSE", "LLVM.txt", "README.txt", "gcc-runtime.txt", "glibc.txt"),
    *("nanobind.txt", "robin-map.txt", "zlib.txt", "zstd.txt"),
}
"""The files of the licences of what a wheel has in it."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One of the names that a release has on the index."""

    name: str
    folder: str
    """Where its ``pyproject.toml`` lies, from the root of the checkout."""
    modules: tuple[str, ...]
    """The extension modules in it; another one is a mistake."""
    limit: int
    """The most bytes of a wheel."""
    has_programs: bool
    options: tuple[str, ...] = ()
    """What is said to CMake."""

    def is_of(self, wheel: Path, is_stable: bool | None = None) -> bool:
        """Return whether `wheel` has its name, and is, or is not, for all later Pythons."""
        is_named = wheel.name.startswith(f"{self.name.replace('-', '_')}-{__version__}-")
        return is_named and is_stable in (None, "-abi3-" in wheel.name)


MAIN = Distribution(
    DISTRIBUTION,
    ".",
    ("_columns", "_elf", "_llvm", "_service", "_shared/_llvm"),
    30_000_000,
    has_programs=True,
    # The engine of loop nests would add 13 MB.
    options=("COMPILER_GYM_JIT=OFF", "COMPILER_GYM_SORT=ON"),
)
JIT = Distribution(
    f"{DISTRIBUTION}-jit", "scripts/release/jit_wheel", ("_jit",), 20_000_000, has_programs=False
)

_PROGRAMS = (
    "compiler_gym/_box",
    *(f".data/scripts/{name}" for name in ("compiler-gym-cc", "compiler-gym-cxx")),
)
"""What is run and not imported, by how its path ends."""
_NEVER = re.compile(
    r"(^|/)(tests?|benchmarks|docs|\.git|\.venv|__pycache__)/|^scripts/|(^|/)(conftest|test_\w+)\.py$"
    r"|\.(cpp|h|o|a|pyc|cmake|orig)$|(^|/)(CMakeLists\.txt|Makefile)$"
)
_NEVER_BUT = re.compile(
    r"^(compiler_gym/(programs|cli/_skeleton|linker|service/sdk|testing)|compiler_gym_inline/rules)/"
)
_TAG = re.compile(r"(cp311-cp311|cp312-abi3)-manylinux_2_(\d+)_x86_64(\.manylinux\w+)?")
_C_LIBRARY = 34
"""The newest minor version of the C library that a wheel may ask for."""


def build_source(root: Path, into: Path) -> Path:
    """Build the source distribution of `MAIN`; that of `JIT` would lack what lies outside."""
    for old in into.glob("*.tar.gz"):
        old.unlink()
    subprocess.run(["uv", "build", "--sdist", "--out-dir", str(into), str(root)], check=True)
    (source,) = into.glob("*.tar.gz")
    return source


def metadata_complaints(files: Sequence[Path]) -> list[str]:
    """Return the reasons why the package index would refuse the metadata or the page of `files`."""
    words = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return [f"twine check: {(done.stdout + done.stderr).strip()}"] if done.returncode else []


def build(source: Path, python: str, into: Path, kind: Distribution = MAIN) -> Path:
    """Build the wheel that `python` asks for, name its Linux, and pack it as tightly as zip can.

    `source` is a source distribution or the folder of one.

    The C library that a wheel needs is read from its symbols.
    """
    raw, repaired = into / "raw", into / "repaired"
    for folder in (raw, repaired):
        shutil.rmtree(folder, ignore_errors=True)
    words = ["uv", "build", "--wheel", "--python", python, "--out-dir", str(raw)]
    for option in kind.options:
        words += ["-C", f"cmake.define.{option}"]
    subprocess.run([*words, str(source)], check=True)
    (wheel,) = raw.glob("*.whl")
    # The engine for plug-ins shares the system's LLVM with them.
    words = ["auditwheel", "repair", "--exclude", "libLLVM.so.*", "--wheel-dir", str(repaired)]
    words.append(str(wheel))
    subprocess.run(words, check=True)
    (wheel,) = repaired.glob("*.whl")
    subprocess.run(["advzip", "--recompress", "--shrink-normal", str(wheel)], check=True)
    wheel = wheel.rename(into / wheel.name)
    for folder in (raw, repaired):
        shutil.rmtree(folder)
    return wheel


def complaints(wheel: Path, kind: Distribution = MAIN) -> list[str]:
    """Return what is wrong with a wheel, a line each: its name, its size, its files."""
    found: list[str] = []
    if not kind.is_of(wheel):
        found.append(f"expected {kind.name} {__version__}, found {wheel.name}")
    tag = _TAG.search(wheel.name)
    if tag is None or int(tag[2]) > _C_LIBRARY:
        wanted = f"manylinux_2_{_C_LIBRARY} or older"
        found.append(f"expected a tag of cp311 or abi3 and {wanted}, found {wheel.name}")
    if wheel.stat().st_size > kind.limit:
        found.append(f"expected at most {kind.limit:,} bytes, found {wheel.stat().st_size:,}")
    with zipfile.ZipFile(wheel) as archive:
        files = archive.infolist()
        broken = archive.testzip()
    names = [info.filename for info in files]
    if broken:
        found.append(f"{broken} does not match its checksum")
    found += [f"{name} is a developer's file" for name in names if _is_unwanted(name)]
    licenses = {Path(name).name for name in names if ".dist-info/licenses/" in name}
    found += [f"no licence {name}" for name in sorted(LICENSES - licenses)]
    suffix = ".abi3.so" if "abi3" in wheel.name else ".cpython-311-x86_64-linux-gnu.so"
    wanted = [f"compiler_gym/{module}{suffix}" for module in kind.modules]
    found += [f"no {name}" for name in wanted if name not in names]
    others = [name for name in names if re.match(r"compiler_gym/(_shared/)?_\w+\.\S*so$", name)]
    found += [f"{name} is no part of this wheel" for name in others if name not in wanted]
    return found + [text for name in _PROGRAMS for text in _program_complaints(name, files, kind)]


def _program_complaints(
    name: str, files: Sequence[zipfile.ZipInfo], kind: Distribution
) -> Iterator[str]:
    program = [info for info in files if info.filename.endswith(name)]
    if not kind.has_programs:
        yield from (f"{name} is no part of this wheel" for _ in program)
    elif not program or not program[0].external_attr >> 16 & 0o100:
        yield f"no program {name} that may be run"


def _is_unwanted(name: str) -> bool:
    if _NEVER_BUT.match(name):
        return name.endswith(("/build.py", ".pyc"))
    return bool(_NEVER.search(name))
