# SPDX-License-Identifier: MIT
# ruff: noqa: E501  # lines of IR
"""Unusual modules, read and optimised, against opt: text line for line, bitcode byte for byte."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym import _llvm
from tests.effort import examples

from .conftest import compile_program, need

TRIPLES = (
    "x86_64-pc-linux-gnu",
    "x86_64",
    "x86_64-pc-windows-msvc",
    "x86_64-apple-macosx10.15.0",
    "x86_64-unknown-linux-gnux32",
    "i386-pc-linux-gnu",
    "i686-w64-windows-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64_be-linux-gnu",
    "arm64-apple-ios",
    "riscv64-unknown-linux-gnu",
    "riscv32-unknown-elf",
)
# This build has no code for these, so only passes that ask no target agree with opt on them.
OTHER_TRIPLES = (
    "armv7-linux-gnueabihf",
    "armeb-none-eabi",
    "mips64-linux-gnuabin32",
    "powerpc-unknown-linux-gnu",
    "powerpc64le-unknown-linux-gnu",
    "s390x-linux-gnu",
    "sparcv9-sun-solaris",
    "wasm32-unknown-unknown",
    "avr",
    "msp430",
    "bpfel",
    "amdgcn-amd-amdhsa",
    "nvptx64-nvidia-cuda",
    "spir64-unknown-unknown",
)
LAYOUTS = ("", "", "e", "E-p:32:32", "e-m:e-i64:32-n8:16:32", "e-i64:64-S64")

# Each fragment stands alone; together they are a module.
FRAGMENTS = {
    "layout": """
%rec = type { i32, i64, i8, x86_fp80, i128, ptr }
@record = global %rec zeroinitializer
define i64 @field(ptr %p) {
  %local = alloca %rec
  %q = getelementptr %rec, ptr %p, i32 1, i32 1
  %r = getelementptr %rec, ptr %local, i32 0, i32 5
  store ptr %q, ptr %r
  %v = load i64, ptr %q
  %s = ptrtoint ptr getelementptr (%rec, ptr null, i32 1) to i64
  %sum = add i64 %v, %s
  ret i64 %sum
}""",
    "memory": """
declare void @llvm.memcpy.p0.p0.i32(ptr, ptr, i32, i1)
define i8 @copy(ptr %p) {
  %a = alloca [16 x i8]
  call void @llvm.memcpy.p0.p0.i32(ptr %a, ptr %p, i32 16, i1 false)
  %q = getelementptr [16 x i8], ptr %a, i32 0, i32 3
  %v = load i8, ptr %q
  ret i8 %v
}""",
    "old intrinsics": """
declare i32 @llvm.ctlz.i32(i32)
declare i64 @llvm.objectsize.i64.p0(ptr, i1)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
declare i64 @llvm.experimental.vector.reduce.add.v4i64(<4 x i64>)
define i64 @old(i32 %n, ptr %p) {
  %a = alloca i32
  call void @llvm.lifetime.start.p0(i64 4, ptr %a)
  store i32 %n, ptr %a
  %z = call i32 @llvm.ctlz.i32(i32 %n)
  %o = call i64 @llvm.objectsize.i64.p0(ptr %p, i1 false)
  call void @llvm.lifetime.end.p0(i64 4, ptr %a)
  %w = zext i32 %z to i64
  %t = insertelement <4 x i64> zeroinitializer, i64 %w, i32 1
  %u = call i64 @llvm.experimental.vector.reduce.add.v4i64(<4 x i64> %t)
  %s = add i64 %u, %o
  ret i64 %s
}""",
    "old attributes": """
define i32 @framed(i32 %n) "no-frame-pointer-elim"="true" "unsafe-fp-math"="true" {
  ret i32 %n
}
define float @pointless(float %x) nounwind readnone "null-pointer-is-valid"="true" {
  %y = fadd float %x, 0.0
  ret float %y
}""",
    "uses in another order": """
define i32 @ordered(i32 %a, i32 %b) {
  %x = add i32 %a, %b
  %y = mul i32 %a, %x
  %z = sub i32 %y, %a
  ret i32 %z
  uselistorder i32 %a, { 2, 0, 1 }
}""",
    "no names": """
%0 = type { i32, %1 }
%1 = type { i16, i64 }
@0 = internal global %0 zeroinitializer
@1 = private constant [2 x i8] c"a\\00"
define i32 @2(i32 %0, ptr %1) {
  %3 = getelementptr %0, ptr @0, i32 0, i32 0
  %4 = load i32, ptr %3
  %5 = add i32 %0, %4
  ret i32 %5
}
define i32 @calls_nameless(i32 %n) {
  %r = call i32 @2(i32 %n, ptr @1)
  ret i32 %r
}""",
    "aliases and comdats": """
$group = comdat any
$other = comdat largest
@kept = linkonce_odr constant i32 7, comdat($group)
@sized = linkonce_odr constant i32 9, comdat($other)
@same = alias i32, ptr @kept
@chosen = ifunc i32 (i32), ptr @resolve
define ptr @resolve() { ret ptr @target }
define internal i32 @target(i32 %n) { ret i32 %n }
define linkonce_odr i32 @group() comdat { ret i32 1 }""",
    "assembly": """
module asm ".globl made_by_hand"
module asm "made_by_hand: ret"
declare void @made_by_hand()""",
    "hidden data": """
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @begin, ptr null }]
@llvm.used = appending global [1 x ptr] [ptr @held], section "llvm.metadata"
@held = internal global i32 3, section "mine", align 8
define internal void @begin() align 32 prefix i32 5 prologue i8 1 { ret void }""",
    "addresses": """
@places = internal constant [2 x ptr] [ptr blockaddress(@jump, %a), ptr blockaddress(@jump, %b)]
define i32 @jump(i64 %n) {
  %q = getelementptr [2 x ptr], ptr @places, i64 0, i64 %n
  %p = load ptr, ptr %q
  indirectbr ptr %p, [label %a, label %b]
a:
  ret i32 1
b:
  ret i32 2
}""",
    "odd types": """
define <vscale x 4 x i32> @scaled(<vscale x 4 x i32> %v) {
  %w = add <vscale x 4 x i32> %v, %v
  ret <vscale x 4 x i32> %w
}
define i13 @narrow(i13 %n, bfloat %b, fp128 %q) {
  %m = mul i13 %n, 3
  %c = freeze i13 %m
  ret i13 %c
}
define i32 @far(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p
  ret i32 %v
}""",
    "flags": """
!llvm.module.flags = !{!90, !91, !92, !93}
!90 = !{i32 1, !"PIC Level", i32 2}
!91 = !{i32 1, !"wchar_size", i32 4}
!92 = !{i32 1, !"Objective-C Image Info Section", !"__DATA, __objc_imageinfo, regular, no_dead_strip"}
!93 = !{i32 7, !"uwtable", i32 1}
!llvm.ident = !{!94}
!94 = !{!"a compiler"}""",
    "profile and aliasing": """
define i32 @counted(ptr %p, ptr %q, i1 %c) !prof !80 {
  br i1 %c, label %a, label %b, !prof !81
a:
  store float 1.0, ptr %q, !tbaa !82
  %v = load i32, ptr %p, !tbaa !83, !range !87
  ret i32 %v
b:
  %w = load i32, ptr %p, !tbaa !88
  ret i32 %w
}
!80 = !{!"function_entry_count", i64 100}
!81 = !{!"branch_weights", i32 99, i32 1}
!82 = !{!84, !84, i64 0}
!83 = !{!85, !85, i64 0}
!84 = !{!"float", !86, i64 0}
!85 = !{!"int", !86, i64 0}
!86 = !{!"root"}
!87 = !{i32 0, i32 10}
!88 = !{!"int", !86}""",
    "coroutine": """
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare ptr @llvm.coro.free(token, ptr)
declare void @llvm.coro.end(ptr, i1, token)
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @generate(i32 %n) presplitcoroutine {
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %room = call ptr @malloc(i64 %size)
  %frame = call ptr @llvm.coro.begin(token %id, ptr %room)
  %s = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %s, label %end [i8 0, label %clean i8 1, label %clean]
clean:
  %m = call ptr @llvm.coro.free(token %id, ptr %frame)
  call void @free(ptr %m)
  br label %end
end:
  call void @llvm.coro.end(ptr %frame, i1 false, token none)
  ret ptr %frame
}""",
}
FRAGMENTS["type tests"] = """
@table = constant [2 x ptr] [ptr @virtual, ptr @virtual], !type !70, !vcall_visibility !71
declare i1 @llvm.public.type.test(ptr, metadata)
declare {ptr, i1} @llvm.type.checked.load(ptr, i32, metadata)
declare void @llvm.assume(i1)
define void @virtual() { ret void }
define ptr @assumes(ptr %p) {
  %b = call i1 @llvm.public.type.test(ptr %p, metadata !"T")
  call void @llvm.assume(i1 %b)
  %c = call {ptr, i1} @llvm.type.checked.load(ptr %p, i32 8, metadata !"T")
  %d = extractvalue {ptr, i1} %c, 0
  ret ptr %d
}
!70 = !{i64 0, !"T"}
!71 = !{i64 0}"""
DEBUG = """
define i32 @debugged(i32 %%n) !dbg !3 {
  call void @llvm.dbg.value(metadata i32 %%n, metadata !8, metadata !DIExpression()), !dbg !9
  ret i32 %%n, !dbg !9
}
declare void @llvm.dbg.value(metadata, metadata, metadata)
!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: FullDebug, retainedTypes: !10)
!1 = !DIFile(filename: "a.cpp", directory: "/")
!3 = distinct !DISubprogram(name: "debugged", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{!6, !6}
!6 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!8 = !DILocalVariable(name: "n", arg: 1, scope: !3, file: !1, type: !6)
!9 = !DILocation(line: 2, scope: !3)
!10 = !{!11, !12, !13}
!11 = !DICompositeType(tag: DW_TAG_class_type, name: "A", file: !1, flags: DIFlagFwdDecl, identifier: "_ZTS1A")
!12 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "A", file: !1, line: 3, size: 32, elements: !14, identifier: "_ZTS1A")
!13 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "A", file: !1, line: 4, size: 32, elements: !14, identifier: "_ZTS1A")
!14 = !{}
!20 = !{i32 2, !"Debug Info Version", i32 %d}
!llvm.module.flags = !{!20}
"""
NEEDS_TARGET = (
    "function(instcombine<no-verify-fixpoint>)",
    "function(sroa)",
    "function(gvn)",
    "default<O2>",
    "default<Oz>",
)
NEEDS_NONE = ("function(sroa,early-cse)", "function(dce)", "function(sccp)", "globaldce")
LINES_OF_THE_FILE = ("; ModuleID", "source_filename")


@st.composite
def modules(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw the text of a module, and passes to run on it."""
    is_known = draw(st.integers(0, 3)) > 0
    triple = draw(st.sampled_from(TRIPLES if is_known else OTHER_TRIPLES) | st.just(""))
    layout = draw(st.sampled_from(LAYOUTS))
    parts = draw(st.lists(st.sampled_from(sorted(FRAGMENTS)), unique=True, max_size=5))
    if not is_known:
        # The symbols of assembly stand in bitcode, and to read them takes the target's parser.
        parts = [part for part in parts if part != "assembly"]
    version = draw(st.sampled_from([None, 3, 3, 2]))
    text = 'source_filename = "unusual.ll"\n'
    text += f'target datalayout = "{layout}"\n' if layout else ""
    text += f'target triple = "{triple}"\n' if triple else ""
    text += "".join(FRAGMENTS[part] for part in parts)
    if version is not None and "flags" not in parts:
        text += DEBUG % version
    choice = NEEDS_TARGET if is_known or not triple else NEEDS_NONE
    return text, draw(st.lists(st.sampled_from(choice), max_size=3))


def ask_opt(source: Path, *words: str) -> bytes | None:
    """Return what opt writes, or nothing where it refuses the module."""
    command = [need("opt-22"), *words, str(source), "-o", "-"]
    done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    return None if done.returncode else done.stdout


def run(data: bytes, passes: list[str]) -> _llvm.Module:
    module = _llvm.Module(data)
    for name in passes:
        module.run(name)
    return module


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(LINES_OF_THE_FILE)]


def compare(text: str, passes: list[str], folder: Path) -> None:
    """Require opt's module after `passes`, from the text and from its bitcode."""
    pipeline = "-passes=" + (",invalidate<all>,".join(passes) or "no-op-module")
    source, bitcode, result = (folder / name for name in ("a.ll", "a.bc", "b.bc"))
    source.write_text(text)
    expected = ask_opt(source, pipeline)
    if expected is None:
        with pytest.raises(Exception, match=r"."):
            run(text.encode(), passes)
        return
    result.write_bytes(expected)
    # opt cannot drop the names of values while it reads text.
    nameless = ask_opt(result, "-discard-value-names", "-S", "-passes=no-op-module")
    assert nameless is not None
    again = _llvm.Module(run(text.encode(), passes).bitcode())  # read twice, as opt's
    assert lines(again.text()) == lines(nameless.decode())
    command = [need("llvm-as-22"), str(source), "-o", str(bitcode)]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    module = run(bitcode.read_bytes(), passes)
    assert module.bitcode() == ask_opt(bitcode, "-discard-value-names", pipeline)


@settings(max_examples=examples(90))
@given(drawn=modules())
def test_an_unusual_module_is_read_and_optimised_as_opt_does(
    drawn: tuple[str, list[str]], tmp_path: Path
):
    text, passes = drawn
    compare(text, passes, tmp_path)


@pytest.mark.parametrize("fragment", sorted(FRAGMENTS))
def test_each_kind_of_module_without_a_layout_is_optimised_as_opt_does(
    fragment: str, tmp_path: Path
):
    text = f'target triple = "x86_64-pc-linux-gnu"\n{FRAGMENTS[fragment]}'
    (tmp_path / "fragment.ll").write_text(text)
    assert ask_opt(tmp_path / "fragment.ll", "-passes=default<O2>") is not None
    compare(text, ["default<O2>"], tmp_path)


@pytest.mark.parametrize("triple", [*TRIPLES, *OTHER_TRIPLES, ""])
def test_a_module_without_a_layout_gets_the_one_that_opt_infers(triple: str, tmp_path: Path):
    line = f'target triple = "{triple}"\n' if triple else ""
    compare(line + FRAGMENTS["memory"], ["function(sroa)"], tmp_path)


@pytest.mark.parametrize("version", [2, 3])
def test_debug_information_is_merged_and_stripped_as_opt_does(version: int, tmp_path: Path):
    compare(
        'target triple = "x86_64-pc-linux-gnu"\n' + DEBUG % version, ["function(sroa)"], tmp_path
    )


def test_cpp_with_debug_information_equals_opt(sources: dict[str, Path], tmp_path: Path):
    for name, path in sources.items():
        if path.suffix == ".c":
            continue
        data = compile_program(path, "-g", "-O2", "-Xclang", "-disable-llvm-passes")
        source = tmp_path / f"{name}.bc"
        source.write_bytes(data)
        expected = ask_opt(source, "-discard-value-names", "-passes=default<Oz>")
        assert run(data, ["default<Oz>"]).bitcode() == expected, name


def test_linked_and_split_modules_have_the_layout_of_their_triple():
    text = f'target triple = "x86_64-pc-linux-gnu"\n{FRAGMENTS["memory"]}'.encode()
    layout = _llvm.Module(text).data_layout
    assert layout.startswith("e-m:e-p270")
    assert _llvm.Module(_llvm.link_modules([text])).data_layout == layout
    for _, part in _llvm.split_functions(text):
        assert _llvm.Module(part).data_layout == layout
