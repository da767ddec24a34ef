# SPDX-License-Identifier: MIT
"""What a terminal of 80 columns shows of every command: no line is wider, no name is cut."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from compiler_gym.cli._commands import commands
from compiler_gym.cli.kit.output import command_lines
from tests.command_line import Run, States, write

PROGRAM = "cbench-v1/crc32"
SCREEN = {"TTY_COMPATIBLE": "1", "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80"}
"""A terminal of 80 columns, as Rich is told of one."""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
LONG = (
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;"
    "switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>"
)
ORDINARY: dict[str, list[tuple[str, ...]]] = {
    "envs": [("envs",)],
    "tasks": [("tasks",), ("tasks", "fewer-instructions/cbench-v1/crc32")],
    "describe": [
        ("describe", "llvm-v0", "--filter", "simplifycfg"),
        ("describe", "mlir-v0"),
        ("describe", "loop_tool-v0"),
    ],
    "search": [
        ("search", "sum.c", PROGRAM, "--steps", "40"),
        ("search", "sum.c", "--env", "gcc-v0", "--steps", "3"),
    ],
    "hunt": [("hunt", "nothing-there"), ("hunt", "sum.c", "--time", "1s", "--output", "h" * 60)],
    "recipe": [("recipe",), ("recipe", "show", "small")],
    "replay": [("replay", "states.csv")],
    "validate": [("validate", "states.csv", "--rungs", "replay")],
    "reduce": [("reduce", "states.csv")],
    "runs": [("runs", "a" * 60), ("runs", "a" * 60, "--compare")],
    "explore": [("explore", PROGRAM)],
    "version": [("version",)],
    "help": [("help",)],
    "doctor": [("doctor",)],
    "run": [
        ("run", "sum.c", "sroa", LONG, "--observe", "Autophase", "--observe", "Ir"),
        ("run", PROGRAM, "200"),
        ("run", "bad.c"),
        ("run", "missing.c"),
    ],
    "profile": [("profile", PROGRAM, "sroa", LONG)],
    "datasets": [("datasets",), ("datasets", "sample", "cbench-v1")],
    "leaderboard": [("leaderboard", "tasks"), ("leaderboard", "table")],
    "rust": [("rust",), ("rust", "--rustc", "missing")],
    "search-rules": [("search-rules", "--trials", "0"), ("search-rules", "--programs", "none")],
    "size": [("size", sys.executable), ("size", sys.executable, sys.executable), ("size", "none")],
    "tune": [("tune",), ("tune", "diff", "a", "b")],
    "bisect": [("bisect", "nothing.json")],
    "new": [("new", "basic-compiler")],
    "collect": [
        ("collect", "llvm-v0", "--benchmarks", PROGRAM, "--steps", "5", "--output", "collected"),
        ("collect", "llvm-v0", "--benchmarks", "nothing", "--steps", "5", "--output", "other"),
    ],
    "sdk": [],
    "conformance": [("conformance", "--", "./missing")],
    "serve-policy": [("serve-policy", "missing.py")],
    "policy": [
        ("policy", "measure", "missing", "--output", "outcomes"),
        ("policy", "show", "size"),
        ("policy", "train", "none.jsonl", "debian-sample-v0", "--output", "x.toml"),
    ],
    "tails": [
        ("tails",),
        ("tails", "apply", "missing.bc", "-o", "smaller.bc"),
        ("tails", "learn", "missing", "--output", "learned"),
        ("tails", "table", "missing", "--output", "learned"),
    ],
    "evaluate-heuristic": [("evaluate-heuristic", "missing.c")],
}
WITHOUT = {
    "web": "serves until it is stopped",
    "cc": "prints what the compiler does",
    "cxx": "so",
}
TYPED = (
    "list",
    f"{LONG} sroa",
    "history",
    "observe Autophase",
    "observe InstCountNorm",
    "commandline",
    "help",
    "tutorial",
    "list_datasets",
    "try 5",
)


@pytest.mark.parametrize("command", commands())
def test_the_output_of_a_command_fits_80_columns_without_cuts(
    cli: Run, tmp_path: Path, source: Path, states: States, command: str
) -> None:
    assert (command in ORDINARY) != (command in WITHOUT)
    (tmp_path / "bad.c").write_text("int main(void) { return nothing_of_the_kind; }\n")
    write(tmp_path / "states.csv", states)
    if command == "runs":
        cli("search", PROGRAM, "--steps", "5", "--run", "a" * 60)
    for arguments in (*ORDINARY.get(command, []), (command, "--help")):
        if command in ("cc", "cxx"):
            break
        ran = cli(*arguments, stdin="\n".join(TYPED).encode(), **SCREEN)
        lines = ESCAPES.sub("", ran.output + ran.errors).splitlines()
        assert lines, arguments
        assert [line for line in lines if cell_len(line.rstrip()) > 80] == [], arguments
        cut = [line for line in lines if "…" in line]
        if arguments[-1] == "--help":
            cut += [one for one in lines if one.endswith("...") and "Usage" not in one]
        assert cut == [], arguments


@pytest.mark.parametrize(
    "command",
    [
        f"compiler-gym run cbench-v1/qsort sroa '{LONG}' gvn --action-space PassesAndPipelines",
        f"opt -passes='function({LONG}),invalidate<all>,function({LONG})' in.bc -o 'a file.bc'",
        "CC='compiler-gym-cc --plan /tmp/tuned.toml' sh -c '${CC:-cc} -Oz *.c -o it' " + "a" * 90,
    ],
)
def test_a_shell_reads_a_command_over_several_lines_as_it_was(command: str) -> None:
    lines = command_lines(command, 80, indent="  ")
    assert len(lines) > 1
    assert max(map(len, lines)) <= 100
    script = "printf '%s\\n' " + "\n".join(lines).strip()
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == shlex.split(command)
