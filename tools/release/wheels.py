# SPDX-License-Identifier: MIT
"""Builds a wheel for each Python there is, and reads what came to lie in it."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

from compiler_gym.version import DISTRIBUTION, __version__

__all__ = ["LICENSES", "LIMIT", "build", "complaints"]

LIMIT = 25_000_000
"""The most bytes of a wheel."""

LICENSES = {
    *("LICENSE", "LLVM.txt", "README.txt", "gcc-runtime.txt", "glibc.txt"),
    *("nanobind.txt", "robin-map.txt", "zlib.txt", "zstd.txt"),
}
"""The files of the licences of what a wheel has in it."""

_NEVER = re.compile(
    r"(^|/)(tests?|benchmarks|tools|docs|\.git|\.venv|__pycache__)/|(^|/)(conftest|test_\w+)\.py$"
    r"|\.(cpp|h|o|a|pyc|cmake|orig)$|(^|/)(CMakeLists\.txt|Makefile)$"
)
_NEVER_BUT = re.compile(r"^compiler_gym/(programs|cli/_skeleton|testing)/")
_MODULES = ("_columns", "_llvm", "_service")
_LEFT_OUT = (
    *("-C", "cmake.define.COMPILER_GYM_JIT=OFF"),
    *("-C", "cmake.define.COMPILER_GYM_PLUGINS=OFF"),
)
"""The engine of loop nests is 13 MB more, the one for plug-ins 0.6: a checkout builds them."""
_TAG = re.compile(r"(cp311-cp311|cp312-abi3)-manylinux_2_\d+_x86_64(\.manylinux\w+)?")


def build(root: Path, python: str, into: Path) -> Path:
    """Build the wheel that `python` asks for, name its Linux, and pack it as tightly as zip can.

    The C library that a wheel needs is read from its symbols.
    """
    raw, repaired = into / "raw", into / "repaired"
    for folder in (raw, repaired):
        shutil.rmtree(folder, ignore_errors=True)
    words = ["uv", "build", "--wheel", "--python", python, "--out-dir", str(raw), *_LEFT_OUT]
    words.append(str(root))
    subprocess.run(words, check=True)
    (wheel,) = raw.glob("*.whl")
    words = ["auditwheel", "repair", "--wheel-dir", str(repaired), str(wheel)]
    subprocess.run(words, check=True)
    (wheel,) = repaired.glob("*.whl")
    subprocess.run(["advzip", "--recompress", "--shrink-normal", str(wheel)], check=True)
    return wheel.rename(into / wheel.name)


def complaints(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel, a line each: its name, its size, its files."""
    found: list[str] = []
    if not wheel.name.startswith(f"{DISTRIBUTION.replace('-', '_')}-{__version__}-"):
        found.append(f"expected {DISTRIBUTION} {__version__}, found {wheel.name}")
    if not _TAG.search(wheel.name):
        found.append(f"expected a manylinux tag of cp311 or abi3, found {wheel.name}")
    if wheel.stat().st_size > LIMIT:
        found.append(f"expected at most {LIMIT:,} bytes, found {wheel.stat().st_size:,}")
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
    wanted = [f"compiler_gym/{module}{suffix}" for module in _MODULES]
    found += [f"no {name}" for name in wanted if name not in names]
    others = [name for name in names if re.match(r"compiler_gym/_\w+\.\S*so$", name)]
    found += [f"{name} is no part of this wheel" for name in others if name not in wanted]
    box = [info for info in files if info.filename == "compiler_gym/_box"]
    if not box or not box[0].external_attr >> 16 & 0o100:
        found.append("no program compiler_gym/_box that may be run")
    return found


def _is_unwanted(name: str) -> bool:
    if _NEVER_BUT.match(name):
        return name.endswith(("/build.py", ".pyc"))
    return bool(_NEVER.search(name))
