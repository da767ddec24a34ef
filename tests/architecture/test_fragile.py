# SPDX-License-Identifier: MIT
"""What LLVM works on is owned by a `Fragile`, which a fatal error of LLVM leaks (decision 0011)."""

import re
from pathlib import Path

SOURCES = sorted((Path(__file__).parents[2] / "native/src").rglob("*.cpp"))
DAMAGED = (
    r"LLVMContext|Module|DominatorTree|LoopInfo|ScalarEvolution|AssumptionCache|CallGraph|Linker"
    r"|BranchProbabilityInfo|BlockFrequencyInfo|\w*AnalysisManager|legacy::PassManager"
)
LOCAL = re.compile(rf"( +)(?:const )?(?:::)?llvm::(?:{DAMAGED}) (\w+)[;({{]")


def destroyed_by_frames(text: str) -> list[str]:
    """Return what functions of a source own themselves: a frame destroys it while errors unwind."""
    found, lines = list[str](), text.splitlines()
    for number, line in enumerate(lines):
        local = LOCAL.match(line)
        if local is None:
            continue
        outside = (
            at for at in reversed(lines[:number]) if at.strip() and _depth(at) < len(local[1])
        )
        if not re.match(r" *(struct|class)\b", next(outside, "")):
            found.append(local[2])
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip()) + (line.strip() in ("public:", "private:"))


def test_no_frame_destroys_what_a_fatal_error_may_have_damaged():
    found = {path.name: destroyed_by_frames(path.read_text("utf-8")) for path in SOURCES}
    assert len(found) > 50
    assert {name: owned for name, owned in found.items() if owned} == {}


def test_one_that_does_is_found():
    text = "void f() {\n  ::llvm::LLVMContext context;\n}\nstruct S {\n  llvm::LoopInfo held;\n};\n"
    assert destroyed_by_frames(text) == ["context"]
