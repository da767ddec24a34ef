# SPDX-License-Identifier: MIT
"""Evolve formulas without a model: crossing and mutation of the best rules so far.

Formulas are expressions in Python's syntax, so Python's own parser provides their trees.
"""

import ast
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler_gym_inline.rules.llvm.rule import INPUTS, Rule, list_inputs
from compiler_gym_inline.rules.search import Trial

__all__ = ["DECISIONS", "ENVIRONMENT", "PROGRAM_SETS", "Evolution"]

DECISIONS = tuple(INPUTS)
"""The decisions that formulas can take over."""
ENVIRONMENT = "llvm-rule-v0"
"""The environment that judges rules."""
PROGRAM_SETS = "benchmark://rule-programs-v0"
"""Its dataset."""

_MOST_NODES = 60
_CONSTANTS = (0, 1, 2, 3, 5, 8, 15, 30, 60, 120)
_PARENTS = 8
_FRESH = 0.1
"""The probability of a new random formula."""
_CROSSED = 0.25
"""The probability of a part from another rule."""
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult)


@dataclass(frozen=True, slots=True)
class Evolution:
    """Proposes a variant of one of the best rules so far; the same history gives the same one.

    >>> Evolution(decisions=("frame",))([])
    'frame = default'
    """

    decisions: Sequence[str] = DECISIONS
    """The decisions to find formulas for."""
    seed: int = 0
    starts: Sequence[str] = field(default=())
    """Rules to try first; by default the linker's own decisions."""

    def __call__(self, history: Sequence[Trial]) -> str:
        """Return the next rule."""
        starts = self.starts or [_own(name) for name in self.decisions]
        if len(history) < len(starts):
            return starts[len(history)]
        tried = {trial.rule for trial in history}
        draw = random.Random(f"{self.seed} {len(history)}")
        while True:
            rule = self._vary(history, draw)
            if rule not in tried:
                return rule

    def _vary(self, history: Sequence[Trial], draw: random.Random) -> str:
        best = sorted((t for t in history if not t.problem), key=lambda trial: -trial.saved)
        parents = [Rule().edit(trial.rule) for trial in best[:_PARENTS]] or [Rule()]
        # The first half is drawn twice as often as the second.
        parent = min(draw.choices(range(len(parents)), k=2))
        formulas = dict(parents[parent].formulas)
        decision = draw.choice(list(self.decisions))
        formula = formulas.get(decision)
        others = [p.formulas[decision] for p in parents if decision in p.formulas]
        if formula is None and others:
            formulas[decision] = draw.choice(others)
        elif formula is None or draw.random() < _FRESH:
            formulas[decision] = ast.unparse(_make_condition(decision, draw))
        else:
            formulas[decision] = _mutate(formula, decision, others, draw)
        return Rule(formulas).text


def _own(decision: str) -> str:
    formula = {"choose": "0", "order": "-cost"}.get(decision, "default")
    return f"{decision} = {formula}"


def _mutate(formula: str, decision: str, others: Sequence[str], draw: random.Random) -> str:
    tree = ast.parse(formula, mode="eval")
    places = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    old = draw.choice(places)
    if draw.random() < _CROSSED and len(others) > 1:
        other = ast.parse(draw.choice(others), mode="eval")
        new = draw.choice([node for node in ast.walk(other) if isinstance(node, ast.expr)])
    else:
        new = _change(old, decision, draw)
    changed = ast.fix_missing_locations(_Replacement(old, new).visit(tree))
    if sum(isinstance(node, ast.expr) for node in ast.walk(changed)) > _MOST_NODES:
        return ast.unparse(_make_condition(decision, draw))
    return ast.unparse(changed)


def _change(old: ast.expr, decision: str, draw: random.Random) -> ast.expr:
    """Return a change of one part of a formula: of a number, or of its surroundings."""
    if isinstance(old, ast.Constant) and draw.random() < 0.7:
        number = float(old.value) if isinstance(old.value, (int, float)) else 0.0
        step = draw.choice((-1, 1)) * max(1.0, round(abs(number) * draw.choice((0.1, 0.3, 1.0))))
        return ast.Constant(int(number + step))
    if isinstance(old, ast.Compare) and draw.random() < 0.6:
        condition = _make_condition(decision, draw)
        return ast.BoolOp(draw.choice((ast.And, ast.Or))(), [old, condition])
    if isinstance(old, (ast.Compare, ast.BoolOp)) and draw.random() < 0.3:
        return ast.IfExp(_make_condition(decision, draw), _make_number(decision, draw), old)
    if isinstance(old, (ast.Compare, ast.BoolOp)):
        return _make_condition(decision, draw)
    if draw.random() < 0.4:
        return ast.BinOp(old, draw.choice(_OPERATORS)(), _make_number(decision, draw))
    return _make_number(decision, draw)


def _make_condition(decision: str, draw: random.Random) -> ast.expr:
    """Return a comparison of an input, usually as an exception to the linker's own decision."""
    if decision == "order":  # it is a score
        return _make_number(decision, draw)
    left: ast.expr = ast.Name(draw.choice(list_inputs(decision)))
    if draw.random() < 0.3:
        left = ast.BinOp(left, draw.choice(_OPERATORS)(), _make_number(decision, draw))
    comparison = ast.Compare(left, [draw.choice(_COMPARISONS)()], [_make_number(decision, draw)])
    kind = draw.choice((None, ast.And, ast.Or))
    return ast.BoolOp(kind(), [ast.Name("default"), comparison]) if kind else comparison


def _make_number(decision: str, draw: random.Random) -> ast.expr:
    if draw.random() < 0.35:
        return ast.Constant(draw.choice(_CONSTANTS))
    name = ast.Name(draw.choice(list_inputs(decision)))
    if draw.random() < 0.7:
        return name
    return ast.BinOp(name, draw.choice(_OPERATORS)(), _make_number(decision, draw))


class _Replacement(ast.NodeTransformer):
    """Replaces one node of a tree."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node in place of the old one."""
        return self._new if node is self._old else self.generic_visit(node)
