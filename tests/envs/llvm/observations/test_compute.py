# SPDX-License-Identifier: MIT
"""What is computed, compared with LLVM's own tools."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations.compute import mca_cycles
from compiler_gym.errors import ObservationError
from tests.envs.llvm.running_programs import MakeEnv, started

Tool = Callable[..., bytes]
PROGRAMS = Path(__file__).parents[4] / "programs"


def test_machine_instructions_are_those_that_objdump_lists(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = started(make_env, "cbench-v1/sha")
    path = env.write_bitcode(tmp_path / "module.bc")
    tool("llc-22", "-filetype=obj", path, "-o", tmp_path / "module.o")
    listing = tool("llvm-objdump-22", "-d", "--no-show-raw-insn", tmp_path / "module.o").decode()
    listed = [line for line in listing.splitlines() if re.match(r"\s+[0-9a-f]+:\s", line)]
    assert env.observation["ObjectInstructionCount"] == len(listed)


def test_the_map_of_blocks_changes_no_code() -> None:
    module = _llvm.Module((PROGRAMS / "sha/sha.bc").read_bytes())
    assert _llvm.code_size(_llvm.object_code_with_blocks(module)) == module.object_text_size()


def test_cycles_of_a_block_are_those_of_llvm_mca(tool: Tool, tmp_path: Path) -> None:
    module = _llvm.Module((PROGRAMS / "sha/sha.bc").read_bytes())
    module.apply_level("O2")
    (tmp_path / "module.o").write_bytes(_llvm.object_code_with_blocks(module))
    tool("llvm-objcopy-22", "-O", "binary", "-j", ".text", tmp_path / "module.o", tmp_path / "code")
    code = (tmp_path / "code").read_bytes()
    compared = 0
    for _, _, address, size, _, cycles in _llvm.machine_blocks(module)[:12]:
        digits = " ".join(f"0x{byte:02x}" for byte in code[address : address + size])
        decode = ("--disassemble", "-triple=x86_64")
        text = tool("llvm-mc-22", *decode, input=digits.encode())
        if re.search(rb"\t(call|ret)", text):
            continue
        simulate = ("-mtriple=x86_64", "-mcpu=skylake", "-iterations=100")
        report = tool("llvm-mca-22", *simulate, input=text)
        total = re.search(rb"Total Cycles:\s+(\d+)", report)
        assert total
        assert cycles == pytest.approx(int(total[1]) / 100), text
        compared += 1
    assert compared >= 3


def test_call_frequencies_multiply_along_calls() -> None:
    source = (
        "define void @leaf() {\n  ret void\n}\n"
        "define void @twice() {\n  call void @leaf()\n  call void @leaf()\n  ret void\n}\n"
        "define void @main() {\n  call void @twice()\n  call void @twice()\n  ret void\n}\n"
    )
    module = _llvm.Module(source.encode())
    assert dict(_llvm.call_frequencies(module)) == {b"leaf": 4.0, b"twice": 2.0, b"main": 1.0}


def test_inlining_does_not_change_the_guess_of_what_runs() -> None:
    before = _llvm.Module((PROGRAMS / "crc32/crc32.bc").read_bytes())
    before.run("function(sroa)")
    cycles = mca_cycles(before)
    before.run("cgscc(inline)")
    assert cycles / 4 < mca_cycles(before) < cycles * 4


@pytest.mark.parametrize("triple", ["x86_64-pc-windows-msvc", "i386-unknown-linux-gnu"])
def test_cycles_of_what_holds_no_blocks_are_refused(
    make_env: MakeEnv, tmp_path: Path, triple: str
) -> None:
    file = tmp_path / "program.ll"
    file.write_text(f'target triple = "{triple}"\ndefine i32 @f(i32 %a) {{\n  ret i32 %a\n}}\n')
    env = make_env()
    env.reset(benchmark=f"file://{file}")
    with pytest.raises(ObservationError, match=f"64-bit ELF objects only.*{triple}"):
        env.observation["McaCycles"]
    assert env.in_episode
