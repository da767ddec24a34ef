# SPDX-License-Identifier: MIT
"""Calls in other processes, some of which fail, crash or hang."""

import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

from compiler_gym.errors import PipelineError
from compiler_gym.tools.learn.tails.workers import call_each


def act(number: int) -> int:
    if number == 1:
        raise PipelineError("no such pass")
    if number == 2:
        os.abort()
    if number == 3:
        time.sleep(600)
    return 10 * number


def test_calls_that_fail_crash_or_hang_have_no_result_and_others_keep_theirs():
    calls = [(number,) for number in range(6)]
    assert list(call_each(act, calls, jobs=2, seconds=2)) == [0, None, None, None, 40, 50]


def test_a_script_without_a_guard_is_not_run_again_in_each_process(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(
        "from math import sqrt\n"
        "from compiler_gym.tools.learn.tails.workers import call_each\n"
        "print('once')\n"
        "print(list(call_each(sqrt, [(4,), (9,)])))\n"
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("once\n[2.0, 3.0]\n", "")


def test_processes_do_not_import_what_lightgbm_works_without():
    assert list(call_each(import_pandas, [()])) == ["no pandas"]


def import_pandas() -> str:
    try:
        return import_module("pandas").__name__
    except ImportError:
        return "no pandas"
