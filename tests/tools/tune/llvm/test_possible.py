# SPDX-License-Identifier: MIT
"""A plan of LLVM's may say what its tuner can decide, and nothing else."""

from dataclasses import replace

import pytest

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm.linking import FAST, FOLDING, PROGRAM, SMALL
from compiler_gym.tools.tune.llvm.possible import require_possible, require_tried

WHOLE = BinaryPlan(
    "a", PROGRAM, passes="function(gvn),globaldce", scope="internalize<preserve-gv=main>",
    linker=tuple(FOLDING[:1]),
)  # fmt: skip


def test_the_tuners_decisions_are_possible() -> None:
    require_possible(WHOLE)
    require_possible(BinaryPlan("a", SMALL))
    require_possible(BinaryPlan("a", FAST, linker=FOLDING, profile="profiles/a.profdata"))


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "script"},
        {"passes": "print<domtree>"},
        {"passes": "function(gvn),no-such-pass"},
        {"options": {"regalloc": "/tmp/x.so"}},
        {"linker": ("-Wl,-o,/tmp/x",)},
        {"scope": "internalize<preserve-gv-file=/etc/passwd>"},
        {"flags": ("-O2",)},
    ],
)
def test_impossible_decisions_are_refused_by_name(changes: dict[str, object]) -> None:
    with pytest.raises(PlanError, match=r"which is refused|expected none"):
        require_possible(replace(WHOLE, **changes))  # type: ignore[arg-type]  # one field each


def test_a_journal_names_actions_alone() -> None:
    with pytest.raises(PlanError, match="fplugin"):
        require_tried("tried.jsonl", ("-fplugin=x.so",))
