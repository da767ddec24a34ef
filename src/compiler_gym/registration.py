# SPDX-License-Identifier: MIT
"""``make()`` and the catalogue of environments.

Compilers are found through the entry-point group ``compiler_gym.compilers``, bundled
and third-party ones alike, and through TOML files that declare programs. Listing environments
loads no compiler.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from compiler_gym.errors import (
    EnvironmentNotSupported,
    InvalidParameterError,
)
from compiler_gym.lazy import missing_parts, part, parts, pause_collection
from compiler_gym.version import missing_hint

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

    from compiler_gym.core import CompilerEnv
    from compiler_gym.datasets import Benchmark
    from compiler_gym.options import Limits
    from compiler_gym.service.caching import TranspositionCache
    from compiler_gym.spaces import Reward
    from compiler_gym.vector import CompilerVectorEnv

__all__ = [
    "COMPILER_GYM_ENVS",
    "CXX_SOURCE",
    "C_SOURCE",
    "Compiler",
    "EnvironmentId",
    "ExternalTool",
    "ProgramFormat",
    "Use",
    "compilers",
    "default_environment",
    "find_compiler",
    "make",
    "make_vec",
    "program_formats",
    "recommend_reward",
]

AS_THE_ID_SAYS: Any = ...
"""The default of an argument of `make`: the value of the id, if it has one."""
_DECLARED = ".toml"
NAMESPACE = "compiler_gym"
"""The Gymnasium namespace under which every environment is registered a second time."""
_VECTORS = "compiler_gym.vector.entry"
"""The module of vector entry points; a name, because registering imports nothing."""


class Use(Enum):
    """A purpose with a default environment, for callers that name none."""

    COMMAND = "command"
    """Trying actions, with or without a reward."""
    SEARCH = "search"
    """Searching for the actions with the highest reward."""
    LEARNING = "learning"
    """Training an agent on observations and a reward."""


@dataclass(frozen=True, slots=True)
class EnvironmentId:
    """A registered environment and its default arguments."""

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    for_learning: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further default arguments for ``gymnasium.make``, so that an agent can learn; `make` passes
    None for each unless the caller sets it."""
    default_for: tuple[Use, ...] = ()
    """The uses for which this is the default; the first compiler to claim a use gets it."""


@dataclass(frozen=True, slots=True)
class ProgramFormat:
    """A file format in which a compiler reads programs."""

    name: str
    suffixes: tuple[str, ...]
    """The file suffixes, the usual one first."""
    pattern: re.Pattern[bytes] | None = None
    """Matches only contents of this format; None for the format if no pattern matches."""
    is_text: bool = True
    """True if it is text, which a user can paste."""
    writer: str = ""
    """The environment's method that writes the current program to a path; empty for none."""


@dataclass(frozen=True, slots=True)
class ExternalTool:
    """An external program that some features run."""

    name: str
    """The command to look for first."""
    enables: str
    """The features that need it."""
    package: str
    """The Debian package that installs it; empty if `problem` says what to do."""
    path: str | None = None
    """The path of the installed program; None if it is missing."""
    version: str = ""
    problem: str = ""
    """The reason why the program cannot be used, empty if it can."""
    archive: str = ""
    """The address of the package, for distributions that do not have it."""
    is_required: bool = False
    """True if a usual installation is incomplete without the program."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """The record of a plug-in in the entry-point group: a compiler and its environments.

    It has every compiler-specific fact that commands, searches and leaderboards need. All fields
    but the first four are optional.
    """

    name: str
    description: str
    environment: str
    """``"package.module:Class"`` of the environment class."""
    environments: tuple[EnvironmentId, ...]
    nondeterministic: bool = False
    formats: tuple[ProgramFormat, ...] = ()
    """The file formats that the compiler reads."""
    next_steps: Mapping[str, str] = field(default_factory=dict[str, str])
    """Advice for the compiler's own errors, by the name of the error class."""
    search_defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    """The default ``action_space`` and ``reward_space`` of a search."""
    version: str = ""
    """``"package.module:name"`` of its version, or of a function that returns it without starting
    an environment and raises `EnvironmentNotSupported` if the compiler cannot run."""
    session: str = ""
    """``"package.module:Class"`` of the sessions that every environment opens unless it gets
    options of this compiler: their process can start while this one imports the environment."""


C_SOURCE = ProgramFormat("C", (".c", ".i"))
"""C source files, preprocessed or not."""
CXX_SOURCE = ProgramFormat("C++", (".cc", ".cpp", ".cxx", ".C", ".c++", ".ii"))
"""C++ source files, preprocessed or not."""


@cache
def compilers() -> Mapping[str, Compiler]:
    """Return every installed compiler by name, the bundled ones first.

    A declaration that cannot be read is skipped with a warning.
    """
    installed = [entry.load() for entry in parts("compilers").values()]
    for declared in parts("declarations").values():
        installed.extend(declared.load().declared_compilers())
    return MappingProxyType({compiler.name: compiler for compiler in installed})


def find_compiler(id: str) -> Compiler | None:
    """Return the compiler that registered the environment `id`, or None."""
    if id.endswith(_DECLARED):
        return _declarations().read_compiler(id)
    plain = id.removeprefix(f"{NAMESPACE}/")
    registered = compilers().values()
    return next((c for c in registered if plain in (env.id for env in c.environments)), None)


def _declarations() -> Any:
    """Return the module that reads declarations of compilers in other languages."""
    if package := missing_parts("declarations").get("toml"):
        raise EnvironmentNotSupported(missing_hint("a compiler in another language", package))
    return part("declarations", "toml")


def default_environment(use: Use = Use.COMMAND) -> str:
    """Return the id of the default environment for `use`.

    Raises:
        EnvironmentNotSupported: No installed compiler declares a default for `use`.
    """
    for compiler in compilers().values():
        for environment in compiler.environments:
            if use in environment.default_for:
                return environment.id
    raise EnvironmentNotSupported(
        f"no installed compiler has a default environment for {use.value}: name an environment"
    )


def recommend_reward(id: str, env: "CompilerEnv") -> str | None:
    """Return the reward of `env`, or else the one recommended for the id `id`.

    Rewards that run the program are never recommended.
    """
    from compiler_gym.core import runs_program

    def is_sure(reward: "Reward") -> bool:
        return not any(runs_program(env, name) for name in reward.observation_spaces)

    if env.reward_space is not None and is_sure(env.reward_space):
        return env.reward_space.name
    compiler = find_compiler(id)
    if compiler is not None:
        for_learning = [env.for_learning for env in compiler.environments if env.id == id]
        for defaults in (compiler.search_defaults, *for_learning):
            name = defaults.get("reward_space")
            if isinstance(name, str) and name in env.reward and is_sure(env.reward.spaces[name]):
                return name
    rewards = env.reward.spaces.values()
    return next((r.name for r in rewards if r.deterministic and is_sure(r)), None)


def program_formats() -> tuple[ProgramFormat, ...]:
    """Return the formats that the installed compilers read, each once."""
    return tuple(dict.fromkeys(f for compiler in compilers().values() for f in compiler.formats))


def register_with_gymnasium() -> None:
    """Register every environment with Gymnasium, with and without the namespace."""
    from gymnasium.envs.registration import (
        register,  # pyright: ignore[reportUnknownVariableType]  # its type arguments are open
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


@pause_collection()  # imported modules stay: to search them for garbage takes a tenth of the time
def make(
    id: str,
    *,
    benchmark: "str | Benchmark | None" = AS_THE_ID_SAYS,
    observation_space: "str | Iterable[str] | None" = AS_THE_ID_SAYS,
    reward_space: "str | Reward | Iterable[str | Reward] | None" = AS_THE_ID_SAYS,
    action_space: str | None = AS_THE_ID_SAYS,
    isolation: Literal["process", "in-process"] = AS_THE_ID_SAYS,
    limits: "Limits | None" = AS_THE_ID_SAYS,
    cache: "TranspositionCache | None" = AS_THE_ID_SAYS,
    render_mode: str | None = AS_THE_ID_SAYS,
    **options: Any,
) -> "CompilerEnv":
    """Return a new environment, without Gymnasium's wrappers around it.

    >>> import compiler_gym
    >>> env = compiler_gym.make(
    ...     "llvm-v0", benchmark="cbench-v1/crc32", reward_space="IrInstructionCountOz"
    ... )
    >>> observation, info = env.reset()
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space["sroa"])
    >>> round(reward, 2)
    0.7
    >>> env.close()

    Arguments that are not given come from the id: ``llvm-autophase-ic-v0`` is ``llvm-v0`` with
    an observation and a reward.

    Args:
        id: A registered id, with or without the namespace ``compiler_gym/``; ``compiler-gym envs``
            lists them. Or the path of a TOML file that declares a compiler, for its first
            environment; or a new id together with ``service=["./program", ...]``, which is the
            compiler.
        benchmark: The program of the first reset, or its address: ``"cbench-v1/qsort"``, or a path
            such as ``"file:///home/me/main.c"``.
        observation_space: The observation that `step` returns: a name (``"Autophase"``), several,
            or None; ``compiler-gym describe ID`` lists them.
        reward_space: The reward that `step` returns: a name (``"IrInstructionCountOz"``), a
            `Reward`, several, or None.
        action_space: The action space: a name (``"Passes"``); None is the first.
        isolation: ``"process"`` runs the compiler in a separate process, ``"in-process"`` here.
        limits: The limits of time and memory of that process.
        cache: Stores the results of actions; None stores nothing.
        render_mode: The default mode of `render`; None prints.
        **options: Arguments of this compiler only, such as ``gcc_bin`` of ``gcc-v0``.

    Raises:
        gymnasium.error.NameNotFound: The id is unknown.
        EnvironmentNotSupported: The compiler cannot run on this machine.
        InvalidParameterError: ``max_episode_steps`` was given, which needs a wrapper; or a
            service for the id of another compiler.
        PluginError: The file is not a valid declaration.
        ServiceInitError: The service does not start; the message has its exit status and last
            lines, and the expected behaviour.
    """
    id = _with_version(id)
    if isolation in (AS_THE_ID_SAYS, "process") and not options:
        _start_loading(id)

    import gymnasium

    register_with_gymnasium()
    if "max_episode_steps" in options:
        raise InvalidParameterError(
            "make() adds no wrappers to an environment: use "
            "compiler_gym.wrappers.TimeLimit(env, steps), or gymnasium.make() for Gymnasium's own"
        )
    arguments: dict[str, Any] = {
        "benchmark": benchmark, "observation_space": observation_space,
        "reward_space": reward_space, "action_space": action_space, "isolation": isolation,
        "limits": limits, "cache": cache, "render_mode": render_mode,
    }  # fmt: skip
    overrides = {name: value for name, value in arguments.items() if value is not AS_THE_ID_SAYS}
    kwargs = {**overrides, **options}
    _refuse_missing(id)
    spec_or_id = _program_spec(id, kwargs) or id
    env: Any = gymnasium.make(spec_or_id, **(dict.fromkeys(_left_open(id)) | kwargs)).unwrapped
    env.renders_unasked = True
    return env


def _start_loading(id: Any) -> None:
    """Start the process in which the compiler of the environment `id` loads, if it is known."""
    compiler = find_compiler(id) if isinstance(id, str) else None
    if compiler is not None and compiler.session:
        from compiler_gym.service.supervisor import SessionSource, start_zygote

        start_zygote(SessionSource(compiler.session))


def make_vec(
    id: str,
    num_envs: int = 1,
    *,
    wrappers: Iterable[Callable[[Any], Any]] = (),
    **arguments: Any,
) -> "CompilerVectorEnv":
    """Return `num_envs` environments as one, each with its own worker process.

    Args:
        id: An id, as for `make`.
        num_envs: Number of environments, at least 1.
        wrappers: Applied to each environment, the first one innermost.
        **arguments: Arguments of `CompilerVectorEnv` (``autoreset_mode``, ``sampler``,
            ``max_episode_steps``, ``copy``) and of the environment.

    Raises:
        The same errors as `make`.
    """
    from compiler_gym.vector import make_vector

    layers = list(wrappers)

    def make_env(**kwargs: Any) -> Any:
        env: Any = make(id, **kwargs)
        for wrapper in layers:
            env = wrapper(env)
        return env

    return make_vector(make_env, num_envs=num_envs, **arguments)


def _program_spec(id: Any, kwargs: Mapping[str, Any]) -> "EnvSpec | None":
    """Return the spec for Gymnasium of a program that is not registered; otherwise None."""
    if not isinstance(id, str) or not (id.endswith(_DECLARED) or "service" in kwargs):
        return None
    from gymnasium.envs.registration import EnvSpec

    compiler, arguments = find_compiler(id), {}
    program = _declarations().ENVIRONMENT
    if compiler is not None and compiler.environment != program:
        raise InvalidParameterError(
            f"{id} is an environment of {compiler.name}: use another id with service=[...]"
        )
    if compiler is not None:
        plain = id.removeprefix(f"{NAMESPACE}/")
        environments = {env.id: env for env in compiler.environments}
        environment = environments.get(plain, compiler.environments[0])
        id, arguments = environment.id, dict(environment.kwargs)
    return EnvSpec(
        id,
        entry_point=program,
        kwargs=arguments,
        order_enforce=False,
        disable_env_checker=True,
    )


def _with_version(id: Any) -> Any:
    """Return the id with the latest version of `id` if it has none, like Gymnasium.

    Gymnasium itself would print a coloured warning, even if the output is not a terminal.
    """
    if not isinstance(id, str) or re.search(r"-v\d+$", id) or id.endswith(_DECLARED):
        return id
    plain = id.removeprefix(f"{NAMESPACE}/")
    numbered = [
        re.fullmatch(rf"{re.escape(plain)}-v(\d+)", registered) for registered in COMPILER_GYM_ENVS
    ]
    latest = max(filter(None, numbered), key=lambda match: int(match[1]), default=None)
    return f"{id}-v{latest[1]}" if latest else id


def _refuse_missing(id: Any) -> None:
    """Raise `EnvironmentNotSupported` if `id` is of a package that this installation lacks."""
    for name, package in missing_parts("compilers").items():
        if isinstance(id, str) and id.removeprefix(f"{NAMESPACE}/").startswith(name):
            raise EnvironmentNotSupported(missing_hint(id, package))


def _left_open(id: Any) -> Iterator[str]:
    """Yield the arguments of the environment `id` that only ``gymnasium.make`` sets."""
    compiler = find_compiler(id) if isinstance(id, str) else None
    for environment in () if compiler is None else compiler.environments:
        if id in (environment.id, f"{NAMESPACE}/{environment.id}"):
            yield from environment.for_learning.keys() - environment.kwargs.keys()


class _Ids:
    """The ids of every registered environment, looked up on each use."""

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
