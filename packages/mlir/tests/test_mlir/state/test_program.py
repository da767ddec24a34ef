# SPDX-License-Identifier: MIT
"""The script of an episode is replayed by MLIR's own tool, byte for byte."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import CompilerDiagnosticError, InvalidActionError
from compiler_gym_mlir.actions.moves import parse_move
from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.state.program import Program
from test_mlir.schedules import MATMUL, scheduled

TOOL = "mlir-opt-22"


def replayed(program: Program, folder: Path) -> str:
    """Return what the tool makes of the payload and the script."""
    if shutil.which(TOOL) is None:
        pytest.skip(f"needs {TOOL}: apt install mlir-22-tools")
    (folder / "payload.mlir").write_text(program.payload)
    (folder / "script.mlir").write_text(program.script)
    library = "--transform-preload-library=transform-library-paths=script.mlir"
    command = [TOOL, "payload.mlir", library, "--transform-interpreter"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("source", "moves"),
    [
        (MATMUL, ("tile matmul0 8 32 4", "vectorize matmul0", "outerproduct")),
        (MATMUL, ("tile matmul0 12 48 4", "vectorize matmul0")),
        (MATMUL, ("pack matmul0 8 16 4", "tile matmul0 1 1 1 0 0 0", "vectorize matmul0")),
        (MATMUL, ("tile matmul0 8 16 8", "promote matmul0 1 2", "unroll matmul0 2")),
        (build("mlp", (8, 16, 8, 8)), ("fuse matmul1 4 4 0", "generalize matmul0")),
        (build("attention", (2, 8, 8, 4)), ("decompose softmax0", "tile generic2 1 4 4")),
    ],
)
def test_the_tool_makes_the_same_module(
    source: str, moves: tuple[str, ...], tmp_path: Path
) -> None:
    program = scheduled(source, *moves)
    assert replayed(program, tmp_path).strip() == program.text.strip()


def test_a_refused_move_changes_nothing() -> None:
    program = scheduled(MATMUL, "parallel matmul0 8 8 0")
    before = (program.text, program.script)
    with pytest.raises(InvalidActionError, match="no operation"):
        program.apply(parse_move("vectorize gone0"), "")
    with pytest.raises(CompilerDiagnosticError, match="find a parent op"):
        program.apply(parse_move("unroll matmul0 2"), "")
    assert (program.text, program.script) == before
