# SPDX-License-Identifier: MIT
"""A process that writes shards is told by JSON, and answers by it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from compiler_gym.options import CollectOptions, Limits
from compiler_gym.tools.learn.collection._job import options_from, options_to


def test_options_come_back_from_json() -> None:
    options = CollectOptions(env="a", observe=("b",), limits=Limits(step_seconds=3.0), jobs=2)
    again = options_from(json.loads(json.dumps(options_to(options))))
    assert options_to(again) == options_to(options)
    assert again.limits.step_seconds == 3.0


def test_an_error_is_answered_by_its_class(tmp_path: Path) -> None:
    given = {
        "folder": str(tmp_path),
        "options": options_to(CollectOptions(env="llvm-v0", policy="search:no", benchmarks=("b",))),
    }
    done = subprocess.run(
        [sys.executable, "-m", "compiler_gym.tools.learn.collection._job", str(os.getpid())],
        input=json.dumps(given) + "\n0\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["error"] == "UnknownNameError"
