# SPDX-License-Identifier: MIT
"""``env.observation`` and ``env.reward``: observations and rewards that are computed when read.

A view has the names, and requests values from the session through the environment. A derived
observation is a function of another one, computed by the client.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, cast

import gymnasium
import numpy as np

from compiler_gym.core.specs import space_from_spec, value_from_plain
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.session import ObservationSpec, SpaceSpec
from compiler_gym.spaces import Reward

_Spec = TypeVar("_Spec")


def _as_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class DerivedObservation:
    """An observation that is a function of another one."""

    id: str
    base_id: str
    translate: Callable[[Any], Any]
    make_space: Callable[[], gymnasium.Space[Any]] | None = None
    """Makes the space; None takes that of the base."""
    description: str = ""
    default_value: Any = None
    """The value after a failure; None is `translate` of the base's default."""
    deterministic: bool | None = None
    platform_dependent: bool | None = None
    to_string: Callable[[Any], str] | None = None

    @classmethod
    def of(cls, given: "DerivedObservation | Mapping[str, Any]") -> "DerivedObservation":
        """Return `given`, or convert a dictionary as in CompilerGym 0.2.5.

        Its keys are the fields here, and ``space``. Raises `InvalidParameterError` for others.

        >>> given = {"id": "twice", "base_id": "size", "translate": lambda size: 2 * size}
        >>> DerivedObservation.of(given).id
        'twice'
        """
        if isinstance(given, DerivedObservation):
            return given
        properties = dict(given)
        space = properties.pop("space", None)
        if space is not None:
            properties["make_space"] = lambda: space
        names = {field.name for field in fields(cls)}
        missing = {"id", "base_id", "translate"} - properties.keys()
        if missing or not properties.keys() <= names:
            raise InvalidParameterError(
                "a derived observation needs id, base_id and translate, and may have space, "
                f"{', '.join(sorted(names - {'id', 'base_id', 'translate', 'make_space'}))} "
                f"(got {', '.join(map(str, given))})"
            )
        return cls(**properties)


class ObservationSpaceSpec:
    """One observation space: its name, its Gymnasium space and its properties.

    It equals its name, and another spec of the same name and properties.
    """

    def __init__(
        self,
        id: str,
        base_id: str,
        *,
        make_space: Callable[[], gymnasium.Space[Any]],
        translate: Callable[[Any], Any],
        default: Callable[[], Any],
        deterministic: bool,
        platform_dependent: bool,
        description: str = "",
        to_string: Callable[[Any], str] = str,
        sent_as: SpaceSpec | None = None,
    ) -> None:
        self.id = id
        self.base_id = base_id
        """The name of the observation that the session computes."""
        self.translate = translate
        """Converts the session's value to the user's."""
        self.deterministic = deterministic
        self.platform_dependent = platform_dependent
        self.description = description
        self.to_string = to_string
        self.sent_as = sent_as
        """The session's description of the values it sends; None for a derived observation."""
        self._make_space = make_space
        self._default = default

    @cached_property
    def space(self) -> gymnasium.Space[Any]:
        """The Gymnasium space that contains every value."""
        return self._make_space()

    @property
    def default_value(self) -> Any:
        """The value after a failure, as a new object."""
        return self._default()

    @classmethod
    def from_plain(cls, plain: ObservationSpec) -> "ObservationSpaceSpec":
        """Return the spec of an observation that the session computes."""
        decode = value_from_plain(plain.space)
        spec = cls(
            plain.name,
            plain.name,
            make_space=lambda: space_from_spec(plain.space, plain.name),
            translate=decode,
            default=lambda: spec.zero() if plain.default is None else decode(plain.default),
            deterministic=plain.deterministic,
            platform_dependent=plain.platform_dependent,
            description=plain.description,
            sent_as=plain.space,
        )
        return spec

    def derive(self, derived: DerivedObservation) -> "ObservationSpaceSpec":
        """Return the spec of a function of this observation."""
        inner, outer = self.translate, derived.translate

        def default() -> Any:
            if derived.default_value is not None:
                return copy.deepcopy(derived.default_value)
            return outer(self.default_value)

        def own(value: bool | None, inherited: bool) -> bool:
            return inherited if value is None else value

        return ObservationSpaceSpec(
            derived.id,
            self.base_id,
            make_space=derived.make_space or self._make_space,
            translate=lambda value: outer(inner(value)),
            default=default,
            deterministic=own(derived.deterministic, self.deterministic),
            platform_dependent=own(derived.platform_dependent, self.platform_dependent),
            description=derived.description,
            to_string=derived.to_string or str,
        )

    def make_derived_space(
        self,
        id: str,
        translate: Callable[[Any], Any],
        space: gymnasium.Space[Any] | None = None,
        **properties: Any,
    ) -> "ObservationSpaceSpec":
        """Return the spec of ``translate(this observation)``, as `add_derived_space` adds it."""
        make_space = None if space is None else (lambda: space)
        return self.derive(DerivedObservation(id, self.id, translate, make_space, **properties))

    def zero(self) -> Any:
        """Return the simplest value of the space, for a session without a default."""
        space = self.space
        if isinstance(space, gymnasium.spaces.Box):
            box = cast("gymnasium.spaces.Box[Any]", space)
            shape = tuple(max(axis, 0) for axis in box.shape)
            zero = np.zeros(shape, box.dtype)
            return zero if space.contains(zero) else self.space.sample()
        simplest: tuple[Any, ...] = (0, 0.0, False, "", b"", {})
        return next((value for value in simplest if value in space), None)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.id == other
        return isinstance(other, ObservationSpaceSpec) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"ObservationSpaceSpec({self.id})"

    def _facts(self) -> tuple[Any, ...]:
        return (
            (self.id, self.base_id, self.sent_as),
            (self.deterministic, self.platform_dependent),
        )


class _View(Mapping[str, Any], Generic[_Spec]):
    """Values by the name of their space, as items and as methods, computed when read."""

    kind: ClassVar[str]
    """The name of the spaces in messages."""
    spaces: dict[str, _Spec]
    """Every space by its name."""

    def __getattr__(self, name: str) -> Callable[[], Any]:
        if name.startswith("_") or name not in self.spaces:
            raise AttributeError(unknown_name(f"{self.kind} space", name, self.spaces))
        return lambda: self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.spaces

    def __iter__(self) -> Iterator[str]:
        return iter(self.spaces)

    def __len__(self) -> int:
        return len(self.spaces)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def spec(self, name: str) -> _Spec:
        """Return the space called `name`, or raise `UnknownNameError`."""
        try:
            return self.spaces[name]
        except (KeyError, TypeError):
            message = unknown_name(f"{self.kind} space", name, self.spaces)
            raise UnknownNameError(message) from None


class ObservationView(_View[ObservationSpaceSpec]):
    """``env.observation["Autophase"]`` or ``env.observation.Autophase()``."""

    kind = "observation"

    def __init__(
        self, ask: Callable[[list[str]], list[Any]], specs: Iterable[ObservationSpaceSpec]
    ) -> None:
        self._ask = ask
        self.spaces = {spec.id: spec for spec in specs}

    def copy(self, ask: Callable[[list[str]], list[Any]]) -> "ObservationView":
        """Return a view of the same observations that requests values through `ask`."""
        return ObservationView(ask, self.spaces.values())

    def knowing(self, values: Mapping[str, Any]) -> "ObservationView":
        """Return this view, with the session's `values` of some observations."""
        view = ObservationView(
            lambda names: [values[n] if n in values else self._ask([n])[0] for n in names], ()
        )
        view.spaces = self.spaces
        return view

    def __getitem__(self, name: str) -> Any:
        spec = self.spec(name)
        return spec.translate(self._ask([spec.base_id])[0])

    def add_derived_space(
        self,
        id: str,
        base_id: str,
        translate: Callable[[Any], Any] = _as_is,
        *,
        space: gymnasium.Space[Any] | None = None,
        **properties: Any,
    ) -> None:
        """Add an observation `id` that is ``translate(observation[base_id])``.

        `properties` are those of `DerivedObservation`: `description`,
        `default_value`, `deterministic`, `platform_dependent`, `to_string`.
        """
        self.spaces[id] = self.spec(base_id).make_derived_space(id, translate, space, **properties)


class RewardView(_View[Reward]):
    """``env.reward["IrInstructionCountOz"]``: the reward earned since it was last read."""

    kind = "reward"

    def __init__(self, rewards: Iterable[Reward], observation_view: ObservationView) -> None:
        self.spaces = {reward.name: reward for reward in rewards}
        self._view = observation_view
        self._actions: list[Any] = []
        self.is_at_reset: Callable[[], bool] = lambda: False
        """Returns True if no action has been applied since the reset."""

    def __getitem__(self, name: str) -> float:
        reward = self.spec(name)
        values = [self._view[needed] for needed in reward.observation_spaces]
        if self.is_at_reset():
            reward.start(values, self._view)
        return float(reward.update(self._actions, values, self._view))

    def reset(self, benchmark: Any, observation_view: ObservationView) -> None:
        """Notify every reward that an episode begins."""
        self._view = observation_view
        for reward in self.spaces.values():
            reward.reset(benchmark, observation_view)

    def add_space(self, space: Reward) -> None:
        """Add `space`, or replace the reward of that name."""
        self.spaces[space.name] = space

    def copy(self, observation_view: ObservationView) -> "RewardView":
        """Return a view with its own copies of the rewards."""
        return RewardView(copy.deepcopy(list(self.spaces.values())), observation_view)
