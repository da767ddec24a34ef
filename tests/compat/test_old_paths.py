# SPDX-License-Identifier: MIT
"""Modules under the paths that CompilerGym 0.2.5 has for them."""

import importlib
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym import _import_hooks
from compiler_gym.compat import old_paths
from compiler_gym.errors import EnvironmentNotSupported
from tests.loading import needs_packages

TABLE: dict[str, dict[str, str]] = vars(old_paths)["_NAMES"]
HOLDING_NAMES = sorted(old for old, doors in TABLE.items() if doors and old != "views")
MOVED: dict[str, str] = vars(old_paths)["_MOVED"]
GONE: dict[str, str] = vars(old_paths)["_GONE"]


def imported(name: str) -> tuple[Any, list[warnings.WarningMessage]]:
    """Import the module anew and return it with what was warned of."""
    sys.modules.pop(name, None)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        return importlib.import_module(name), warned


@pytest.mark.parametrize("old", HOLDING_NAMES)
def test_an_old_module_has_the_names_of_todays_door_and_says_so_in_one_line(old: str) -> None:
    module, warned = imported(f"compiler_gym.{old}")
    lines = [str(each.message) for each in warned if each.category is DeprecationWarning]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    for door, names in TABLE[old].items():
        path = f"compiler_gym.{door}" if door else "compiler_gym"
        today = importlib.import_module(path)
        assert f"from {path} import {', '.join(names.split())}" in lines[0]
        for name in names.split():
            assert getattr(module, name) is getattr(today, name)
            assert name in dir(module)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("old", MOVED)
def test_a_module_that_has_moved_is_the_module_of_today(old: str) -> None:
    try:
        module, warned = imported(f"compiler_gym.{old}")
    except EnvironmentNotSupported as error:
        pytest.skip(str(error))
    today = importlib.import_module(MOVED[old])
    assert module is today
    assert today.__spec__ is not None
    assert today.__spec__.name == MOVED[old]
    assert warned == []


def test_the_documented_views_give_no_warning() -> None:
    module, warned = imported("compiler_gym.views")
    assert module.ObservationView.__name__ == "ObservationView"
    assert warned == []


def test_no_old_path_hides_a_module_of_today() -> None:
    for old in [*TABLE, *GONE, *MOVED]:
        path = Path(compiler_gym.__file__).parent.joinpath(*old.split("."))
        assert not path.with_suffix(".py").exists(), old
        assert not (path / "__init__.py").exists(), old


@pytest.mark.parametrize("old", [*GONE, "util.nothing", "service.proto.compiler_gym_service_pb2"])
def test_a_removed_name_gives_its_replacement(old: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"in CompilerGym 0\.2\.5; use .*porting\.md"):
        importlib.import_module(f"compiler_gym.{old}")


@pytest.mark.parametrize("name", ["nothing", "core.nothing", "envs.rust", "utils"])
def test_an_unknown_name_is_an_import_error_as_before(name: str) -> None:
    with pytest.raises(ModuleNotFoundError) as failure:
        importlib.import_module(f"compiler_gym.{name}")
    assert "0.2.5" not in str(failure.value)


def test_the_line_names_the_importer_and_comes_once() -> None:
    code = (
        "from compiler_gym.compiler_env_state import CompilerEnvState\n"
        "from compiler_gym.compiler_env_state import CompilerEnvStateReader\n"
        "from compiler_gym.service.client_service_compiler_env import ClientServiceCompilerEnv\n"
        "import compiler_gym\n"
        "assert ClientServiceCompilerEnv is compiler_gym.CompilerEnv\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["<string>"] * 2
    assert "from compiler_gym import CompilerEnvState, CompilerEnvStateReader" in lines[0]


@needs_packages
def test_a_name_that_was_a_module_too_stays_what_it_is() -> None:
    code = (
        "import compiler_gym.random_search, compiler_gym.envs.gcc.gcc\n"
        "from compiler_gym.random_search import random_search\n"
        "assert compiler_gym.random_search is random_search and callable(random_search)\n"
        "from compiler_gym.registration import compilers\n"
        "assert compiler_gym.envs.gcc.gcc is compilers()['gcc']\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_an_old_module_loads_nothing_before_a_name_is_requested() -> None:
    code = (
        "import sys, compiler_gym.envs.llvm.llvm_env, compiler_gym.validate\n"
        "assert not {'numpy', 'gymnasium', 'compiler_gym.core'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_the_finder_is_there_once() -> None:
    before = list(sys.meta_path)
    _import_hooks.install()
    assert sys.meta_path == before
    assert compiler_gym.__name__ == "compiler_gym"


def test_the_old_package_in_the_same_folder_is_refused_with_what_to_do(tmp_path: Path) -> None:
    source = Path(compiler_gym.__file__).parent
    package = tmp_path / "compiler_gym"
    package.mkdir()
    for path in source.glob("*.py"):
        shutil.copy(path, package)
    shutil.copytree(source / "compat", package / "compat")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import compiler_gym"
    # Without the finder of an editable installation, which would come first.
    program = "import sys; sys.meta_path = sys.meta_path[-3:]; " + program

    def told() -> str:
        command = [sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr

    assert told() == ""
    (package / "util").mkdir()
    assert "has files of CompilerGym 0.2.5" in told()
    assert "pip uninstall -y compiler_gym" in told()
