# SPDX-License-Identifier: MIT
"""Reads a payload, says what is wrong with it, and gives its operations their tags."""

import re
from typing import Any

from compiler_gym.envs.mlir.state.operations import handles_in, read_tag
from compiler_gym.envs.mlir.toolchain.bindings import load, report_diagnostics
from compiler_gym.errors import BenchmarkInitError, CompilerDiagnosticError

__all__ = ["ELEMENT_TYPES", "change_type", "find_entry", "payload_bytes", "read_payload"]

ELEMENT_TYPES = ("f32", "f64", "i32", "i64")
"""The types of elements that are run, and checked."""


_F32 = re.compile(r"(?<![A-Za-z_])f32\b|(?<=x)f32\b")


def read_payload(source: str, name: str) -> Any:
    """Return the module that `source` writes; raise `BenchmarkInitError` if it is none of ours."""
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
    """Return the one function of a payload."""
    operations = [operation.operation for operation in module.body.operations]
    others = [operation.name for operation in operations if operation.name != "func.func"]
    if len(operations) != 1 or others:
        found = ", ".join(operation.name for operation in operations) or "nothing"
        raise BenchmarkInitError(f"{name}: expected one func.func with a body, found {found}")
    if not operations[0].regions[0].blocks:
        raise BenchmarkInitError(f"{name}: the function has no body: expected one")
    return operations[0]


def change_type(source: str, element: str) -> str:
    """Return a payload of float32 with elements of another type of floating point."""
    if element not in ("f32", "f64"):
        raise BenchmarkInitError(f"type={element}: expected type=f32 or type=f64")
    if element == "f32":
        return source
    return _F32.sub("f64", source).replace("0xFF800000", "0xFFF0000000000000")


def payload_bytes(module: Any) -> int:
    """Return the bytes of the arguments and the results."""
    ir = load().ir
    with load().context:
        entry = find_entry(module)
        kind = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
        total = 0
        for one in (*kind.inputs, *kind.results):
            size = int(str(one.element_type)[1:]) // 8
            for length in one.shape:
                size *= int(length)
            total += size
    return total


def _check_types(entry: Any, name: str) -> None:
    ir = load().ir
    kind = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
    if not kind.results:
        raise BenchmarkInitError(f"{name}: the function returns nothing: expected tensors")
    for one in (*kind.inputs, *kind.results):
        if not isinstance(one, ir.RankedTensorType):
            raise BenchmarkInitError(f"{name}: {one} is not run: expected tensors of a fixed rank")
        if not one.has_static_shape:
            raise BenchmarkInitError(f"{name}: {one} has a dynamic shape: expected fixed sizes")
        if str(one.element_type) not in ELEMENT_TYPES:
            raise BenchmarkInitError(
                f"{name}: {one} is not run: expected elements of {', '.join(ELEMENT_TYPES)}"
            )


def _tag(module: Any, name: str) -> None:
    ir = load().ir
    counts: dict[str, int] = {}
    taken = {read_tag(handle) for handle in handles_in(module.operation)}
    seen: set[str] = set()
    for handle in handles_in(module.operation):
        tag = read_tag(handle)
        if not tag:
            base = handle.name.removeprefix("linalg.")
            while not tag or tag in taken:
                tag = f"{base}{counts.get(base, 0)}"
                counts[base] = counts.get(base, 0) + 1
            taken.add(tag)
            handle.attributes["tag"] = ir.StringAttr.get(tag)
        elif tag in seen or not tag.isidentifier():
            raise BenchmarkInitError(f"{name}: the tag {tag!r} is no name, or not of one alone")
        seen.add(tag)
