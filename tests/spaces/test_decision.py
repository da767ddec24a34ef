# SPDX-License-Identifier: MIT
"""A decision lists its actions, the default first, and says what each chooses."""

from compiler_gym.spaces import Decision


def test_a_decision_names_a_choice_for_each_action() -> None:
    decision = Decision("call:1", (10, 12), ("default", "never"), ("call", "caller main"))
    assert dict(zip(decision.choices, decision.kinds, strict=True)) == {10: "default", 12: "never"}
    assert decision.groups[0] == "call"
