# SPDX-License-Identifier: MIT
"""Textual IR becomes functions that are called on arrays; what cannot be compiled is told."""

import ctypes
import gc
import subprocess
import sys

import numpy as np
import pytest

from compiler_gym.errors import (
    CompilerDiagnosticError,
    CompilerFatalError,
    InvalidIrError,
    InvalidParameterError,
)
from compiler_gym_loop_tool.jit import assembly, compile_ir, set_threads, threads, vector_lanes

DOUBLE = """define void @double(ptr %buffers) {
  %x = load ptr, ptr %buffers
  %v = load float, ptr %x
  %w = fadd float %v, %v
  store float %w, ptr %x
  ret void
}
define i64 @_mlir_ciface_dot(ptr %a, ptr %b) {
  %x = load i64, ptr %a
  %y = load i64, ptr %b
  %z = mul i64 %x, %y
  ret i64 %z
}"""


@pytest.mark.parametrize("level", [None, 0, 1, 2, 3])
def test_a_function_is_called_on_arrays(level: int | None) -> None:
    array = np.array([3.0, 1.0], np.float32)
    compiled = compile_ir(DOUBLE, level=level)
    compiled.on("double", [array]).run()
    assert array.tolist() == [6.0, 1.0]
    assert compiled.size > 0
    assert set(compiled.seconds) == {"read", "optimise", "generate", "link"}


def test_any_function_is_called_through_ctypes_and_keeps_its_code() -> None:
    dot = compile_ir(DOUBLE).function(
        "_mlir_ciface_dot", ctypes.c_void_p, ctypes.c_void_p, result=ctypes.c_int64
    )
    gc.collect()
    left, right = ctypes.c_int64(6), ctypes.c_int64(7)
    assert dot(ctypes.addressof(left), ctypes.addressof(right)) == 42


def test_equal_texts_are_compiled_once() -> None:
    first = compile_ir(DOUBLE, level=1)
    assert compile_ir(DOUBLE, level=1).address("double") == first.address("double")
    assert compile_ir(DOUBLE, level=2).address("double") != first.address("double")


@pytest.mark.parametrize(
    ("ir", "error", "words"),
    [
        ("nothing", InvalidIrError, "not textual LLVM IR"),
        ("define i32 @f() {\n ret float 0.0\n}", InvalidIrError, "doesn't match"),
        (
            'target triple = "riscv64"\ndefine void @f() {\n ret void\n}',
            InvalidParameterError,
            "riscv64",
        ),
        (
            'define void @f() {\n call void asm sideeffect "nonsense", ""()\n ret void\n}',
            CompilerFatalError,
            "nonsense|inline asm|invalid",
        ),
    ],
)
def test_an_error_in_a_text_is_reported(ir: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        compile_ir(ir)
    assert compile_ir(DOUBLE).address("double")


def test_a_missing_name_is_reported() -> None:
    compiled = compile_ir(
        "declare void @missing()\ndefine void @f() {\n call void @missing()\n ret void\n}"
    )
    with pytest.raises(CompilerDiagnosticError, match="missing"):
        compiled.address("f")
    with pytest.raises(CompilerDiagnosticError, match="other"):
        compile_ir(DOUBLE).address("other")


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="0 to 3"):
        compile_ir(DOUBLE, level=4)
    with pytest.raises(InvalidParameterError, match="C order"):
        compile_ir(DOUBLE).on("double", [np.zeros((4, 4), np.float32)[:, 1]])
    with pytest.raises(InvalidParameterError, match="0 to 1024"):
        set_threads(-1)


def test_threads_and_lanes_are_reported() -> None:
    assert vector_lanes() in (4, 8, 16)
    assert vector_lanes(np.float64) == vector_lanes() // 2
    before = threads()
    try:
        set_threads(3)
        assert threads() == 3
    finally:
        set_threads(0)
    assert before >= 1


def test_assembly_is_made_for_a_graphics_card() -> None:
    text = assembly(
        "define ptx_kernel void @k(ptr %p) {\n store float 1.0, ptr %p\n ret void\n}",
        triple="nvptx64-nvidia-cuda",
        cpu="sm_80",
    )
    assert ".target sm_80" in text
    assert ".visible .entry k(" in text


def test_both_engines_live_in_one_process() -> None:
    code = (
        "from compiler_gym import _llvm, _jit\n"
        "ir = 'define i32 @f() {\\n ret i32 5\\n}'\n"
        "code = _jit.compile(ir, 2)\n"
        "module = _llvm.Module.parse(ir.encode()) if hasattr(_llvm.Module, 'parse') else None\n"
        "import ctypes\n"
        "print(ctypes.CFUNCTYPE(ctypes.c_int)(code.address('f'))())\n"
    )
    for order in (code, code.replace("_llvm, _jit", "_jit, _llvm")):
        found = subprocess.run([sys.executable, "-c", order], capture_output=True, text=True)
        assert (found.stdout, found.returncode) == ("5\n", 0), found.stderr
