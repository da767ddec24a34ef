# SPDX-License-Identifier: MIT
"""The toy: a program is a list of instructions on a stack, and rules that shorten it.

``push N``, ``load X``, ``store X``, ``add``, ``sub``, ``mul``, ``neg``, ``dup``,
``swap``, ``drop`` and ``print``; one to a line. There are no jumps.
"""

from collections.abc import Callable, Sequence

__all__ = ["CYCLES", "OPCODES", "RULES", "Program", "parse", "run", "sites", "text"]

Program = list[tuple[str, str]]
"""Instructions: an opcode and its operand, empty where there is none."""

CYCLES = {
    "add": 1, "drop": 1, "dup": 1, "load": 2, "mul": 4, "neg": 1,
    "print": 5, "push": 1, "store": 2, "sub": 1, "swap": 1,
}  # fmt: skip
"""What each opcode costs."""
OPCODES = tuple(CYCLES)
_WITH_OPERAND = ("push", "load", "store")


def parse(source: bytes) -> Program:
    """Return the program in `source`; raise `ValueError` with the line that is wrong."""
    program: Program = []
    for number, line in enumerate(source.decode("ascii").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        opcode, operands = words[0], words[1:]
        if opcode not in CYCLES or len(operands) != (opcode in _WITH_OPERAND):
            raise ValueError(f"line {number}: {line!r} is not an instruction")
        if opcode == "push":
            operands = [str(int(operands[0]))]
        program.append((opcode, "".join(operands)))
    run(program)
    return program


def text(program: Program) -> str:
    """Return `program` as `parse` reads it."""
    return "".join(f"{opcode} {operand}".rstrip() + "\n" for opcode, operand in program)


def run(program: Program) -> list[int]:
    """Return what `program` prints; raise `ValueError` if it takes from an empty stack."""
    stack: list[int] = []
    cells: dict[str, int] = {}
    printed: list[int] = []
    effects: dict[str, Callable[[str], object]] = {
        "add": lambda _: stack.append(stack.pop() + stack.pop()),
        "drop": lambda _: stack.pop(),
        "dup": lambda _: stack.append(stack[-1]),
        "load": lambda name: stack.append(cells.get(name, 0)),
        "mul": lambda _: stack.append(stack.pop() * stack.pop()),
        "neg": lambda _: stack.append(-stack.pop()),
        "print": lambda _: printed.append(stack.pop()),
        "push": lambda value: stack.append(int(value)),
        "store": lambda name: cells.update({name: stack.pop()}),
        "sub": lambda _: stack.append(-stack.pop() + stack.pop()),
        "swap": lambda _: stack.extend((stack.pop(), stack.pop())),
    }
    for opcode, operand in program:
        try:
            effects[opcode](operand)
        except IndexError:
            raise ValueError(f"{opcode} takes from an empty stack") from None
    return printed


def sites(program: Program, rule: str) -> list[int]:
    """Return the places at which `rule` applies, each the index of an instruction."""
    return [at for at in range(len(program)) if RULES[rule](program, at) is not None]


Rewrite = tuple[int, Sequence[tuple[str, str]]]
"""How many instructions go, and what comes instead."""


def _fold(program: Program, at: int) -> Rewrite | None:
    """Compute ``push A, push B, add`` (or sub, mul) now."""
    window = program[at : at + 3]
    if [opcode for opcode, _ in window[:2]] != ["push", "push"] or len(window) < 3:
        return None
    if window[2][0] not in ("add", "sub", "mul"):
        return None
    value = run([*window, ("print", "")])[0]
    return 3, [("push", str(value))]


def _identity(program: Program, at: int) -> Rewrite | None:
    """Drop the addition of 0 and the multiplication by 1."""
    neutral = (
        [("push", "0"), ("add", "")],
        [("push", "0"), ("sub", "")],
        [("push", "1"), ("mul", "")],
    )
    return (2, []) if program[at : at + 2] in neutral else None


def _undo(program: Program, at: int) -> Rewrite | None:
    """Drop pairs that undo each other, as ``swap, swap`` or ``push N, drop``."""
    pair = tuple(opcode for opcode, _ in program[at : at + 2])
    undone = {("swap", "swap"), ("neg", "neg"), ("push", "drop"), ("load", "drop"), ("dup", "drop")}
    return (2, []) if pair in undone else None


def _commute(program: Program, at: int) -> Rewrite | None:
    """Drop a ``swap`` before an operation that commutes."""
    pair = tuple(opcode for opcode, _ in program[at : at + 2])
    return (1, []) if pair in (("swap", "add"), ("swap", "mul")) else None


def _double(program: Program, at: int) -> Rewrite | None:
    """Add a value to itself instead of multiplying it by 2."""
    found = program[at : at + 2] == [("push", "2"), ("mul", "")]
    return (2, [("dup", ""), ("add", "")]) if found else None


def _forward(program: Program, at: int) -> Rewrite | None:
    """Keep a value that is stored and loaded at once."""
    window = program[at : at + 2]
    if [opcode for opcode, _ in window] != ["store", "load"] or window[0][1] != window[1][1]:
        return None
    return 2, [("dup", ""), window[0]]


def _dead_store(program: Program, at: int) -> Rewrite | None:
    """Drop a value that is stored and never loaded again."""
    opcode, name = program[at]
    if opcode != "store":
        return None
    for later in program[at + 1 :]:
        if later == ("load", name):
            return None
        if later == ("store", name):
            break
    return 1, [("drop", "")]


RULES: dict[str, Callable[[Program, int], Rewrite | None]] = {
    "fold": _fold,
    "identity": _identity,
    "undo": _undo,
    "commute": _commute,
    "double": _double,
    "forward": _forward,
    "dead-store": _dead_store,
}
"""Each rule says how the program may be rewritten at an instruction, or None."""
