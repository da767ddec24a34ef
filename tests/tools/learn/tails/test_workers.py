# SPDX-License-Identifier: MIT
"""Calls in other processes, some of which fail, crash or hang."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError, PipelineError
from compiler_gym.tools.learn.tails.workers import call_each, call_each_on_ray


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


def refuse(number: int) -> int:
    raise InvalidParameterError(f"no {number}")


class Lost(Exception):
    """A task that Ray gave up on."""


class Failed(Exception):
    """A task whose function raised `cause`."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


def test_calls_on_ray_come_in_order_and_lost_ones_have_no_result(
    monkeypatch: pytest.MonkeyPatch,
):
    def spread(
        items: list[Any], work: Callable[[Any], Any], *, retries: int
    ) -> Iterator[tuple[Any, Any]]:
        assert retries == 1
        for item in reversed(items):
            if item[1] == (2,):
                yield item, Lost()
                continue
            try:
                yield item, work(item)
            except Exception as error:
                yield item, Failed(error)

    monkeypatch.setattr("compiler_gym.tools.learn.integrations.spread_tasks", spread)
    calls = [(number,) for number in (0, 1, 2, 4)]
    assert list(call_each_on_ray(act, calls, seconds=20)) == [0, None, None, 40]
    with pytest.raises(InvalidParameterError, match="no 4"):
        list(call_each_on_ray(refuse, calls, seconds=20))


def test_ray_gives_the_results_of_processes():
    ray: Any = pytest.importorskip("ray", reason="ray is missing")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        calls = [(number,) for number in (0, 1, 2, 4)]
        assert list(call_each_on_ray(act, calls, seconds=20)) == [0, None, None, 40]
        with pytest.raises(InvalidParameterError, match="no 0"):
            list(call_each_on_ray(refuse, calls[:1], seconds=20))
    finally:
        ray.shutdown()
