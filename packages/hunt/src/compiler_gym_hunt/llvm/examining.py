# SPDX-License-Identifier: MIT
"""Functions of the engine: measure the code of a level, and find decisions that improve on it.

They run in forks of the ``engine`` process, so every function takes and returns plain values.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from compiler_gym import _llvm
from compiler_gym_hunt.llvm.decisions import (
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
"""Constructs that reductions tend to introduce, and that are irrelevant for real code."""
_VOLATILE = re.compile(r" volatile\b")


def list_functions(module: bytes, least: int, most: int) -> list[tuple[str, bytes, int, int]]:
    """Return each function of a module after -Oz, as name, bitcode, shape and size."""
    optimised = _llvm.Module(module)
    optimised.apply_level("Oz")
    functions: list[tuple[str, bytes, int, int]] = []
    for name, part in _llvm.split_functions(optimised.bitcode()):
        if not name:
            continue
        table = _llvm.function_shapes(_llvm.Module(part))
        (size,) = memoryview(table["instructions"]).cast("q")[:1] or (0,)
        if least <= size <= most:
            functions.append((name, part, memoryview(table["shapes"]).cast("q")[0], size))
    return functions


def examine(function: bytes, goal: str) -> dict[str, Any]:
    """Return the cost of a function at the level, and each decision that costs less.

    Of decisions that lead to the same program, only the first is returned. A pass that changes the
    program is also tried with a clean-up pass.
    """
    target = HuntGoal(goal)
    base = _at_level(function, target)
    start, after = _cost(base, target), base.bitcode()
    tried = 0
    costs: dict[bytes, float] = {base.ir_hash(): start}
    seen: set[bytes] = set()
    gaps: list[dict[str, Any]] = []
    for decision in decisions_for(target):
        tried += 1
        try:
            module = _apply_decision(function, after, decision, target, seen)
            candidates = [(decision, module)] if module is not None else []
            if module is not None and not decision.codegen and decision.passes[0] == target.level:
                candidates += _with_cleaning(decision, module, costs)
            enough = start
            for candidate, result in candidates:
                digest = result.ir_hash()
                if digest in costs:
                    continue
                costs[digest] = cost = _cost(result, target)
                if cost < enough and _is_gap(start, cost, target) and _adds_no_data(base, result):
                    removed = _find_removed(base, result)
                    gaps.append({"decision": str(candidate), "cost": cost, "removed": removed})
                    enough = cost  # a clean-up pass must improve further
        except Exception:  # a pass may fail on this function; try the others
            continue
    gaps.sort(key=lambda gap: gap["cost"])
    return {"base": start, "tried": tried, "gaps": gaps}


def _apply_decision(
    function: bytes, after: bytes, decision: HuntedDecision, goal: HuntGoal, seen: set[bytes]
) -> _llvm.Module | None:
    """Return a function after a decision, or None if another decision has the same result.

    `seen` contains the hashes of earlier programs with a pass before the level.
    """
    if decision.codegen or decision.passes[0] == goal.level:
        module = _llvm.Module(after)
        steps = [*decision.passes[1:], *decision.steps[1:]]
        return module if [step for step in steps if module.run(step)] else None
    module = _prepare_module(function, goal)
    if not module.run(decision.passes[0]) or module.ir_hash() in seen:
        return None
    seen.add(module.ir_hash())
    module.run(goal.level)
    return module


def _with_cleaning(
    decision: HuntedDecision, module: _llvm.Module, costs: dict[bytes, float]
) -> Iterator[tuple[HuntedDecision, _llvm.Module]]:
    if module.ir_hash() in costs:
        return
    data = module.bitcode()
    for longer in then_cleaned(decision):
        further = _llvm.Module(data)
        if further.run(longer.passes[-1]):
            yield longer, further


def gap(function: bytes, decision: str, goal: str) -> tuple[float, float]:
    """Return the costs with the level and with the decision, both from the beginning."""
    target = HuntGoal(goal)
    return _cost(_at_level(function, target), target), _cost(
        _make_module(function, decision, target), target
    )


def attribute_decision(function: bytes, decision: str, goal: str) -> str:
    """Return the smallest part of a decision that still keeps most of its saving."""
    target, original = HuntGoal(goal), HuntedDecision.read(decision)
    start, cost = gap(function, decision, goal)
    parts = [name for name in original.passes if name != target.level]
    for index in range(len(parts) if len(parts) + len(original.codegen) > 1 else 0):
        remaining = list(original.passes)
        remaining.remove(parts[index])
        shorter = HuntedDecision(tuple(remaining), original.codegen)
        try:
            if gap(function, str(shorter), goal)[1] <= cost + (start - cost) / 2:
                return attribute_decision(function, str(shorter), goal)
        except Exception:  # the removed pass is needed
            continue
    return decision


def is_interesting(data: bytes, decision: str, goal: str, least: float) -> bool:
    """Return whether a reduced program still shows the gap and is meaningful."""
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
    return _shrinks_elsewhere(data, decision, HuntGoal(goal))


def _never_ends(text: str) -> bool:
    """Return whether no loop condition depends on a computed value."""
    body = text[text.index("\ndefine ") :]
    depends: dict[str, str] = {}
    for name, expression in re.findall(r"^  (%\d+) = (.*)$", body, re.MULTILINE):
        depends[name] = expression
    conditions = re.findall(r"^  (?:br i1|switch i\d+) (%\d+),", body, re.MULTILINE)
    return _goes_back(body) and not any(_is_computed(value, depends) for value in conditions)


def _goes_back(body: str) -> bool:
    """Return whether a block jumps to itself or to an earlier block, by their numbers."""
    here = 0
    for line in body.splitlines():
        if label := re.match(r"(\d+):", line):
            here = int(label[1])
        elif here and any(int(block) <= here for block in re.findall(r"label %(\d+)", line)):
            return True
    return False


def _is_computed(name: str, depends: dict[str, str]) -> bool:
    """Return whether a value depends on a load, a call, or a phi of computed values."""
    seen: set[str] = set()
    pending = [name]
    while pending:
        value = pending.pop()
        expression = depends.get(value, "")
        if value in seen or not expression:
            continue
        seen.add(value)
        if expression.startswith("phi"):
            if any(depends.get(operand) for operand in re.findall(r"\[ (%\d+),", expression)):
                return True
        elif re.match(r"load|(?:tail )?call", expression):
            return True
        pending += re.findall(r"%\d+", expression)
    return False


def _shrinks_elsewhere(data: bytes, decision: str, goal: HuntGoal) -> bool:
    """Return whether the IR or the code for another machine shrinks as well."""
    base, decided = _at_level(data, goal), _make_module(data, decision, goal)
    if decided.instruction_count() < base.instruction_count():
        return True
    for machine in _COMPARED[1:]:
        try:
            if _size_on(machine, data, decision, goal) < _size_on(machine, data, "", goal):
                return True
        except Exception:  # it cannot be compiled for that machine
            continue
    return False


_COMPARED = ("x86_64", "aarch64", "riscv64")


def _size_on(machine: str, data: bytes, decision: str, goal: HuntGoal) -> int:
    module = _prepare_module(data, goal)
    module.retarget(machine)
    for step in HuntedDecision.read(decision).steps if decision else (goal.level,):
        module.run(step)
    return module.object_text_size()


def prepare_for_reduction(data: bytes) -> str:
    """Return the text to reduce, with all definitions local and without our metadata."""
    text = _llvm.Module(data).text()
    text = re.sub(r"^(@\S+ = )available_externally (?:hidden )?", r"\1private ", text, flags=re.M)
    return re.sub(r"^!compiler_gym.*$", "", text, flags=re.M)


_TIDYING = ("function(adce)", "function(instsimplify)", "strip-dead-prototypes,globaldce")


def finish(data: bytes, decision: str, goal: str, least: float) -> str:
    """Return the text for a report: the function is named ``f``, and noise is removed."""
    for step in _TIDYING:
        module = _llvm.Module(data)
        if module.run(step) and _still(module.text(), decision, goal, least):
            data = module.text().encode()
    text = _without_noise(_prepare_module(data, HuntGoal(goal)).text())
    for plainer in (_plainest, _without_hints):
        shorter = plainer(text, HuntGoal(goal))
        if _still(shorter, decision, goal, least):
            return shorter
    return text


def _still(text: str, decision: str, goal: str, least: float) -> bool:
    try:
        return is_interesting(text.encode(), decision, goal, least)
    except Exception:  # the removed part was needed
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
    """Return `text` without attribute groups, except the attributes of the level."""
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
    """Return `text` without attributes that only provide guarantees."""
    text = _HINTS.sub("", _HINTS.sub("", _without_hints(text, goal)))
    return re.sub(r"^\$.* = comdat.*\n", "", text, flags=re.M)


def readable_by_all(module: bytes) -> str:
    """Return a whole module, marked for size, as text that older versions can read."""
    text = _without_noise(_prepare_module(module, HuntGoal.SIZE).text(), name="")
    return _plainest(_MARKERS.sub("", text), HuntGoal.SIZE)


_MARKERS = re.compile(r"^(?:declare|  ).* @llvm\.(?:lifetime|dbg)\..*\n", re.MULTILINE)
"""Marker intrinsics, whose syntax differs between versions."""


def make_versions(data: bytes, decision: str, goal: str) -> list[bytes]:
    """Return a function before optimisation, after the level and after the decision."""
    target = HuntGoal(goal)
    modules = (
        _prepare_module(data, target),
        _at_level(data, target),
        _make_module(data, decision, target),
    )
    return [module.bitcode() for module in modules]


_COUNTING = [
    ("sanitizer-coverage-level", "3"),
    ("sanitizer-coverage-inline-8bit-counters", "true"),
]
_CHECKING = {
    "address": ("asan", "sanitize_address", [("asan-recover", "true")]),
    "memory": ("msan", "sanitize_memory", [("msan-keep-going", "true")]),
}


def proof_objects(text: str, decision: str, goal: str, glue: str) -> dict[str, bytes]:
    """Return the objects to link for a proof by execution."""
    target = HuntGoal(goal)
    before, level, decided = (text.replace("@f(", f"@f{which}(") for which in range(3))
    counted = _llvm.Module(before.encode())
    counted.run_with("sancov-module", _COUNTING)
    objects = {
        "glue": _llvm.Module(glue.encode()).object_code(),
        "counted": counted.object_code(),
        "level": _at_level(level.encode(), target).object_code(),
        "decided": _make_module(decided.encode(), decision, target).object_code(),
    }
    for name, (passes, mark, options) in _CHECKING.items():
        for part, source in (("", before), ("glue-", glue)):
            marked = re.sub(r"^(define .*\).*?) \{$", rf"\1 {mark} {{", source, flags=re.M)
            module = _llvm.Module(marked.encode())
            if not part or name == "memory":
                module.run_with(passes, options)
            objects[f"{part}{name}"] = module.object_code()
    return objects


def facts(data: bytes, decision: str, goal: str) -> dict[str, Any]:
    """Return the facts for a report: sizes on each machine, remarks, fingerprint and so on."""
    target = HuntGoal(goal)
    base, decided = _at_level(data, target), _make_module(data, decision, target)
    sizes: dict[str, list[int] | str] = {}
    for machine in _COMPARED:
        try:
            sizes[machine] = [_size_on(machine, data, text, target) for text in ("", decision)]
        except Exception as error:  # report the reason
            sizes[machine] = f"{type(error).__name__}: {str(error)[:120]}"
    recorded = _prepare_module(data, target)
    remarks = _llvm.run_recorded(recorded, target.level)["remarks"]
    return {
        "sizes": sizes,
        "instructions": [base.instruction_count(), decided.instruction_count()],
        "costs": [round(_cost(module, target), 2) for module in (base, decided)],
        "remarks": [f"{name} ({kind}): {message}" for kind, name, _, _, message in remarks][:8],
        "removed": _find_removed(base, decided),
        "shape": memoryview(_llvm.function_shapes(_llvm.Module(data))["shapes"]).cast("q")[0],
        "before": base.text(),
        "after": decided.text(),
        "assembly": [_write_assembly(base), _write_assembly(decided)],
    }


def _write_assembly(module: _llvm.Module) -> str:
    """Return the machine code as text, with only instructions and labels."""
    lines = module.assembly().decode(errors="replace").expandtabs(8).splitlines()
    return "\n".join(
        line for line in lines if re.match(r"\.LBB|        [a-z]", line) and ".file" not in line
    )


def estimate_cycles(text: bytes, options: list[str]) -> float:
    """Return the cycles of optimised IR from any version, with this code generator."""
    module = _llvm.Module(text)
    for option in options:
        module.run(f"codegen<{option}>")
    return round(_cost(module, HuntGoal.CYCLES), 2)


def compare_decisions(data: bytes, decisions: list[str], goal: str) -> list[float]:
    """Return the saving of each decision for a function; 0 if it fails."""
    savings: list[float] = []
    for decision in decisions:
        try:
            start, cost = gap(data, decision, goal)
            savings.append(start - cost)
        except Exception:  # it does not apply here
            savings.append(0.0)
    return savings


def _prepare_module(data: bytes, goal: HuntGoal) -> _llvm.Module:
    module = _llvm.Module(data)
    module.set_goal("speed" if goal is HuntGoal.CYCLES else "size")
    return module


def _at_level(data: bytes, goal: HuntGoal) -> _llvm.Module:
    module = _prepare_module(data, goal)
    module.run(goal.level)
    return module


def _make_module(data: bytes, decision: str, goal: HuntGoal) -> _llvm.Module:
    module = _prepare_module(data, goal)
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


def _adds_no_data(base: _llvm.Module, decided: _llvm.Module) -> bool:
    """Return whether the decision adds no tables."""
    return decided.text().count("\n@") <= base.text().count("\n@")


# The fingerprint of a pattern: the instructions that a decision removes.

_DEFINED = re.compile(r"^  (?:(%[\w.]+) = )?(?:tail |musttail |notail )?(\w+)(.*)$")
_OPERAND = re.compile(r"%[\w.]+|@[\w.$]+|(?<![\w.])-?\d+\b|\b(?:null|true|false)\b")
_PLAIN = ("phi", "br", "switch", "call", "ret")
"""Instructions whose operands depend on their position, not on their kind."""
_WIDTH = re.compile(r"^([a-z]{3,})[bwlq]\b")


def _find_removed(base: _llvm.Module, decided: _llvm.Module) -> list[str]:
    """Return the expressions that a decision removes from a program, without names.

    If the IR does not shrink, these are machine instructions.
    """
    gone = _expressions(base.text()) - _expressions(decided.text())
    if not gone or decided.instruction_count() >= base.instruction_count():
        gone = Counter(map(_simplify_instruction, _plain_assembly(base).splitlines()))
        gone -= Counter(map(_simplify_instruction, _plain_assembly(decided).splitlines()))
    return sorted(gone)[:_MOST_SIGNATURE]


def _expressions(text: str) -> Counter[str]:
    """Count the instructions by opcode and kinds of operands."""
    instructions: list[tuple[str, str]] = []
    defined: dict[str, str] = {}
    for line in text.splitlines():
        match = _DEFINED.match(line.partition(", !")[0])
        if match is not None:
            name, opcode, operands = match.groups()
            defined[name or ""] = opcode
            instructions.append((opcode, operands))
    return Counter(
        opcode if opcode in _PLAIN else f"{opcode} {_classify(operands, defined)}".strip()
        for opcode, operands in instructions
    )


def _classify(text: str, defined: dict[str, str]) -> str:
    kinds = [
        defined.get(op, "argument") if op[0] == "%" else "global" if op[0] == "@" else "constant"
        for op in _OPERAND.findall(re.sub(r"align \d+|\[\d+ x|%[\w.]+(?=,? ptr)", "", text))
    ]
    return " ".join(sorted(set(kinds)))


def _simplify_instruction(line: str) -> str:
    """Return a machine instruction without the width of its operands."""
    return _WIDTH.sub(r"\1", line.partition(" ")[0])


_REGISTER = re.compile(r"%[a-z][a-z0-9]*")


def _plain_assembly(module: _llvm.Module) -> str:
    """Return the machine instructions, with placeholders for registers and numbers."""
    lines: list[str] = []
    for line in module.assembly().decode(errors="replace").splitlines():
        if line.startswith("\t") and not line.startswith("\t."):
            plain = _REGISTER.sub("r", line.strip().replace("\t", " "))
            plain = re.sub(r"\.L\w+", "label", plain)
            plain = re.sub(r"[\w.$]+@\w+|[A-Za-z_.$][\w.$]*\(r\)", "symbol", plain)
            lines.append(re.sub(r"-?(?<![\w])\d+", "N", plain))
    return "\n".join(lines)


def fingerprint(data: bytes, decision: str, goal: str) -> list[str]:
    """Return the expressions that a decision removes from a function; see `_find_removed`."""
    target = HuntGoal(goal)
    return _find_removed(_at_level(data, target), _make_module(data, decision, target))
