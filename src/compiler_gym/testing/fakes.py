# SPDX-License-Identifier: MIT
"""A fake compiler session with good and bad behaviours.

Its program is a number. It tests everything around a compiler without a compiler, so it can crash,
hang, use memory, start processes and break the contract. Never offer it to users. Each behaviour
has the name of an action; many outlast the worker, and the tests check that nothing is left.
"""

import ctypes
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerFatalError,
    EnvironmentNotSupported,
    InvalidActionError,
    ObservationError,
)
from compiler_gym.service import run_child
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    BoxSpec,
    CompilerSession,
    DictSpec,
    DiscreteSpec,
    MultiDiscreteSpec,
    NamedDiscreteSpec,
    ObservationSpec,
    OpaqueSpec,
    PermutationSpec,
    ScalarSpec,
    SequenceSpec,
    TextSpec,
    TupleSpec,
)


def _increment(session: "FakeSession") -> None:
    session.number += 1


def _double(session: "FakeSession") -> None:
    session.number = (2 * session.number) % (2**20)


def _negate(session: "FakeSession") -> None:
    session.number = -session.number


def _nothing(session: "FakeSession") -> None:
    pass


def _end_session(session: "FakeSession") -> bool:
    session.number += 1
    return True


def _segfault(session: "FakeSession") -> None:
    ctypes.string_at(0)


def _abort(session: "FakeSession") -> None:
    os.abort()


def _exit(session: "FakeSession") -> None:
    os._exit(3)


def _system_exit(session: "FakeSession") -> None:
    sys.exit(3)


def _hang(session: "FakeSession") -> None:
    while True:
        time.sleep(60)


def _hang_uninterruptibly(session: "FakeSession") -> None:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    _hang(session)


def _exhaust_memory(session: "FakeSession") -> None:
    while True:
        session.memory.append(bytearray(64 << 20))


def _raise(session: "FakeSession") -> None:
    raise ZeroDivisionError("an error of the session's own")


def _fatal(session: "FakeSession") -> None:
    raise CompilerFatalError("the compiler gave up")


def _fill_disk(session: "FakeSession") -> None:
    Path("/dev/full").write_text("x")


def _child(session: "FakeSession") -> None:
    session.number = session.compute_in_child() + 1


def _stuck_child(session: "FakeSession") -> None:
    run_child(["sh", "-c", "sleep 600 & sleep 600"], timeout=600.0)


def _impatient_child(session: "FakeSession") -> None:
    run_child(["sh", "-c", "sleep 601 & sleep 601"], timeout=0.2)


def _background(session: "FakeSession") -> None:
    subprocess.Popen(["sleep", "602"])


def _stuck_close(session: "FakeSession") -> None:
    session.close = lambda: _hang(session)


def _break_close(session: "FakeSession") -> None:
    session.close = lambda: _raise(session)


def _turn_unplain(session: "FakeSession") -> None:
    session.number += 1
    session.get_observation = _return_object


def _return_object(name: str) -> object:
    return object()


def _overflow(session: "FakeSession") -> None:
    session.number = 2**70


def _compute(session: "FakeSession") -> None:
    began = time.process_time()
    while time.process_time() - began < 0.1:
        session.number = session.number


def _thread(session: "FakeSession") -> None:
    session.number += 1
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def _give_warning(session: "FakeSession") -> None:
    session.number += 1
    warnings.warn("careful with that number", stacklevel=1)


def _write_file(session: "FakeSession") -> None:
    session.write()


SAFE: dict[str, Callable[["FakeSession"], Any]] = {
    "add": _increment,
    "double": _double,
    "negate": _negate,
    "nothing": _nothing,
    "child": _child,
}
"""Actions that only compute."""
BEHAVIOURS: dict[str, Callable[["FakeSession"], Any]] = {
    **SAFE,
    "end": _end_session,
    "segfault": _segfault,
    "abort": _abort,
    "exit": _exit,
    "system_exit": _system_exit,
    "hang": _hang,
    "hang_uninterruptibly": _hang_uninterruptibly,
    "exhaust_memory": _exhaust_memory,
    "raise": _raise,
    "fatal": _fatal,
    "fill_disk": _fill_disk,
    "stuck_child": _stuck_child,
    "impatient_child": _impatient_child,
    "background": _background,
    "stuck_close": _stuck_close,
    "break_close": _break_close,
    "turn_unplain": _turn_unplain,
    "overflow": _overflow,
    "write_file": _write_file,
    "warn": _give_warning,
    "work": _compute,
    "thread": _thread,
}
"""The safe actions, and those that misbehave."""


_COMPOSITE = DictSpec(
    {
        "levels": MultiDiscreteSpec((3, 4)),
        "weights": BoxSpec(-1.0, 1.0, (2,), "float32"),
        "order": PermutationSpec(4),
        "pair": TupleSpec((DiscreteSpec(5), ScalarSpec(0, 9, "int"))),
    }
)


class FakeSession(CompilerSession):
    """A session of a number, with actions that change it or harm the worker.

    The number starts as the contents of the program. Actions of ``Safe`` only compute; those of
    ``Behaviours`` include misbehaviours, named after their effects; ``Composite`` takes a
    dictionary; ``Menu`` offers one action fewer after every action, and ends the episode with the
    last one.

    Options: ``refuse`` makes the compiler unavailable and is the message; ``version`` is reported
    as the compiler's version.
    """

    compiler_version: ClassVar[str] = "fake 1"
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ()
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = (
        ObservationSpec("number", ScalarSpec(None, None, "int"), "The program.", default=0),
        ObservationSpec("digits", TextSpec(), "The program as text.", default=""),
        ObservationSpec(
            "vector", BoxSpec(-(2**40), 2**40, (3,), "int64"), "The program, its square, its sign."
        ),
        ObservationSpec("packed", BoxSpec(-(2**40), 2**40, (3,), "int64"), "The vector, as bytes."),
        ObservationSpec("floats", BoxSpec(-1e9, 1e9, (3,), "float64"), "Thrice the program."),
        ObservationSpec(
            "summary",
            DictSpec({"even": DiscreteSpec(2), "text": TextSpec()}),
            default={"even": 0, "text": ""},
        ),
        ObservationSpec("json", OpaqueSpec("json"), "The program as JSON.", default="null"),
        ObservationSpec("clock", ScalarSpec(0, None, "int"), deterministic=False, default=0),
        ObservationSpec(
            "process", ScalarSpec(0, None, "int"), "The worker.", deterministic=False, default=0
        ),
        ObservationSpec(
            "file", TextSpec(), "A file that holds the program.", deterministic=False, default=""
        ),
        ObservationSpec("child", ScalarSpec(None, None, "int"), "By a child process.", default=0),
        ObservationSpec(
            "blob", SequenceSpec("bytes"), "As many bytes as the program.", default=b""
        ),
        ObservationSpec(
            "unavailable", ScalarSpec(), "None, if the program is negative.", default=0
        ),
    )

    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        """Apply the options ``refuse`` and ``version``."""
        if "refuse" in options:
            raise EnvironmentNotSupported(options["refuse"])
        cls.compiler_version = options.get("version", cls.compiler_version)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        self.working_dir = working_dir
        self.space = action_space
        self.left = 4
        self.memory: list[bytearray] = []
        try:
            self.number = int(benchmark.contents)
        except ValueError:
            raise BenchmarkInitError(f"{benchmark.uri} is not a number") from None
        if "menu" in benchmark.parameters and action_space.name == "Menu":
            self.left = int(benchmark.parameters["menu"])
            self.initial_action_space = _menu(self.left)
        if benchmark.parameters.get("start") in BEHAVIOURS:
            BEHAVIOURS[benchmark.parameters["start"]](self)

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Apply `action`."""
        before = self.number
        if self.space.name == "Menu":
            return self._choose(action)
        if self.space.name == "Composite":
            self._compose(action)
        elif isinstance(action, int) and 0 <= action < len(_item_names(self.space)):
            if BEHAVIOURS[_item_names(self.space)[action]](self) is True:
                return True, None, False
        else:
            raise InvalidActionError(f"{action!r} is not in {self.space.name}")
        return False, None, self.number == before

    def get_observation(self, name: str) -> Any:
        """Return the observation `name` of the number."""
        return _OBSERVE[name](self)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Add the value of ``fake.add`` to the number; return the value of ``fake.echo``."""
        if key == "fake.add":
            self.number += int(value)
            return str(self.number)
        return value if key == "fake.echo" else None

    def moved(self, working_dir: Path) -> None:
        """Write into `working_dir` from now on."""
        self.working_dir = working_dir

    def write(self) -> str:
        """Write the number to a file and return its path."""
        self.working_dir.mkdir(parents=True, exist_ok=True)
        path = self.working_dir / "number"
        path.write_text(str(self.number))
        return str(path)

    def compute_in_child(self) -> int:
        """Return the number after a round trip through a child process."""
        finished = run_child(["cat"], timeout=30.0, input=str(self.number).encode())
        return int(finished.stdout)

    def _choose(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        if not 0 <= action < self.left:
            raise InvalidActionError(f"{action!r} is not in [0, {self.left})")
        self.number += action + 1
        self.left -= 1
        return self.left == 0, _menu(self.left) if self.left else None, False

    def _compose(self, action: dict[str, Any]) -> None:
        if set(action) != set(_COMPOSITE.items):
            raise InvalidActionError(
                f"the keys must be {set(_COMPOSITE.items)} (got {set(action)})"
            )
        self.number += sum(action["levels"]) + sum(action["pair"]) + action["order"][0]
        self.number += round(100 * sum(action["weights"]))


class UnforkableSession(FakeSession):
    """A session whose process must not be forked, so that copies are made by replay."""

    forkable: ClassVar[bool] = False


def _item_names(space: ActionSpaceSpec) -> tuple[str, ...]:
    assert isinstance(space.space, NamedDiscreteSpec)
    return space.space.items


def _menu(count: int) -> ActionSpaceSpec:
    return ActionSpaceSpec("Menu", DiscreteSpec(count), "One choice fewer after every action")


def _available(session: FakeSession) -> float:
    if session.number < 0:
        raise ObservationError("a negative program does not have this value")
    return float(session.number)


FakeSession.action_spaces = (
    ActionSpaceSpec("Safe", NamedDiscreteSpec(tuple(SAFE)), "Actions that only compute"),
    ActionSpaceSpec(
        "Behaviours", NamedDiscreteSpec(tuple(BEHAVIOURS)), "Safe actions and misbehaviours"
    ),
    ActionSpaceSpec("Composite", _COMPOSITE, "Several values at once"),
    _menu(4),
)


def _vector(number: int) -> list[int]:
    return [number, number**2 % 2**40, (number > 0) - (number < 0)]


_OBSERVE: dict[str, Callable[[FakeSession], Any]] = {
    "number": lambda s: s.number,
    "digits": lambda s: str(s.number),
    "vector": lambda s: _vector(s.number),
    "floats": lambda s: struct.pack("<3d", *[s.number] * 3),
    "packed": lambda s: struct.pack("<3q", *_vector(s.number)),
    "summary": lambda s: {"even": int(s.number % 2 == 0), "text": str(s.number)},
    "json": lambda s: f'{{"number": {s.number}}}',
    "clock": lambda s: time.monotonic_ns(),
    "process": lambda s: os.getpid(),
    "file": FakeSession.write,
    "child": FakeSession.compute_in_child,
    "blob": lambda s: bytes(abs(s.number)),
    "unavailable": _available,
}
