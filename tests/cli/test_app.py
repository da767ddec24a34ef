# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys

import pytest

from .conftest import Run

HEAVY = ("numpy", "gymnasium", "compiler_gym.core", "compiler_gym.search", "matplotlib")


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    program = (
        "import sys; from compiler_gym.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('loaded:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True
    )
    shown, _, loaded = done.stdout.partition("loaded:")
    for command in ("demo", "describe", "envs", "explore", "run", "search", "version"):
        assert re.search(rf"\b{command}\b", shown)
    assert not set(HEAVY) & set(loaded.split())


def test_no_command_prints_the_help(cli: Run) -> None:
    assert "Usage" in cli().output


@pytest.mark.parametrize(
    ("arguments", "message", "next_step"),
    [
        (("run", "cbench-v1/nothing"), "no program 'nothing'", "describe ENV"),
        (("run", "elsewhere-v0/1"), "no dataset 'benchmark://elsewhere-v0'", "describe ENV"),
        (("run", "missing.c"), "no such file: missing.c", "a program is a URI"),
        (("run", "."), "no program|expected a program file|not a benchmark", "a program is a URI"),
        (("run", "cbench-v1/crc32", "srao"), "no action 'srao'.*did you mean sroa", "--actions"),
        (("run", "cbench-v1/crc32", "9999"), "no action number 9999", "--actions"),
        (("run", "cbench-v1/crc32", "--pipeline", "bogus"), "bogus", "--print-passes"),
        (("run", "cbench-v1/crc32", "--observe", "Colour"), "no observation space", "describe"),
        (("run", "cbench-v1/crc32", "--reward", "Fame"), "no reward space 'Fame'", "describe"),
        (("run", "cbench-v1/crc32", "--action-space", "Dances"), "no action space", "describe"),
        (("run", "cbench-v1/crc32?goal=fame"), "goal is 'fame'", "a program is a URI"),
        (("describe", "gcc-v99"), "gcc", "compiler-gym envs"),
        (("search", "cbench-v1/crc32", "--algorithm", "magic"), "no algorithm 'magic'", ""),
        (("search", "cbench-v1/crc32", "--time", "-1"), "seconds is -1", ""),
        (("search", "cbench-v1/crc32", "--steps", "1", "--jobs", "0"), "jobs is 0", ""),
        (("search", "cbench-v1/crc32", "--start", "sraa"), "no action 'sraa'", "--actions"),
        (("explore", "nowhere.ll"), "no such file", "a program is a URI"),
        (("demo", "missing.bc", "--time", "1"), "no such file", "a program is a URI"),
    ],
)
def test_a_bad_request_is_one_line_and_the_next_step(
    cli: Run, arguments: tuple[str, ...], message: str, next_step: str
) -> None:
    ran = cli(*arguments)
    assert ran.status == 2
    assert ran.output == ""
    assert "Traceback" not in ran.errors
    assert re.match(rf"error: .*({message})", ran.errors)
    assert next_step in ran.errors


def test_clang_says_in_its_own_words_why_a_program_does_not_compile(cli: Run) -> None:
    ran = cli("run", "-", stdin=b"int main( {")
    assert ran.status == 2
    assert ran.errors.startswith("error: clang cannot compile stdin.c")
    assert "expected" in ran.errors


def test_a_missing_clang_is_named_with_what_to_install(cli: Run) -> None:
    ran = cli("run", "-", stdin=b"int x;", COMPILER_GYM_CLANG="/nowhere/clang")
    assert ran.status == 2
    assert "apt install clang-22" in ran.errors


def test_empty_input_is_refused(cli: Run) -> None:
    ran = cli("run", "-", stdin=b" \n")
    assert ran.status == 2
    assert "standard input is empty" in ran.errors


def test_corrupt_bitcode_is_refused(cli: Run) -> None:
    ran = cli("run", "-", stdin=b"BC\xc0\xde" + bytes(64))
    assert ran.status == 2
    assert ran.errors.startswith("error: ")


def test_an_unexpected_option_is_a_usage_error(cli: Run) -> None:
    assert cli("envs", "--colour").status == 2


def test_a_reader_that_leaves_early_gets_no_traceback() -> None:
    command = [sys.executable, "-m", "compiler_gym.cli", "describe", "llvm-v0", "--json"]
    read, write = os.pipe()
    process = subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    os.close(read)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors == b""
