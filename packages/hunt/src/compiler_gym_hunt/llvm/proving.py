# SPDX-License-Identifier: MIT
"""Prove that a decision preserves the behaviour of a function.

If Alive2 is installed, it proves this for all inputs. Otherwise the function is run on generated
inputs in three versions: unoptimised, with the level and with the decision, each with the same
memory and the same results of the functions it calls. The unoptimised version also runs under the
address and memory sanitizers; inputs they report are ignored. Everything runs in the sandbox.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from compiler_gym.datasets import RunCase, RunLimits, run_contained
from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.envs.llvm.validation import is_proved
from compiler_gym.files import scratch_directory
from compiler_gym_hunt.llvm.engine import Engine

__all__ = ["HuntProof", "glue_for", "prove_finding"]

_INPUTS, _CHECKED_INPUTS = 2000, 200
_LEAST_JUDGED, _LEAST_CLEAN = 50, 10
_LEAST_REACHED = 0.75
_SECONDS = 60.0
_GO_ON = (
    "symbolize=0:halt_on_error=0:exitcode=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0"
    ":handle_sigill=0:allow_user_segv_handler=1:use_sigaltstack=0"
)
"""Sanitizer options: continue after a report, and let the harness handle signals."""
_TYPES = re.compile(r"i([1-9]|[1-5][0-9]|6[0-4])|ptr|float|double")
_ARGUMENTS = r"\(((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)\)"
"""A parenthesised list, whose attributes may contain parentheses, as in ``captures(none)``."""
_DEFINE = re.compile(rf"^define [^@]*?(\S+) @([\w.$]+){_ARGUMENTS}(?: [^\n]*)?\{{", re.MULTILINE)
_DECLARE = re.compile(rf"^declare ([^@]*?)(\S+) @([\w.$]+){_ARGUMENTS}(.*)$", re.MULTILINE)
_OUTSIDE = re.compile(r"^@([\w.$]+) = external [^\n]*$", re.MULTILINE)
_STATE = re.compile(r"^@([\w.$]+) = (?!external|private|internal)[^\n]*$", re.MULTILINE)
_CONSTANT = re.compile(r"(?<![\w%@.])-?\d+\b")


@dataclass(frozen=True, slots=True)
class HuntProof:
    """The result of a proof: its kind, or the reason why there is none."""

    kind: str = ""
    """``alive2`` or ``execution``; empty if nothing is proven."""
    reason: str = ""
    judged: int = 0
    """Number of inputs on which all three versions behaved the same."""
    reached: str = ""
    """Covered edges of the function, as ``N of M``."""


def prove_finding(engine: Engine, text: str, decision: str, goal: str) -> HuntProof:
    """Return the strongest available proof for a finished function."""
    if shutil.which("alive-tv"):
        result = engine.ask("make_versions", text.encode(), decision, goal)
        if result.value and all(is_proved(result.value[0], after) for after in result.value[1:]):
            return HuntProof("alive2", "alive-tv verified the level's code and the decision's")
    try:
        glue = glue_for(text)
    except ValueError as error:
        return HuntProof(reason=f"cannot be executed: {error}")
    return _execute(engine, text, decision, goal, glue)


def _execute(engine: Engine, text: str, decision: str, goal: str, glue: str) -> HuntProof:
    answer = engine.ask("proof_objects", text, decision, goal, glue)
    if answer.failure:
        return HuntProof(reason=f"cannot be executed: {answer.failure}")
    with scratch_directory("proof") as name:
        folder = Path(name)
        for part, code in answer.value.items():
            (folder / f"{part}.o").write_bytes(code)
        try:
            plain = _run(folder, "", ["glue", "counted", "level", "decided"], _INPUTS)
            if plain.wrong:
                return HuntProof(reason=f"differs on input {plain.wrong}")
            if plain.judged < _LEAST_JUDGED:
                return HuntProof(reason=f"terminates on only {plain.judged} of {_INPUTS} inputs")
            covered, edges = plain.edges
            if covered < _LEAST_REACHED * edges:
                return HuntProof(reason=f"the inputs cover only {covered} of {edges} edges")
            for sanitizer in ("address", "memory"):
                parts = [f"glue-{sanitizer}", sanitizer, "level", "decided"]
                clean = _run(folder, sanitizer, parts, _CHECKED_INPUTS)
                if clean.judged < _LEAST_CLEAN:
                    return HuntProof(reason=f"the {sanitizer} sanitizer reports errors")
        except (subprocess.SubprocessError, ValueError) as error:
            return HuntProof(reason=f"cannot be executed: {str(error).strip()[:200]}")
    return HuntProof("execution", "", plain.judged, f"{covered} of {edges}")


@dataclass(frozen=True, slots=True)
class _Run:
    judged: int
    """Number of inputs on which the function terminates without sanitizer reports."""
    wrong: str
    edges: tuple[int, int]


def _run(folder: Path, sanitizer: str, parts: list[str], inputs: int) -> _Run:
    flags = [f"-fsanitize={sanitizer}"] if sanitizer else []
    program = folder / f"program{sanitizer}"
    objects = [str(folder / f"{part}.o") for part in parts]
    command = [*clang_command(), "-no-pie", *flags, _harness(sanitizer, folder), *objects]
    subprocess.run(
        [*command, "-o", str(program)], check=True, capture_output=True, timeout=_SECONDS
    )
    report = run_contained(
        [program],
        RunCase(argv=(str(inputs),)),
        limits=RunLimits(seconds=_SECONDS, memory_bytes=0 if sanitizer else 1 << 30),
        environment={"ASAN_OPTIONS": f"{_GO_ON}:detect_leaks=0", "MSAN_OPTIONS": _GO_ON},
    )
    if report.stopped_by is not None or report.exit_status not in (0, 1) or not report.stdout:
        raise ValueError(f"the harness ended with {report.stopped_by or report.exit_status}")
    lines = report.stdout.decode().splitlines()
    last = lines[-1].split()
    wrong = next((line.split()[1] for line in lines if line.startswith("wrong")), "")
    judged = sum(line.isdigit() for line in lines)
    return _Run(judged, wrong, (int(last[1]), int(last[2])))


@cache
def _harness_source() -> str:
    return files("compiler_gym_hunt.llvm").joinpath("harness.c").read_text()


_harnesses: dict[str, bytes] = {}


def _harness(sanitizer: str, folder: Path) -> str:
    """Return the path of the compiled harness, which is compiled once per process."""
    target = folder / f"harness{sanitizer}.o"
    if sanitizer not in _harnesses:
        source = folder / "harness.c"
        source.write_text(_harness_source())
        flags = ["-fsanitize=memory", "-fsanitize-recover=memory"] if sanitizer == "memory" else []
        command = [*clang_command(), "-O1", "-w", *flags, "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
        _harnesses[sanitizer] = target.read_bytes()
    target.write_bytes(_harnesses[sanitizer])
    return str(target)


def glue_for(text: str) -> str:
    """Return IR that calls the versions ``f0`` to ``f2`` of a function, with stubs for its external
    symbols; raise `ValueError` if this is not possible.
    """
    definition = _DEFINE.search(text)
    if definition is None:
        raise ValueError("its signature is not supported")
    if state := _STATE.search(text):
        raise ValueError(f"it uses the global variable {state[1]}")
    result, arguments = definition[1], _argument_types(definition[3])
    if result != "void" and not _TYPES.fullmatch(result):
        raise ValueError(f"it returns {result}")
    kinds = "".join(
        "n" if kind == "ptr" and re.search(r"nonnull|dereferenceable", full) else kind[0]
        for kind, full in arguments
    )
    outside = _OUTSIDE.findall(text)
    constants = sorted({int(n) for n in _CONSTANT.findall(text) if abs(int(n)) < 1 << 62})
    shown = f"{'v' if result == 'void' else result[0]}{kinds}"
    lines = [
        *(f"@{name} = global [4096 x i8] zeroinitializer, align 64" for name in outside),
        _table("hunt_globals", [f"ptr @{name}" for name in outside] or ["ptr null"], "ptr"),
        _table("hunt_constants", [f"i64 {value}" for value in constants] or ["i64 0"], "i64"),
        f"@hunt_global_count = constant i32 {len(outside)}",
        f"@hunt_constant_count = constant i32 {len(constants)}",
        "@hunt_versions = constant i32 3",
        f'@hunt_kinds = constant [{len(shown) + 1} x i8] c"{shown}\\00"',
        "declare void @hunt_note(i64)",
        "declare void @hunt_note_pointer(i64)",
        "declare i64 @hunt_answer(i32, i32)",
        *(_stand_in(match, number) for number, match in enumerate(_DECLARE.finditer(text))
          if not match[3].startswith("llvm.")),
        *_calls(result, [kind for kind, _ in arguments]),
    ]  # fmt: skip
    head = re.findall(r"^target [^\n]*$", text, re.MULTILINE)
    return "\n".join([*head, *lines]) + "\n"


def _table(name: str, values: list[str], kind: str) -> str:
    return f"@{name} = constant [{len(values)} x {kind}] [{', '.join(values)}]"


def _argument_types(text: str) -> list[tuple[str, str]]:
    """Return the type of each argument, and its full text with attributes."""
    types: list[tuple[str, str]] = []
    for argument in re.split(r",(?![^(]*\))", text):
        kind = argument.strip().split(" ")[0]
        if kind in ("", "..."):
            continue
        if not _TYPES.fullmatch(kind) or re.search(r"byval|sret|inalloca|preallocated", argument):
            raise ValueError(f"it takes {argument.strip()}")
        types.append((kind, argument))
    return types


def _to_word(kind: str, name: str, at: str) -> str:
    """Return instructions that convert a value to the i64 `at`."""
    if kind == "i64":
        return f"  {at} = add i64 {name}, 0"
    if kind == "ptr":
        return f"  {at} = ptrtoint ptr {name} to i64"
    if kind == "double":
        return f"  {at} = bitcast double {name} to i64"
    if kind == "float":
        return f"  {at}.f = bitcast float {name} to i32\n  {at} = zext i32 {at}.f to i64"
    return f"  {at} = zext {kind} {name} to i64"


def _from_word(kind: str, word: str, at: str) -> str:
    if kind == "i64":
        return f"  {at} = add i64 {word}, 0"
    if kind == "ptr":
        return f"  {at} = inttoptr i64 {word} to ptr"
    if kind == "double":
        return f"  {at} = sitofp i64 {word} to double"
    if kind == "float":
        return f"  {at} = sitofp i64 {word} to float"
    return f"  {at} = trunc i64 {word} to {kind}"


def _stand_in(match: "re.Match[str]", number: int) -> str:
    before, result, name, arguments, attributes = match.groups()
    types = _argument_types(arguments)
    if result != "void" and not _TYPES.fullmatch(result):
        raise ValueError(f"{name} returns {result}")
    lines = [f"  call void @hunt_note(i64 {number})"]
    for i, (kind, _) in enumerate(types):
        lines.append(_to_word(kind, f"%a{i}", f"%w{i}"))
        note = "hunt_note_pointer" if kind == "ptr" else "hunt_note"
        lines.append(f"  call void @{note}(i64 %w{i})")
    writes = not re.search(r"memory\(|readonly|readnone", attributes)
    lines.append(f"  %r = call i64 @hunt_answer(i32 {int(writes)}, i32 {int(result == 'ptr')})")
    if result == "void":
        lines.append("  ret void")
    else:
        lines += [_from_word(result, "%r", "%x"), f"  ret {result} %x"]
    dots = ", ..." if arguments.rstrip().endswith("...") and types else (
        "..." if arguments.strip() == "..." else "")  # fmt: skip
    parameters = ", ".join(f"{kind} %a{i}" for i, (kind, _) in enumerate(types))
    extension = next((word for word in ("zeroext ", "signext ") if word in before), "")
    return f"define {extension}{result} @{name}({parameters}{dots}) {{\n" + "\n".join(lines) + "\n}"


def _calls(result: str, kinds: list[str]) -> list[str]:
    loads = [
        f"  %p{i} = getelementptr i64, ptr %words, i64 {i}\n  %v{i} = load i64, ptr %p{i}\n"
        + _from_word(kind, f"%v{i}", f"%a{i}")
        for i, kind in enumerate(kinds)
    ]
    parameters = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    blocks = [
        f"c{which}:\n"
        + (
            f"  call void @f{which}({parameters})\n  ret i64 0"
            if result == "void"
            else f"  %r{which} = call {result} @f{which}({parameters})\n"
            + _to_word(result, f"%r{which}", f"%w{which}")
            + f"\n  ret i64 %w{which}"
        )
        for which in range(3)
    ]
    declarations = [f"declare {result} @f{which}({', '.join(kinds)})" for which in range(3)]
    return [
        *declarations,
        "define i64 @hunt_call(i32 %which, ptr %words) {",
        *loads,
        "  switch i32 %which, label %c0 [ i32 1, label %c1\n i32 2, label %c2 ]",
        *blocks,
        "}",
    ]
