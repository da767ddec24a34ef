# SPDX-License-Identifier: MIT
"""``make()`` and the catalogue of environments.

Compilers are found through the entry-point group ``compiler_gym.compilers``, the
bundled ones like a stranger's. Nothing of a compiler is loaded to list it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.vector import CompilerVectorEnv

__all__ = [
    "COMPILER_GYM_ENVS",
    "CXX_SOURCE",
    "C_SOURCE",
    "Compiler",
    "EnvironmentId",
    "ProgramFormat",
    "Use",
    "compiler_of",
    "compilers",
    "default_environment",
    "make",
    "make_vec",
    "program_formats",
]

GROUP = "compiler_gym.compilers"
NAMESPACE = "compiler_gym"
"""Every environment is registered below it too."""
_VECTORS = "compiler_gym.vector.entry"
"""Where Gymnasium finds vector forms; a name, because nothing is loaded to register."""


class Use(Enum):
    """What somebody wants an environment for who names none."""

    COMMAND = "command"
    """To try actions, whatever they earn."""
    SEARCH = "search"
    """To maximise a reward."""
    LEARNING = "learning"
    """To learn from observations and a reward."""


@dataclass(frozen=True, slots=True)
class EnvironmentId:
    """One registered environment and the arguments it is made with."""

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    for_learning: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What ``gymnasium.make`` makes it with besides, so that an agent can learn; `make` takes
    None there unless it is told."""
    default_for: tuple[Use, ...] = ()
    """What it serves where no environment is named; the first compiler that says so counts."""


@dataclass(frozen=True, slots=True)
class ProgramFormat:
    """One way to write a program that a compiler reads."""

    name: str
    suffixes: tuple[str, ...]
    """What names of such files end with, the usual one first."""
    pattern: re.Pattern[bytes] | None = None
    """What its contents hold where nothing else's do; without one it is what is left."""
    is_text: bool = True
    """Whether it can be pasted."""
    writer: str = ""
    """The environment's method that writes its program so to a path, where it has one."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """What a plug-in names in the entry-point group: a compiler and its environments.

    Whatever only a compiler can know stands here, so that commands, searches and
    leaderboards serve every compiler. All but the first four may be left out.
    """

    name: str
    description: str
    environment: str
    """``"package.module:Class"`` of the environment class."""
    environments: tuple[EnvironmentId, ...]
    nondeterministic: bool = False
    formats: tuple[ProgramFormat, ...] = ()
    """How programs are written that it reads from files."""
    recorder: str = ""
    """``"package.module:function"`` that keeps what a run of a compiler compiled; it takes the
    command's words, its directory and the folder to keep it in."""
    recorded_commands: tuple[str, ...] = ()
    """The commands whose runs it can keep, the best first."""
    recorded_cxx_commands: tuple[str, ...] = ()
    """The same, of C++."""
    install: str = ""
    """The shell command that installs the first of them."""
    database_reader: str = ""
    """``"package.module:function"`` that compiles what a ``compile_commands.json`` lists; it takes
    the file and whether to link per target, and returns programs by name and what failed why."""
    pipeline_parameter: str = ""
    """The session's parameter that applies a pipeline in the compiler's own words."""
    next_steps: Mapping[str, str] = field(default_factory=dict[str, str])
    """What to do after an error of the compiler's own kind, by the name of the error's class."""
    search_defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ``action_space`` and the ``reward_space`` to search in where none is named."""
    starting_sequences: str = ""
    """``"package:file"`` of sequences of actions worth starting a search from: names, one
    sequence a line."""
    tasks: str = ""
    """``"package.module:NAME"`` of the leaderboard's tasks on this compiler."""
    task_defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a task on this compiler takes unless it says otherwise, by the field's name."""
    tuner: str = ""
    """``"package.module:Class"`` of what tunes a project that this compiler builds."""
    tuner_takes_program: bool = False
    """Whether `tuner` is made with the name of an installed program, such as ``cc-12``."""
    version: str = ""
    """``"package.module:name"`` of its version, or of a function that returns it without starting
    an environment and raises `EnvironmentNotSupported` where the compiler cannot run."""
    demonstration: str = ""
    """``"package.module:Class"`` of what `compiler-gym demo` shows: the main job, end to end."""


C_SOURCE = ProgramFormat("C", (".c", ".i"))
"""Files of C, preprocessed or not."""
CXX_SOURCE = ProgramFormat("C++", (".cc", ".cpp", ".cxx", ".C", ".c++", ".ii"))
"""Files of C++, preprocessed or not."""


@cache
def compilers() -> Mapping[str, Compiler]:
    """Return every installed compiler by name, the bundled ones first."""
    found = [entry.load() for entry in entry_points(group=GROUP)]
    found.sort(
        key=lambda compiler: (not compiler.environment.startswith("compiler_gym."), compiler.name)
    )
    return MappingProxyType({compiler.name: compiler for compiler in found})


def compiler_of(id: str) -> Compiler | None:
    """Return the compiler that registered the environment `id`; None for a stranger's."""
    plain = id.removeprefix(f"{NAMESPACE}/")
    known = compilers().values()
    return next((one for one in known if plain in (env.id for env in one.environments)), None)


def default_environment(use: Use = Use.COMMAND) -> str:
    """Return the id of the environment that serves `use` where none is named.

    Raises `EnvironmentNotSupported` where no installed compiler offers one.
    """
    for compiler in compilers().values():
        for environment in compiler.environments:
            if use in environment.default_for:
                return environment.id
    raise EnvironmentNotSupported(
        f"no installed compiler has an environment for {use.value}: name one of your own"
    )


def program_formats() -> tuple[ProgramFormat, ...]:
    """Return the formats that any compiler reads, each once."""
    return tuple(dict.fromkeys(one for known in compilers().values() for one in known.formats))


def register_with_gymnasium() -> None:
    """Register every environment, plain and below the namespace ``compiler_gym``."""
    from gymnasium.envs.registration import (
        register,  # pyright: ignore[reportUnknownVariableType]  # it leaves type arguments open
        registry,
    )

    for compiler in compilers().values():
        for environment in compiler.environments:
            for id in (environment.id, f"{NAMESPACE}/{environment.id}"):
                if id not in registry:
                    register(
                        id,
                        entry_point=compiler.environment,
                        vector_entry_point=f"{_VECTORS}:{compiler.environment.replace(':', '.')}",
                        kwargs={**environment.for_learning, **environment.kwargs},
                        nondeterministic=compiler.nondeterministic,
                        order_enforce=False,
                        disable_env_checker=True,
                    )


def make(id: str, **kwargs: Any) -> "CompilerEnv":
    """Return a new environment: ``gymnasium.make`` without its wrappers and its defaults.

    Spaces that the id does not name are None, and ``render()`` prints where no mode is chosen.
    Raises `gymnasium.error.NameNotFound` for an unknown id, `EnvironmentNotSupported`
    when the compiler cannot run here, and `InvalidParameterError` for a limit of steps.
    """
    import gymnasium

    register_with_gymnasium()
    if "max_episode_steps" in kwargs:
        raise InvalidParameterError(
            "make() puts no wrapper around an environment: expected "
            "compiler_gym.wrappers.TimeLimit(env, steps), or gymnasium.make() for Gymnasium's own"
        )
    env: Any = gymnasium.make(id, **(dict.fromkeys(_left_open(id)) | kwargs)).unwrapped
    env.renders_unasked = True
    return env


def make_vec(
    id: str,
    num_envs: int = 1,
    *,
    wrappers: Iterable[Callable[[Any], Any]] = (),
    **arguments: Any,
) -> "CompilerVectorEnv":
    """Return `num_envs` environments as one, with a worker process each.

    `wrappers` are put around each environment, the first one innermost. Other arguments
    are those of `CompilerVectorEnv` (``autoreset_mode``, ``sampler``, ``max_episode_steps``,
    ``copy``) and of the environment. Raises as `make` does.
    """
    from compiler_gym.vector import make_vector

    around = list(wrappers)

    def make_env(**kwargs: Any) -> Any:
        env: Any = make(id, **kwargs)
        for wrapper in around:
            env = wrapper(env)
        return env

    return make_vector(make_env, num_envs=num_envs, **arguments)


def _left_open(id: Any) -> Iterator[str]:
    """Yield the arguments that only Gymnasium gives the environment `id` by default."""
    compiler = compiler_of(id) if isinstance(id, str) else None
    for environment in () if compiler is None else compiler.environments:
        if id in (environment.id, f"{NAMESPACE}/{environment.id}"):
            yield from environment.for_learning.keys() - environment.kwargs.keys()


class _Ids:
    """The ids of every registered environment, looked up when they are asked for."""

    def __iter__(self) -> Iterator[str]:
        return (env.id for compiler in compilers().values() for env in compiler.environments)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, id: object) -> bool:
        return any(id == known for known in self)

    def __getitem__(self, index: int) -> str:
        return list(self)[index]

    def __repr__(self) -> str:
        return repr(list(self))


COMPILER_GYM_ENVS = _Ids()
"""The ids of every registered environment."""
