# SPDX-License-Identifier: MIT
"""No function that is judged by has a near duplicate in what is learnt from, whatever there is."""

from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.datasets import NO_SPLIT, SPLITS, FunctionShape, split_of_package
from compiler_gym.datasets.splits import SMALLEST, SplitMember, assign_splits, cluster_digest

NAMES = [f"package{number}" for number in range(40)]
PACKAGES = st.sampled_from(NAMES)
SHAPES = st.lists(st.integers(0, 30), max_size=4, unique=True)


def _member(names: list[str], shapes: list[int]) -> SplitMember:
    cluster = cluster_digest([FunctionShape(s, SMALLEST) for s in shapes], b"")
    return SplitMember(tuple(names), cluster, shapes)


MEMBERS = st.lists(
    st.builds(
        _member,
        st.lists(PACKAGES, min_size=1, max_size=2, unique=True),
        SHAPES,
    ),
    max_size=25,
)


def of_test(member: SplitMember) -> bool:
    return any(split_of_package(name) == "test" for name in member.packages)


@given(MEMBERS)
def test_no_function_of_a_test_package_has_a_near_duplicate_in_train(
    members: list[SplitMember],
) -> None:
    splits = list(assign_splits(members))
    judged = {shape for one in members if of_test(one) for shape in one.shapes}
    for one, split in zip(members, splits, strict=True):
        assert (split == "test") == of_test(one)
        if split in ("train", "validation"):
            assert not judged.intersection(one.shapes)
    validated = {
        s
        for m, split in zip(members, splits, strict=True)
        if split == "validation"
        for s in m.shapes
    }
    learnt = {
        s for m, split in zip(members, splits, strict=True) if split == "train" for s in m.shapes
    }
    assert not learnt & validated


@given(MEMBERS, MEMBERS)
def test_programs_that_are_added_move_none_into_train(
    members: list[SplitMember], added: list[SplitMember]
) -> None:
    before, after = list(assign_splits(members)), list(assign_splits([*members, *added]))
    for old, new in zip(before, after, strict=False):
        assert new in (old, NO_SPLIT)


@given(MEMBERS, st.randoms(use_true_random=False))
def test_the_order_of_programs_says_nothing(members: list[SplitMember], random: object) -> None:
    splits = dict(zip(map(id, members), assign_splits(members), strict=True))
    shuffled = sorted(members, key=lambda member: getattr(random, "random")())  # noqa: B009
    assert list(assign_splits(shuffled)) == [splits[id(member)] for member in shuffled]


def test_the_split_of_a_package_is_for_ever() -> None:
    assert {split_of_package(name) for name in NAMES} == set(SPLITS)
    shares = [split_of_package(str(number)) for number in range(2000)]
    assert 0.13 < shares.count("test") / 2000 < 0.17
    assert 0.08 < shares.count("validation") / 2000 < 0.12
    recorded = "".join(split_of_package(name)[1] for name in NAMES)  # tRain, tEst, vAlidation
    assert recorded == "errrrrarrrrerrrrrrarrrrrrrerrarrrrrrrrrr"


def test_small_functions_and_those_of_the_standard_library_do_not_count() -> None:
    assert FunctionShape(1, SMALLEST).counts
    assert not FunctionShape(1, SMALLEST - 1).counts
    assert not FunctionShape(1, SMALLEST, is_library=True).counts


def test_programs_of_the_same_functions_are_one_cluster_in_any_order() -> None:
    one, other = FunctionShape(-1, 5), FunctionShape(2**62, 9)
    assert cluster_digest([one, other], b"a") == cluster_digest([other, one], b"b")
    assert cluster_digest([one], b"a") != cluster_digest([one, one], b"a")
    assert cluster_digest([], b"a") != cluster_digest([], b"b")
