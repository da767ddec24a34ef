# SPDX-License-Identifier: MIT
"""MLIR's Python bindings, loaded once and without threads, so that workers can be forked.

Nothing else imports them: what they return has no types that a checker could follow, so it is
``Any`` here and gets its types where it is read.
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
"""What brings the bindings."""
_DISTRIBUTION = "xtc-mlir-python-bindings"
_MOST_QUOTED_LINE = 2000
_DIALECTS = ("func", "linalg", "tensor", "scf", "arith", "math", "vector", "memref", "affine",
             "transform")  # fmt: skip
"""What is loaded at once; the rest comes when it is read or made. Each canonicalization collects
the patterns of every dialect that is loaded, and of all of them that takes twice as long."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The parts of the bindings that we use, and the one context of this process."""

    ir: Any
    linalg: Any
    pass_manager: Any
    execution_engine: Any
    interpret: Any
    """``(payload, named_sequence, module_of_it)``: change `payload` as the sequence says."""
    context: Any
    version: str


@cache
def load() -> Bindings:
    """Return the bindings; raise `EnvironmentNotSupported` where there are none."""
    try:
        ir: Any = import_module("mlir.ir")
        linalg: Any = import_module("mlir.dialects.linalg")
        interpreter: Any = import_module("mlir.dialects.transform.interpreter")
        execution: Any = import_module("mlir.execution_engine")
        passes: Any = import_module("mlir.passmanager")
    except ImportError as error:
        raise EnvironmentNotSupported(
            f"MLIR's Python bindings cannot be loaded ({error}): install them with {INSTALL}"
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
            f"MLIR's Python bindings are not installed: install them with {INSTALL}"
        ) from error


@contextmanager
def report_diagnostics(what: str) -> Generator[None]:
    """Raise `CompilerDiagnosticError` with MLIR's own words where the block fails."""
    said: list[str] = []

    def keep(diagnostic: Any) -> bool:
        said.append(f"{diagnostic.location}: {diagnostic.message}")
        said.extend(f"note: {note.message}" for note in diagnostic.notes)
        return True

    loaded = load()
    handler = loaded.context.attach_diagnostic_handler(keep)
    try:
        with loaded.context:
            yield
    except (loaded.ir.MLIRError, RuntimeError, ValueError) as error:
        own = [str(one.message) for one in getattr(error, "error_diagnostics", ())]
        words = "\n".join(said or own or [str(error)])
        raise CompilerDiagnosticError(f"{what}: {words[:_MOST_QUOTED_LINE]}") from error
    finally:
        handler.detach()
