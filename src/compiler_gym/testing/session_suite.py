# SPDX-License-Identifier: MIT
# ruff: noqa: D102 - the name of a test is its documentation
"""The test suite for a session class, without its own environment."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from compiler_gym.core import CompilerEnv, plain_from_value, space_from_spec
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.service import SessionSource
from compiler_gym.service.zygote import prepare_session_class
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, CompilerSession
from compiler_gym.testing.suite import Suite

__all__ = ["SessionConformance"]

_PLAIN_TYPES = (bool, int, float, str, bytes, type(None))


class SessionConformance(Suite):
    """A test suite to run with pytest, in a subclass that names a session and programs::

        class TestMySession(SessionConformance):
            source = SessionSource("my_compiler.session:MySession")
            programs = (Benchmark("benchmark://mine-v0/1", b"..."),)

    If the session's command lines have their own style, also name the `environment` that supports
    it.
    """

    source: ClassVar[SessionSource]
    """The session to test."""
    environment: ClassVar[type[CompilerEnv]] = CompilerEnv
    """The environment class for the tests."""
    programs: ClassVar[Sequence[Benchmark]]
    """Programs that the session can read; at least one."""
    bad_programs: ClassVar[Sequence[bytes]] = ()
    """Contents that the session must refuse."""

    def make_env(self, **arguments: Any) -> CompilerEnv:
        """Return an environment for the session."""
        return self.environment(self.source, benchmark=self.programs[0], **arguments)

    def reset(self, env: CompilerEnv) -> None:
        """Start an episode on the first program."""
        env.reset(benchmark=self.programs[0])

    def test_every_program_can_be_read(self) -> None:
        with self.open() as env:
            for program in self.programs:
                env.reset(benchmark=program)
                assert self.look(env)

    def test_a_bad_program_is_refused_and_harms_nothing(self) -> None:
        with self.open() as env:
            for contents in self.bad_programs:
                with pytest.raises(BenchmarkInitError, match=r"\w"):
                    env.reset(benchmark=Benchmark("benchmark://conformance-v0/bad", contents))
                self.reset(env)
                assert env.in_episode

    def test_returned_values_are_plain(self, tmp_path: Path) -> None:
        if self.source.command:
            pytest.skip("a program can only send plain values")
        for session, action_space in self.sessions(tmp_path):
            styles = self.environment.command_line_styles
            space = space_from_spec(action_space.space, action_space.name, styles=styles)
            space.seed(21)
            end, new_space = False, None
            for _ in range(self.steps):
                for name in self.observations or [s.name for s in session.observation_spaces]:
                    assert is_plain(session.get_observation(name)), name
                if end or new_space is not None:
                    break
                action = plain_from_value(space, space.sample())
                end, new_space, no_effect = session.apply_action(action)
                assert isinstance(end, bool)
                assert isinstance(no_effect, bool)
                assert new_space is None or isinstance(new_space, ActionSpaceSpec)
            session.close()

    def sessions(self, directory: Path) -> Iterator[tuple[CompilerSession, ActionSpaceSpec]]:
        """Yield a session in this process for each action space, and its initial action space."""
        session_class = prepare_session_class(self.source.session, dict(self.source.options))
        program = self.programs[0]
        benchmark = BenchmarkSpec(
            str(program.uri), program.contents, dict(program.parameters), program.encode_run()
        )
        for space in session_class.action_spaces:
            if self.action_spaces is None or space.name in self.action_spaces:
                session = session_class(directory / space.name, space, benchmark)
                yield session, session.initial_action_space or space


def is_plain(value: Any) -> bool:
    """Return True if `value` can be sent between processes unchanged."""
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return all(map(is_plain, items))
    if isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        return all(isinstance(key, str) and is_plain(item) for key, item in table.items())
    return isinstance(value, _PLAIN_TYPES) and not isinstance(value, np.generic)
