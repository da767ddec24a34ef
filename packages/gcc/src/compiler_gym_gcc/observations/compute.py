# SPDX-License-Identifier: MIT
"""The functions that compute the observations of a program. Runs in a worker."""

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from compiler_gym.errors import SessionError
from compiler_gym_gcc.actions import list_values
from compiler_gym_gcc.observations import TABLE
from compiler_gym_gcc.programs.memo import Facts
from compiler_gym_gcc.state.program import Finder, Program, Words, decode_text
from compiler_gym_gcc.state.settings import Settings
from compiler_gym_gcc.toolchain.build import Builder
from compiler_gym_gcc.toolchain.products import digest, instruction_counts, text_size

__all__ = ["COMPUTE", "ENGINE", "Computation"]


def _asm_facts(program: Program, words: Words) -> Facts:
    text = program.product(Builder.assembly, words)
    return {"asm_size": len(text), "asm_hash": digest(text)}


def _obj_facts(program: Program, words: Words) -> Facts:
    data = program.product(Builder.object, words)
    facts: Facts = {"obj_size": len(data), "obj_hash": digest(data)}
    with contextlib.suppress(SessionError):  # the object is not an ELF file
        facts["text_size"] = text_size(data)
    return facts


def _text_facts(program: Program, words: Words) -> Facts:
    return {"text_size": text_size(program.product(Builder.object, words))}


def _counts(program: Program, words: Words) -> Facts:
    text = decode_text(program.product(Builder.assembly, words))
    return {"instruction_counts": json.dumps(instruction_counts(text))}


_FINDERS: Mapping[str, Finder] = {
    "asm_size": _asm_facts,
    "asm_hash": _asm_facts,
    "instruction_counts": _counts,
    "obj_size": _obj_facts,
    "obj_hash": _obj_facts,
    "text_size": _text_facts,
}
"""The function that computes each fact; it can compute other facts too."""


def _fact(name: str, find: Finder) -> "Computation":
    return lambda program, settings: program.fact(name, settings.words, find)


def _action_mask(program: Program, settings: Settings) -> bytes:
    options = settings.options
    pending = settings.pending
    allowed = len(options) if pending is None else len(list_values(options[pending]))
    return bytes([1] * allowed + [0] * (program.width - allowed))


Computation = Callable[[Program, Settings], Any]
"""Computes the plain value of an observation."""

ENGINE: Mapping[str, Computation] = {
    "source": lambda program, settings: program.source(settings.words),
    "rtl": lambda program, settings: decode_text(program.product(Builder.rtl, settings.words)),
    "asm": lambda program, settings: decode_text(program.product(Builder.assembly, settings.words)),
    "obj": lambda program, settings: program.product(Builder.object, settings.words),
    **{name: _fact(name, find) for name, find in _FINDERS.items()},
    "choices": lambda program, settings: list(settings.choices),
    "command_line": lambda program, settings: program.command_line(settings),
    "action_mask": _action_mask,
    "runtime": lambda program, settings: program.running().times(settings.words),
    "runtime_seconds": lambda program, settings: program.running().seconds(settings.words),
    "runtime_instructions": lambda program, settings: program.instructions(settings.words),
}
"""The functions that the rows of the table name."""

COMPUTE = TABLE.bind(ENGINE)
"""The function that computes each observation, by name."""
