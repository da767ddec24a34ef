# SPDX-License-Identifier: MIT
"""Operations on whole modules outside of episodes: link, split and clean them.

The engine never runs in the user's process, so this file has two halves: a function that starts a
short-lived process, and the code that runs in that process.
"""

import re
import subprocess
import sys
from typing import Any

import msgspec

from compiler_gym.datasets import FunctionShape
from compiler_gym.envs.llvm.toolchain.symbols import list_copies, read_symbols
from compiler_gym.errors import (
    BenchmarkInitError,
    BenchmarkTimeoutError,
    error_from_name,
)

__all__ = ["run_engine"]


_STANDARD = re.compile(r"_Z(N[VKO]*)?(S[tabsiod]|9__gnu_cxx)")
"""Mangled C++ names in the standard library's namespaces."""


class _Answer(msgspec.Struct):
    modules: list[bytes]
    error: str = ""
    message: str = ""


def run_engine(operation: str, modules: list[bytes], *, timeout: float = 300) -> list[bytes]:
    """Return the result of `operation`, one of those in `main`, on `modules`.

    For each module, ``symbols`` returns a text with the symbols that it defines, a zero byte and
    those that it needs; ``copies`` one with the functions that other modules also have; ``counts``
    returns JSON with the numbers of instructions and of functions with a body; ``shapes`` returns a
    list of `FunctionShape` in MessagePack.
    """
    try:
        result = subprocess.run(
            [sys.executable, "-m", "compiler_gym.envs.llvm.toolchain.engine", operation],
            input=msgspec.msgpack.encode(modules),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkTimeoutError(f"cannot {operation}: no answer within {timeout:g} s") from None
    try:
        answer = msgspec.msgpack.decode(result.stdout, type=_Answer)
    except msgspec.DecodeError:
        raise BenchmarkInitError(
            f"cannot {operation}: the process exited with status {result.returncode}"
        ) from None
    if answer.error:
        raise error_from_name(answer.error, answer.message)
    return answer.modules


def _symbols(text: str) -> bytes:
    return "\0".join("\n".join(sorted(names)) for names in read_symbols(text)).encode()


def _shapes(table: dict[str, Any]) -> bytes:
    sizes = memoryview(table["instructions"]).cast("q")
    rows = zip(
        table["names"], memoryview(table["shapes"]).cast("q"), sizes, table["is_odr"], strict=True
    )
    return msgspec.msgpack.encode(
        [
            FunctionShape(shape, size, bool(is_odr) and _STANDARD.match(name) is not None)
            for name, shape, size, is_odr in rows
        ]
    )


def _instructions_and_functions(data: bytes) -> bytes:
    from compiler_gym import _llvm

    module = _llvm.Module(data)
    functions = len(_llvm.function_table(module)["names"])
    return msgspec.json.encode((module.instruction_count(), functions))


def main() -> None:
    """Run the operation named in the argument on the modules on standard input."""
    from compiler_gym import _llvm

    modules = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[bytes])
    try:
        if sys.argv[1] == "link":
            answer = _Answer([_llvm.link_modules(modules)])
        elif sys.argv[1] == "strip":
            answer = _Answer([_llvm.strip_noop_bitcasts(module) for module in modules])
        elif sys.argv[1] == "counts":
            answer = _Answer([_instructions_and_functions(module) for module in modules])
        elif sys.argv[1] == "symbols":
            answer = _Answer([_symbols(_llvm.Module(module).text()) for module in modules])
        elif sys.argv[1] == "copies":
            texts = [_llvm.Module(module).text() for module in modules]
            answer = _Answer(["\n".join(sorted(list_copies(text))).encode() for text in texts])
        elif sys.argv[1] == "shapes":
            answer = _Answer([_shapes(_llvm.function_shapes(_llvm.Module(m))) for m in modules])
        else:
            answer = _Answer([part for _, part in _llvm.split_functions(modules[0])])
    except Exception as error:  # process boundary: every error is sent as an answer
        answer = _Answer([], error=type(error).__name__, message=str(error))
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer))


if __name__ == "__main__":
    main()
