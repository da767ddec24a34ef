# SPDX-License-Identifier: MIT
"""Importing the package registers its environments as soon as Gymnasium is there, not before."""

import subprocess
import sys

import pytest


def printed(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


IDS = "sorted(id for id in registry if id.startswith('llvm-v0'))"


@pytest.mark.parametrize(
    "imports",
    [
        "import compiler_gym; import gymnasium",
        "import gymnasium; import compiler_gym",
        "import compiler_gym; from gymnasium.envs import registration",
        "import compiler_gym, importlib; importlib.import_module('gymnasium.envs.registration')",
    ],
)
def test_the_order_of_imports_makes_no_difference(imports: str) -> None:
    program = f"{imports}\nfrom gymnasium.envs.registration import registry\nprint({IDS})"
    assert printed(program) == "['llvm-v0']"


def test_gymnasium_is_not_loaded_by_the_package_and_nothing_watches_afterwards() -> None:
    program = (
        "import sys; before = len(sys.meta_path); import compiler_gym\n"
        "print('gymnasium' in sys.modules, len(sys.meta_path) - before)\n"
        "import gymnasium; print(len(sys.meta_path) - before)"
    )
    assert printed(program).split() == ["False", "2", "1"]  # the other finds old names


def test_other_modules_are_found_as_ever() -> None:
    program = (
        "import compiler_gym\ntry: import nothing_of_that_name\nexcept ImportError as e: print(e)"
    )
    assert printed(program) == "No module named 'nothing_of_that_name'"
