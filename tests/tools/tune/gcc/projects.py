# SPDX-License-Identifier: MIT
"""A small project as it was built with an installed GCC."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.tools.tune import Allowance, Goal, TuningSubject
from compiler_gym.tools.tune.builds import Binary, find_binaries
from compiler_gym.tools.tune.gcc.making import GccMaker, Tools
from tests.tools.tune.builds.projects import record, write_project

GCC = "gcc-12"


def needed() -> Tools:
    """Return the compiler of these tests; skip where it is not installed."""
    if shutil.which(GCC) is None:
        pytest.skip(f"needs {GCC}: apt install {GCC}")
    return Tools.of(GCC)


def program(folder: Path) -> Binary:
    """Return a program with a library of its own, recorded in `folder`."""
    needed()
    tree = write_project(folder / "tree")
    recording = record(tree, folder / "record", "make", compiler=(GCC,))
    return find_binaries(recording.events(), tree)[0]


def maker(folder: Path) -> GccMaker:
    """Return what makes that program, in a folder of its own."""
    binary = program(folder)
    made = folder / "made"
    made.mkdir(parents=True)
    return GccMaker(needed(), binary, made)


def subject(
    folder: Path, *, compilations: int, goal: Goal = Goal.SIZE, jobs: int = 2
) -> TuningSubject:
    """Return that program as it is given to a tuner."""
    binary = program(folder)
    own = folder / "own"
    own.mkdir()
    shutil.copy(binary.path, own / "original")
    return TuningSubject(binary, own, goal, Allowance(compilations=compilations), jobs, 0)
