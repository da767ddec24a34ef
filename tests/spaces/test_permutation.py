# SPDX-License-Identifier: MIT
import gymnasium
import numpy as np
import pytest

from compiler_gym.spaces import Permutation, Scalar, Sequence


@pytest.fixture
def space() -> Permutation:
    return Permutation("loops", Scalar("loop", min=1, max=4, dtype=int), seed=0)


def test_every_number_comes_once(space: Permutation) -> None:
    assert isinstance(space, Sequence)
    assert space.contains([4, 1, 3, 2])
    assert space.contains(np.array([4, 1, 3, 2], dtype=np.int8))
    for other in ([4, 1, 3, 3], [1, 2, 3], [1, 2, 3, 4, 4], [0, 1, 2, 3], [1.0, 2, 3, 4], None):
        assert not space.contains(other)


def test_samples_are_arrays_and_every_order_occurs(space: Permutation) -> None:
    assert space.sample().dtype == np.int64
    assert space.shape == (4,)
    assert len({tuple(space.sample().tolist()) for _ in range(500)}) == 24


def test_both_bounds_are_needed() -> None:
    with pytest.raises(ValueError, match="integers with two bounds"):
        Permutation("x", Scalar("x", min=0, dtype=int))
    with pytest.raises(TypeError, match="integral scalar range"):
        Permutation("x", Scalar("x", min=0, max=2))


def test_masks_are_refused(space: Permutation) -> None:
    with pytest.raises(gymnasium.error.Error, match="supports neither masks"):
        space.sample(mask=(4, None))
