# SPDX-License-Identifier: MIT
"""Putting modules together and taking them apart."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import BundledPrograms
from compiler_gym.errors import BenchmarkInitError
from tests.bundled import every_program

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


def test_linking_equals_llvm_link(corpus: dict[str, bytes], tmp_path: Path):
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
        ([], "no modules to link"),
        ([FIRST, FIRST], "module 1 does not link: .*'one'.*multiply defined"),
        ([FIRST, b"nonsense"], "expected top-level entity"),
        ([b"", FIRST], "the file is empty"),
    ],
)
def test_modules_that_do_not_link_are_refused(modules: list[bytes], message: str):
    with pytest.raises(BenchmarkInitError, match=message):
        _llvm.link_modules(modules)


def test_splitting_gives_one_module_for_each_definition(corpus: dict[str, bytes]):
    for data in corpus.values():
        whole = _llvm.Module(data)
        defined = re.findall(r"^define [^@]*@([\w.]+)\(", whole.text(), re.M)
        parts = _llvm.split_functions(data)
        assert [name for name, _ in parts] == [*defined, ""]
        modules = [_llvm.Module(part) for _, part in parts]
        assert sum(module.instruction_count() for module in modules) == whole.instruction_count()
        assert modules.pop().instruction_count() == 0
        for module in modules:
            assert len(re.findall(r"^define", module.text(), re.M)) == 1
            module.run("default<O2>")
            assert module.instruction_count() > 0


# Everything that a part may lose: an unused declaration is the one thing that llvm-link drops.
ODD = b"""
source_filename = "odd.c"
module asm ".set marker, 1"
$inline = comdat any
$group = comdat largest
@0 = private unnamed_addr constant [3 x i8] c"hi\\00"
@weak = weak global i32 3
@once = linkonce_odr global i32 4, comdat($group)
@shared = common global i32 0
@unused = internal global ptr @hidden
@jumps = internal constant [2 x ptr] [ptr blockaddress(@jump, %a), ptr blockaddress(@jump, %b)]
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]
[{ i32, ptr, ptr } { i32 1, ptr @hidden, ptr null }]
@llvm.used = appending global [1 x ptr] [ptr @unused], section "llvm.metadata"
@also = alias i32 (), ptr @inline
@data = internal alias i32, ptr @weak
@chosen = ifunc i32 (), ptr @resolver
declare extern_weak i32 @maybe()
define internal void @hidden() { ret void }
define linkonce_odr i32 @inline() comdat { ret i32 1 }
define linkonce i32 @first() comdat($group) {
  %r = load i32, ptr @once
  ret i32 %r
}
define available_externally i32 @known() { ret i32 2 }
define private ptr @resolver() { ret ptr @inline }
define i32 @jump(i64 %i) {
  %p = getelementptr [2 x ptr], ptr @jumps, i64 0, i64 %i
  %t = load ptr, ptr %p
  indirectbr ptr %t, [label %a, label %b]
a:
  %v = load i8, ptr @0
  %x = sext i8 %v to i32
  ret i32 %x
b:
  %y = load i32, ptr @data
  ret i32 %y
}
define i32 @1() {
  %r = call i32 @also()
  %s = call i32 @known()
  %c = call i32 @chosen()
  %m = call i32 @maybe()
  ret i32 %r
}
!llvm.ident = !{!0}
!0 = !{!"one"}
"""


def plain(data: bytes) -> list[str]:
    """The text but for its name, the numbers of metadata and the order of a block's uses."""
    lines = _llvm.Module(data).text().splitlines()[2:]
    code = [line for line in lines if not line.startswith("!")]
    return [re.sub(r"!\d+|; preds = .*", "", line) for line in code]


def merged(data: bytes, parts: list[tuple[str, bytes]]) -> bytes:
    whole = _llvm.link_modules([part for _, part in parts])
    assert b"compiler_gym.parts" not in _llvm.Module(whole).text().encode()
    return whole


@pytest.mark.parametrize("backwards", [False, True])
def test_a_split_module_merges_to_the_original(backwards: bool):
    parts = _llvm.split_functions(ODD)
    names = ("hidden", "inline", "first", "known", "resolver", "jump", "unnamed", "")
    assert tuple(name for name, _ in parts) == names
    ordered = parts[::-1] if backwards else parts
    assert plain(merged(ODD, ordered)) == plain(_llvm.Module(ODD).bitcode())


def test_parts_can_be_split_and_merged_in_steps():
    data = _llvm.Module(ODD).bitcode()
    parts = [part for _, part in _llvm.split_functions(data)]
    again = [part for _, part in _llvm.split_functions(parts[0])]
    first = _llvm.link_modules(again)
    some = _llvm.link_modules([*parts[3:], first])
    assert plain(_llvm.link_modules([parts[2], some, parts[1]])) == plain(data)


def test_parts_that_were_optimised_link_again():
    data = _llvm.Module(ODD).bitcode()
    parts: list[bytes] = []
    for _, part in _llvm.split_functions(data):
        module = _llvm.Module(part)
        module.run("default<O3>")
        parts.append(module.bitcode())
    whole = _llvm.Module(_llvm.link_modules(parts)).text()
    assert len(re.findall(r"^define", whole, re.M)) == 7
    assert "define internal void @hidden" in whole


def test_a_block_of_another_function_cannot_be_split_off():
    text = b"""
define ptr @of() {
  br label %a
a:
  ret ptr null
}
define ptr @taker() { ret ptr blockaddress(@of, %a) }
"""
    with pytest.raises(BenchmarkInitError, match="taker holds the address of a block"):
        _llvm.split_functions(text)


@pytest.mark.parametrize(
    "notes",
    [
        b"!{}",
        b'!{!"x"}',
        b'!{!"x", i64 0, i64 1, !{!{}, null, !{!"f", i64 99}}}',
        b'!{!"x", i64 0, i64 1, !{!{!"f", i64 6, !"c", i64 77, i64 1}}}',
        b"!{i32 0, i32 1, null, null}",
    ],
)
def test_notes_of_a_stranger_do_no_harm(notes: bytes):
    text = b"define i32 @f() { ret i32 1 }\n!compiler_gym.parts = !{!0}\n!0 = " + notes
    module = _llvm.Module(_llvm.link_modules([text]))
    assert module.instruction_count() == 1
    module.verify()


@pytest.mark.parametrize("name", every_program())
def test_every_bundled_program_merges_to_the_original(name: str, tmp_path: Path):
    data = BundledPrograms()[name].contents
    whole = merged(data, _llvm.split_functions(data))
    assert plain(whole) == plain(data)
    symbols: list[str] = []
    for kind, module in (("whole", data), ("merged", whole)):
        path = tmp_path / f"{kind}.bc"
        path.write_bytes(module)
        subprocess.run([need("opt-22"), "-passes=verify", "-disable-output", path], check=True)
        done = subprocess.run([need("llvm-nm-22"), path], check=True, capture_output=True)
        symbols.append(done.stdout.decode())
    assert symbols[0] == symbols[1]


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
def test_bytes_that_are_not_a_module_are_refused(function: Callable[[bytes], bytes]):
    with pytest.raises(BenchmarkInitError, match="expected top-level entity"):
        function(b"nonsense")
