# SPDX-License-Identifier: MIT
"""A plan may come from anybody: what no tuner decides is refused by name, and never run."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import (
    BinaryPlan,
    BuildPlan,
    Journal,
    SourceFile,
    read_plan,
    read_tuned,
    tuner_named,
    write_plan,
)
from compiler_gym.tools.tune.builds import Binary

LLVM = "llvm 22.1.8"
PROGRAM = BinaryPlan(
    "a/b", "program", "function(gvn),invalidate<all>,default<Oz>", {"regalloc": "basic"},
    linker=("-Wl,--gc-sections", "-Wl,--icf=safe"),
    scope="internalize<preserve-gv=main;preserve-gv=_ZN1aC1Ev>",
    sources=(SourceFile("src/a.c", "0" * 64),),
)  # fmt: skip
FAST = BinaryPlan(
    "a", "link-time fast", linker=("-Wl,--gc-sections",), profile="profiles/a.profdata"
)
SMALL = BinaryPlan("a", "link-time", "default<Oz>", {"disable-lsr": "true"}, linker=("-Wl,-O2",))
EVIL_WORDS = (
    "-fplugin=evil.so", "-Xclang", "-load", "-fpass-plugin=./evil.so", "-o", "/tmp/x", "-o/tmp/x",
    "@words", "evil.c", "-B.", "-wrapper", "-fuse-ld=/tmp/evil", "-specs=evil.specs", "",
    "-Wl,-o,/tmp/x", "-Wl,--gc-sections,-o,/tmp/x", "-Wl,-T,evil.ld", "-Wl,-plugin,evil.so",
    "-Xlinker", "-Wl,--icf=all,@words", "-Wl,-Map=/tmp/x", "-Wl,--icf=none", "-fdump-tree-all",
    "-mllvm=-load=evil.so", "-mllvm=-pgo-test-profile-file=/etc/passwd", "-mllvm", "-MF/tmp/x",
    "-mllvm=-inline-threshold=501", "-Wl,-mllvm,-load=evil.so", "-mllvm=-inline-threshold=500,x",
    "-fprofile-use=/etc/passwd", "-save-temps=obj", "-include/etc/passwd", "-Wa,-a=/tmp/x",
    "-fcrash-diagnostics-dir=/tmp", "--param=max-hoist-depth=77", "--param", "-fno-gcse\n-o",
    "-fdiagnostics-format=sarif-file", "-Wp,-MD,/tmp/x", "-fno-lto-x", "-O9", "-flto=jobserver",
    "-Wl,--gc-sections -o x", "-Wl,--gc-sections\0", "-fdump-rtl-final=/tmp/x", "--config=evil",
)  # fmt: skip
EVIL_PASSES = (
    "print<alias-sets>", "function(print)", "dot-cfg", "pgo-instr-use", "pgo-instr-use<x>",
    "opt --load-pass-plugin=./evil.so -passes=dce", "sample-profile", "print-callgraph",
    "function(gvn,print)", "gvn | llc -o /tmp/x", "embed-bitcode<thinlto>",
    "write-bitcode", "ThinLTOBitcodeWriter", "default<O9>", "require<x>", "-load-pass-plugin=x",
    "instrprof", "gcov-profiler", "memprof-use<profile-filename=/etc/passwd>", "@words",
    "function(gvn)\x1b[2J",
)  # fmt: skip


def evil() -> list[tuple[str, BuildPlan]]:
    """Return plans that no tuner made, with what of each must be named."""
    found = list[tuple[str, BuildPlan]]()

    def add(named: str, binary: BinaryPlan, **fields: Any) -> None:
        found.append((named, BuildPlan(LLVM, "size", "1", (replace(binary, **fields),))))

    for word, binary in itertools.product(EVIL_WORDS, (PROGRAM, SMALL, FAST)):
        if binary is not PROGRAM:
            add(word, binary, flags=(*binary.flags, word))
        add(word, binary, linker=(*binary.linker, word))
    for text in EVIL_PASSES:
        add(text, PROGRAM, passes=f"{PROGRAM.passes},{text}")
        add(text, SMALL, passes=text)
    options: list[Mapping[str, str]] = [
        {"load": "evil.so"}, {"regalloc": "basic,-load=x"}, {"regalloc": "default"},
        {"pass-remarks-output": "/tmp/x"}, {"regalloc=basic -load": "x"}, {"": ""},
        {"stats": "true"}, {"-regalloc": "basic"},
    ]  # fmt: skip
    for option in options:
        add(next(iter(option)), PROGRAM, options=option)
        add(next(iter(option)), SMALL, options=option)
    for scope in ("print", "internalize<preserve-gv=x>,print", "internalize<preserve-gv=x;y>"):
        add(scope, PROGRAM, scope=scope)
    for profile in ("/etc/passwd", "../x", "profiles/../../x", "profiles/..", "profiles", "x/y"):
        add(profile, FAST, profile=profile)
    for name in ("../../.bashrc", "..", "", "a\nb", "\x1b]0;x\a", "a/../../b"):
        add(name, PROGRAM, name=name)
        add(name, PROGRAM, sources=(SourceFile(name, "0" * 64),))
    add("shell", PROGRAM, method="shell")
    add("-O2", PROGRAM, flags=("-O2",))
    add("profile", PROGRAM, profile="profiles/a")
    add("passes", FAST, passes="function(gvn)")
    add("options", FAST, options={"disable-lsr": "true"})
    add("profile", SMALL, profile="profiles/a")
    found.append(("beauty", BuildPlan(LLVM, "beauty", "1", (PROGRAM,))))
    found.append(("\x1b[2J", BuildPlan("other 1", "size", "\x1b[2J", ())))
    return found


def test_unknown_decisions_are_refused_by_name(tmp_path: Path) -> None:
    for named, plan in evil():
        path = write_plan(tmp_path / "tuned.toml", plan)
        with pytest.raises(PlanError, match=r"tuned\.toml: ") as caught:
            read_tuned(path)
        assert (named if named.isprintable() else ascii(named)[1:-1]) in str(caught.value)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("binary", [PROGRAM, SMALL, FAST, replace(FAST, profile="")])
def test_decisions_of_a_tuner_are_read(tmp_path: Path, binary: BinaryPlan) -> None:
    plan = BuildPlan(LLVM, "size", "1", (binary,))
    (found,) = read_plan(write_plan(tmp_path / "tuned.toml", plan)).binaries
    assert found.decisions() == binary.decisions()
    if binary.profile:
        assert found.profile == str(tmp_path / binary.profile)


def test_a_plan_that_was_never_a_file_is_refused_where_it_would_be_used(tmp_path: Path) -> None:
    command = CompilerCommand.parse(["cc", "a.c", "-o", "a"], tmp_path)
    binary = Binary("a", tmp_path / "a", command, (), tmp_path)
    plan = replace(FAST, flags=("-fplugin=evil.so",), profile="")
    tuner = tuner_named(LLVM)
    with pytest.raises(PlanError, match=r"-fplugin=evil\.so"):
        tuner.build(binary, plan, tmp_path / "made", jobs=1)
    with pytest.raises(PlanError, match=r"-fplugin=evil\.so"):
        tuner.script(binary, plan)
    assert not (tmp_path / "made").exists()


def test_a_journal_of_unknown_origin_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    path.write_text(
        '{"key": "k", "cost": 3.0, "stage": "", "actions": ["-fplugin=x.so"]}\n'
        '{"key": "k"}\n{"key": "k", "cost": "low", "actions": []}\n[]\n'
        '{"key": "k", "cost": 4, "actions": ["-Wl,-O2"]}\n'
    )
    tuner = tuner_named(LLVM)

    def require(linker: tuple[str, ...]) -> None:
        tuner.require_possible(replace(SMALL, linker=linker))

    with pytest.raises(PlanError, match=r"tried\.jsonl: .*-fplugin=x\.so.*delete that file"):
        Journal(path, "k", require_possible=require)
    assert [tried.cost for tried in Journal(path, "k").iterate_tried()] == [3.0, 4.0]


def test_a_plan_for_an_unknown_compiler_can_be_read(tmp_path: Path) -> None:
    plan = BuildPlan("other 1", "size", "1", (BinaryPlan("a", "m", flags=("-x",)),))
    assert read_plan(write_plan(tmp_path / "tuned.toml", plan)) == plan


@pytest.mark.parametrize("path", ["/dev/zero", "a\0b", "."])
def test_a_file_without_end_or_name_is_refused(path: str) -> None:
    with pytest.raises(PlanError, match=r"at most|cannot read"):
        read_plan(Path(path))


def test_a_step_after_the_link_is_refused(tmp_path: Path) -> None:
    path = write_plan(tmp_path / "tuned.toml", BuildPlan(LLVM, "speed", "1", (FAST,)))
    path.write_text(path.read_text().replace("profile =", 'after = ["bolt"]\nprofile ='))
    with pytest.raises(PlanError, match=r"a step after the link .* make the plan again"):
        read_plan(path)


def test_deeply_nested_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tuned.toml").write_text(f"version = {'[' * 100_000}")
    with pytest.raises(PlanError, match="not valid TOML"):
        read_plan(tmp_path / "tuned.toml")
