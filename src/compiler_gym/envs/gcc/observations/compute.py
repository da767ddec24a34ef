# SPDX-License-Identifier: MIT
"""What the rows of the table name: how an observation is made of a program. Runs in a worker."""

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from compiler_gym.envs.gcc.actions import values_of
from compiler_gym.envs.gcc.machine.build import Builder
from compiler_gym.envs.gcc.machine.products import digest, instruction_counts, text_size
from compiler_gym.envs.gcc.machine.settings import Settings
from compiler_gym.envs.gcc.observations import TABLE
from compiler_gym.envs.gcc.observations.subject import Compiled, Finder, Words, text_of
from compiler_gym.envs.gcc.programs.memo import Facts
from compiler_gym.errors import SessionError

__all__ = ["COMPUTE", "ENGINE", "Computation"]


def _asm_facts(compiled: Compiled, words: Words) -> Facts:
    text = compiled.product(Builder.assembly, words)
    return {"asm_size": len(text), "asm_hash": digest(text)}


def _obj_facts(compiled: Compiled, words: Words) -> Facts:
    data = compiled.product(Builder.object, words)
    facts: Facts = {"obj_size": len(data), "obj_hash": digest(data)}
    with contextlib.suppress(SessionError):  # an object that is no ELF
        facts["text_size"] = text_size(data)
    return facts


def _text_facts(compiled: Compiled, words: Words) -> Facts:
    return {"text_size": text_size(compiled.product(Builder.object, words))}


def _counts(compiled: Compiled, words: Words) -> Facts:
    text = text_of(compiled.product(Builder.assembly, words))
    return {"instruction_counts": json.dumps(instruction_counts(text))}


_FACTS: Mapping[str, Finder] = {
    "asm_size": _asm_facts,
    "asm_hash": _asm_facts,
    "instruction_counts": _counts,
    "obj_size": _obj_facts,
    "obj_hash": _obj_facts,
    "text_size": _text_facts,
}
"""What finds a fact, which may find others on the way."""


def _fact(name: str, find: Finder) -> "Computation":
    return lambda compiled, settings: compiled.fact(name, settings.words, find)


def _action_mask(compiled: Compiled, settings: Settings) -> bytes:
    options = settings.options
    pending = settings.pending
    allowed = len(options) if pending is None else len(values_of(options[pending]))
    return bytes([1] * allowed + [0] * (compiled.width - allowed))


Computation = Callable[[Compiled, Settings], Any]
"""Makes the plain value of an observation."""

ENGINE: Mapping[str, Computation] = {
    "source": lambda compiled, settings: compiled.source(settings.words),
    "rtl": lambda compiled, settings: text_of(compiled.product(Builder.rtl, settings.words)),
    "asm": lambda compiled, settings: text_of(compiled.product(Builder.assembly, settings.words)),
    "obj": lambda compiled, settings: compiled.product(Builder.object, settings.words),
    **{name: _fact(name, find) for name, find in _FACTS.items()},
    "choices": lambda compiled, settings: list(settings.choices),
    "command_line": lambda compiled, settings: compiled.command_line(settings),
    "action_mask": _action_mask,
    "runtime": lambda compiled, settings: compiled.running().times(settings.words),
    "runtime_seconds": lambda compiled, settings: compiled.running().seconds(settings.words),
    "runtime_instructions": lambda compiled, settings: compiled.instructions(settings.words),
}
"""What the rows of the table name."""

COMPUTE = TABLE.bind(ENGINE)
"""What makes each observation, by its name."""
