# SPDX-License-Identifier: MIT
"""Putting modules together and taking them apart."""

import re
import subprocess

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import BenchmarkInitError

from .conftest import need

FIRST = b"declare i32 @two()\ndefine i32 @one() {\n %r = call i32 @two()\n ret i32 %r\n}"
SECOND = (
    b"@cell = internal global i32 2\ndefine i32 @two() {\n %r = load i32, ptr @cell\n ret i32 %r\n}"
)


def test_linked_modules_hold_all_definitions():
    module = _llvm.Module(_llvm.link_modules([FIRST, SECOND]))
    assert len(re.findall(r"^define", module.text(), re.M)) == 2
    assert "declare" not in module.text()
    assert module.instruction_count() == 4


def test_linking_equals_llvm_link(corpus, tmp_path):
    parts = [corpus["loops"], _llvm.Module(SECOND).bitcode(), _llvm.Module(FIRST).bitcode()]
    names = [tmp_path / f"{number}.bc" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        name.write_bytes(part)
    target = tmp_path / "whole.bc"
    command = [need("llvm-link-22"), *map(str, names), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    assert (
        _llvm.Module(_llvm.link_modules(parts)).text() == _llvm.Module(target.read_bytes()).text()
    )


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ([], "at least one module"),
        ([FIRST, FIRST], "module 1 does not link: .*'one'.*multiply defined"),
        ([FIRST, b"nonsense"], "expected top-level entity"),
        ([b"", FIRST], "found no bytes"),
    ],
)
def test_modules_that_do_not_link_are_refused(modules: list[bytes], message: str):
    with pytest.raises(BenchmarkInitError, match=message):
        _llvm.link_modules(modules)


def test_splitting_gives_one_module_for_each_definition(corpus):
    for data in corpus.values():
        whole = _llvm.Module(data)
        defined = re.findall(r"^define [^@]*@([\w.]+)\(", whole.text(), re.M)
        parts = _llvm.split_functions(data)
        assert [name for name, _ in parts] == defined
        modules = [_llvm.Module(part) for _, part in parts]
        assert sum(module.instruction_count() for module in modules) == whole.instruction_count()
        for module in modules:
            assert len(re.findall(r"^define", module.text(), re.M)) == 1
            module.run("default<O2>")
            assert module.instruction_count() > 0


def test_split_functions_link_again():
    data = _llvm.link_modules([FIRST, SECOND])
    parts = [part for _, part in _llvm.split_functions(data)]
    assert _llvm.Module(_llvm.link_modules(parts)).instruction_count() == 4


def test_casts_from_a_type_to_itself_are_removed_and_others_stay():
    text = b"""
define ptr @f(ptr %p, i32 %i) {
  %q = bitcast ptr %p to ptr
  %r = bitcast ptr %q to ptr
  %x = bitcast i32 %i to float
  store float %x, ptr %r
  ret ptr %r
}
"""
    module = _llvm.Module(_llvm.strip_noop_bitcasts(text))
    assert module.instruction_count() == 3
    assert "bitcast ptr" not in module.text()
    assert "bitcast i32" in module.text()


@pytest.mark.parametrize("function", [_llvm.split_functions, _llvm.strip_noop_bitcasts])
def test_bytes_that_are_no_module_are_refused(function):
    with pytest.raises(BenchmarkInitError, match="expected top-level entity"):
        function(b"nonsense")
