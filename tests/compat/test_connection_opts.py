# SPDX-License-Identifier: MIT
"""The options of 0.2.5's server are accepted, have no effect and are explained."""

import json
from typing import Any

import pytest

import compiler_gym
from compiler_gym import errors
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
