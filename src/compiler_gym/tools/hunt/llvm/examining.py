# SPDX-License-Identifier: MIT
"""What the engine is asked: how much a level leaves of a function, and what leaves less.

Runs in forks of the process of ``engine``: every function here takes and returns plain values.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from compiler_gym import _llvm
from compiler_gym.tools.hunt.llvm.decisions import (
    HuntedDecision,
    HuntGoal,
    decisions_for,
    then_cleaned,
)

__all__ = [
    "attribute_decision",
    "compare_decisions",
    "estimate_cycles",
    "examine",
    "facts",
    "finish",
    "gap",
    "is_interesting",
    "list_functions",
    "make_versions",
    "prepare_for_reduction",
    "proof_objects",
]  # fmt: skip

_MOST_SIGNATURE = 40
_UNSOUND = re.compile(
    r"\bundef\b|\bpoison\b|\bunreachable\b|\basm\b|, ptr (?:null|inttoptr)|br i1 (?:true|false)|"
    r"(?:load|store volatile|load volatile) [^\n]*ptr null"
)
"""What a reduction likes to put into a program, and what says nothing of real code."""
_VOLATILE = re.compile(r" volatile\b")


def list_functions(module: bytes, least: int, most: int) -> list[tuple[str, bytes, int, int]]:
    """Return the functions of a module after -Oz, each in a module: name, bitcode, shape, size."""
    whole = _llvm.Module(module)
    whole.apply_level("Oz")
    found: list[tuple[str, bytes, int, int]] = []
    for name, part in _llvm.split_functions(whole.bitcode()):
        if not name:
            continue
        table = _llvm.function_shapes(_llvm.Module(part))
        (size,) = memoryview(table["instructions"]).cast("q")[:1] or (0,)
        if least <= size <= most:
            found.append((name, part, memoryview(table["shapes"]).cast("q")[0], size))
    return found


def examine(function: bytes, goal: str) -> dict[str, Any]:
    """Return what the level leaves of a function, and each decision that leaves less.

    Decisions that end in the same program are one: the first. A pass that changed something is
    tried with one that cleans up, too.
    """
    chosen = HuntGoal(goal)
    base = _at_level(function, chosen)
    start, after = _cost(base, chosen), base.bitcode()
    tried = 0
    known: dict[bytes, float] = {base.ir_hash(): start}
    seen: set[bytes] = set()
    gaps: list[dict[str, Any]] = []
    for decision in decisions_for(chosen):
        tried += 1
        try:
            module = _apply_decision(function, after, decision, chosen, seen)
            candidates = [(decision, module)] if module is not None else []
            if module is not None and not decision.codegen and decision.passes[0] == chosen.level:
                candidates += _with_cleaning(decision, module, known)
            enough = start
            for one, made in candidates:
                digest = made.ir_hash()
                if digest in known:
                    continue
                known[digest] = cost = _cost(made, chosen)
                if cost < enough and _is_gap(start, cost, chosen) and _has_no_more_data(base, made):
                    removed = _find_removed(base, made)
                    gaps.append({"decision": str(one), "cost": cost, "removed": removed})
                    enough = cost  # what cleans up behind it must leave less still
        except Exception:  # a pass that refuses this function says nothing of the others
            continue
    gaps.sort(key=lambda gap: gap["cost"])
    return {"base": start, "tried": tried, "gaps": gaps}


def _apply_decision(
    function: bytes, after: bytes, decision: HuntedDecision, goal: HuntGoal, seen: set[bytes]
) -> _llvm.Module | None:
    """Return what a decision makes of a function, None where it is what another one makes.

    `seen` are hashes of programs that passes before the level have made.
    """
    if decision.codegen or decision.passes[0] == goal.level:
        module = _llvm.Module(after)
        steps = [*decision.passes[1:], *decision.steps[1:]]
        return module if [step for step in steps if module.run(step)] else None
    module = _prepare_task(function, goal)
    if not module.run(decision.passes[0]) or module.ir_hash() in seen:
        return None
    seen.add(module.ir_hash())
    module.run(goal.level)
    return module


def _with_cleaning(
    decision: HuntedDecision, module: _llvm.Module, known: dict[bytes, float]
) -> Iterator[tuple[HuntedDecision, _llvm.Module]]:
    if module.ir_hash() in known:
        return
    data = module.bitcode()
    for longer in then_cleaned(decision):
        further = _llvm.Module(data)
        if further.run(longer.passes[-1]):
            yield longer, further


def gap(function: bytes, decision: str, goal: str) -> tuple[float, float]:
    """Return what the level leaves and what the decision leaves, each from the beginning."""
    chosen = HuntGoal(goal)
    return _cost(_at_level(function, chosen), chosen), _cost(
        _make_module(function, decision, chosen), chosen
    )


def attribute_decision(function: bytes, decision: str, goal: str) -> str:
    """Return the smallest part of a decision that still leaves less than the level: one or more."""
    chosen, whole = HuntGoal(goal), HuntedDecision.read(decision)
    start, cost = gap(function, decision, goal)
    parts = [one for one in whole.passes if one != chosen.level]
    for left_out in range(len(parts) if len(parts) + len(whole.codegen) > 1 else 0):
        dropped = list(whole.passes)
        dropped.remove(parts[left_out])
        shorter = HuntedDecision(tuple(dropped), whole.codegen)
        try:
            if gap(function, str(shorter), goal)[1] <= cost + (start - cost) / 2:
                return attribute_decision(function, str(shorter), goal)
        except Exception:  # what fails without a pass needs it
            continue
    return decision


def is_interesting(data: bytes, decision: str, goal: str, least: float) -> bool:
    """Return whether a program that a reduction made still shows the gap and is no nonsense."""
    module = _llvm.Module(data)
    module.verify()
    text = module.text()
    if (
        text.count("\ndefine ") != 1
        or "ret " not in text
        or "target triple" not in text
        or _UNSOUND.search(text)
        or _VOLATILE.search(text)
        or _never_ends(text)
    ):
        return False
    start, cost = gap(data, decision, goal)
    if start - cost < least or cost < 1:
        return False
    if HuntGoal(goal) is not HuntGoal.SIZE or " | x86-" in decision:
        return True
    return _is_elsewhere(data, decision, HuntGoal(goal))


def _never_ends(text: str) -> bool:
    """Return whether nothing that a loop computes decides when it ends."""
    body = text[text.index("\ndefine ") :]
    depends: dict[str, str] = {}
    for name, rest in re.findall(r"^  (%\d+) = (.*)$", body, re.MULTILINE):
        depends[name] = rest
    conditions = re.findall(r"^  (?:br i1|switch i\d+) (%\d+),", body, re.MULTILINE)
    return _goes_back(body) and not any(_is_computed(one, depends) for one in conditions)


def _goes_back(body: str) -> bool:
    """Return whether a block jumps to itself or to an earlier one: they are numbered in order."""
    here = 0
    for line in body.splitlines():
        if label := re.match(r"(\d+):", line):
            here = int(label[1])
        elif here and any(int(one) <= here for one in re.findall(r"label %(\d+)", line)):
            return True
    return False


def _is_computed(name: str, depends: dict[str, str]) -> bool:
    """Return whether a value comes from a phi with a value of its own, a load or a call."""
    seen: set[str] = set()
    left = [name]
    while left:
        value = left.pop()
        rest = depends.get(value, "")
        if value in seen or not rest:
            continue
        seen.add(value)
        if rest.startswith("phi"):
            if any(depends.get(one) for one in re.findall(r"\[ (%\d+),", rest)):
                return True
        elif re.match(r"load|(?:tail )?call", rest):
            return True
        left += re.findall(r"%\d+", rest)
    return False


def _is_elsewhere(data: bytes, decision: str, goal: HuntGoal) -> bool:
    """Return whether the IR shrinks too, or the code of another machine."""
    base, made = _at_level(data, goal), _make_module(data, decision, goal)
    if made.instruction_count() < base.instruction_count():
        return True
    for machine in _COMPARED[1:]:
        try:
            if _size_on(machine, data, decision, goal) < _size_on(machine, data, "", goal):
                return True
        except Exception:  # it cannot be made for that machine
            continue
    return False


_COMPARED = ("x86_64", "aarch64", "riscv64")


def _size_on(machine: str, data: bytes, decision: str, goal: HuntGoal) -> int:
    module = _prepare_task(data, goal)
    module.retarget(machine)
    for step in HuntedDecision.read(decision).steps if decision else (goal.level,):
        module.run(step)
    return module.object_text_size()


def prepare_for_reduction(data: bytes) -> str:
    """Return the text that a reduction begins with: nothing of it is somebody else's."""
    text = _llvm.Module(data).text()
    text = re.sub(r"^(@\S+ = )available_externally (?:hidden )?", r"\1private ", text, flags=re.M)
    return re.sub(r"^!compiler_gym.*$", "", text, flags=re.M)


_TIDYING = ("function(adce)", "function(instsimplify)", "strip-dead-prototypes,globaldce")


def finish(data: bytes, decision: str, goal: str, least: float) -> str:
    """Return the text that a report shows: named ``f``, marked for the goal, without the rest."""
    for step in _TIDYING:
        module = _llvm.Module(data)
        if module.run(step) and _still(module.text(), decision, goal, least):
            data = module.text().encode()
    text = _without_noise(_prepare_task(data, HuntGoal(goal)).text())
    for plainer in (_plainest, _without_hints):
        shorter = plainer(text, HuntGoal(goal))
        if _still(shorter, decision, goal, least):
            return shorter
    return text


def _still(text: str, decision: str, goal: str, least: float) -> bool:
    try:
        return is_interesting(text.encode(), decision, goal, least)
    except Exception:  # what was taken away was needed
        return False


def _without_noise(text: str, name: str = "f") -> str:
    noise = (";", "source_filename", "!")
    lines = [line for line in text.splitlines() if not line.startswith(noise)]
    plain = re.sub(r",? ![\w.]+(?: ![\w.]+)?", "", "\n".join(lines))
    plain = re.sub(r" +; preds = .*", "", plain)
    plain = re.sub(r' "[\w-]+"="[^"]*"', "", plain)
    first = re.search(r"^define [^@]*@(\"[^\"]*\"|[\w.$]+)\(", plain, re.M)
    if name and first:
        plain = re.sub(rf"@{re.escape(first[1])}(?![\w.$])", f"@{name}", plain)
    return re.sub(r"\n{2,}", "\n", plain).strip() + "\n"


def _without_hints(text: str, goal: HuntGoal) -> str:
    """Return `text` with no attribute group but the level's."""
    marks = " minsize optsize" if goal is not HuntGoal.CYCLES else ""
    text = re.sub(r"^attributes #.*\n", "", text, flags=re.M)
    text = re.sub(r"(?: #\d+)+( \{)?$", lambda m: m[1] or "", text, flags=re.M)
    return re.sub(r"^(define .*\))[^()]* \{$", rf"\1{marks} {{", text, flags=re.M)


_HINTS = re.compile(
    r" (?:noundef|nonnull|noalias|readonly|readnone|writeonly|nofree|dso_local|local_unnamed_addr|"
    r"hidden|tail|nounwind|returned|nocapture|captures\([^)]*\)|dereferenceable\w*\(\d+\)|"
    r"range\([^()]*\)|initializes\(.*?\)\)|align \d+(?= [%@]))(?= )|, align \d+$|"
    r" comdat(?:\(\$\w+\))?"
)


def _plainest(text: str, goal: HuntGoal) -> str:
    """Return `text` without anything that only promises something."""
    text = _HINTS.sub("", _HINTS.sub("", _without_hints(text, goal)))
    return re.sub(r"^\$.* = comdat.*\n", "", text, flags=re.M)


def readable_by_all(module: bytes) -> str:
    """Return a whole module as text that older versions can read, too, marked for size."""
    text = _without_noise(_prepare_task(module, HuntGoal.SIZE).text(), name="")
    return _plainest(_MARKERS.sub("", text), HuntGoal.SIZE)


_MARKERS = re.compile(r"^(?:declare|  ).* @llvm\.(?:lifetime|dbg)\..*\n", re.MULTILINE)
"""Calls that only say something, in words that changed from version to version."""


def make_versions(data: bytes, decision: str, goal: str) -> list[bytes]:
    """Return a function before, after the level and after the decision."""
    chosen = HuntGoal(goal)
    made = (
        _prepare_task(data, chosen),
        _at_level(data, chosen),
        _make_module(data, decision, chosen),
    )
    return [one.bitcode() for one in made]


_COUNTING = [
    ("sanitizer-coverage-level", "3"),
    ("sanitizer-coverage-inline-8bit-counters", "true"),
]
_CHECKING = {
    "address": ("asan", "sanitize_address", [("asan-recover", "true")]),
    "memory": ("msan", "sanitize_memory", [("msan-keep-going", "true")]),
}


def proof_objects(text: str, decision: str, goal: str, glue: str) -> dict[str, bytes]:
    """Return the objects that a proof by execution links."""
    chosen = HuntGoal(goal)
    before, level, decided = (text.replace("@f(", f"@f{which}(") for which in range(3))
    counted = _llvm.Module(before.encode())
    counted.run_with("sancov-module", _COUNTING)
    found = {
        "glue": _llvm.Module(glue.encode()).object_code(),
        "counted": counted.object_code(),
        "level": _at_level(level.encode(), chosen).object_code(),
        "decided": _make_module(decided.encode(), decision, chosen).object_code(),
    }
    for name, (passes, mark, options) in _CHECKING.items():
        for part, source in (("", before), ("glue-", glue)):
            marked = re.sub(r"^(define .*\).*?) \{$", rf"\1 {mark} {{", source, flags=re.M)
            module = _llvm.Module(marked.encode())
            if not part or name == "memory":
                module.run_with(passes, options)
            found[f"{part}{name}"] = module.object_code()
    return found


def facts(data: bytes, decision: str, goal: str) -> dict[str, Any]:
    """Return what a report says of a function: sizes on each machine, remarks, fingerprint."""
    chosen = HuntGoal(goal)
    base, made = _at_level(data, chosen), _make_module(data, decision, chosen)
    sizes: dict[str, list[int] | str] = {}
    for machine in _COMPARED:
        try:
            sizes[machine] = [_size_on(machine, data, text, chosen) for text in ("", decision)]
        except Exception as error:  # a row that says why
            sizes[machine] = f"{type(error).__name__}: {str(error)[:120]}"
    recorded = _prepare_task(data, chosen)
    remarks = _llvm.run_recorded(recorded, chosen.level)["remarks"]
    return {
        "sizes": sizes,
        "instructions": [base.instruction_count(), made.instruction_count()],
        "costs": [round(_cost(one, chosen), 2) for one in (base, made)],
        "remarks": [f"{name} ({kind}): {said}" for kind, name, _, _, said in remarks][:8],
        "removed": _find_removed(base, made),
        "shape": memoryview(_llvm.function_shapes(_llvm.Module(data))["shapes"]).cast("q")[0],
        "before": base.text(),
        "after": made.text(),
        "assembly": [_write_assembly(base), _write_assembly(made)],
    }


def _write_assembly(module: _llvm.Module) -> str:
    """Return the instructions and labels of the machine code."""
    lines = module.assembly().decode(errors="replace").expandtabs(8).splitlines()
    return "\n".join(
        line for line in lines if re.match(r"\.LBB|        [a-z]", line) and ".file" not in line
    )


def estimate_cycles(text: bytes, options: list[str]) -> float:
    """Return the cycles of IR that passes of some version made, by this code generator."""
    module = _llvm.Module(text)
    for one in options:
        module.run(f"codegen<{one}>")
    return round(_cost(module, HuntGoal.CYCLES), 2)


def compare_decisions(data: bytes, decisions: list[str], goal: str) -> list[float]:
    """Return what each of some decisions saves of a function; 0 where it fails."""
    found: list[float] = []
    for decision in decisions:
        try:
            start, cost = gap(data, decision, goal)
            found.append(start - cost)
        except Exception:  # it does not apply here
            found.append(0.0)
    return found


def _prepare_task(data: bytes, goal: HuntGoal) -> _llvm.Module:
    module = _llvm.Module(data)
    module.set_goal("speed" if goal is HuntGoal.CYCLES else "size")
    return module


def _at_level(data: bytes, goal: HuntGoal) -> _llvm.Module:
    module = _prepare_task(data, goal)
    module.run(goal.level)
    return module


def _make_module(data: bytes, decision: str, goal: HuntGoal) -> _llvm.Module:
    module = _prepare_task(data, goal)
    for step in HuntedDecision.read(decision).steps:
        module.run(step)
    return module


def _cost(module: _llvm.Module, goal: HuntGoal) -> float:
    if goal is HuntGoal.INSTRUCTIONS:
        return module.instruction_count()
    if goal is HuntGoal.SIZE:
        return module.object_text_size()
    return sum(row[4] * row[5] for row in _llvm.machine_blocks(module))


def _is_gap(start: float, cost: float, goal: HuntGoal) -> bool:
    least = goal.least * start if goal is HuntGoal.CYCLES else goal.least
    return start - cost >= least


def _has_no_more_data(base: _llvm.Module, made: _llvm.Module) -> bool:
    """Return whether no bytes went from code to a table."""
    return made.text().count("\n@") <= base.text().count("\n@")


# What of a program is gone: the fingerprint by which a pattern is found again.

_DEFINED = re.compile(r"^  (?:(%[\w.]+) = )?(?:tail |musttail |notail )?(\w+)(.*)$")
_OPERAND = re.compile(r"%[\w.]+|@[\w.$]+|(?<![\w.])-?\d+\b|\b(?:null|true|false)\b")
_PLAIN = ("phi", "br", "switch", "call", "ret")
"""Instructions whose operands say where they stand, not what they are."""
_WIDTH = re.compile(r"^([a-z]{3,})[bwlq]\b")


def _find_removed(base: _llvm.Module, made: _llvm.Module) -> list[str]:
    """Return the expressions that a decision took out of a program, each without its names.

    Where it left no fewer in the IR, those of the machine code.
    """
    gone = _expressions(base.text()) - _expressions(made.text())
    if not gone or made.instruction_count() >= base.instruction_count():
        gone = Counter(map(_kind_of_instruction, _plain_assembly(base).splitlines()))
        gone -= Counter(map(_kind_of_instruction, _plain_assembly(made).splitlines()))
    return sorted(gone)[:_MOST_SIGNATURE]


def _expressions(text: str) -> Counter[str]:
    """Return each instruction as its opcode and what its operands are, how often it occurs."""
    found: list[tuple[str, str]] = []
    defined: dict[str, str] = {}
    for line in text.splitlines():
        match = _DEFINED.match(line.partition(", !")[0])
        if match is not None:
            name, opcode, rest = match.groups()
            defined[name or ""] = opcode
            found.append((opcode, rest))
    return Counter(
        opcode if opcode in _PLAIN else f"{opcode} {_kinds_of_operands(rest, defined)}".strip()
        for opcode, rest in found
    )


def _kinds_of_operands(rest: str, defined: dict[str, str]) -> str:
    kinds = [
        defined.get(one, "argument") if one[0] == "%" else "global" if one[0] == "@" else "constant"
        for one in _OPERAND.findall(re.sub(r"align \d+|\[\d+ x|%[\w.]+(?=,? ptr)", "", rest))
    ]
    return " ".join(sorted(set(kinds)))


def _kind_of_instruction(line: str) -> str:
    """Return a machine instruction without the width of its operands."""
    return _WIDTH.sub(r"\1", line.partition(" ")[0])


_REGISTER = re.compile(r"%[a-z][a-z0-9]*")


def _plain_assembly(module: _llvm.Module) -> str:
    """Return the instructions of the machine code, registers and numbers as classes."""
    lines: list[str] = []
    for line in module.assembly().decode(errors="replace").splitlines():
        if line.startswith("\t") and not line.startswith("\t."):
            plain = _REGISTER.sub("r", line.strip().replace("\t", " "))
            plain = re.sub(r"\.L\w+", "label", plain)
            plain = re.sub(r"[\w.$]+@\w+|[A-Za-z_.$][\w.$]*\(r\)", "symbol", plain)
            lines.append(re.sub(r"-?(?<![\w])\d+", "N", plain))
    return "\n".join(lines)


def fingerprint(data: bytes, decision: str, goal: str) -> list[str]:
    """Return what a decision takes out of a function; see `_find_removed`."""
    chosen = HuntGoal(goal)
    return _find_removed(_at_level(data, chosen), _make_module(data, decision, chosen))
