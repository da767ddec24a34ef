# SPDX-License-Identifier: MIT
"""Evolution depends on its history alone, and proposes new rules without mistakes."""

import ast

from compiler_gym_inline.rules import Trial
from compiler_gym_inline.rules.llvm.evolution import Evolution
from compiler_gym_inline.rules.llvm.rule import Rule, list_inputs


def test_the_same_history_gives_the_same_proposal() -> None:
    history = [Trial("inline = default", 0.0), Trial("frame = calls > 2", 8.0)]
    evolve = Evolution(("inline", "frame"), seed=3)
    assert evolve(history) == evolve(list(history))
    assert len({Evolution(("frame",), seed=seed)(history) for seed in range(9)}) > 5


def test_proposals_are_new_rules_without_mistakes() -> None:
    evolve = Evolution()
    history: list[Trial] = []
    for number in range(200):
        rule = evolve(history)
        for decision, formula in Rule().edit(rule).formulas.items():
            names = [node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)]
            assert set(names) <= {*list_inputs(decision), "min", "max"}
        history.append(Trial(rule, float(number % 7), "" if number % 5 else "broken"))
    assert len({trial.rule for trial in history}) == 200
