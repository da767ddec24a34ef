# SPDX-License-Identifier: MIT
import json

from compiler_gym.core import describe
from compiler_gym.testing import FakeEnv


def test_all_that_an_environment_offers_is_plain() -> None:
    with FakeEnv() as env:
        found = describe("fake-v0", env)
        assert json.loads(json.dumps(found)) == found
        assert found["id"] == "fake-v0"
        assert found["about"] == "An environment for lowering a number."
        assert [s["name"] for s in found["observation_spaces"]] == list(env.observation)
        assert [r["name"] for r in found["reward_spaces"]] == ["number"]
        assert found["datasets"][0]["programs"] == 10
        actions = found["action_spaces"][0]["actions"]
        assert [row["index"] for row in actions] == list(range(len(actions)))
