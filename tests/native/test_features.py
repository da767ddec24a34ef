# SPDX-License-Identifier: MIT
"""Features against counts of our own over the text that llvm-dis prints."""

import random
import re
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from compiler_gym import _llvm

from .actions import SAFE_PIPELINES
from .conftest import need

CASTS = {
    "trunc", "zext", "sext", "fptoui", "fptosi", "uitofp", "sitofp", "fptrunc", "fpext",
    "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast",
}  # fmt: skip
UNARY = CASTS | {"load", "alloca", "fneg", "freeze", "extractvalue", "va_arg"}
BINARY = {
    "add", "fadd", "sub", "fsub", "mul", "fmul", "udiv", "sdiv", "fdiv", "urem", "srem", "frem",
    "shl", "lshr", "ashr", "and", "or", "xor",
}  # fmt: skip
MEMORY = {"getelementptr", "load", "store", "call", "invoke", "alloca"}
SPELLING = {
    "va_arg": "VAArg", "getelementptr": "GetElementPtr", "icmp": "ICmp", "fcmp": "FCmp",
    "phi": "PHI", "landingpad": "LandingPad", "atomicrmw": "AtomicRMW", "cmpxchg": "AtomicCmpXchg",
    "extractelement": "ExtractElement", "insertelement": "InsertElement", "zext": "ZExt",
    "shufflevector": "ShuffleVector", "extractvalue": "ExtractValue", "sext": "SExt",
    "insertvalue": "InsertValue", "indirectbr": "IndirectBr", "ptrtoint": "PtrToInt",
    "ptrtoaddr": "PtrToInt", "inttoptr": "IntToPtr", "bitcast": "BitCast", "fneg": "FNeg",
    "addrspacecast": "AddrSpaceCast", "fptoui": "FPToUI", "fptosi": "FPToSI", "fpext": "FPExt",
    "uitofp": "UIToFP", "sitofp": "SIToFP", "fptrunc": "FPTrunc", "lshr": "LShr", "ashr": "AShr",
    "udiv": "UDiv", "sdiv": "SDiv", "fdiv": "FDiv", "urem": "URem", "srem": "SRem",
    "frem": "FRem", "fadd": "FAdd", "fsub": "FSub", "fmul": "FMul", "callbr": "CallBr",
}  # fmt: skip


class Block:
    """The lines of one block, and the labels its last line may go to."""

    def __init__(self, label: str):
        self.label = label
        self.lines: list[str] = []

    @property
    def opcodes(self) -> list[str]:
        return [opcode_of(line) for line in self.lines]

    @property
    def successors(self) -> list[str]:
        end = self.lines[-1]
        if opcode_of(end) in ("br", "switch", "indirectbr", "invoke"):
            return re.findall(r"label %([\w.\"$-]+)", end)
        return []


def opcode_of(line: str) -> str:
    body = re.sub(r"^%[\w.]+ = ", "", line)
    return re.sub(r"^(tail|musttail|notail) ", "", body).split()[0]


def functions_of(data: bytes) -> Iterator[list[Block]]:
    """Parse what llvm-dis prints: blocks and instructions, one a line."""
    text = subprocess.run(
        [need("llvm-dis-22"), "-", "-o", "-"], input=data, check=True, capture_output=True
    ).stdout.decode()
    for match in re.finditer(r"^(define|declare) .*?(?:\{\n(.*?)^\}$|$)", text, re.M | re.S):
        yield list(blocks_of(match[2])) if match[1] == "define" else []


def blocks_of(body: str) -> Iterator[Block]:
    # Switches, landing pads and invokes go over several lines.
    body = re.sub(
        r"\[\n(.*?)\n  \]", lambda m: "[" + m[1].replace("\n", " ") + " ]", body, flags=re.S
    )
    body = re.sub(r"\n +(to label|unwind|cleanup|catch|filter)", r" \1", body)
    block = Block("")
    for line in body.splitlines():
        if label := re.match(r"^([\w.$-]+|\"[^\"]*\"):", line):
            if block.lines or block.label:
                yield block
            block = Block(label[1])
        elif line.strip() and not line.strip().startswith(";"):
            block.lines.append(line.strip())
    yield block


def expected_inst_count(data: bytes) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for blocks in functions_of(data):
        counts["TotalFuncsCount"] += 1
        counts["TotalBlocksCount"] += len(blocks)
        for block in blocks:
            counts["TotalInstsCount"] += len(block.lines)
            counts.update(
                SPELLING.get(opcode, opcode.capitalize()) + "Count" for opcode in block.opcodes
            )
    return dict(counts)


def expected_autophase(data: bytes) -> dict[str, int]:
    found: Counter[str] = Counter()
    for blocks in functions_of(data):
        found["TotalFuncs"] += 1
        into = Counter(label for block in blocks for label in block.successors)
        for number, block in enumerate(blocks):
            add_block(found, block, 0 if number == 0 else into[block.label], into)
    return dict(found)


def add_block(found: Counter[str], block: Block, before: int, into: Counter[str]) -> None:
    opcodes = block.opcodes
    after = len(block.successors)
    found["TotalBlocks"] += 1
    found["TotalInsts"] += len(opcodes)
    found["NumEdges"] += after
    if after > 1:
        found["CriticalCount"] += sum(into[label] > 1 for label in block.successors)
    found[{1: "oneSuccessor", 2: "twoSuccessor"}.get(after, "")] += 1
    found[{0: "", 1: "onePred", 2: "twoPred"}.get(before, "morePreds")] += 1
    pairs = {(1, 1): "onePredOneSuc", (1, 2): "onePredTwoSuc", (2, 1): "twoPredOneSuc",
             (2, 2): "twoEach"}  # fmt: skip
    found[pairs.get((before, after), "")] += 1
    phis = [line for line in block.lines if opcode_of(line) == "phi"]
    incoming = sum(line.count("[ ") for line in phis)
    found["ArgsPhi"] += incoming
    found["BeginPhi"] += opcodes[0] == "phi"
    found["BBNoPhi" if not phis else "BB03Phi" if len(phis) <= 3 else "BBHiPhi"] += 1
    found["" if not incoming else "BBNumArgsHi" if incoming > 5 else "BBNumArgsLo"] += 1
    size = len(opcodes)
    found["BlockLow" if size < 15 else "BlockMid" if size <= 500 else ""] += 1
    for line, opcode in zip(block.lines, opcodes, strict=True):
        add_instruction(found, line, opcode)


def add_instruction(found: Counter[str], line: str, opcode: str) -> None:
    found["testUnary"] += opcode in UNARY
    found["TotalMemInst"] += opcode in MEMORY
    found["BranchCount"] += opcode == "br"
    found["UncondBranches"] += line.startswith("br label")
    found[f"Num{SPELLING.get(opcode, opcode.capitalize())}Inst"] += 1
    if opcode in BINARY:
        first, second = operands_of(line)
        found["binaryConstArg"] += not (first.startswith("%") and second.startswith("%"))
    if opcode == "call":
        callee = re.search(r"call [^@(]*?\b(i\d+)(?: \(.*?\))? @", line)
        found["returnInt"] += callee is not None


def operands_of(line: str) -> tuple[str, str]:
    body = re.sub(r", ![\w.]+ !\d+", "", line.split(" = ", 1)[1])
    depth, cut = 0, 0
    for at, character in enumerate(body):
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and depth == 0:
            cut = at
            break
    return body[:cut].split()[-1], body[cut + 1 :].strip()


IN_TEXT = [
    name
    for name in _llvm.autophase_names()
    # Constants need a parser of operands: they are checked on a program of known counts.
    if name not in {"const32Bit", "const64Bit", "numConstZeroes", "numConstOnes"}
]


def states(corpus: dict[str, bytes], steps: int) -> Iterator[_llvm.Module]:
    rng = random.Random(9)
    for data in corpus.values():
        module = _llvm.Module(data)
        yield module
        for _ in range(steps):
            module.run(rng.choice(SAFE_PIPELINES))
            yield module


def test_inst_count_equals_a_count_over_the_text(corpus: dict[str, bytes]):
    names = _llvm.inst_count_names()
    for module in states(corpus, steps=6):
        counts = dict(zip(names, struct.unpack("<70q", module.inst_count()), strict=True))
        expected = expected_inst_count(module.bitcode())
        assert {name: count for name, count in counts.items() if count} == expected
        assert module.instruction_count() == expected["TotalInstsCount"]


def test_autophase_equals_a_count_over_the_text(corpus: dict[str, bytes]):
    names = _llvm.autophase_names()
    for module in states(corpus, steps=6):
        features = dict(zip(names, struct.unpack("<56q", module.autophase()), strict=True))
        expected = expected_autophase(module.bitcode())
        assert {name: features[name] for name in IN_TEXT} == {
            name: expected.get(name, 0) for name in IN_TEXT
        }


CONSTANTS = b"""
declare i64 @f(i32, i64, i1)
define i32 @g(i32 %a, i64 %b) {
  %slot = alloca i32
  %sum = add i32 %a, 1
  %other = mul i64 %b, 0
  %nothing = xor i32 %sum, 0
  %flag = icmp eq i32 %nothing, -1
  %got = call i64 @f(i32 0, i64 1, i1 true)
  store i8 0, ptr %slot
  switch i32 %sum, label %out [ i32 0, label %out
                                i32 1, label %out ]
out:
  ret i32 0
}
"""


def test_constants_are_counted_by_width_and_by_value():
    features = dict(
        zip(
            _llvm.autophase_names(),
            struct.unpack("<56q", _llvm.Module(CONSTANTS).autophase()),
            strict=True,
        )
    )
    # i32: the size of the slot, 1, 0, -1, the argument 0, two cases, the result 0
    assert features["const32Bit"] == 8
    assert features["const64Bit"] == 2
    # 0 as i64, i32, argument, i8, case and result; 1 as slot size, i32, i64, i1 and case
    assert features["numConstZeroes"] == 6
    assert features["numConstOnes"] == 5
    assert features["binaryConstArg"] == 3
    assert features["returnInt"] == 1
    assert features["TotalFuncs"] == 2
    assert features["morePreds"] == 1
    assert features["CriticalCount"] == 3


def test_names_are_those_of_compilergym_in_number_and_ends():
    autophase, inst_count = _llvm.autophase_names(), _llvm.inst_count_names()
    assert (len(autophase), autophase[0], autophase[-1]) == (56, "BBNumArgsHi", "testUnary")
    assert (len(inst_count), inst_count[0], inst_count[-1]) == (
        70, "TotalInstsCount", "FreezeCount",
    )  # fmt: skip
    assert inst_count[58:62] == ["CallCount", "SelectCount", "UserOp1Count", "UserOp2Count"]


def test_features_of_an_empty_module_are_zero():
    module = _llvm.Module(b'source_filename = "empty"')
    assert module.autophase() == bytes(56 * 8)
    assert module.inst_count() == bytes(70 * 8)
    with pytest.raises(struct.error, match="buffer of"):
        struct.unpack("<55q", module.autophase())
