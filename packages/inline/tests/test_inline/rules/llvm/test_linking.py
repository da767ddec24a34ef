# SPDX-License-Identifier: MIT
"""Real links follow a rule, and the decision that breaks a program is found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_inline.rules.llvm import linking
from compiler_gym_inline.rules.llvm.linking import RuleBench
from compiler_gym_inline.rules.llvm.rule import INPUTS, Rule, list_inputs


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RuleBench:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))
    return RuleBench(("crc32", "qsort"), tmp_path / "links")


def test_the_linkers_own_decisions_change_no_byte(bench: RuleBench, tmp_path: Path) -> None:
    plain = bench.judge(Rule())
    files = {name: (tmp_path / "links" / f"{name}.linked").read_bytes() for name in bench.names}
    own = bench.judge(Rule().edit("inline = default; frame = default; outline = default"))
    assert own == plain
    for name, contents in files.items():
        assert (tmp_path / "links" / f"{name}.linked").read_bytes() == contents


def test_every_function_is_compiled_for_size(bench: RuleBench, tmp_path: Path) -> None:
    bench.judge(Rule())
    lines = (tmp_path / "links" / "attributes.csv").read_text().splitlines()
    named = {line.partition(",")[0] for line in lines}
    for kind in ("minsize", "optsize"):
        assert {f"{name},{kind}" for name in named} <= set(lines)


@pytest.mark.parametrize("text", ["inline = 0", "frame = 0"])
def test_a_rule_changes_the_programs(bench: RuleBench, text: str) -> None:
    assert bench.judge(Rule().edit(text)).total != bench.judge(Rule()).total


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("inline = cost < 40 and not callee_calls", "inline = (callee_calls == 0) * (40 > cost)"),
        ("frame = 1 if calls > 3 else 0", "frame = max(calls, 3) - 3"),
        ("frame = -calls / 0 + 1", "frame = 1.0e0"),
        ("order = min(cost, 0) + cost", "order = cost + min(0, cost)"),
    ],
)
def test_equal_formulas_decide_equally(bench: RuleBench, one: str, other: str) -> None:
    assert bench.judge(Rule().edit(one)) == bench.judge(Rule().edit(other))


@pytest.mark.parametrize("decision", list(INPUTS))
def test_every_input_of_the_header_can_be_used(bench: RuleBench, decision: str) -> None:
    formula = " + ".join(list_inputs(decision))
    bench.judge(Rule().edit(f"{decision} = 0 * ({formula})"))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("loops", "no input 'loops'; use default, instructions"),
        ("calls +", "ends too early"),
        ("(calls", "'\\)' is missing"),
        ("calls calls", "cannot read 'calls'"),
        ("(" * 101 + "1" + ")" * 101, "nested too deeply"),
        ("+".join(["1"] * 600), "too many operations"),
    ],
)
def test_a_mistake_is_explained(bench: RuleBench, formula: str, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        bench.judge(Rule().edit(f"frame = {formula}"))


def test_a_rule_takes_functions_from_the_outliner(bench: RuleBench, tmp_path: Path) -> None:
    bench.judge(Rule().edit("outline = calls > 3"))
    stats = dict(
        line.split("\t") for line in (tmp_path / "links" / "stats").read_text().splitlines()
    )
    assert int(stats["no-outline"]) > 1


def test_calls_are_inlined_in_the_order_of_the_rule(bench: RuleBench, tmp_path: Path) -> None:
    program = RuleBench(("gsm",), tmp_path / "gsm")
    scores = ("-cost", "cost", "caller_instructions")
    assert len({program.judge(Rule().edit(f"order = {score}")).total for score in scores}) == 3


def test_a_link_that_takes_too_long_breaks_the_program(bench: RuleBench) -> None:
    bench.judge(Rule())
    bench.seconds = 0.01
    broken = bench.judge(Rule().edit("inline = 1")).broken
    assert broken is not None
    assert str(broken) == "crc32 is broken: its link takes more than 0.01 s"


def test_the_decision_that_breaks_a_program_is_found(
    bench: RuleBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A miscompile is simulated: the program counts as broken once a function has no frame."""
    run: Callable[..., Any] = linking.run_program
    bench.judge(Rule())

    def run_broken(program: Path, case: Any, **options: Any) -> Any:
        stats = program.with_name("stats").read_text()
        lost = [line for line in stats.splitlines() if line.startswith("no-frame\t")]
        if lost and int(lost[0].split("\t")[1]) >= 3:
            case = linking.replace(case, argv=("--no-such-option",))
        return run(program, case, **options)

    monkeypatch.setattr(linking, "run_program", run_broken)
    broken = bench.judge(Rule().edit("frame = 0")).broken
    assert broken is not None
    assert broken.program == "crc32"
    assert "exit status" in broken.symptom or "standard output" in broken.symptom
    assert broken.decision.startswith("no-frame in ")
    assert broken.limit == 3


ENCODING = """frame = default
// encoding
#include "encodings/rules.h"
#include "encodings/site.h"
using namespace compiler_gym::linker;
extern "C" bool rewrite(llvm::MachineInstr& move, Site& site) {
  if (site.x86.opcode(move) != MOV32ri || !move.getOperand(1).isImm()) return false;
  BODY
}
"""


def with_body(body: str) -> Rule:
    return Rule().edit(ENCODING.replace("BODY", body))


@pytest.mark.slow
def test_an_encoding_is_compiled_and_judged(bench: RuleBench) -> None:
    assert bench.judge(with_body("return false;")) == bench.judge(Rule())
    wrong = with_body(
        "const auto value = move.getOperand(1).getImm();"
        "if ((value & 1) || !site.commit()) return false;"
        "move.getOperand(1).setImm(value | 1); return true;"
    )
    broken = bench.judge(wrong).broken
    assert broken is not None
    assert "output differs" in broken.symptom
    assert broken.decision.startswith("own in ")
    assert f"the first {broken.limit:,} decisions" in str(broken)
    assert broken.limit > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "symptom"),
    [
        ("*static_cast<volatile int*>(nullptr) = 1; return true;", "linker failed with status"),
        ('for (;;) asm volatile("");', "takes more than 30 s"),
        ("move.eraseFromParent(); return true;", "status 1 in the function"),
        (
            "site.insert(move, MOV32ri).addReg(move.getOperand(0).getReg()); return false;",
            "linker failed with status",
        ),
    ],
)
def test_an_encoding_that_breaks_the_linker_is_reported(
    bench: RuleBench, body: str, symptom: str
) -> None:
    bench.seconds = 30.0
    broken = bench.judge(with_body(body)).broken
    assert broken is not None
    assert symptom in broken.symptom


def test_an_encoding_that_does_not_compile_is_not_a_rule(bench: RuleBench) -> None:
    with pytest.raises(InvalidParameterError, match=r"does not compile:\n.*no_such_name"):
        bench.judge(with_body("return no_such_name;"))


def test_an_encoding_needs_a_sandbox(bench: RuleBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_SANDBOX", "none")
    with pytest.raises(InvalidParameterError, match="needs a sandbox"):
        bench.judge(with_body("return false;"))
