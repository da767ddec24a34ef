# SPDX-License-Identifier: MIT
# ruff: noqa: E501 - lines of the transform dialect
"""Write a move as operations of the transform dialect.

Each piece finds its operation by tag, so that it has the same effect whether it runs alone on the
current payload or after all earlier pieces on the original payload.
"""

from collections.abc import Callable, Sequence

from compiler_gym_mlir.actions.moves import KINDS, Move, Numbers
from compiler_gym_mlir.state.operations import DYNAMIC, Operation

__all__ = ["MOST_LANES", "cleanup", "piece", "refusal", "retagging", "write_module"]

MOST_LANES = 16384
"""The largest vector of an operation, in elements: larger ones take LLVM minutes."""
_ANY = "!transform.any_op"
_MOST_ROWS = 2048
"""The most vectors along the last parallel loop: 4096 take 2 s to compile, 16384 take minutes."""
_MOST_UNROLLED = 64
_SOFTMAX_KINDS = ("tile", "parallel", "fuse", "decompose")


def piece(move: Move, operation: Operation | None, limits: Sequence[int], number: int) -> str:
    """Return the text of `move`; its values contain `number`, so that pieces can be joined.

    `limits` are the maximum lengths of the operation's loops.
    """
    if operation is None:
        return _FUNCTION_SCRIPTS[move.kind].format(n=number)
    match = (
        f'%o{number} = transform.structured.match attributes{{tag = "{move.operation}"}} '
        f"in %root : ({_ANY}) -> {_ANY}\n"
    )
    return match + _OPERATION_SCRIPTS[move.kind](move.numbers, operation, limits, number)


def cleanup(number: int) -> str:
    """Return the text that follows every piece: fold constants and remove dead code."""
    return (
        f'%c{number} = transform.structured.match ops{{["func.func"]}} in %root : ({_ANY}) -> {_ANY}\n'
        f"transform.apply_patterns to %c{number} {{\n"
        f"  transform.apply_patterns.canonicalization\n}} : {_ANY}\n"
        f"transform.apply_cse to %c{number} : {_ANY}\n"
    )


def retagging(count: int, names: dict[int, str], number: int) -> str:
    """Return the text that tags operations with `names`, by their index among all `count`."""
    results = ", ".join([_ANY] * count)
    lines = [
        f"%a{number} = transform.structured.match interface{{LinalgOp}} in %root : ({_ANY}) -> {_ANY}",
        f"%s{number}:{count} = transform.split_handle %a{number} : ({_ANY}) -> ({results})",
    ]
    for index, name in names.items():
        value = f"%k{number}_{index}"
        lines += [
            f'{value} = transform.param.constant "{name}" -> !transform.any_param',
            f'transform.annotate %s{number}#{index} "tag" = {value} : {_ANY}, !transform.any_param',
        ]
    return "\n".join(lines) + "\n"


def write_module(body: str) -> str:
    """Return a module for ``mlir-opt --transform-interpreter``."""
    inner = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        "module attributes {transform.with_named_sequence} {\n"
        f"  transform.named_sequence @__transform_main(%root: {_ANY}) {{\n"
        f"{inner}    transform.yield\n  }}\n}}\n"
    )


def refusal(move: Move, operation: Operation | None, limits: Sequence[int]) -> str | None:
    """Return the reason why `move` does not apply, or None; MLIR itself may still reject it."""
    if operation is None:
        return None
    loops = len(operation.bounds)
    numbers = move.numbers
    expected = KINDS[move.kind].numbers
    if operation.name == "linalg.softmax" and move.kind not in _SOFTMAX_KINDS:
        return "it is a softmax: decompose it first"
    if expected is Numbers.SIZES:
        return _refuse_sizes(move.kind, numbers, operation, limits)
    if expected is Numbers.ORDER and sorted(numbers) != list(range(loops)):
        return f"the numbers must be an order of the loops 0 to {loops - 1}"
    if expected is Numbers.ORDER and list(numbers) == sorted(numbers):
        return "the loops already have this order"
    if expected is Numbers.MULTIPLES and (len(numbers) != loops or min(numbers) < 1):
        return f"it needs {loops} numbers of at least 1"
    if expected is Numbers.MULTIPLES and _is_whole(numbers, operation.bounds):
        return "the loops are already multiples of these numbers"
    if expected is Numbers.FACTOR:
        if len(numbers) != 1 or not 2 <= numbers[0] <= _MOST_UNROLLED:
            return f"it needs one factor of 2 to {_MOST_UNROLLED}"
        return None if operation.depth else "no loop surrounds it: tile it first"
    if expected is Numbers.OPERAND:
        count = len(operation.inputs)
        if len(numbers) != 2 or numbers[0] >= count:
            return f"it needs an operand of 0 to {count - 1} and a number of loops"
        if numbers[1] > operation.depth:
            return f"only {operation.depth} loops surround it, not {numbers[1]}"
        if not operation.inputs[numbers[0]].shape:
            return f"operand {numbers[0]} is a scalar, so there is nothing to copy"
    if expected is Numbers.MAYBE_SIZES:
        return _refuse_vector(numbers, operation, limits)
    if move.kind == "im2col" and "conv_2d" not in operation.name:
        return "it is not a two-dimensional convolution"
    if move.kind == "generalize" and operation.name == "linalg.generic":
        return "it is already generic"
    if move.kind == "decompose":
        return _refuse_decomposition(operation)
    return None


def _reads_sums(operation: Operation) -> bool:
    accesses = (*operation.inputs, *operation.outputs)
    return any(sum(map(bool, row)) > 1 for access in accesses for row in access.matrix)


def _is_whole(multiples: Sequence[int], bounds: Sequence[int]) -> bool:
    pairs = zip(multiples, bounds, strict=True)
    return all(bound != DYNAMIC and bound % multiple == 0 for multiple, bound in pairs)


def _refuse_decomposition(operation: Operation) -> str | None:
    """Return the reason why an operation cannot be decomposed, or None.

    A softmax can, and a window of which one side is 1, in the filter and in the result.
    """
    if operation.name == "linalg.softmax":
        return None
    if not any(word in operation.name for word in ("conv_2d", "pooling")):
        return "it is neither a softmax nor a two-dimensional window"
    bounds = operation.bounds
    for row in operation.inputs[0].matrix:
        along = [loop for loop, factor in enumerate(row) if factor]
        if len(along) > 1 and all(bounds[loop] == 1 for loop in along):
            return None
    return "no side is 1 in both its window and its result: tile both to 1 first"


def _refuse_sizes(
    kind: str, numbers: Sequence[int], operation: Operation, limits: Sequence[int]
) -> str | None:
    loops = len(operation.bounds)
    if len(numbers) != loops:
        return f"it needs {loops} sizes, one for each loop"
    if not any(numbers):
        return "all sizes are 0, so there is nothing to split"
    for loop, (size, limit) in enumerate(zip(numbers, limits, strict=True)):
        if limit != DYNAMIC and size > limit:
            return f"loop {loop} has only {limit} iterations, fewer than {size}"
    same = all(size in (0, bound) for size, bound in zip(numbers, operation.bounds, strict=True))
    if same and kind != "pack":
        return "the blocks are as large as the loops, so nothing would change"
    reduced = [
        loop
        for loop, (size, iterator) in enumerate(zip(numbers, operation.iterators, strict=True))
        if size and iterator == "reduction"
    ]
    if kind == "parallel" and reduced:
        return f"loop {reduced[0]} is a reduction, whose iterations depend on each other"
    if reduced and operation.name == "linalg.softmax":
        return f"loop {reduced[0]} is the reduction of the softmax: decompose it first"
    if kind == "fuse" and reduced:
        return f"loop {reduced[0]} is a reduction: tile it instead, and fuse along parallel loops"
    return None


def _refuse_vector(
    numbers: Sequence[int], operation: Operation, limits: Sequence[int]
) -> str | None:
    if numbers and len(numbers) != len(operation.bounds):
        return f"it needs {len(operation.bounds)} lengths, one for each loop, or none"
    if _reads_sums(operation) and "_1d" not in operation.name:
        return "an operand is indexed with a sum of loops: decompose it or use im2col first"
    lanes = 1
    for loop, length in enumerate(numbers or limits):
        if length == DYNAMIC or length < 1:
            return f"loop {loop} has no maximum length: tile it first"
        if numbers and limits[loop] >= 0 and length < limits[loop]:
            return f"loop {loop} may have {limits[loop]} iterations, more than {length}"
        lanes *= length
    if lanes > MOST_LANES:
        return f"a vector would have {lanes} elements, more than {MOST_LANES}: tile it first"
    lengths = zip(numbers or limits, operation.iterators, strict=True)
    rows = lanes // next((n for n, kind in reversed([*lengths]) if kind == "parallel"), 1)
    if rows > _MOST_ROWS:
        return f"it would use {rows} short vectors, more than {_MOST_ROWS}: tile it first"
    return None


def _tile_script(sizes: Sequence[int], _: Operation, __: Sequence[int], n: int) -> str:
    results = ", ".join([_ANY] * (1 + sum(size > 0 for size in sizes)))
    count = sum(size > 0 for size in sizes)
    return (
        f"%t{n}, %l{n}:{count} = transform.structured.tile_using_for %o{n} tile_sizes "
        f"{list(sizes)} : ({_ANY}) -> ({results})\n"
    )


def _parallel(sizes: Sequence[int], _: Operation, __: Sequence[int], n: int) -> str:
    return (
        f"%t{n}, %l{n} = transform.structured.tile_using_forall %o{n} tile_sizes "
        f"{list(sizes)} : ({_ANY}) -> ({_ANY}, {_ANY})\n"
    )


def _fuse(sizes: Sequence[int], _: Operation, __: Sequence[int], n: int) -> str:
    count = sum(size > 0 for size in sizes)
    results = ", ".join([_ANY] * (1 + count))
    return (
        f"%t{n}, %l{n}:{count} = transform.structured.fuse %o{n} tile_sizes "
        f"{list(sizes)} : ({_ANY}) -> ({results})\n"
    )


def _interchange(order: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    first = "" if operation.name == "linalg.generic" else _generalize((), operation, (), n)
    source = f"%o{n}" if not first else f"%t{n}"
    return (
        first
        + (
            f"%i{n} = transform.structured.interchange {source} iterator_interchange = "
            f"{list(order)} : ({_ANY}) -> {_ANY}\n"
        )
        + ("" if not first else _annotate(f"%i{n}", operation.tag, n))
    )


def _generalize(_: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    return f"%t{n} = transform.structured.generalize %o{n} : ({_ANY}) -> {_ANY}\n" + _annotate(
        f"%t{n}", operation.tag, n, "g"
    )


def _decompose(_: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    word = "decompose_interface" if operation.name == "linalg.softmax" else "decompose"
    return f"%t{n} = transform.structured.{word} %o{n} : ({_ANY}) -> {_ANY}\n"


def _im2col(_: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    return (
        f"%t{n}, %m{n} = transform.structured.convert_conv2d_to_img2col %o{n} : "
        f"({_ANY}) -> ({_ANY}, {_ANY})\n"
    )


def _pad_script(multiples: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    return (
        f"%t{n}, %p{n}, %b{n} = transform.structured.pad %o{n} pad_to_multiple_of "
        f"{list(multiples)} {{padding_values = {_zeros(operation)}, padding_dimensions = "
        f'{list(range(len(multiples)))}, copy_back_op = "none"}} : '
        f"({_ANY}) -> ({_ANY}, {_ANY}, {_ANY})\n"
    )


def _promote(numbers: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    operand, loops = numbers
    count = len(operation.inputs) + len(operation.outputs)
    nofold = [int(index == operand) for index in range(count)]
    text = (
        f"%t{n}, %p{n}, %b{n} = transform.structured.pad %o{n} {{padding_values = "
        f"{_zeros(operation)}, padding_dimensions = {list(range(len(operation.bounds)))}, "
        f'nofold_flags = {nofold}, copy_back_op = "none"}} : ({_ANY}) -> ({_ANY}, {_ANY}, {_ANY})\n'
    )
    if not loops:
        return text
    return text + (
        f"%q{n} = transform.get_producer_of_operand %t{n}[{operand}] : ({_ANY}) -> {_ANY}\n"
        f'%r{n} = transform.cast %q{n} : {_ANY} to !transform.op<"tensor.pad">\n'
        f"%h{n} = transform.structured.hoist_pad %r{n} by {loops} loops : "
        f'(!transform.op<"tensor.pad">) -> {_ANY}\n'
    )


def _pack_script(sizes: Sequence[int], operation: Operation, __: Sequence[int], n: int) -> str:
    return (
        f"%t{n} = transform.structured.pack %o{n} packed_sizes = {list(sizes)} : "
        f'({_ANY}) -> !transform.op<"linalg.generic">\n'
        f'%u{n} = transform.cast %t{n} : !transform.op<"linalg.generic"> to {_ANY}\n'
        + _annotate(f"%u{n}", operation.tag, n)
    )


def _unroll(factor: Sequence[int], _: Operation, __: Sequence[int], n: int) -> str:
    return (
        f'%t{n} = transform.get_parent_op %o{n} {{op_name = "scf.for"}} : ({_ANY}) -> {_ANY}\n'
        f"transform.loop.unroll %t{n} {{factor = {factor[0]}}} : {_ANY}\n"
    )


def _vectorize(lengths: Sequence[int], operation: Operation, limits: Sequence[int], n: int) -> str:
    if not lengths and operation.is_dynamic:
        lengths = limits
    text = f"transform.structured.vectorize %o{n}"
    if lengths:
        text += f" vector_sizes {list(lengths)}"
    return f"{text} : {_ANY}\n" + _HOIST.format(n=n)


def _annotate(handle: str, tag: str, n: int, suffix: str = "") -> str:
    return (
        f'%v{n}{suffix} = transform.param.constant "{tag}" -> !transform.any_param\n'
        f'transform.annotate {handle} "tag" = %v{n}{suffix} : {_ANY}, !transform.any_param\n'
    )


def _zeros(operation: Operation) -> str:
    values: list[str] = []
    for operand in operation.handle.operands:
        element = str(getattr(operand.type, "element_type", operand.type))
        values.append(f"0.0 : {element}" if element[0] in "bf" else f"0 : {element}")
    return f"[{', '.join(values)}]"


_HOIST = """%f{n} = transform.structured.match ops{{["func.func"]}} in %root : (!transform.any_op) -> !transform.any_op
transform.apply_patterns to %f{n} {{
  transform.apply_patterns.vector.reduction_to_contract
  transform.apply_patterns.vector.lower_masked_transfers
  transform.apply_patterns.vector.cast_away_vector_leading_one_dim
  transform.apply_patterns.vector.transfer_permutation_patterns
  transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
  transform.apply_patterns.canonicalization
}} : !transform.any_op
%x{n} = transform.structured.match ops{{["scf.for"]}} in %f{n} : (!transform.any_op) -> !transform.any_op
transform.apply_licm to %x{n} : !transform.any_op
transform.loop.hoist_loop_invariant_subsets %x{n} : !transform.any_op
"""

_CONTRACT = """%f{{n}} = transform.structured.match ops{{{{["func.func"]}}}} in %root : (!transform.any_op) -> !transform.any_op
transform.apply_patterns to %f{{n}} {{{{
  transform.apply_patterns.vector.lower_contraction lowering_strategy = "{0}"
  transform.apply_patterns.vector.transfer_permutation_patterns
}}}} : !transform.any_op
"""

_FUNCTION_SCRIPTS = {
    "hoist": _HOIST,
    "outerproduct": _CONTRACT.format("outerproduct"),
    "dot": _CONTRACT.format("dot"),
    "parallelarith": _CONTRACT.format("parallelarith"),
}

_OPERATION_SCRIPTS: dict[str, Callable[[Sequence[int], Operation, Sequence[int], int], str]] = {
    "tile": _tile_script,
    "parallel": _parallel,
    "fuse": _fuse,
    "interchange": _interchange,
    "generalize": _generalize,
    "decompose": _decompose,
    "im2col": _im2col,
    "pad": _pad_script,
    "promote": _promote,
    "pack": _pack_script,
    "unroll": _unroll,
    "vectorize": _vectorize,
}
