# SPDX-License-Identifier: MIT
"""An environment whose programs are also run: how often is asked of its sessions."""

import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, SupportsIndex

from compiler_gym.core.env import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.service.messages import Start

__all__ = ["RunnableEnv"]


class RunnableEnv(CompilerEnv):
    """A `CompilerEnv` whose session takes ``limits.runtime_observation_count`` and its like."""

    _run_settings: Mapping[str, int] = MappingProxyType({})

    @property
    def runtime_observation_count(self) -> int:
        """How many times an observation of the run time holds; it lasts over resets."""
        return self._run_settings.get("runtime_observation_count", 1)

    @runtime_observation_count.setter
    def runtime_observation_count(self, value: int) -> None:
        self._set_run("runtime_observation_count", value, least=1)

    @property
    def runtime_warmup_runs_count(self) -> int:
        """How many runs come before those that are measured; it lasts over resets."""
        return self._run_settings.get("runtime_warmup_runs_count", 0)

    @runtime_warmup_runs_count.setter
    def runtime_warmup_runs_count(self, value: int) -> None:
        self._set_run("runtime_warmup_runs_count", value, least=0)

    def _set_run(self, setting: str, value: int, *, least: int) -> None:
        if not isinstance(value, SupportsIndex) or operator.index(value) < least:
            raise InvalidParameterError(
                f"{setting} is {value!r}: expected a whole number of at least {least}"
            )
        self._run_settings = {**self._run_settings, setting: operator.index(value)}
        if self.in_episode:
            self.send_param(f"limits.{setting}", str(value))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle how often programs are run, too."""
        make, (cls, args, kwargs, snapshot) = super().__reduce__()
        return make, (cls, args, kwargs, {**snapshot, "run_settings": dict(self._run_settings)})

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self._run_settings = snapshot["run_settings"]  # first: the replay starts with them
        super()._restore(snapshot)

    def _start_request(self, program: Benchmark) -> Start:
        request = super()._start_request(program)
        request.limits.update({key: float(n) for key, n in self._run_settings.items()})
        return request
