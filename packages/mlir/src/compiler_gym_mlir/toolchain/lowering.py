# SPDX-License-Identifier: MIT
# ruff: noqa: E501 - lines of the transform dialect
"""Lower a payload on tensors to machine code, always in the same way.

Remaining work is lowered in the simplest way: remaining linalg operations become loops, and
remaining contractions become outer products. Equal modules are compiled only once in a process,
as long as they are cached.
"""

import hashlib
import re
from collections import OrderedDict
from functools import cache
from typing import Any

from compiler_gym_mlir.state.pieces import write_module
from compiler_gym_mlir.toolchain.bindings import load, report_diagnostics
from compiler_gym_mlir.toolchain.running import Kernel, read_signature

__all__ = ["LEVEL", "bufferize", "compile_module", "compile_shortened", "lower"]

_KEPT_CODE = 64
LEVEL = 2
"""The level of LLVM's pipeline: level 3 makes no code here faster."""

_BUFFERS = (
    "canonicalize,cse,eliminate-empty-tensors,"
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map buffer-alignment=64},"
    "scf-forall-to-for,canonicalize,cse,buffer-results-to-out-params{hoist-static-allocs modify-public-functions},"
    "func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack{max-alloc-size-in-bytes=4096}),"
    "buffer-deallocation-pipeline,canonicalize,cse"
)
_CODE = (
    "func.func(llvm-request-c-wrappers,convert-linalg-to-loops),func.func(canonicalize,cse),"
    "expand-strided-metadata,lower-affine,func.func(lower-vector-mask),convert-vector-to-scf,"
    "convert-scf-to-cf,convert-vector-to-llvm{vector-contract-lowering=outerproduct},"
    "lower-affine,convert-math-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-ub-to-llvm,convert-index-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse"
)

_PACKS = """%p = transform.structured.match ops{["linalg.pack"]} in %root : (!transform.any_op) -> !transform.op<"linalg.pack">
%u = transform.structured.match ops{["linalg.unpack"]} in %root : (!transform.any_op) -> !transform.op<"linalg.unpack">
%0, %1, %2 = transform.structured.lower_pack %p : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
%3, %4, %5, %6 = transform.structured.lower_unpack %u : (!transform.op<"linalg.unpack">) -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">, !transform.op<"tensor.collapse_shape">, !transform.op<"tensor.extract_slice">)
"""
_SOFTMAX = """%m = transform.structured.match ops{["linalg.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
%d = transform.structured.decompose_interface %m : (!transform.any_op) -> !transform.any_op
"""
# In one set, `lower_transpose` and `lower_shape_cast` would undo each other for ever.
_VECTORS = """%f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
transform.apply_patterns to %f {
  transform.apply_patterns.vector.lower_masked_transfers
  transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
  transform.apply_patterns.vector.transfer_permutation_patterns
  transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerparallel"
  transform.apply_patterns.vector.lower_outerproduct
  transform.apply_patterns.vector.lower_broadcast
  transform.apply_patterns.vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true
  transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
  transform.apply_patterns.vector.lower_create_mask
  transform.apply_patterns.canonicalization
} : !transform.any_op
transform.apply_patterns to %f {
  transform.apply_patterns.vector.lower_shape_cast
  transform.apply_patterns.canonicalization
} : !transform.any_op
transform.apply_patterns to %f {
  transform.apply_patterns.vector.lower_transpose lowering_strategy = "shuffle_1d"
  transform.apply_patterns.canonicalization
} : !transform.any_op
"""

_COPY = re.compile(r"memref\.copy (%\S+), (%\S+) : (memref<.+>) to (memref<.+>)$", re.M)
_cache: OrderedDict[str, Kernel] = OrderedDict()


def bufferize(text: str) -> Any:
    """Return the module `text` with buffers instead of tensors; results become arguments."""
    with report_diagnostics("the module cannot be put into memory"):
        loaded = load()
        module = loaded.ir.Module.parse(text)
        if "linalg.softmax" in text:
            _transform(module, _SOFTMAX)
        if "linalg.pack" in text or "linalg.unpack" in text:
            _transform(module, _PACKS)
        _protect_arguments(module)
        _parse_pipeline(_BUFFERS).run(module.operation)
        # `memref.copy` would call a library that is not linked.
        plain = _COPY.sub(r"linalg.copy ins(\1 : \3) outs(\2 : \4)", str(module))
        return loaded.ir.Module.parse(plain)


def lower(text: str) -> Any:
    """Return the module `text` in the LLVM dialect."""
    return _in_llvm(bufferize(text), text)


def compile_module(text: str, level: int = LEVEL) -> Kernel:
    """Compile the module `text` to machine code at LLVM's ``-O`` `level`."""
    key = f"{level} {hashlib.sha256(text.encode()).hexdigest()}"
    if key not in _cache:
        _cache[key] = _kernel(lower(text), text, level)
        if len(_cache) > _KEPT_CODE:
            _cache.popitem(last=False)
    _cache.move_to_end(key)
    return _cache[key]


def compile_shortened(text: str, most: int, level: int = LEVEL) -> tuple[Kernel, float]:
    """Compile `text` plainly with fewer iterations of its outer loops; return also the factor by
    which the full program is longer.

    Every nest keeps the same share of its iterations, about `most` innermost ones in total.
    """
    module = bufferize(text)
    with report_diagnostics("the module cannot be lowered"):
        _parse_pipeline("func.func(convert-linalg-to-loops)").run(module.operation)
        body = module.body.operations[0].operation.regions[0].blocks[0]
        nests = [op.operation for op in body.operations if op.operation.name == "scf.for"]
        total = sum(map(_rounds, nests))
        for nest in nests:
            _shorten_loop(nest, most / max(1, total))
        remaining = sum(map(_rounds, nests))
    return _kernel(_in_llvm(module, text), text, level), total / max(1, remaining)


def _in_llvm(module: Any, text: str) -> Any:
    with report_diagnostics("the module cannot be lowered"):
        if "vector." in text:
            _transform(module, _VECTORS)
        _parse_pipeline(_CODE).run(module.operation)
    return module


def _kernel(module: Any, text: str, level: int) -> Kernel:
    loaded = load()
    with report_diagnostics("the module cannot be compiled"):
        inputs, outputs = read_signature(loaded.ir.Module.parse(text))
        engine = loaded.execution_engine(module, opt_level=level)
        return Kernel(engine, engine.lookup(_function_name(module)), inputs, outputs)


def _trips(loop: Any) -> int:
    low, high, step = (
        int(operand.owner.attributes["value"].value) for operand in list(loop.operands)[:3]
    )
    return max(0, -(-(high - low) // step))


def _loops_in(nest: Any) -> list[Any]:
    inner = nest.regions[0].blocks[0].operations
    return [op.operation for op in inner if op.operation.name == "scf.for"]


def _rounds(nest: Any) -> int:
    return _trips(nest) * max(1, sum(map(_rounds, _loops_in(nest))))


def _shorten_loop(nest: Any, share: float) -> None:
    """Reduce the outermost loop with more than one iteration to `share` of its iterations."""
    trips = _trips(nest)
    if trips == 1:
        for inner in _loops_in(nest):
            _shorten_loop(inner, share)
        return
    ir = load().ir
    low, step = (int(nest.operands[at].owner.attributes["value"].value) for at in (0, 2))
    count = max(1, min(trips, int(trips * share)))
    index = ir.IndexType.get()
    value = ir.IntegerAttr.get(index, low + count * step)
    with ir.InsertionPoint(nest), ir.Location.unknown():
        constant = ir.Operation.create(
            "arith.constant", results=[index], attributes={"value": value}
        )
    nest.operands[1] = constant.result


def _protect_arguments(module: Any) -> None:
    """Mark inputs as read-only, so that a second run sees the same values."""
    ir = load().ir
    function = module.body.operations[0].operation
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    fixed = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([fixed] * count)


def _function_name(module: Any) -> str:
    ir = load().ir
    for operation in module.body.operations:
        name = str(ir.StringAttr(operation.operation.attributes["sym_name"]).value)
        if name.startswith("_mlir_ciface_"):
            return name.removeprefix("_mlir_ciface_")
    raise ValueError("there is no function to call")


@cache
def _parse_pipeline(pipeline: str) -> Any:
    return load().pass_manager.parse(f"builtin.module({pipeline})")


def _transform(module: Any, body: str) -> None:
    loaded = load()
    script = loaded.ir.Module.parse(write_module(body))
    loaded.interpret(module.operation, script.body.operations[0], script.operation)
