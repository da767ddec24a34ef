# SPDX-License-Identifier: MIT
"""MLIR's Python bindings, loaded once and without threads, so that workers can be forked.

No other module imports them. They have no static types, so they are ``Any`` here, and values get
their types where they are read.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from compiler_gym.errors import CompilerDiagnosticError, EnvironmentNotSupported
from compiler_gym.version import install_hint

__all__ = ["INSTALL", "Bindings", "find_version", "load", "report_diagnostics"]

INSTALL = install_hint("mlir")
"""The command that installs the bindings."""
_DISTRIBUTION = "xtc-mlir-python-bindings"
_MOST_QUOTED_LINE = 2000
_DIALECTS = ("func", "linalg", "tensor", "scf", "arith", "math", "vector", "memref", "affine",
             "transform")  # fmt: skip
"""Dialects to load at once; others load when they are parsed or built. Each canonicalization
collects the patterns of every loaded dialect, which takes twice as long if all are loaded."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The parts of the bindings in use, and the only context of this process."""

    ir: Any
    linalg: Any
    pass_manager: Any
    execution_engine: Any
    interpret: Any
    """``(payload, named_sequence, module_of_it)``: transform `payload` with the sequence."""
    context: Any
    version: str


@cache
def load() -> Bindings:
    """Return the bindings; raise `EnvironmentNotSupported` if they are not installed."""
    try:
        ir: Any = import_module("mlir.ir")
        linalg: Any = import_module("mlir.dialects.linalg")
        interpreter: Any = import_module("mlir.dialects.transform.interpreter")
        execution: Any = import_module("mlir.execution_engine")
        passes: Any = import_module("mlir.passmanager")
    except ImportError as error:
        raise EnvironmentNotSupported(
            f"cannot load MLIR's Python bindings ({error}); install them with {INSTALL}"
        ) from error
    context: Any = ir.Context(load_on_create_dialects=_DIALECTS)
    context.enable_multithreading(False)  # a fork would keep none of the threads
    return Bindings(
        ir=ir,
        linalg=linalg,
        pass_manager=passes.PassManager,
        execution_engine=execution.ExecutionEngine,
        interpret=interpreter.apply_named_sequence,
        context=context,
        version=version(_DISTRIBUTION),
    )


def find_version() -> str:
    """Return the version of MLIR without loading it; raise `EnvironmentNotSupported` without it."""
    try:
        return f"MLIR {version(_DISTRIBUTION)}"
    except PackageNotFoundError as error:
        raise EnvironmentNotSupported(
            f"MLIR's Python bindings are not installed; install them with {INSTALL}"
        ) from error


@contextmanager
def report_diagnostics(title: str) -> Generator[None]:
    """Raise `CompilerDiagnosticError` with MLIR's message if the block fails."""
    messages: list[str] = []

    def keep(diagnostic: Any) -> bool:
        messages.append(f"{diagnostic.location}: {diagnostic.message}")
        messages.extend(f"note: {note.message}" for note in diagnostic.notes)
        return True

    loaded = load()
    handler = loaded.context.attach_diagnostic_handler(keep)
    try:
        with loaded.context:
            yield
    except (loaded.ir.MLIRError, RuntimeError, ValueError) as error:
        own = [str(diagnostic.message) for diagnostic in getattr(error, "error_diagnostics", ())]
        text = "\n".join(messages or own or [str(error)])
        raise CompilerDiagnosticError(f"{title}: {text[:_MOST_QUOTED_LINE]}") from error
    finally:
        handler.detach()
