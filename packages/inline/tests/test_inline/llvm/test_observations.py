# SPDX-License-Identifier: MIT
"""The features are LLVM's, in its order; the rest is what the passes show."""

import re
from collections.abc import Iterator

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym_inline.llvm.environment import LlvmInlineEnv
from compiler_gym_inline.llvm.observations import INLINE_FEATURES, INLINE_TABLE, OWN


@pytest.fixture
def env() -> Iterator[LlvmInlineEnv]:
    with LlvmInlineEnv(benchmark="cbench-v1/bitcount") as env:
        env.reset()
        yield env


def test_the_features_are_those_of_the_engine_in_its_order() -> None:
    assert list(INLINE_FEATURES) == _llvm.inline_feature_names()


def test_everything_that_passes_show_of_a_module_is_there_but_what_passes_did() -> None:
    ours = {row.name for row in INLINE_TABLE.observations}
    theirs = {row.name for row in TABLE.observations}
    assert ours - theirs == {row.name for row in OWN}
    assert theirs - ours == {"PassStatistics"}


def test_features_have_names(env: LlvmInlineEnv) -> None:
    features = env.observation["InlineFeatures"]
    assert features.shape == (39,)
    assert features.any()
    by_name = env.observation["InlineFeaturesDict"]
    assert list(by_name) == list(INLINE_FEATURES)
    assert list(by_name.values()) == features.tolist()


def test_a_call_says_where_it_is(env: LlvmInlineEnv) -> None:
    site, text = env.observation["CallSite"], env.observation["Ir"]
    assert env.observation.spec("CallSite").space.contains(site)
    start = re.search(rf"^define .*@{site['caller']}\(", text, re.MULTILINE)
    assert start is not None
    body = text[start.start() :]
    lines = body[: body.index("\n}")].splitlines()[1:]
    blocks = "\n".join(lines).split("\n\n")
    line = [line for line in blocks[int(site["block"])].splitlines() if line.startswith("  ")]
    assert f"@{site['callee']}(" in line[site["instruction"]]
    assert site["location"] == ""  # the program has no debug information


def test_there_are_no_questions_after_the_end(env: LlvmInlineEnv) -> None:
    while env.in_episode:
        env.step(env.action_space["default"])
    assert not env.observation["InlineFeatures"].any()
    assert env.observation["CallSite"]["caller"] == ""
    assert set(env.observation["InlineDecisions"]) <= {"i", "n"}
    assert len(env.observation["InlineDecisions"]) == len(env.actions)


def test_equal_decisions_are_one_state_for_any_policy(env: LlvmInlineEnv) -> None:
    with env.fork() as fork:
        standard = env.observation["InlineFeaturesDict"]["inlining_default"]
        fork.step(fork.action_space["inline" if standard else "no-inline"])
        env.step(env.action_space["default"])
        assert fork.observation["InlineStateHash"] == env.observation["InlineStateHash"]
        assert fork.observation["IrHash"] == env.observation["IrHash"]
        env.step(env.action_space["inline"])
        fork.step(fork.action_space["no-inline"])
        assert fork.observation["InlineStateHash"] != env.observation["InlineStateHash"]
