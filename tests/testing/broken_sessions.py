# SPDX-License-Identifier: MIT
"""Sessions that break one rule of the contract each."""

import itertools
import os
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import InvalidActionError
from compiler_gym.session import ActionSpaceSpec, DiscreteSpec, ObservationSpec, ScalarSpec
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

    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = (
        ObservationSpec("number", ScalarSpec(0, 1, "int"), default=-1),
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


class Chatty(FakeSession):
    """Answers any parameter."""

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        return ""


class Forgetful(FakeSession):
    """Loses its program when it is forked."""

    def moved(self, working_dir: Path) -> None:
        self.number = 0


class Rooted(FakeSession):
    """Keeps its program in a file, and goes on using that file after a fork."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.path = Path(self.write())

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        self.number = int(self.path.read_text())
        step = super().apply_action(action)
        self.path.write_text(str(self.number))
        return step

    def get_observation(self, name: str) -> Any:
        self.number = int(self.path.read_text())
        return super().get_observation(name)


class Parent(FakeSession):
    """Starts what outlives its worker."""

    started: ClassVar[list[subprocess.Popen[bytes]]] = []

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        self.started.append(subprocess.Popen(["sleep", "60"], start_new_session=True))
        return super().apply_action(action)


class Fickle(FakeSession):
    """Offers other actions, or ends, by chance."""

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        _, space, no_effect = super().apply_action(action)
        left = 2 + os.urandom(1)[0] % 100
        return left < 20, ActionSpaceSpec("Menu", DiscreteSpec(left)) if space else None, no_effect


class Picky(FakeSession):
    """Refuses some of the composite actions that it offers."""

    def _compose(self, action: dict[str, Any]) -> None:
        if action["levels"][0] > 0:
            raise InvalidActionError("not this one")
        super()._compose(action)


class Vague(FakeSession):
    """Says with a number whether the episode has ended."""

    def apply_action(self, action: Any) -> Any:
        end, space, no_effect = super().apply_action(action)
        return int(end), space, no_effect
