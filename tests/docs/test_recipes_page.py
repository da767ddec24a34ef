# SPDX-License-Identifier: MIT
"""The page of recipes: what was judged and what was learnt from are kept apart."""

import re
from pathlib import Path

import msgspec
import pytest

from compiler_gym.tools.tune import recipe_named
from compiler_gym_corpus.llvm.learning import FAIR, PLAIN, PlanOutcome, plan_key
from docs import recipes_page
from docs.recipes_page import KEPT, keep_outcomes

SMALL, PACKED = (recipe_named(name).plan for name in ("small", "small-packed"))


def row(program: str, split: str, plan: str, loaded: int) -> PlanOutcome:
    return PlanOutcome(
        program, program, split, 3000, plan, loaded, loaded, loaded, 1.0, left=loaded
    )


@pytest.fixture(name="page")
def made_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    tried = recipes_page._tried()  # pyright: ignore[reportPrivateUsage]  # tested on its own
    changed = tried.replace("option enable-pre=false; ", "")
    assert changed != tried
    monkeypatch.setattr(recipes_page, "_FEWEST", 1)
    rows = [
        *(row(p, "test", plan_key(PLAIN), 2000) for p in "ab"),
        *(row(p, "test", plan_key(FAIR), 1000) for p in "ab"),
        *(row(p, "test", plan_key(SMALL), 900) for p in "ab"),
        *(row(p, "test", plan_key(PACKED), 800) for p in "ab"),
        row("a", "test", changed, 1),
        row("c", "train", tried, 900),
        row("c", "train", changed, 990),
        row("c", "train", plan_key(SMALL), 1),
    ]
    file, kept = tmp_path / "outcomes.jsonl", tmp_path / "kept.tsv"
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in rows))
    keep_outcomes([file], kept)
    return recipes_page.recipes_page(kept)


def test_recipes_are_judged_by_the_test_split_alone(page: str) -> None:
    (line,) = [line for line in page.splitlines() if line.startswith("| small | the rival")]
    assert "| 2 of 2 packages | -10.0% [-10.0%, -10.0%] |" in line
    assert "| small-packed | clang -Oz | 2 of 2 packages | -60.0%" in page


def test_a_decision_is_judged_by_the_growth_without_it_elsewhere(page: str) -> None:
    (line,) = [line for line in page.splitlines() if "enable-pre" in line]
    assert line.startswith("| -`enable-pre=false` | 1 | 1 | +10.00% |")


def test_stored_results_name_every_program_of_the_test_split() -> None:
    assert re.search(r"\| small \| the rival \| 31 of 15 packages", recipes_page.recipes_page(KEPT))
