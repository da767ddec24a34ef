# SPDX-License-Identifier: MIT
"""An environment whose observations run the program a number of times."""

import operator
from typing import SupportsIndex

from compiler_gym.core.env import CompilerEnv
from compiler_gym.errors import InvalidParameterError


class RunnableEnv(CompilerEnv):
    """A `CompilerEnv` whose session runs the program a number of times.

    The numbers are sent as the parameters ``limits.runtime_observation_count`` and
    ``limits.runtime_warmup_runs_count``.
    """

    @property
    def runtime_observation_count(self) -> int:
        """Number of runs for each observation of the run time. Resets keep it."""
        return int(self.episode.run_settings.get("runtime_observation_count", 1))

    @runtime_observation_count.setter
    def runtime_observation_count(self, value: int) -> None:
        self._set_run("runtime_observation_count", value, least=1)

    @property
    def runtime_warmup_runs_count(self) -> int:
        """Number of runs before the measured ones. Resets keep it."""
        return int(self.episode.run_settings.get("runtime_warmup_runs_count", 0))

    @runtime_warmup_runs_count.setter
    def runtime_warmup_runs_count(self, value: int) -> None:
        self._set_run("runtime_warmup_runs_count", value, least=0)

    def _set_run(self, setting: str, value: object, *, least: int) -> None:
        if not isinstance(value, SupportsIndex) or operator.index(value) < least:
            raise InvalidParameterError(
                f"{setting} must be a whole number of at least {least} (got {value!r})"
            )
        self.episode.run_settings[setting] = operator.index(value)
        if self.in_episode:
            self.send_param(f"limits.{setting}", str(value))
