# SPDX-License-Identifier: MIT
"""A program in a fork of a loaded process is a program of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loading import needs_packages
from tests.warm import Warm

PROGRAM = """
import os, sys
print("numpy" in sys.modules, __name__, sys.argv[1:], os.getcwd(), dict(os.environ))
print("and", sys.stdin.read(), file=sys.stderr)
sys.exit(7)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(PROGRAM)
    return path


def test_it_has_separate_arguments_folder_variables_and_streams(
    warm: Warm, script: Path, tmp_path: Path
) -> None:
    variables = {"ONE": "1"}
    done = warm.run(script, ["a", "b"], folder=tmp_path, variables=variables, stdin=b"given")
    said = f"True __main__ ['a', 'b'] {tmp_path} {variables}\n"
    assert (done.returncode, done.stdout.decode(), done.stderr) == (7, said, b"and given\n")
    assert "ONE" not in os.environ


def test_an_error_and_a_signal_end_it_as_they_end_any(warm: Warm, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    for text, status in (("raise ValueError('no')", 1), ("import os; os.kill(os.getpid(), 9)", -9)):
        script.write_text(text)
        done = warm.run(script, [], folder=tmp_path, variables={})
        alone = subprocess.run([sys.executable, script], capture_output=True, check=False)
        assert done.returncode == alone.returncode == status
        assert (b"ValueError: no" in done.stderr) == (b"ValueError: no" in alone.stderr)


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("while True: pass")
    process = Warm()
    with pytest.raises(subprocess.TimeoutExpired):
        process.run(script, [], folder=tmp_path, variables={}, timeout=0.1)
    process.close()


@needs_packages
def test_commands_of_a_program_run_in_forks_too(warm: Warm, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess\n"
        "for words in (['version', '--json'], ['no-such-command']):\n"
        "    done = subprocess.run(['compiler-gym', *words], capture_output=True, text=True)\n"
        "    print(done.returncode, done.stdout[:1])\n"
        "process = subprocess.Popen(['compiler-gym', 'web', '--no-browser'], stdout=-1)\n"
        "process.stdout.readline()\n"
        "process.terminate()\n"
        "print(process.wait())\n"
    )
    commands = tmp_path / "commands"
    done = warm.run(
        script, [], folder=tmp_path, variables={**os.environ}, commands=commands, timeout=60
    )
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "0 {", done.stderr.decode()
    assert lines[1] == "2 "
    assert lines[2] == "143"
