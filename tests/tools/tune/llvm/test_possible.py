# SPDX-License-Identifier: MIT
"""A plan of LLVM's may say what its tuner can decide, and nothing else."""

from dataclasses import replace

import pytest

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm.choices import CHOICES, FRONT
from compiler_gym.tools.tune.llvm.linking import FAST, FOLDING, PROGRAM, SMALL
from compiler_gym.tools.tune.llvm.possible import require_possible, require_tried

WHOLE = BinaryPlan(
    "a", PROGRAM, passes="function(gvn),globaldce", scope="internalize<preserve-gv=main>",
    linker=tuple(FOLDING[:1]),
)  # fmt: skip


def test_what_the_tuner_decides_is_possible() -> None:
    require_possible(WHOLE)
    require_possible(BinaryPlan("a", SMALL))
    for choice in (*CHOICES, *FRONT.values()):
        require_possible(BinaryPlan("a", FAST, flags=choice.flags, linker=choice.linker))
    require_possible(BinaryPlan("a", FAST, after=("bolt",), after_profile="profiles/a.fdata"))


@pytest.mark.parametrize(
    "plan",
    [
        BinaryPlan("a", FAST, after=("strip",)),
        BinaryPlan("a", FAST, after=("bolt", "-o/tmp/x"), after_profile="profiles/a.fdata"),
        BinaryPlan("a", FAST, after_profile="profiles/a.fdata"),
        BinaryPlan("a", SMALL, after=("bolt",)),
        BinaryPlan("a", PROGRAM, after=("bolt",)),
    ],
)
def test_what_is_done_after_the_link_is_out_of_a_table(plan: BinaryPlan) -> None:
    with pytest.raises(PlanError, match="which is refused"):
        require_possible(plan)


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
def test_what_it_cannot_decide_is_refused_by_name(changes: dict[str, object]) -> None:
    with pytest.raises(PlanError, match=r"which is refused|expected none"):
        require_possible(replace(WHOLE, **changes))  # type: ignore[arg-type]  # one field each


def test_a_journal_names_actions_alone() -> None:
    with pytest.raises(PlanError, match="fplugin"):
        require_tried("tried.jsonl", ("-fplugin=x.so",))
