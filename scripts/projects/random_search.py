# SPDX-License-Identifier: MIT
"""What blind chance finds for size: random passes on the whole program, linked like a tuning's.

It has what a tuning has before its search begins (one module, the scope of a program, the
linker's options) and nothing that it knows: no known sequences, no options of the code
generator.
"""

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from compiler_gym.errors import CompilerGymError
from compiler_gym.registration import make
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary, find_binaries, record_build
from compiler_gym.tools.tune.llvm.flags import FOLDING
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.llvm.program import LlvmMaker, Whole, make_whole
from scripts.projects.measuring import sizes
from scripts.projects.table import Project

__all__ = ["random_text"]

_LENGTH = 40
"""Passes of a sequence, at most."""
_SIZE = "ObjectTextSizeBytes"


def random_text(project: Project, into: Path, compilations: int, seed: int = 0) -> int:
    """Return the bytes of linked ``.text`` after the best of `compilations` random sequences."""
    with tempfile.TemporaryDirectory() as folder:
        binary = _recorded(project, into, Path(folder))
        whole = make_whole(binary, binary.path, jobs=2)
        passes = _best(whole, compilations, random.Random(seed))
        plan = BinaryPlan(binary.name, "program", passes, linker=FOLDING)
        made = LlvmMaker(Linker(binary, Path(folder), 2), whole, plan).make("random")
        return sizes(made).text


def _recorded(project: Project, into: Path, folder: Path) -> Binary:
    tree = folder / "tree"
    shutil.copytree(into / project.name / "source", tree, symlinks=True)
    script = ("sh", str(into / project.name / "build.sh"))
    compiler, cxx = LlvmTuner().compilers
    record = folder / "record"
    recording = record_build(tree, script, record, compiler=compiler, cxx_compiler=cxx)
    found = find_binaries(recording.events(), tree)
    return next(binary for binary in found if binary.name == project.binary)


def _best(whole: Whole, compilations: int, rng: random.Random) -> str:
    env: Any
    best, passes = float("inf"), ""
    with make("llvm-v0", action_space="PassesAndPipelines") as env:
        for _ in range(compilations):
            actions = [rng.randrange(env.action_space.n) for _ in range(rng.randint(1, _LENGTH))]
            env.reset(benchmark=whole.benchmark())
            try:
                env.multistep(actions, [], [], timeout=120)
                size = float(env.observation[_SIZE])
            except CompilerGymError:
                continue
            if size < best:
                best, passes = size, env.action_space.pipeline(actions)
    return passes
