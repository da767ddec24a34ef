# SPDX-License-Identifier: MIT
"""Connection options, debug levels and type hints of CompilerGym 0.2.5 are accepted."""

import importlib
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import compiler_gym
from compiler_gym import errors
from compiler_gym.core import OptionalArgumentValue
from compiler_gym.errors import CompilerGymWarning, InvalidParameterError
from compiler_gym.service import ConnectionOpts
from compiler_gym.service import connection as old_place


@pytest.mark.parametrize("given", [ConnectionOpts(rpc_max_retries=2), {"init_max_attempts": 9}])
def test_options_of_the_old_server_are_accepted_and_explained(given: Any) -> None:
    with (
        pytest.warns(CompilerGymWarning, match=r"has no effect.*use limits=.*Limits\("),
        compiler_gym.make("llvm-v0", connection_settings=given) as env,
    ):
        env.reset(benchmark="cbench-v1/crc32")


@pytest.mark.parametrize("given", [3, {"no_such_option": 1}, "rpc_max_retries"])
def test_invalid_options_are_refused(given: Any) -> None:
    with pytest.raises(InvalidParameterError, match="must be a ConnectionOpts"):
        compiler_gym.make("llvm-v0", connection_settings=given)


def test_the_options_are_a_record_with_the_old_defaults() -> None:
    options = ConnectionOpts(script_env={"A": "1"})
    assert (options.rpc_max_retries, options.init_max_seconds) == (5, 30)
    assert ConnectionOpts(**json.loads(options.json())).script_env == {"A": "1"}
    assert old_place.ConnectionOpts is ConnectionOpts


@pytest.mark.parametrize(
    "name", ["ServiceError", "ServiceInitError", "ServiceIsClosed", "ServiceTransportError"]
)
def test_the_errors_of_a_service_are_where_they_were_too(name: str) -> None:
    assert getattr(old_place, name) is getattr(errors, name)


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COMPILER_GYM_DEBUG", "")
    log = logging.getLogger("compiler_gym")
    level = log.level
    yield
    log.setLevel(level)


@pytest.mark.parametrize(
    ("level", "known", "logs"),
    [(0, 0, logging.ERROR), (1, 1, logging.WARNING), (3, 3, logging.DEBUG), (9, 3, logging.DEBUG)],
)
def test_a_level_stands_for_a_level_of_logging(level: int, known: int, logs: int) -> None:
    compiler_gym.set_debug_level(level)
    assert compiler_gym.get_debug_level() == known
    assert compiler_gym.get_logging_level() == logs
    assert logging.getLogger("compiler_gym").level == logs


def test_nothing_is_reported_by_default() -> None:
    assert compiler_gym.get_debug_level() == 0


@pytest.mark.parametrize("level", [-1, True, "2", 1.0])
def test_an_invalid_level_is_refused(level: int) -> None:
    with pytest.raises(InvalidParameterError, match="must be a number from 0 to 3"):
        compiler_gym.set_debug_level(level)


def test_a_variable_that_is_not_a_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_DEBUG", "loud")
    with pytest.raises(InvalidParameterError, match=r"must be a number .*'loud'"):
        compiler_gym.get_debug_level()


def test_the_names_of_types_are_at_their_old_path() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        hints: Any = importlib.import_module("compiler_gym.util.gym_type_hints")

        assert hints.OptionalArgumentValue is OptionalArgumentValue
        assert hints.ActionType is not None
        assert hints.StepType == tuple[Any, Any, bool, bool, dict[str, Any]]
