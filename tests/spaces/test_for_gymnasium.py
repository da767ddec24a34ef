# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Our spaces inside Gymnasium's own machinery."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatten, flatten_space, is_space_dtype_shape_equiv, unflatten
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.utils import (
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from gymnasium.wrappers import FlattenObservation

from compiler_gym.spaces import (
    ActionSpace,
    Box,
    Dict,
    FreeBox,
    NamedDiscrete,
    Opaque,
    Permutation,
    Scalar,
    Sequence,
    Tuple,
)

COUNTS = Box(0, 2**63 - 1, name="counts", shape=(4,), dtype=np.int64)


class Toy(gymnasium.Env[Any, Any]):
    """An environment over our spaces whose observations are samples."""

    def __init__(self, observation_space: Any) -> None:
        self.observation_space = observation_space
        self.action_space = NamedDiscrete(["a", "b"], name="letters")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), repr(action)
        return self.observation_space.sample(), 0.0, False, False, {}


def observations() -> Dict:
    return Dict(
        {
            "counts": COUNTS,
            "size": Scalar("size", min=0, dtype=int),
            "ir": Sequence("ir", dtype=str),
            "graph": Opaque("graph", "json"),
            "bitcode": FreeBox(-128, 127, "bitcode", dtype=np.int8),
        },
        name="all",
    )


def test_gymnasiums_checker_accepts_them() -> None:
    space = Dict({"counts": Box(0, 99, "c", (4,), np.int64), "ok": Scalar("ok", dtype=bool)}, "x")
    check_env(Toy(space), skip_render_check=True)


@pytest.mark.parametrize("make", [observations, lambda: COUNTS, lambda: Scalar("x", 0, 9, int)])
def test_a_synchronous_vector_environment_runs_over_them(make: Any) -> None:
    envs = gymnasium.vector.SyncVectorEnv([lambda: Toy(make()) for _ in range(2)])
    observation, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(observation)
    observation, *_ = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(observation)
    envs.close()


def test_an_asynchronous_vector_environment_runs_over_scalars() -> None:
    space = Dict({"size": Scalar("size", 0, 9, int), "counts": Box(0, 9, "c", (2,), np.int64)}, "x")
    envs = gymnasium.vector.AsyncVectorEnv([lambda: Toy(space) for _ in range(2)])
    try:
        observation, _ = envs.reset(seed=1)
        assert observation["size"].shape == (2,)
        assert envs.observation_space.contains(observation)
        observation, *_ = envs.step(np.array([0, 1]))
        assert envs.observation_space.contains(observation)
    finally:
        envs.close()


def test_flattened_observations_feed_a_policy() -> None:
    space = Dict({"counts": COUNTS, "ok": Scalar("ok", dtype=bool)}, "x")
    env = FlattenObservation(Toy(space))
    observation, _ = env.reset(seed=1)
    assert env.observation_space.shape == observation.shape == (5,)
    assert env.observation_space.contains(observation)
    assert env.observation_space.contains(env.observation_space.sample())


def test_flat_and_batched_boxes_can_be_sampled_over_all_counts() -> None:
    inner = Tuple([COUNTS, Scalar("size", min=0, dtype=int)], "x")
    spaces: list[Any] = [flatten_space(COUNTS), flatten_space(inner), batch_space(COUNTS, 3)]
    for space in spaces:
        assert space.contains(space.sample())


def test_the_order_of_parts_is_kept_when_a_list_of_them_is_flattened() -> None:
    space = Dict([("b", Scalar("b", 0, 9, int)), ("a", Scalar("a", 0, 9, int))], "x")
    assert flatten(space, {"a": 1, "b": 2}).tolist() == [2, 1]  # type: ignore[union-attr]  # an array
    assert unflatten(space, np.array([2, 1])) == {"b": 2, "a": 1}


def test_equal_dicts_flatten_an_observation_to_the_same_vector() -> None:
    parts = [("b", Scalar("b", 0, 9, int)), ("a", Scalar("a", 0, 9, int))]
    listed, mapped = Dict(parts, "x"), Dict(dict(parts), "x")
    value = {"a": 1, "b": 2}
    flat = [flatten(space, value).tolist() for space in (listed, mapped)]  # type: ignore[union-attr]  # an array
    assert flat == [[2, 1], [1, 2]]
    assert listed != mapped
    assert listed == Dict(parts, "x")
    assert listed != Dict(parts[:1], "x")


def test_spaces_inside_gymnasiums_own_containers_work() -> None:
    space = gymnasium.spaces.Dict(
        {"a": NamedDiscrete(["x", "y"], "n"), "b": Scalar("s", 0, 3, int)}
    )
    space.seed(0)
    value = space.sample()
    flat: Any = flatten(space, value)
    assert unflatten(space, flat) == value
    batch = batch_space(space, 2)
    assert batch.contains(batch.sample())


def test_scalars_live_in_shared_memory() -> None:
    space = Scalar("x", 0.0, 1.0)
    memory = create_shared_memory(space, n=2)
    write_to_shared_memory(space, 1, 0.75, memory)
    assert read_from_shared_memory(space, memory, n=2).tolist() == [0.0, 0.75]  # type: ignore[union-attr]  # an array


def orders() -> Dict:
    return Dict(
        {
            "order": Permutation("order", Scalar("loop", 0, 3, np.int8)),
            "flags": Sequence("flags", (2, 2), dtype=bool),
            "pair": Tuple([Sequence("times", (3, 3), dtype=np.float32)], "pair"),
        },
        name="orders",
    )


def test_sequences_of_one_length_live_in_shared_memory() -> None:
    space = orders()
    memory = create_shared_memory(space, n=2)
    seen: Any = read_from_shared_memory(space, memory, n=2)
    for index in range(2):
        value = space.sample()
        write_to_shared_memory(space, index, value, memory)
        assert flatten(space["order"], seen["order"][index]).tolist() == value["order"].tolist()  # type: ignore[union-attr]  # an array
        assert seen["flags"][index].tolist() == value["flags"]
        assert seen["pair"][0][index].tolist() == value["pair"][0]
    assert batch_space(space, 2).contains(seen)
    with pytest.raises(gymnasium.error.CustomSpaceError, match="shared_memory=False"):
        create_shared_memory(Sequence("times", dtype=float))


def test_an_asynchronous_vector_environment_runs_over_orders() -> None:
    envs = gymnasium.vector.AsyncVectorEnv([lambda: Toy(orders()) for _ in range(2)])
    try:
        observation, _ = envs.reset(seed=1)
        assert envs.observation_space.contains(observation)
        later, *_ = envs.step(np.array([0, 1]))
        assert envs.observation_space.contains(later)
        assert [len(order) for order in observation["order"]] == [4, 4]
    finally:
        envs.close()


def test_orders_of_small_integers_flatten_into_their_flat_space() -> None:
    order = Permutation("order", Scalar("loop", 0, 3, np.int8))
    flat: Any = flatten(order, order.sample())
    assert flatten_space(order).contains(flat)


def test_equivalence_ignores_bounds_but_not_types() -> None:
    assert is_space_dtype_shape_equiv(Scalar("x", 0, 1, int), Scalar("y", 0, 2, int))
    assert not is_space_dtype_shape_equiv(Scalar("x", dtype=int), Scalar("x", dtype=float))
    letters = NamedDiscrete(["a"], "n")
    assert is_space_dtype_shape_equiv(ActionSpace(letters), ActionSpace(letters))
    assert is_space_dtype_shape_equiv(letters, NamedDiscrete(["a", "b"], "n"))
    assert not is_space_dtype_shape_equiv(Opaque("x", "json"), Sequence("x"))
