# SPDX-License-Identifier: MIT
"""Step with a pass of one's own: build the plug-in beside this file and use it.

python examples/plugin_pass/run.py
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import compiler_gym

SOURCE = Path(__file__).with_name("mul_to_shift.cpp")
HEADERS = "/usr/lib/llvm-22/include"


def build(folder: Path, source: Path = SOURCE, name: str = "libMulToShift.so") -> Path:
    """Build the plug-in into `folder` and return its path."""
    compiler = shutil.which("g++") or "clang++-22"
    library = folder / name
    flags = ["-std=c++17", "-O2", "-fPIC", "-shared", "-fno-rtti", "-isystem", HEADERS]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    return library


def main(folder: Path) -> tuple[str, str]:
    """Return the IR of a bundled program before and after the pass."""
    with compiler_gym.make(
        "llvm-v0",
        benchmark="cbench-v1/sha",
        plugins=[build(folder)],
        passes=["mul-to-shift"],
    ) as env:
        env.reset()
        env.step(env.action_space["sroa"])
        before: str = env.observation["Ir"]
        *_, info = env.step(env.action_space["mul-to-shift"])
        print(env.commandline())
        print("changed something:", not info["action_had_no_effect"])
        return before, env.observation["Ir"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(Path(directory))
