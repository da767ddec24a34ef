# SPDX-License-Identifier: MIT
"""Modules for other machines: LLVM's own tools agree, and what means nothing there is refused."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions import ACTION_SPACES, codegen_options
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.session import CommandlineSpec
from tests.effort import examples, in_turns

from .conftest import compile_program, need

PROGRAMS = Path(__file__).parents[2] / "programs"
SOME = ("sha", "crc32", "qsort", "adpcm", "blowfish")
MACHINES = ("aarch64", "riscv64")
(PASSES,) = (one.space for one in ACTION_SPACES if one.name == "Passes")
assert isinstance(PASSES, CommandlineSpec)
FLAGS = tuple(item.flag for item in PASSES.items if item.flag)
HEAD = 'target triple = "x86_64-pc-linux-gnu"\n'
LAYOUT = (
    'target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-'
    'n8:16:32:64-S128"\n'
)
SLOW = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
every_machine = pytest.mark.parametrize("machine", MACHINES)


def bundled(name: str, machine: str) -> _llvm.Module:
    """Return a bundled program, made for `machine`."""
    module = _llvm.Module((PROGRAMS / name / f"{name}.bc").read_bytes())
    assert module.retarget(machine)
    return module


def run(*words: object, input: bytes | None = None) -> bytes:
    command = [need(str(words[0])), *map(str, words[1:])]
    return subprocess.run(command, input=input, check=True, capture_output=True, timeout=120).stdout


def llc(module: _llvm.Module, folder: Path, *words: str) -> bytes:
    (folder / "module.bc").write_bytes(module.bitcode())
    run("llc-22", "-filetype=obj", *words, folder / "module.bc", "-o", folder / "module.o")
    return (folder / "module.o").read_bytes()


def function_attributes(text: str) -> set[str]:
    return set(re.findall(r'"target-[^"]*"="[^"]*"', text))


@every_machine
@pytest.mark.parametrize(("level", "name"), in_turns(["", "O3", "Oz", "OptOz"], SOME[:3]))
def test_code_is_that_of_llc(level: str, name: str, machine: str, tmp_path: Path) -> None:
    module = bundled(name, machine)
    if level:
        module.apply_level(level)
    module.verify()
    assert llc(module, tmp_path) == module.object_code()
    sizes = run("llvm-size-22", "-A", tmp_path / "module.o").decode()
    text = sum(int(size) for size in re.findall(r"^\.text\S*\s+(\d+)", sizes, re.MULTILINE))
    assert text == module.object_text_size() > 0
    listing = run("llvm-objdump-22", "-d", tmp_path / "module.o").decode()
    lines = re.findall(r"^\s+[0-9a-f]+: ", listing, re.MULTILINE)
    assert _llvm.object_instruction_count(module) == len(lines)


@every_machine
@pytest.mark.parametrize("pipeline", ["default<Oz>", "default<O3>", "lto<O2>"])
def test_pipelines_give_the_bytes_of_opt(machine: str, pipeline: str, tmp_path: Path) -> None:
    module = bundled("qsort", machine)
    (tmp_path / "in.bc").write_bytes(module.bitcode())
    module.run(pipeline)
    assert opt(pipeline, tmp_path) == module.bitcode()


def opt(pipeline: str, folder: Path) -> bytes:
    keep = ("-discard-value-names", "--preserve-bc-uselistorder")
    run("opt-22", f"-passes={pipeline}", *keep, folder / "in.bc", "-o", folder / "out.bc")
    return (folder / "out.bc").read_bytes()


@settings(max_examples=examples(20), deadline=None, suppress_health_check=SLOW)
@given(data=st.data())
def test_passes_and_choices_give_the_bytes_of_opt_and_llc(
    data: st.DataObject, tmp_path: Path
) -> None:
    module = bundled(data.draw(st.sampled_from(SOME)), data.draw(st.sampled_from(MACHINES)))
    module.set_goal(data.draw(st.sampled_from(["size", "speed"])))
    (tmp_path / "in.bc").write_bytes(module.bitcode())
    flags = data.draw(st.lists(st.sampled_from(FLAGS), min_size=1, max_size=8))
    for flag in flags:
        module.run(flag)
    assert opt(",invalidate<all>,".join(flags), tmp_path) == module.bitcode()
    option = data.draw(st.sampled_from(codegen_options.OPTIONS))
    value = data.draw(st.sampled_from(option.values[1:]))
    words = codegen_options.llc_words({option.name: value})
    module.run(f"codegen<{option.name}={value}>")
    assert llc(module, tmp_path, *words) == module.object_code()


@every_machine
def test_the_module_says_of_its_machine_what_clang_says(machine: str, tmp_path: Path) -> None:
    source = tmp_path / "own.c"
    source.write_text("int twice(int n) { return 2 * n; }\n")
    flags = ("-O2", "-Xclang", "-disable-llvm-passes")
    module = _llvm.Module(compile_program(source, *flags))
    native = _llvm.Module(compile_program(source, *flags, "-target", f"{machine}-linux-gnu"))
    assert module.retarget(machine)
    assert (module.triple, module.data_layout) == (native.triple, native.data_layout)
    ours, clangs = module.text(), native.text()
    # Clang lists besides what a processor of RISC-V does not have.
    without = {re.sub(r",-(?!fmv)[\w.-]+", "", one) for one in function_attributes(clangs)}
    assert function_attributes(ours) == without
    assert "tune-cpu" not in ours
    assert module.object_text_size() == native.object_text_size()


def test_a_module_for_that_machine_is_left_as_it_is(tmp_path: Path) -> None:
    module = bundled("crc32", "aarch64")
    before = module.ir_hash()
    assert not module.retarget("aarch64")
    assert not module.retarget("aarch64-unknown-linux-musl")
    assert module.ir_hash() == before
    plain = _llvm.Module((PROGRAMS / "crc32/crc32.bc").read_bytes())
    before = plain.ir_hash()
    assert not plain.retarget("x86_64")
    assert plain.ir_hash() == before


def test_a_module_of_no_machine_gets_one() -> None:
    module = _llvm.Module(b"%two = type { i32, i64 }\ndefine i64 @f(i64 %0) {\n  ret i64 %0\n}\n")
    assert module.retarget("riscv64")
    assert module.triple == "riscv64-unknown-linux-gnu"
    assert module.object_text_size() == 2  # a short return


@pytest.mark.parametrize(
    ("target", "triple"),
    [
        ("arm64", "aarch64-unknown-linux-gnu"),
        ("aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
        ("riscv64-unknown-elf", "riscv64-unknown-unknown-elf"),
        ("aarch64-unknown-linux-musl", "aarch64-unknown-linux-musl"),
    ],
)
def test_machines_go_by_several_names(target: str, triple: str) -> None:
    module = _llvm.Module((PROGRAMS / "crc32/crc32.bc").read_bytes())
    assert module.retarget(target)
    assert _llvm.machine_of(module.triple) == _llvm.machine_of(target)
    assert module.triple == triple


@pytest.mark.parametrize(
    "target",
    [
        *("", "arm", "aarch64_be", "riscv32", "mips64", "aarch64-apple-macosx", "x86-64"),
        *("aarch64-pc-windows-msvc", "x86_64-linux-gnux32", "aarch64-linux-gnu_ilp32"),
    ],
)
def test_other_machines_are_refused_with_those_there_are(target: str) -> None:
    module = _llvm.Module((PROGRAMS / "crc32/crc32.bc").read_bytes())
    before = module.ir_hash()
    with pytest.raises(BenchmarkInitError, match="use x86_64, aarch64, riscv64"):
        module.retarget(target)
    assert (module.ir_hash(), _llvm.machine_of(target)) == (before, "")


@every_machine
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + 'define void @f() {\n  call void asm sideeffect "nop", ""()\n  ret void\n}\n',
            "inline assembly in 'f'",
        ),
        (
            HEAD + 'module asm ".globl x"\ndefine void @f() {\n  ret void\n}\n',
            "module-level assembly",
        ),
        (
            HEAD + "declare void @llvm.x86.sse2.pause()\ndefine void @f() {\n"
            "  call void @llvm.x86.sse2.pause()\n  ret void\n}\n",
            "a machine-specific intrinsic in 'llvm.x86.sse2.pause'",
        ),
        (
            HEAD + "define x86_fp80 @f(x86_fp80 %0) {\n  ret x86_fp80 %0\n}\n",
            r"long double \(x86_fp80\) in 'f'",
        ),
        (HEAD + "@v = global { i8, x86_fp80 } zeroinitializer\n", "long double .* in 'v'"),
        (
            HEAD + "define x86_stdcallcc void @f() {\n  ret void\n}\n",
            "a machine-specific calling convention in 'f'",
        ),
        (
            HEAD + "define i32 @f(ptr addrspace(257) %0) {\n"
            "  %2 = load i32, ptr addrspace(257) %0\n  ret i32 %2\n}\n",
            "address spaces in 'f'",
        ),
        (
            HEAD + "declare i64 @llvm.read_register.i64(metadata)\ndefine i64 @f() {\n"
            "  %1 = call i64 @llvm.read_register.i64(metadata !0)\n  ret i64 %1\n}\n"
            '!0 = !{!"rsp"}\n',
            "a machine-specific intrinsic",
        ),
        (
            HEAD + "define <vscale x 2 x i64> @f(<vscale x 2 x i64> %0) {\n"
            "  ret <vscale x 2 x i64> %0\n}\n",
            "scalable vectors in 'f'",
        ),
        (
            HEAD + "@v = global i32 0\n!llvm.module.flags = !{!0}\n"
            '!0 = !{i32 1, !"Code Model", i32 4}\n',
            "a code model other than small",
        ),
        (
            'target datalayout = "e-p:64:64-i64:32-S128"\n'
            + HEAD
            + "%two = type { i32, i64 }\n@v = global %two zeroinitializer\n",
            "another memory layout",
        ),
        ('target triple = "armv7-linux-gnueabihf"\n@v = global i32 0\n', "targets armv7"),
    ],
)
def test_machine_specific_code_is_refused(text: str, message: str, machine: str) -> None:
    module = _llvm.Module(text.encode())
    before = module.ir_hash()
    with pytest.raises(BenchmarkInitError, match=message):
        module.retarget(machine)
    assert module.ir_hash() == before


@every_machine
def test_only_memory_may_know_of_a_long_double(machine: str) -> None:
    text = LAYOUT + HEAD + (
        "%most = type { i64, x86_fp80 }\ndefine ptr @f(ptr %0) {\n"
        "  %2 = getelementptr %most, ptr %0, i64 1\n  ret ptr %2\n}\n"
    )  # fmt: skip
    module = _llvm.Module(text.encode())
    assert module.retarget(machine)
    module.run("default<O2>")
    assert "i64 32" in module.text()


@every_machine
def test_the_map_of_blocks_covers_the_code(machine: str) -> None:
    module = bundled("sha", machine)
    module.apply_level("Oz")
    assert _llvm.code_size(_llvm.object_code_with_blocks(module)) == module.object_text_size()
    blocks = sorted((section, at, at + size) for _, section, at, size, *_ in
                    _llvm.machine_blocks(module))  # fmt: skip
    assert sum(end - at for _, at, end in blocks) == module.object_text_size()
    for (section, _, end), (other, at, _) in pairwise(blocks):
        assert section != other or at == end


@every_machine
def test_cycles_of_a_block_are_those_of_llvm_mca(machine: str, tmp_path: Path) -> None:
    module = bundled("sha", machine)
    module.apply_level("O2")
    (tmp_path / "module.o").write_bytes(_llvm.object_code_with_blocks(module))
    copy = ("-O", "binary", "-j", ".text", tmp_path / "module.o", tmp_path / "code")
    run("llvm-objcopy-22", *copy)
    code = (tmp_path / "code").read_bytes()
    words = (f"-mcpu={_llvm.simulated_processor(machine)}",)
    compared = 0
    for _, _, address, size, _, cycles in _llvm.machine_blocks(module)[:24]:
        digits = " ".join(f"0x{byte:02x}" for byte in code[address : address + size])
        decode = ("--disassemble", f"-triple={machine}", *words)
        text = run("llvm-mc-22", *decode, input=digits.encode())
        if re.search(rb"\t(call|ret|blr?|jalr?|j|jr)\b", text):
            continue
        simulate = (f"-mtriple={machine}", *words, "-iterations=100")
        total = re.search(rb"Total Cycles:\s+(\d+)", run("llvm-mca-22", *simulate, input=text))
        assert total
        assert cycles == pytest.approx(int(total[1]) / 100), text
        compared += 1
    assert compared >= 3


def test_earlier_work_of_a_process_does_not_matter() -> None:
    """A machine is registered when a module of it is read, by whatever way it came."""
    text = bundled("crc32", "aarch64").text()
    program = (
        "import sys; from compiler_gym import _llvm\n"
        "if len(sys.argv) > 1: _llvm.Module(sys.argv[1].encode()).retarget('riscv64')\n"
        "module = _llvm.Module(sys.stdin.buffer.read()); module.apply_level('O3')\n"
        "print(module.ir_hash().hex(), module.object_text_size())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, *before],
            input=text.encode(), check=True, capture_output=True, timeout=120,
        ).stdout
        for before in ([], [HEAD])
    }  # fmt: skip
    assert len(outputs) == 1
