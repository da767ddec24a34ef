# SPDX-License-Identifier: MIT
"""Sessions that break one rule of the contract each."""

import itertools
import os
from typing import Any, ClassVar

from compiler_gym.session import ActionSpaceSpec, ObservationSpaceSpec, ScalarSpec
from compiler_gym.testing import FakeSession

_serial = itertools.count()


class Restless(FakeSession):
    """Gives another value every time."""

    def get_observation(self, name: str) -> Any:
        return next(_serial) if name == "number" else super().get_observation(name)


class Placed(FakeSession):
    """Depends on where it runs."""

    def get_observation(self, name: str) -> Any:
        return os.getpid() if name == "number" else super().get_observation(name)


class Shy(FakeSession):
    """Changes when it is looked at."""

    def get_observation(self, name: str) -> Any:
        self.number += 1
        return super().get_observation(name)


class Liar(FakeSession):
    """Claims that nothing has an effect."""

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        end, space, _ = super().apply_action(action)
        return end, space, True


class Hoarder(FakeSession):
    """Keeps the last episode's number."""

    kept: ClassVar[list[int]] = []

    def get_observation(self, name: str) -> Any:
        return sum(self.kept) if name == "number" else super().get_observation(name)

    def close(self) -> None:
        self.kept.append(self.number)


class Unplain(FakeSession):
    """Returns what does not travel."""

    def get_observation(self, name: str) -> Any:
        return {self.number} if name == "number" else super().get_observation(name)


class Outsider(FakeSession):
    """Leaves its own space, and has a default that is not in it."""

    observation_spaces: ClassVar[tuple[ObservationSpaceSpec, ...]] = (
        ObservationSpaceSpec("number", ScalarSpec(0, 1, "int"), default=-1),
    )

    def get_observation(self, name: str) -> Any:
        return 2


class Mute(FakeSession):
    """Says nothing of itself."""

    compiler_version = ""


class Deaf(FakeSession):
    """Knows no parameter."""

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        return None


class Gullible(FakeSession):
    """Reads anything."""

    def __init__(self, *arguments: Any) -> None:
        try:
            super().__init__(*arguments)
        except ValueError:
            self.number = 0
