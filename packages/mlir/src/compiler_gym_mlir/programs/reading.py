# SPDX-License-Identifier: MIT
"""Parse and check a payload, and tag its operations."""

import re
from typing import Any

from compiler_gym.errors import BenchmarkInitError, CompilerDiagnosticError
from compiler_gym_mlir.state.operations import handles_in, read_tag
from compiler_gym_mlir.toolchain.bindings import load, report_diagnostics

__all__ = ["ELEMENT_TYPES", "change_type", "find_entry", "payload_bytes", "read_payload"]

ELEMENT_TYPES = ("f32", "f64", "i32", "i64")
"""The supported element types."""


_F32 = re.compile(r"(?<![A-Za-z_])f32\b|(?<=x)f32\b")


def read_payload(source: str, name: str) -> Any:
    """Return the module in `source`; raise `BenchmarkInitError` if it is not supported."""
    loaded = load()
    try:
        with report_diagnostics(f"{name} does not parse"):
            module = loaded.ir.Module.parse(source)
            module.operation.verify()
    except CompilerDiagnosticError as error:
        raise BenchmarkInitError(str(error)) from error
    with loaded.context:
        entry = find_entry(module, name)
        _check_types(entry, name)
        _tag(module, name)
    return module


def find_entry(module: Any, name: str = "the payload") -> Any:
    """Return the only function of a payload."""
    operations = [operation.operation for operation in module.body.operations]
    unsupported = [operation.name for operation in operations if operation.name != "func.func"]
    if len(operations) != 1 or unsupported:
        names = ", ".join(operation.name for operation in operations) or "nothing"
        raise BenchmarkInitError(f"{name} must be one func.func with a body (got {names})")
    if not operations[0].regions[0].blocks:
        raise BenchmarkInitError(f"{name}: the function has no body; add one")
    return operations[0]


def change_type(source: str, element: str) -> str:
    """Return a float32 payload with elements of another floating-point type."""
    if element not in ("f32", "f64"):
        raise BenchmarkInitError(f"type={element} is not supported: use type=f32 or type=f64")
    if element == "f32":
        return source
    return _F32.sub("f64", source).replace("0xFF800000", "0xFFF0000000000000")


def payload_bytes(module: Any) -> int:
    """Return the size of the arguments and results in bytes."""
    ir = load().ir
    with load().context:
        entry = find_entry(module)
        kind = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
        total = 0
        for tensor in (*kind.inputs, *kind.results):
            size = int(str(tensor.element_type)[1:]) // 8
            for length in tensor.shape:
                size *= int(length)
            total += size
    return total


def _check_types(entry: Any, name: str) -> None:
    ir = load().ir
    kind = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
    if not kind.results:
        raise BenchmarkInitError(f"{name}: the function returns nothing; return tensors")
    for tensor in (*kind.inputs, *kind.results):
        if not isinstance(tensor, ir.RankedTensorType):
            raise BenchmarkInitError(f"{name}: {tensor} is not supported; use ranked tensors")
        if not tensor.has_static_shape:
            raise BenchmarkInitError(f"{name}: {tensor} has a dynamic shape; use fixed sizes")
        if str(tensor.element_type) not in ELEMENT_TYPES:
            raise BenchmarkInitError(
                f"{name}: {tensor} is not supported; use elements of {', '.join(ELEMENT_TYPES)}"
            )


def _tag(module: Any, name: str) -> None:
    ir = load().ir
    counts: dict[str, int] = {}
    used = {read_tag(handle) for handle in handles_in(module.operation)}
    tags_seen: set[str] = set()
    for handle in handles_in(module.operation):
        tag = read_tag(handle)
        if not tag:
            base = handle.name.removeprefix("linalg.")
            while not tag or tag in used:
                tag = f"{base}{counts.get(base, 0)}"
                counts[base] = counts.get(base, 0) + 1
            used.add(tag)
            handle.attributes["tag"] = ir.StringAttr.get(tag)
        elif tag in tags_seen or not tag.isidentifier():
            raise BenchmarkInitError(f"{name}: the tag {tag!r} is not an identifier or not unique")
        tags_seen.add(tag)
