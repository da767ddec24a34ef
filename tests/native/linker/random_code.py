# SPDX-License-Identifier: MIT
"""Random functions of machine instructions, in LLVM's machine IR, to which the rules may apply.

Each instruction lists the registers that it reads and writes. This alone decides which are live
between blocks: a rule that changes a register that is read later changes a result.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

__all__ = ["Code", "RandomCode"]

NAMES = ("ax", "cx", "dx", "bx", "sp", "bp", "si", "di")
ALL = (*(f"r{name}" for name in NAMES), *(f"r{i}" for i in range(8, 16)))
GENERAL = tuple(name for name in ALL if name != "rsp")
VECTORS = tuple(f"xmm{i}" for i in range(16))
FLAGS = "eflags"
ALL_FLAGS = 0x8D5
CONSTANTS = (0, 0, 0, 1, 5, 128, 200, 255, 256, 0x1200, 0xFF00, 0xFFFF, 70000, -1)
CONDITIONS = range(16)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, the registers that it reads, and those that it overwrites."""

    text: str
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Code:
    """A function, and what its caller may look at when it returns."""

    name: str
    text: str
    attributes: str
    live: frozenset[str]
    pointer: str

    def row(self) -> str:
        """Return its line of the table that the program `differential` reads."""
        general = sum(1 << i for i, name in enumerate(ALL) if name in self.live)
        vectors = sum(1 << i for i, name in enumerate(VECTORS) if name in self.live)
        flags = ALL_FLAGS if FLAGS in self.live else 0
        return f"{self.name} {general:x} {flags:x} {vectors:x} {ALL.index(self.pointer)}\n"


def half(name: str, bits: int) -> str:
    """Return the name of the low part of a general register."""
    if bits == 64:
        return name
    if name[1].isdigit():
        return name + {32: "d", 16: "w", 8: "b"}[bits]
    if bits == 8:
        return name[1:].removesuffix("x") + "l"
    return ("e" if bits == 32 else "") + name[1:]


class RandomCode:
    """Writes functions; `kinds` are the names of methods that write one instruction each."""

    def __init__(self, seed: int, kinds: Sequence[str]) -> None:
        self.random = random.Random(seed)
        self.kinds = kinds
        self.general: tuple[str, ...] = ()
        self.pointer = ""
        self.depth = 0

    def write(self, name: str) -> Code:
        """Return a random function."""
        has_frame = self.random.random() < 0.5
        usable = [n for n in GENERAL if not (has_frame and n == "rbp")]
        # Few registers meet more often.
        self.general = ("rax", *self.random.sample(usable[1:], self.random.choice((4, 8))))
        self.pointer = self.random.choice(self.general)
        has_slot = self.random.random() < 0.5
        adjusts = has_frame and self.random.random() < 0.5
        blocks = [self._block(has_slot and not adjusts) for _ in range(3)]
        condition = self.random.choice(CONDITIONS)
        jump = Instruction(
            f"JCC_1 %bb.2, {condition}, implicit $eflags", frozenset({FLAGS}), frozenset()
        )
        blocks[0].append(jump)
        wanted = self.random.sample(self.general, self.random.randint(1, 4))
        live = {*wanted, *self.random.sample(VECTORS, 4)}
        live |= {FLAGS} if self.random.random() < 0.3 else set()
        starts = _live(blocks, live)
        attributes = ["minsize", "nounwind"]
        attributes += ["uwtable"] if self.random.random() < 0.5 else []
        attributes += ['"frame-pointer"="all"'] if has_frame else []
        attributes += ["noredzone"] if not has_slot and self.random.random() < 0.3 else []
        text = f"---\nname: {name}\ntracksRegLiveness: true\n"
        text += "frameInfo:\n  adjustsStack: true\n  hasCalls: true\n" if adjusts else ""
        if has_slot and not adjusts:
            text += "stack:\n  - { id: 0, offset: -16, size: 8, alignment: 8 }\n"
        first = {*starts[0], "rbp"} if has_frame else starts[0]
        text += "body: |\n" + _head(0, first, (1, 2)) + (_ENTER if has_frame else "")
        text += _lines(blocks[0]) + _head(1, starts[1], (2,)) + _lines(blocks[1])
        text += _head(2, starts[2], ()) + _lines(blocks[2]) + (_LEAVE if has_frame else "")
        kept = "".join(f", implicit ${register}" for register in sorted(live))
        text += f"    RET64{kept.replace(',', '', 1)}\n...\n"
        return Code(
            name,
            text,
            " ".join(attributes),
            frozenset({*live, *(["rbp"] if has_frame else [])}),
            self.pointer,
        )

    def _block(self, has_slot: bool) -> list[Instruction]:
        kinds = [*self.kinds, *(["slot"] if has_slot else [])]
        code = [
            instruction
            for _ in range(self.random.randint(3, 9))
            for instruction in self._choose(kinds)
        ]
        if not any(FLAGS in instruction.writes for instruction in code):
            code += self.compare()
        return code

    def _choose(self, kinds: Sequence[str]) -> Iterable[Instruction]:
        write: Callable[[], Iterable[Instruction]] = getattr(self, self.random.choice(kinds))
        return write()

    def _any(self) -> str:
        return self.random.choice(self.general)

    def _free(self) -> str:
        """Return a register that may be overwritten, often the accumulator."""
        name = self.random.choice((self._any(), self._any(), "rax"))
        return name if name != self.pointer else self._free()

    def _address(self, offset: int) -> str:
        return f"${self.pointer}, 1, $noreg, {offset}, $noreg"

    def move(self) -> list[Instruction]:
        """Copy a register."""
        to, source, bits = self._free(), self._any(), self.random.choice((32, 64))
        text = f"${half(to, bits)} = MOV{bits}rr ${half(source, bits)}"
        return [Instruction(text, frozenset({source}), frozenset({to}))]

    def constant(self) -> list[Instruction]:
        """Load a constant."""
        to, value = self._free(), self.random.choice(CONSTANTS)
        return [Instruction(f"${half(to, 32)} = MOV32ri {value}", frozenset(), frozenset({to}))]

    def clear(self) -> list[Instruction]:
        """Clear a register."""
        to = self._free()
        name = half(to, 32)
        text = f"${name} = XOR32rr undef ${name}, undef ${name}, implicit-def $eflags"
        return [Instruction(text, frozenset(), frozenset({to, FLAGS}))]

    def arithmetic(self) -> list[Instruction]:
        """Compute something, and set the flags."""
        to, source, bits = self._free(), self._any(), self.random.choice((32, 64))
        operation = self.random.choice(("ADD", "SUB", "AND", "OR", "XOR", "ADC", "SBB"))
        reads = {to, source, *([FLAGS] if operation in ("ADC", "SBB") else [])}
        flags = ", implicit $eflags" if FLAGS in reads else ""
        name = f"${half(to, bits)}"
        text = f"{name} = {operation}{bits}rr {name}, ${half(source, bits)}"
        text += f", implicit-def $eflags{flags}"
        return [Instruction(text, frozenset(reads), frozenset({to, FLAGS}))]

    def compare(self) -> list[Instruction]:
        """Compare a register with a constant or another."""
        one, other, bits = self._any(), self._any(), self.random.choice((32, 64))
        if self.random.random() < 0.3:
            text = f"CMP{bits}rr ${half(one, bits)}, ${half(other, bits)}, implicit-def $eflags"
            return [Instruction(text, frozenset({one, other}), frozenset({FLAGS}))]
        bits = self.random.choice((8, 32, 64))
        opcode = "CMP64ri32" if bits == 64 else f"CMP{bits}ri"
        value = self.random.choice((1, -1, 1, -1, 7))
        text = f"{opcode} ${half(one, bits)}, {value}, implicit-def $eflags"
        return [Instruction(text, frozenset({one}), frozenset({FLAGS}))]

    def condition(self) -> list[Instruction]:
        """Read the flags."""
        to, source, code = self._free(), self._any(), self.random.choice(CONDITIONS)
        if self.random.random() < 0.5:
            text = f"${half(to, 8)} = SETCCr {code}, implicit $eflags"
            text += f", implicit ${to}, implicit-def ${to}"
            return [Instruction(text, frozenset({FLAGS, to}), frozenset({to}))]
        text = f"${to} = CMOV64rr ${to}, ${source}, {code}, implicit $eflags"
        return [Instruction(text, frozenset({FLAGS, to, source}), frozenset({to}))]

    def store(self) -> list[Instruction]:
        """Store a constant, most often zero."""
        bits, value = self.random.choice((8, 16, 32, 64)), self.random.choice((0, 0, 0, 1))
        place = self._address(self.random.randrange(-256, 256))
        opcode = "MOV64mi32" if bits == 64 else f"MOV{bits}mi"
        reads, writes, flags = {self.pointer}, set[str](), ""
        memory = f"(store (s{bits}))"
        if bits >= 32 and self.random.random() < 0.3:
            opcode = "AND64mi32" if bits == 64 else "AND32mi"
            writes, flags = {FLAGS}, ", implicit-def $eflags"
            memory = f"(load (s{bits})), (store (s{bits}))"
        text = f"{opcode} {place}, {value}{flags} :: {memory}"
        return [Instruction(text, frozenset(reads), frozenset(writes))]

    def load(self) -> list[Instruction]:
        """Load a register or store it."""
        place, bits = self._address(self.random.randrange(-256, 256)), self.random.choice((32, 64))
        if self.random.random() < 0.5:
            to = self._free()
            text = f"${half(to, bits)} = MOV{bits}rm {place} :: (load (s{bits}))"
            return [Instruction(text, frozenset({self.pointer}), frozenset({to}))]
        source = self._any()
        text = f"MOV{bits}mr {place}, ${half(source, bits)} :: (store (s{bits}))"
        return [Instruction(text, frozenset({self.pointer, source}), frozenset())]

    def slot(self) -> list[Instruction]:
        """Store a register into the red zone, and load another from there, with code between."""
        source, to = self._any(), self._free()
        stored = Instruction(f"MOV64mr $rsp, 1, $noreg, -8, $noreg, ${source} :: (store (s64))",
                             frozenset({source}), frozenset())  # fmt: skip
        loaded = Instruction(f"${to} = MOV64rm $rsp, 1, $noreg, -8, $noreg :: (load (s64))",
                             frozenset(), frozenset({to}))  # fmt: skip
        between = [i for _ in range(3) for i in self._choose(self.kinds)]
        return [stored, *between, loaded]

    def stack(self) -> list[Instruction]:
        """Make room on the stack, and free it, with code between."""
        if self.depth:
            return []
        size = self.random.choice((8, 16, 24, 128, 128, 256))
        self.depth = size
        between = [i for _ in range(3) for i in self._choose(self.kinds)]
        self.depth = 0
        flags = frozenset({FLAGS})
        room = Instruction(
            f"$rsp = SUB64ri32 $rsp, {size}, implicit-def $eflags", frozenset(), flags
        )
        back = replace(room, text=room.text.replace("SUB", "ADD"))
        return [room, *between, back]

    def vector(self) -> list[Instruction]:
        """Copy, combine, load or store a vector."""
        to, one = self.random.sample(VECTORS, 2)
        kind = self.random.random()
        place = self._address(self.random.randrange(-16, 16) * 16)
        if kind < 0.2:
            opcode = self.random.choice(("MOVAPDrr", "MOVUPDrr", "MOVDQArr", "MOVDQUrr"))
            return [Instruction(f"${to} = {opcode} ${one}", frozenset({one}), frozenset({to}))]
        if kind < 0.5:
            opcode = self.random.choice(
                (
                    "XORPD",
                    "PXOR",
                    "ANDPD",
                    "PAND",
                    "ANDNPD",
                    "PANDN",
                    "ORPD",
                    "POR",
                    "PADDQ",
                    "UNPCKLPD",
                )
            )
            text = f"${to} = {opcode}rr ${to}, ${one}"
            return [Instruction(text, frozenset({one, to}), frozenset({to}))]
        if kind < 0.7:
            opcode = self.random.choice(("MOVAPD", "MOVUPD", "MOVDQA", "MOVDQU"))
            text = f"${to} = {opcode}rm {place} :: (load (s128))"
            return [Instruction(text, frozenset({self.pointer}), frozenset({to}))]
        if kind < 0.8:
            opcode = self.random.choice(("XORPD", "PAND", "ANDNPD", "POR", "MOVLPD", "MOVHPD"))
            size = 64 if opcode.startswith("MOV") else 128
            text = f"${to} = {opcode}rm ${to}, {place} :: (load (s{size}))"
            return [Instruction(text, frozenset({self.pointer, to}), frozenset({to}))]
        opcode, size = self.random.choice(
            (("MOVAPD", 128), ("MOVDQA", 128), ("MOVDQU", 128), ("MOVSD", 64), ("MOVPQI2QI", 64),
             ("MOVLPD", 64), ("MOVHPD", 64))
        )  # fmt: skip
        text = f"{opcode}mr {place}, ${one} :: (store (s{size}))"
        return [Instruction(text, frozenset({self.pointer, one}), frozenset())]


_ENTER = """\
    frame-setup PUSH64r $rbp, implicit-def $rsp, implicit $rsp
    $rbp = frame-setup MOV64rr $rsp
"""
_LEAVE = "    $rbp = frame-destroy POP64r implicit-def $rsp, implicit $rsp\n"


def _live(blocks: Sequence[list[Instruction]], wanted: set[str]) -> list[set[str]]:
    """Return the live registers at the start of three blocks, and mark flags that are dead."""
    starts: list[set[str]] = [set(), set(), set()]
    ends: list[set[str]] = [set(), set(), set(wanted)]
    for number in (2, 1, 0):
        for after in {0: (1, 2), 1: (2,), 2: ()}[number]:
            ends[number] |= starts[after]
        live = set(ends[number])
        for place, instruction in reversed(list(enumerate(blocks[number]))):
            if FLAGS not in live:
                text = instruction.text.replace("implicit-def $eflags", "implicit-def dead $eflags")
                blocks[number][place] = replace(instruction, text=text)
            live = (live - instruction.writes) | instruction.reads
        starts[number] = live
    return starts


def _head(number: int, live: Iterable[str], after: Sequence[int]) -> str:
    text = f"  bb.{number}:\n"
    if after:
        text += f"    successors: {', '.join(f'%bb.{n}' for n in after)}\n"
    return f"{text}    liveins: {', '.join(f'${name}' for name in sorted(live))}\n\n"


def _lines(code: Sequence[Instruction]) -> str:
    return "".join(f"    {instruction.text}\n" for instruction in code)
