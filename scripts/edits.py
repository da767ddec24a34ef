# SPDX-License-Identifier: MIT
"""The ways in which a pass goes wrong, each as an edit of textual IR at one place.

An edit takes the lines of a module, those of a function among them and one place, and
returns what some lines become, or None where it does not apply. Most results are valid
IR; a few need a check of dominance that text cannot make, so that whoever plants one
asks a verifier.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["KINDS", "Change", "Kind", "Place"]

Change = dict[int, list[str]]
"""New lines by the number of the line that they replace."""


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a function."""

    lines: Sequence[str]
    """All lines of the module."""
    first: int
    """The line with ``define``."""
    at: int

    @property
    def line(self) -> str:
        """The line itself."""
        return self.lines[self.at]

    def rest_of_block(self, most: int = 24) -> Iterator[int]:
        """Yield the lines after this one in its block, but for the last instruction."""
        for number in range(self.at + 1, min(self.at + 1 + most, len(self.lines))):
            if _ENDS.match(self.lines[number]):
                return
            yield number


_Edit = Callable[[Place], Change | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to go wrong."""

    edit: _Edit
    exploit: str = ""
    """Passes that make a wrong promise matter; the original goes through them too."""


_LABEL = re.compile(r"^\d+:")
_ENDS = re.compile(
    r"^(\d+|[\w.$-]+):|^  (br|switch|ret|unreachable|indirectbr|callbr|resume)\b|^}|^$"
)
_NEGATED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
    "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt", "oeq": "une", "une": "oeq",
    "olt": "uge", "ogt": "ule", "ole": "ugt", "oge": "ult",
}  # fmt: skip
_STRICTNESS = {
    "slt": "sle", "sle": "slt", "sgt": "sge", "sge": "sgt", "ult": "ule", "ule": "ult",
    "ugt": "uge", "uge": "ugt", "olt": "ole", "ole": "olt", "ogt": "oge", "oge": "ogt",
}  # fmt: skip
_SIGNS = {
    "slt": "ult", "sle": "ule", "sgt": "ugt", "sge": "uge",
    "ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge",
}  # fmt: skip
_COMPARE = re.compile(
    r"^(  (%\S+) = [if]cmp )((?:\w+ )*?)(\w+)( (?:ptr|i\d+|float|double|<[^>]*>) .*)$"
)
_INTEGER = r"i(?:8|16|32|64)"
_BINARY = re.compile(
    r"^(  (%\S+) = )(\w+)((?: (?:nsw|nuw|exact|disjoint))*)( (?:i\d+|float|double|<[^>]*>) )"
    r"([^\s,]+), ([^\s,]+)(.*)$"
)
_CONVERT = re.compile(r"^(  (%\S+) = )(\w+)((?: (?:nneg|nsw|nuw))*)( .* to .*)$")
_SELECT = re.compile(r"^(  %\S+ = select i1 \S+, )([^,()]+), ([^,()]+)((?:, !.*)?)$")
_STORE = re.compile(r"^  store (?!volatile|atomic)(\S+|<[^>]*>) ([^\s,(]+), ptr ([^\s,(]+)(, .*)?$")
_LOAD = re.compile(r"^  (%\S+) = load (?!volatile|atomic)(\S+|<[^>]*>|ptr), ptr ([^\s,(]+)(, .*)?$")
_BRANCH = re.compile(r"^(  br i1 )(%\S+)(, label )(%\S+)(, label )(%[^\s,]+)(.*)$")
_CALL = re.compile(
    r"^  (?:(%\S+) = )?(?:tail |notail )?call (?!.*\basm\b)(.*?)(\S+) @([\w.$-]+)\((.*)\)(.*)$"
)
_LENGTH = re.compile(
    r"^(  (?:tail )?call void @llvm\.(?:memcpy|memmove|memset)\S*\(.*, i64 )([^\s,]+)(, i1 .*)$"
)
_GEP = re.compile(r"^(  %\S+ = getelementptr .*, i(?:32|64) )(-?\d+)((?:, !.*)?)$")
_CASE = re.compile(r"^(    i(\d+) )(-?\d+)(, label %\S+)$")
_PHI = re.compile(r"^(  %\S+ = phi \S+ )(\[ .* \])(.*)$")
_INCOMING = re.compile(r"\[ (\S+), (%\S+) \]")
_RETURN = re.compile(r"^  ret (i\d+|ptr|float|double) (%\S+)(.*)$")
_ALIGN = re.compile(r"^(  (?:%\S+ = load|store) .*, align )(\d+)(.*)$")
_ZERO = {"ptr": "null", "float": "0.0", "double": "0.0"}


def _only(place: Place, *lines: str) -> Change:
    return {place.at: list(lines)}


def _predicates(table: dict[str, str]) -> _Edit:
    def edit(place: Place) -> Change | None:
        found = _COMPARE.match(place.line)
        if found is None or found[4] not in table:
            return None
        # A promise that the operands have one sign would make the edit undefined.
        flags = found[3].replace("samesign ", "")
        return _only(place, f"{found[1]}{flags}{table[found[4]]}{found[5]}")

    return edit


def _loop_end(place: Place) -> Change | None:
    """Let a loop run once more or once less, at the comparison that ends it."""
    found = _COMPARE.match(place.line)
    if found is None or not _decides_a_loop(place, found[2]):
        return None
    if found[4] in _STRICTNESS:
        return _only(place, f"{found[1]}{found[3]}{_STRICTNESS[found[4]]}{found[5]}")
    bound = re.match(rf"^( {_INTEGER} \S+, )(-?\d+)(.*)$", found[5])
    if bound is None or int(bound[2]) in (0, -128, -(2**15), -(2**31), -(2**63)):
        return None
    return _only(place, f"{found[1]}{found[3]}{found[4]}{bound[1]}{int(bound[2]) - 1}{bound[3]}")


def _decides_a_loop(place: Place, value: str) -> bool:
    """Return whether `value` decides the branch of its block and the block begins or ends a loop.

    Blocks are numbered in the order of the text, so that a way to a smaller number leads back.
    """
    label = next((n for n in range(place.at, place.first, -1) if _LABEL.match(place.lines[n])), 0)
    for number in range(place.at + 1, min(place.at + 8, len(place.lines))):
        found = _BRANCH.match(place.lines[number])
        if found is not None and label:
            own = int(place.lines[label].partition(":")[0])
            before = map(int, re.findall(r"%(\d+)", place.lines[label].partition("preds")[2]))
            after = [int(way[1:]) for way in (found[4], found[6]) if way[1:].isdigit()]
            return found[2] == value and (
                max(before, default=0) >= own or min(after, default=own + 1) <= own
            )
    return False


def _swap_operands(place: Place) -> Change | None:
    found = _BINARY.match(place.line)
    uneven = ("sub", "shl", "lshr", "ashr", "sdiv", "udiv", "srem", "urem", "fsub", "fdiv")
    if found is None or found[3] not in uneven or found[6] == found[7]:
        return None
    return _only(place, f"{found[1]}{found[3]}{found[4]}{found[5]}{found[7]}, {found[6]}{found[8]}")


def _swap_arms(place: Place) -> Change | None:
    found = _SELECT.match(place.line)
    if found is None or found[2] == found[3]:
        return None
    return _only(place, f"{found[1]}{found[3]}, {found[2]}{found[4]}")


def _drop_store(place: Place) -> Change | None:
    return _only(place) if _STORE.match(place.line) else None


def _repeat_store(place: Place) -> Change | None:
    """Store once more, after the next store or call of the block."""
    if not _STORE.match(place.line):
        return None
    for number in place.rest_of_block():
        if _STORE.match(place.lines[number]) or _is_call(place.lines[number]):
            return {number: [place.lines[number], place.line]}
    return None


def _constant(place: Place) -> Change | None:
    found = _BINARY.match(place.line)
    if found is not None and re.fullmatch(r"-?\d+", found[7]):
        width, number = found[5].strip(), int(found[7])
        if not re.fullmatch(_INTEGER, width):
            return None
        if found[3] in ("shl", "lshr", "ashr") and number + 1 == int(width[1:]):
            return None  # a shift by the whole width is poison, not a wrong number
        operator = found[3] if number != -1 or "div" not in found[3] else ""
        if not operator or found[3] in ("sdiv", "udiv", "srem", "urem"):
            return None
        return _only(
            place,
            f"{found[1]}{operator}{found[5]}{found[6]}, {_next(number, width)}{found[8]}",
        )
    compared = re.match(rf"^(  %\S+ = icmp .*({_INTEGER}) \S+, )(-?\d+)(.*)$", place.line)
    if compared is None:
        return None
    line = compared[1].replace("samesign ", "")
    return _only(place, f"{line}{_next(int(compared[3]), compared[2])}{compared[4]}")


def _next(number: int, width: str) -> int:
    return number - 1 if number == 2 ** (int(width[1:]) - 1) - 1 else number + 1


def _index(place: Place) -> Change | None:
    found = _GEP.match(place.line)
    if found is None:
        return None
    # Without its promises the address is wrong, not undefined.
    line = re.sub(r"getelementptr (?:inbounds |nuw |nusw )*", "getelementptr ", found[1])
    return _only(place, f"{line}{int(found[2]) + 1}{found[3]}")


def _converts(table: dict[str, str]) -> _Edit:
    def edit(place: Place) -> Change | None:
        found = _CONVERT.match(place.line)
        if found is None or found[3] not in table or " i1 " in found[5]:
            return None
        return _only(place, f"{found[1]}{table[found[3]]}{found[5]}")

    return edit


def _operators(table: dict[str, str]) -> _Edit:
    def edit(place: Place) -> Change | None:
        found = _BINARY.match(place.line)
        if found is None or found[3] not in table:
            return None
        return _only(
            place, f"{found[1]}{table[found[3]]}{found[5]}{found[6]}, {found[7]}{found[8]}"
        )

    return edit


def _identity(place: Place) -> Change | None:
    """Lose a mask that made a number wrap around, or the opposite of a bit."""
    found = _BINARY.match(place.line)
    if found is None or not re.fullmatch(r"-?\d+|true", found[7]):
        return None
    masks = {"true"} if found[3] == "xor" else {str(2**n - 1) for n in range(1, 64)}
    if found[3] not in ("and", "xor") or found[7] not in masks:
        return None
    zero = "false" if found[7] == "true" else "0"
    return _only(place, f"{found[1]}or{found[5]}{found[6]}, {zero}{found[8]}")


def _lost_mask(place: Place) -> Change | None:
    return _identity(place) if " = and " in place.line else None


def _lost_not(place: Place) -> Change | None:
    """Lose a negation, of a bit, of all bits or of a number."""
    if " = xor i1 " in place.line:
        return _identity(place)
    found = re.match(r"^(  %\S+ = )(?:xor (i\d+) (\S+), -1|fneg (?:\w+ )*(float|double) (\S+))$|"
                     r"^(  %\S+ = )sub (?:nsw )?(i\d+) 0, (\S+)$", place.line)  # fmt: skip
    if found is None:
        return None
    start = found[1] or found[6]
    return _only(
        place,
        f"{start}freeze {found[2] or found[4] or found[7]} {found[3] or found[5] or found[8]}",
    )


def _narrow(place: Place) -> Change | None:
    """Compute in half the width."""
    found = re.match(r"^  (%\S+)( = (?:add|sub|mul|shl|or|load)\b.* (i32|i64)\b.*)$", place.line)
    if found is None or re.match(r".*<", found[2]) or not found[1][1:].isdigit():
        return None
    wide, half = found[3], f"i{int(found[3][1:]) // 2}"
    return _only(
        place,
        f"  %planted.wide{found[2]}",
        f"  %planted.half = trunc {wide} %planted.wide to {half}",
        f"  {found[1]} = sext {half} %planted.half to {wide}",
    )


def _phi(place: Place) -> Change | None:
    """Take what comes from one block from another: a constant, which is known everywhere."""
    found = _PHI.match(place.line)
    incoming = _INCOMING.findall(found[2]) if found else []
    if found is None or len({value for value, _ in incoming}) < 2:
        return None
    values = [value for value, _ in incoming]
    known = [v for v in values if not v.startswith("%") and v not in ("poison", "undef")]
    if known:
        values = [known[-1]] * len(values)
    else:
        values[0], values[-1] = values[-1], values[0]
    pairs = zip(values, (block for _, block in incoming), strict=True)
    words = ", ".join(f"[ {value}, {block} ]" for value, block in pairs)
    return _only(place, f"{found[1]}{words}{found[3]}")


def _one_way(place: Place) -> Change | None:
    found = _BRANCH.match(place.line)
    return _only(place, place.line.replace(found[2], "true", 1)) if found else None


def _swap_branch(place: Place) -> Change | None:
    found = _BRANCH.match(place.line)
    if found is None or found[4] == found[6]:
        return None
    words = (*found.groups()[:3], found[6], found[5], found[4], found[7])
    return _only(place, "".join(words))


def _is_call(line: str) -> bool:
    found = _CALL.match(line)
    return found is not None and not found[4].startswith("llvm.")


def _drop_call(place: Place) -> Change | None:
    found = _CALL.match(place.line)
    if found is None or found[4].startswith("llvm.") or found[4] in ("exit", "abort"):
        return None
    if found[1] is None:
        return _only(place) if found[3] == "void" else None
    if found[3] != "ptr" and not re.fullmatch(r"i\d+|float|double", found[3]):
        return None
    return _only(place, f"  {found[1]} = freeze {found[3]} {_ZERO.get(found[3], '0')}")


def _swap_arguments(place: Place) -> Change | None:
    """Exchange the first two arguments of one type."""
    found = _CALL.match(place.line)
    if found is None or found[4].startswith("llvm.lifetime") or "(" in found[5]:
        return None
    words = found[5].split(", ")
    for one in range(len(words)):
        for other in range(one + 1, len(words)):
            ours, theirs = words[one].split(" "), words[other].split(" ")
            if ours[0] == theirs[0] != "i1" and ours[-1] != theirs[-1] and len(ours) > 1:
                changed = list(words)
                changed[one] = " ".join((ours[0], theirs[-1]))
                changed[other] = " ".join((theirs[0], ours[-1]))
                start = place.line.index("@" + found[4]) + len(found[4]) + 2
                rest = place.line[start + len(found[5]) :]
                return _only(place, place.line[:start] + ", ".join(changed) + rest)
    return None


def _reorder(place: Place) -> Change | None:
    """Move a load behind the next store, or a store behind the next load of other words."""
    load, store = _LOAD.match(place.line), _STORE.match(place.line)
    if load is None and store is None:
        return None
    for number in place.rest_of_block():
        line = place.lines[number]
        if load is not None and re.search(rf"{re.escape(load[1])}\b", line):
            return None
        if _STORE.match(line) if load is not None else (_LOAD.match(line) or _is_call(line)):
            if load is not None and load[1][1:].isdigit():
                # Values without a name are numbered in the order of the text.
                name = "%planted.moved"
                end = _end_of(place)
                users = {
                    n: [re.sub(rf"{re.escape(load[1])}(?![\w.])", name, place.lines[n])]
                    for n in range(number + 1, end)
                    if re.search(rf"{re.escape(load[1])}(?![\w.])", place.lines[n])
                }
                kept = f"  {load[1]} = freeze i1 false"
                moved = place.line.replace(load[1], name, 1)
                return users | {place.at: [kept], number: [line, moved]}
            return {place.at: [], number: [line, place.line]}
    return None


def _end_of(place: Place) -> int:
    return next(n for n in range(place.at, len(place.lines)) if place.lines[n].startswith("}"))


def _stale(place: Place) -> Change | None:
    """Keep what was loaded over a store, as if nothing else were stored there."""
    load = _LOAD.match(place.line)
    if load is None:
        return None
    is_changed = False
    for number in place.rest_of_block():
        line = place.lines[number]
        is_changed = is_changed or bool(_STORE.match(line)) or _is_call(line)
        again = _LOAD.match(line)
        if again and is_changed and (again[2], again[3]) == (load[2], load[3]):
            return {number: [f"  {again[1]} = freeze {load[2]} {load[1]}"]}
    return None


def _uninitialised(place: Place) -> Change | None:
    """Load from memory that nobody has written."""
    load = _LOAD.match(place.line)
    if load is None or load[2] == "ptr":
        return None
    entry = place.first + 1
    line = place.line.replace(f"ptr {load[3]}", "ptr %planted.memory", 1)
    alloca = f"  %planted.memory = alloca {load[2]}, align 16"
    if entry == place.at:
        return {entry: [alloca, line]}
    if _ENDS.match(place.lines[entry]):  # the first block has a label
        return {entry: [place.lines[entry], alloca], place.at: [line]}
    return {entry: [alloca, place.lines[entry]], place.at: [line]}


def _alignment(place: Place) -> Change | None:
    found = _ALIGN.match(place.line)
    return _only(place, f"{found[1]}{int(found[2]) * 16}{found[3]}") if found else None


def _length(place: Place) -> Change | None:
    found = _LENGTH.match(place.line)
    if found is None:
        return None
    if found[2].isdigit():
        return _only(place, f"{found[1]}{int(found[2]) - 1}{found[3]}") if found[2] != "0" else None
    return _only(
        place,
        f"  %planted.length = lshr i64 {found[2]}, 1",
        f"{found[1]}%planted.length{found[3]}",
    )


def _lost_case(place: Place) -> Change | None:
    """Give a case a value that hardly comes."""
    found = _CASE.match(place.line)
    if found is None:
        return None
    far = 2 ** (int(found[2]) - 1) - 3
    taken = any(place.lines[n].startswith(f"{found[1]}{far},") for n in _cases(place))
    return None if taken else _only(place, f"{found[1]}{far}{found[4]}")


def _cases(place: Place) -> Iterator[int]:
    for step in (-1, 1):
        number = place.at + step
        while _CASE.match(place.lines[number]):
            yield number
            number += step


def _exchange_cases(place: Place) -> Change | None:
    found, after = _CASE.match(place.line), _CASE.match(place.lines[place.at + 1])
    if found is None or after is None or found[4] == after[4]:
        return None
    return {
        place.at: [f"{found[1]}{after[3]}{found[4]}"],
        place.at + 1: [f"{after[1]}{found[3]}{after[4]}"],
    }


def _returned(place: Place) -> Change | None:
    found = _RETURN.match(place.line)
    return _only(place, f"  ret {found[1]} {_ZERO.get(found[1], '0')}{found[3]}") if found else None


def _promise_no_wrap(place: Place) -> Change | None:
    found = _BINARY.match(place.line)
    if found is None or found[3] not in ("add", "sub", "mul", "shl") or "nuw" in found[4]:
        return None
    return _only(place, f"{found[1]}{found[3]} nuw nsw{found[5]}{found[6]}, {found[7]}{found[8]}")


def _fast(place: Place) -> Change | None:
    """Allow every liberty with the floating-point numbers of a function."""
    found = _FLOAT.match(place.line)
    if found is None:
        return None
    change: Change = {}
    for number in range(place.first, _end_of(place)):
        one = _FLOAT.match(place.lines[number])
        if one is not None:
            change[number] = [f"{one[1]} fast{one[2]}"]
    return change


_FLOAT = re.compile(r"^(  %\S+ = (?:fadd|fsub|fmul|fdiv))( (?:float|double|<[^>]*>) .*)$")


def _promise_no_alias(place: Place) -> Change | None:
    """Say of every pointer that a function is given that nothing else leads there."""
    if not (_LOAD.match(place.line) or _STORE.match(place.line)):
        return None
    define = place.lines[place.first]
    if define.count("ptr noundef") + define.count("ptr ") < 2 or "noalias" in define:
        return None
    head, _, rest = define.partition("(")
    arguments, _, tail = rest.rpartition(") ")
    changed = re.sub(r"\bptr (?!noalias)", "ptr noalias ", arguments)
    if changed == arguments:
        return None
    return {place.first: [f"{head}({changed}) {tail}"]}


KINDS: dict[str, Kind] = {
    "flipped predicate": Kind(_predicates(_NEGATED)),
    "strictness of a predicate": Kind(_predicates(_STRICTNESS)),
    "signedness of a predicate": Kind(_predicates(_SIGNS)),
    "loop ends too early or late": Kind(_loop_end),
    "swapped operands": Kind(_swap_operands),
    "swapped select": Kind(_swap_arms),
    "swapped arguments": Kind(_swap_arguments),
    "swapped branch": Kind(_swap_branch),
    "removed branch": Kind(_one_way),
    "wrong phi incoming": Kind(_phi),
    "lost switch case": Kind(_lost_case),
    "exchanged switch cases": Kind(_exchange_cases),
    "off-by-one constant": Kind(_constant),
    "wrong GEP index": Kind(_index),
    "wrong memcpy length": Kind(_length),
    "sext for zext": Kind(_converts({"zext": "sext"})),
    "zext for sext": Kind(_converts({"sext": "zext"})),
    "truncated width": Kind(_narrow),
    "lost mask": Kind(_lost_mask),
    "lost negation": Kind(_lost_not),
    "lshr for ashr and back": Kind(_operators({"lshr": "ashr", "ashr": "lshr"})),
    "signedness of a division": Kind(
        _operators({"sdiv": "udiv", "udiv": "sdiv", "srem": "urem", "urem": "srem"})
    ),
    "changed operator": Kind(
        _operators({"add": "sub", "sub": "add", "mul": "add", "and": "or", "or": "xor"})
    ),
    "changed float operator": Kind(
        _operators({"fadd": "fsub", "fsub": "fadd", "fmul": "fdiv", "fdiv": "fmul"})
    ),
    "signedness of a conversion": Kind(
        _converts({"sitofp": "uitofp", "uitofp": "sitofp", "fptosi": "fptoui", "fptoui": "fptosi"})
    ),
    "fast-math reassociation": Kind(_fast, "function(reassociate,instcombine)"),
    "dropped store": Kind(_drop_store),
    "duplicated store": Kind(_repeat_store),
    "dropped call": Kind(_drop_call),
    "wrong return value": Kind(_returned),
    "reordered memory operations": Kind(_reorder),
    "load kept over a store": Kind(_stale),
    "uninitialised load": Kind(_uninitialised),
    "wrong alignment": Kind(_alignment),
    "wrap-around wrongly ruled out": Kind(
        _promise_no_wrap, "function(correlated-propagation,instcombine,simplifycfg,gvn)"
    ),
    "alias wrongly ruled out": Kind(
        _promise_no_alias, "function(gvn,dse,loop-mssa(licm),instcombine,simplifycfg)"
    ),
}
"""Every kind of edit by its name."""
