# SPDX-License-Identifier: MIT
"""Reading, writing and failing modules."""

import subprocess
import threading
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    CompilerFatalError,
    InvalidIrError,
    ModuleTooLargeError,
    ObservationError,
    PipelineError,
)

from .conftest import need

SMALL = b"""
source_filename = "small.c"
target triple = "x86_64-pc-linux-gnu"
define i32 @twice(i32 %number) {
start:
  %result = mul nsw i32 %number, 2
  br label %end
end:
  ret i32 %result
}
"""


def test_bitcode_is_read_and_written_as_opt_does(corpus: dict[str, bytes], tmp_path: Path):
    for name, data in corpus.items():
        source, target = tmp_path / "in.bc", tmp_path / "out.bc"
        source.write_bytes(data)
        command = [need("opt-22"), "-discard-value-names", str(source), "-o", str(target)]
        subprocess.run(command, check=True)
        assert _llvm.Module(data).bitcode() == target.read_bytes(), name


def test_text_is_what_opt_prints_less_its_first_line(corpus: dict[str, bytes], tmp_path: Path):
    for name, data in corpus.items():
        source = tmp_path / "in.bc"
        source.write_bytes(data)
        command = [need("opt-22"), "-discard-value-names", "-S", str(source)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert text.startswith("; ModuleID")
        assert _llvm.Module(data).text() == text.split("\n", 1)[1], name


def test_textual_ir_loses_its_local_names_only():
    module = _llvm.Module(SMALL, "small.ll")
    assert module.instruction_count() == 3
    assert module.source_filename == "small.c"
    assert module.triple == "x86_64-pc-linux-gnu"
    assert "@twice" in module.text()
    assert "%result" not in module.text()


def test_text_and_bitcode_of_one_module_are_the_same_state():
    from_text = _llvm.Module(SMALL)
    assert _llvm.Module(from_text.bitcode()).ir_hash() == from_text.ir_hash()


def test_the_name_stands_for_a_missing_source_file_name():
    assert _llvm.Module(b"define void @f() { ret void }", "f.ll").source_filename == "f.ll"


def test_wrapped_bitcode_is_read(corpus: dict[str, bytes]):
    data = corpus["loops"]
    header = b"".join(
        word.to_bytes(4, "little") for word in (0x0B17C0DE, 0, 20, len(data), 0x01000007)
    )
    assert _llvm.Module(header + data).ir_hash() == _llvm.Module(data).ir_hash()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"int main(void) { return 0; }", "expected top-level entity"),
        (b"BC\xc0\xde", "Expected a single module"),
        (b"BC\xc0\xde" + bytes(100), "[Mm]alformed|Invalid|Unknown"),
        (b"\x7fELF" + bytes(60), "expected top-level entity"),
        (b"define i32 @f() { ret i64 0 }", "doesn't match function result type"),
        (b"define void @f() {\na:\n br label %b\nb:\n %x = add i32 %y, 1\n %y = add i32 1, 2\n"
         b" ret void }", "does not dominate"),
        (b"define void @f() { %x = frobnicate i32 1\n ret void }", "expected instruction opcode"),
    ],
)  # fmt: skip
def test_input_that_is_not_a_module_is_refused_with_llvms_reason(data: bytes, message: str):
    with pytest.raises(BenchmarkInitError, match=message):
        _llvm.Module(data, "input")


def test_every_truncation_of_a_module_is_refused(corpus: dict[str, bytes]):
    data = corpus["bits"]
    for size in range(0, len(data) - 4, max(1, len(data) // 60)):
        with pytest.raises(BenchmarkInitError, match=r"."):
            _llvm.Module(data[:size])


def test_a_refused_pipeline_leaves_the_module_as_it_was(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    before = module.bitcode()
    with pytest.raises(PipelineError, match=r"unknown .*pass"):
        module.run("function(sroa),no-such-pass")
    assert module.bitcode() == before
    assert module.run("function(sroa)")


def test_a_fatal_error_loses_the_module_and_nothing_else(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    with pytest.raises(CompilerFatalError, match="LICM requires MemorySSA"):
        module.run("function(loop(licm))")
    for call in (module.bitcode, module.ir_hash, module.verify, module.instruction_count):
        with pytest.raises(CompilerFatalError, match="lost to an earlier error: LICM requires"):
            call()
    assert _llvm.Module(corpus["loops"]).run("function(sroa)")


def test_a_pass_that_breaks_the_ir_is_found_by_the_verifier(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    module.verify()
    module.run("trigger-verifier-error")
    with pytest.raises(InvalidIrError, match=r"\S"):
        module.verify()


def test_code_for_a_foreign_target_is_an_observation_error():
    module = _llvm.Module(b'target triple = "armv7-linux-gnu"\ndefine void @f() { ret void }')
    with pytest.raises(ObservationError, match=r"x86_64.* only.*armv7"):
        module.object_text_size()
    assert module.instruction_count() == 1


def test_inline_assembly_that_does_not_assemble_is_reported_and_the_module_lives():
    module = _llvm.Module(
        b'target triple = "x86_64-pc-linux-gnu"\n'
        b'define void @f() { call void asm sideeffect "frobnicate", ""()\n ret void }'
    )
    with pytest.raises(CompilerDiagnosticError, match="invalid instruction mnemonic"):
        module.object_code()
    assert module.instruction_count() == 2


def test_functions_marked_optnone_are_left_alone_as_opt_leaves_them():
    text = SMALL.replace(b"(i32 %number)", b"(i32 %number) noinline optnone")
    module = _llvm.Module(text)
    assert not module.run("function(simplifycfg)")
    assert _llvm.Module(SMALL).run("function(simplifycfg)")


def test_modules_work_in_threads_side_by_side(corpus: dict[str, bytes]):
    hashes: dict[int, bytes] = {}

    def work(number: int) -> None:
        module = _llvm.Module(corpus["records"])
        for pipeline in ("function(sroa)", "cgscc(inline)", "function(gvn)", "globaldce"):
            module.run(pipeline)
        hashes[number] = module.ir_hash()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hashes) == 4
    assert len(set(hashes.values())) == 1


LOOP = b"""
declare void @work(i32)
define void @repeat() {
  br label %body
body:
  %i = phi i32 [ 0, %0 ], [ %next, %body ]
  call void @work(i32 %i)
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, 30
  br i1 %done, label %end, label %body
end:
  ret void
}
"""


@pytest.mark.parametrize(("most", "raises"), [(0, False), (30, True), (29, True), (500, False)])
def test_a_pass_may_not_grow_a_module_beyond_its_limit(most: int, raises: bool):
    module = _llvm.Module(LOOP)
    module.limit_instructions(most)
    unroll = "loop-unroll<full-unroll-max=100>,simplifycfg"
    if raises:
        with pytest.raises(ModuleTooLargeError, match=f"[0-9]+ instructions.*limit of {most}"):
            module.run(unroll)
    else:
        assert module.run(unroll)
    assert module.instruction_count() > 30


def test_a_limit_matters_to_changes_only():
    module = _llvm.Module(LOOP)
    module.limit_instructions(3)
    assert not module.run("adce")
    with pytest.raises(ModuleTooLargeError, match="limit of 3"):
        module.run("loop-unroll<full-unroll-max=100>")


def test_the_count_after_a_pass_is_that_of_a_fresh_walk(corpus: dict[str, bytes]):
    for name, data in corpus.items():
        module = _llvm.Module(data)
        for pipeline in ("sroa", "simplifycfg", "adce", "inline"):
            module.run(pipeline)
            assert module.instruction_count() == _llvm.Module(module.bitcode()).instruction_count()
        assert module.instruction_count() > 0, name
