# SPDX-License-Identifier: MIT
"""What is found in a function: gaps, their smallest decision, and nothing that is nonsense."""

from pathlib import Path

import pytest

from compiler_gym.envs.llvm import make_benchmark
from compiler_gym_hunt.llvm.engine import Engine

from .conftest import ADDS, HEAD


@pytest.fixture
def scan(corpus: Path, engine: Engine) -> bytes:
    """Return the planted function, after -Oz."""
    contents = make_benchmark(corpus / "one" / "scan.c").contents
    ((name, bitcode, _, size),) = engine.ask("list_functions", contents, 1, 300).value
    assert (name, size) == ("f", 11)
    return bitcode


def test_a_gap_is_found_and_begins_again_from_the_function(scan: bytes, engine: Engine) -> None:
    found = engine.ask("examine", scan, "instructions").value
    assert found["gaps"]
    for gap in found["gaps"]:
        level, decided = engine.ask("gap", scan, gap["decision"], "instructions").value
        assert level == found["base"] > decided
        assert gap["removed"]


def test_the_smallest_decision_is_the_one_that_is_reported(scan: bytes, engine: Engine) -> None:
    useful = engine.ask("examine", scan, "instructions").value["gaps"][0]["decision"]
    longer = f"function(adce),{useful},function(adce)"
    smallest = engine.ask("attribute_decision", scan, longer, "instructions").value
    assert len(smallest) <= len(useful)
    assert "adce" not in smallest


def test_a_size_must_shrink_elsewhere_too(scan: bytes, engine: Engine) -> None:
    text = engine.ask("prepare_for_reduction", scan).value.encode()
    decision = "default<Oz> | disable-lsr=true"
    assert engine.ask("is_interesting", text, decision, "size", 3.0).value
    assert not engine.ask("is_interesting", text, decision, "size", 300.0).value


@pytest.mark.parametrize("nonsense", ["undef", "poison"])
def test_typical_artefacts_of_a_reduction_are_refused(nonsense: str, engine: Engine) -> None:
    decision = "default<Oz>,function(gvn)"
    text = ADDS.replace("ret i32 %3", f"ret i32 {nonsense}").encode()
    assert engine.ask("is_interesting", ADDS.encode(), decision, "instructions", 0.0).value
    assert not engine.ask("is_interesting", text, decision, "instructions", 0.0).value


def test_a_finished_function_is_plain(scan: bytes, engine: Engine) -> None:
    decision = engine.ask("examine", scan, "instructions").value["gaps"][0]["decision"]
    text = engine.ask("finish", scan, decision, "instructions", 1.0).value
    assert "define i32 @f(ptr %0) minsize optsize {" in text
    assert not any(word in text for word in ("!tbaa", "attributes #", "source_filename", "noundef"))
    assert text.startswith(HEAD.splitlines()[0])


def test_names_and_numbers_are_not_part_of_a_fingerprint(scan: bytes, engine: Engine) -> None:
    facts = engine.ask("facts", scan, "default<Oz>,function(gvn)", "size").value
    assert set(facts["sizes"]) == {"x86_64", "aarch64", "riscv64"}
    assert all(isinstance(sizes, list) for sizes in facts["sizes"].values())
    found = engine.ask("examine", scan, "size").value["gaps"]
    assert not any("%rdi" in one or "_Z" in one for gap in found for one in gap["removed"])


def test_cycles_are_a_goal_too(scan: bytes, engine: Engine) -> None:
    assert engine.ask("examine", scan, "cycles", seconds=60.0).value["base"] > 0


@pytest.mark.parametrize(
    ("condition", "is_refused"), [("%0", True), ("%4", False)], ids=["invariant", "computed"]
)
def test_a_loop_whose_end_nothing_decides_is_refused(
    condition: str, is_refused: bool, engine: Engine
) -> None:
    text = f"""{HEAD}declare i32 @outside()
define i32 @f(i32 %0) minsize optsize {{
  br label %3
3:
  %4 = call i32 @outside()
  switch i32 {condition}, label %3 [
    i32 7, label %5
  ]
5:
  ret i32 0
}}
""".replace("  br label %3", "  %2 = add i32 %0, 1\n  br label %3", 1)
    decision = "default<Oz>,function(gvn)"
    found = engine.ask("is_interesting", text.encode(), decision, "instructions", 0.0)
    assert (found.failure, found.value) == ("", not is_refused)
