# SPDX-License-Identifier: MIT
"""Tokens, compared with those of LLVM's own lexer."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import BenchmarkInitError

PROGRAMS = sorted(Path(__file__).parents[2].glob("programs/*/*.bc"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_tokens_of_a_program_are_those_of_llvm_s_lexer(path: Path) -> None:
    module = _llvm.Module(path.read_bytes())
    found = _llvm.lexed_ir(module)
    assert found == _llvm.lexed_text_by_llvm(found["text"])


@pytest.mark.parametrize("level", ["O0", "O2", "Oz"])
def test_the_tokens_of_the_corpus_are_those_of_llvm_s_lexer(
    corpus: dict[str, bytes], level: str
) -> None:
    for data in corpus.values():
        module = _llvm.Module(data)
        module.apply_level(level)
        found = _llvm.lexed_ir(module)
        assert found == _llvm.lexed_text_by_llvm(found["text"])


@pytest.mark.parametrize(
    "text",
    [
        b"+0x1F, /* a C comment */ x",
        b'"a label": %"quoted name" = add i32 1, 2',
        b"-a.label: .5: $x: $0:",
        b'^0 = module: (path: "x")',
        b"!\\66oo = !{}",
        b"cc 10 cc10 u0xFF s0x1 1.0e5 1.5e+ 7x",
        b'c"text" "unterminated',
        b"\x01",
    ],
)
def test_text_that_llvm_does_not_print_is_left_to_its_lexer(text: bytes) -> None:
    def outcome(read: Callable[[bytes], object]) -> object:
        try:
            return read(text)
        except BenchmarkInitError as error:
            return str(error)

    assert outcome(_llvm.lexed_text) == outcome(_llvm.lexed_text_by_llvm)
