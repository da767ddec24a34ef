# SPDX-License-Identifier: MIT
"""Trees become PTX whose structure follows their parallel loops; no card is needed."""

import ctypes
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler_gym_loop_tool.jit import compile_ir
from compiler_gym_loop_tool.state.descriptions import KINDS, describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import compare, random_inputs, reference_outputs
from compiler_gym_loop_tool.state.tree import Loop, Tree, initial_tree, settle_nodes
from compiler_gym_loop_tool.toolchain.code.gpu import Launch, lower_gpu, ptx

from .test_cpu import some_tree


def matmul(*loops: Loop) -> Tree:
    program = parse_program(describe("matmul", "m=130,n=96,k=32"))
    node: Loop | int = 0
    for loop in reversed(loops):
        node = Loop(loop.dim, 0, loop.step, (node,), unroll=loop.unroll, parallel=loop.parallel)
    return Tree(program, settle_nodes((node,), program.dims))


def test_two_parallel_loops_are_blocks_and_threads() -> None:
    kernels = lower_gpu(
        matmul(
            Loop("m", 0, 4, (), parallel=True),
            Loop("n", 0, 2, (), parallel=True),
            Loop("k", 0, 1, ()),
            Loop("m", 0, 1, (), unroll=True),
            Loop("n", 0, 1, (), unroll=True),
        )
    )
    assert kernels.launches == (Launch("nest0", 32, 48),)
    text = ptx(kernels, "sm_80")
    assert ".target sm_80" in text
    assert ".visible .entry nest0(" in text
    assert "%ctaid.x" in text
    assert "%tid.x" in text
    assert "ld.global" in text
    # A tile of 4 times 2 for whole rows, one of 2 times 2 for those left; k is not unrolled.
    assert len(re.findall(r"fma\.rn\.f32", text)) >= 8 + 4
    loop = max(text.split("bra"), key=lambda part: part.count("fma.rn"))
    assert "st." not in loop[: loop.rindex("fma.rn")]


def test_one_parallel_loop_goes_over_both() -> None:
    program = parse_program(describe("add", "a=100000"))
    loop = Loop("a", 100000, 1, (0,), parallel=True)
    kernels = lower_gpu(Tree(program, (loop,)))
    assert kernels.launches == (Launch("nest0", 391, 256),)
    assert "%nctaid.x" in ptx(kernels)


def test_unfinished_sums_are_set_by_a_separate_kernel() -> None:
    kernels = lower_gpu(matmul(Loop("k", 0, 1, ()), Loop("m", 0, 1, ()), Loop("n", 0, 1, ())))
    assert [launch.kernel for launch in kernels.launches] == ["fill0", "nest1"]
    assert kernels.launches[1] == Launch("nest1", 1, 1)


def test_every_program_assembles() -> None:
    for kind, row in KINDS.items():
        sizes = ",".join(f"{dim}=5" for dim in row.sizes)
        tree = initial_tree(parse_program(describe(kind, sizes)))
        kernels = lower_gpu(tree)
        text = ptx(kernels)
        assert text.count(".visible .entry") == len(kernels.launches)


def assembler() -> str | None:
    """NVIDIA's own assembler: on the path, of the wheel nvidia-cuda-nvcc, or of triton."""
    folders = ("nvidia/cuda_nvcc/bin", "nvidia/cu13/bin", "triton/backends/nvidia/bin")
    found = (Path(root, folder) for root in sys.path for folder in folders)
    return shutil.which("ptxas") or next(
        (str(folder / "ptxas") for folder in found if (folder / "ptxas").is_file()), None
    )


@pytest.mark.skipif(assembler() is None, reason="no ptxas: pip install nvidia-cuda-nvcc has it")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nvidias_assembler_takes_it(kind: str) -> None:
    draw = random.Random(kind)
    sizes = ",".join(f"{dim}={draw.choice((3, 5, 16, 33))}" for dim in KINDS[kind].sizes)
    tree = some_tree(parse_program(describe(kind, sizes)), draw.randrange(1000), 15)
    text = ptx(lower_gpu(tree), "sm_80")
    command = (str(assembler()), "-arch", "sm_80", "-o", "/dev/null", "-")
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}{done.stdout}\n{tree}"


def emulate(tree: Tree) -> None:
    """Run the kernels on this processor, thread after thread, and compare with numpy."""
    kernels = lower_gpu(tree)
    names = ("ctaid", "nctaid", "tid", "ntid")
    ir = re.sub(r"declare i32 @llvm\.nvvm.*\n", "", kernels.ir).replace("ptx_kernel ", "")
    ir = re.sub(r"@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x", r"@\1", ir)
    ir += "@registers = global [4 x i32] zeroinitializer\n"
    for at, name in enumerate(names):
        ir += (
            f"define i32 @{name}() {{\n  %p = getelementptr i32, ptr @registers, i64 {at}\n"
            "  %v = load i32, ptr %p\n  ret i32 %v\n}\n"
        )
    compiled = compile_ir(ir, level=None)
    registers = (ctypes.c_int32 * 4).from_address(compiled.address("registers"))
    program = tree.program
    inputs = random_inputs(program)
    memory = {
        name: inputs[name].copy() if name in inputs else np.full(t.shape, np.nan, np.float32)
        for name, t in program.tensors.items()
    }
    for launch in kernels.launches:
        call = compiled.on(launch.kernel, list(memory.values()))
        for block in range(launch.blocks):
            for thread in range(launch.threads):
                registers[:] = (block, launch.blocks, thread, launch.threads)
                call.run()
    outputs = {tensor.name: memory[tensor.name] for tensor in program.outputs}
    assert not compare(program, reference_outputs(program, inputs), outputs), str(tree)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_all_threads_together_compute_what_numpy_does(kind: str) -> None:
    draw = random.Random(kind)
    for seed in range(4):
        sizes = ",".join(f"{dim}={draw.choice((1, 2, 3, 5, 7, 12))}" for dim in KINDS[kind].sizes)
        emulate(some_tree(parse_program(describe(kind, sizes)), seed, 15))
