# SPDX-License-Identifier: MIT
"""The engine's half of tails: describe functions, try tails on them, and keep the best.

These functions run in worker processes (``workers``), so they take and return plain values. A base
is the bitcode of a module after the pipeline of ``clang -Oz``; a tail is a pipeline of function
passes that follows it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from compiler_gym import _elf, _llvm
from compiler_gym.envs.llvm.observations import vocabulary_path

__all__ = [
    "COMPILER",
    "NOTHING",
    "Described",
    "count_instructions",
    "describe",
    "feature_names",
    "keep_fewest_bytes",
    "keep_smallest",
    "label",
    "label_bytes",
    "make_base",
    "read",
    "to_numbers",
]

Base = bytes | _llvm.Module
"""Bitcode, or the module that was read from it: reading takes as long as a few passes."""
COMPILER = f"LLVM {_llvm.LLVM_VERSION}"
_WIDTH = len(_llvm.function_feature_names())
_SIZE = _llvm.function_feature_names().index("Instructions")
NOTHING = "no-op-function"
"""The tail that does nothing."""


@dataclass(frozen=True, slots=True)
class Described:
    """The functions of a base that have a body, a row for each."""

    names: list[str]
    instructions: NDArray[np.int32]
    features: NDArray[np.float32]
    """`FunctionFeatures`, IR2Vec vectors, and the number of calls from the same module."""
    shapes: NDArray[np.int64]
    """Hashes that are equal for near duplicates."""

    def where(self, chosen: NDArray[np.bool_]) -> "Described":
        """Return the rows that `chosen` marks."""
        names = [name for name, is_chosen in zip(self.names, chosen, strict=True) if is_chosen]
        return Described(
            names, self.instructions[chosen], self.features[chosen], self.shapes[chosen]
        )


def feature_names() -> list[str]:
    """Return the names of the columns of `Described.features`."""
    vectors = (f"IR2Vec.{place}" for place in range(_vocabulary().dimension))
    return [*_llvm.function_feature_names(), *vectors, "Calls"]


def make_base(module: bytes) -> bytes:
    """Return the bitcode of a module after the pipeline of ``clang -Oz``."""
    base = _llvm.Module(module)
    base.apply_level("Oz")
    return base.bitcode()


def describe(base: Base) -> Described:
    """Return the functions of a base."""
    module = read(base)
    table = _llvm.function_table(module)
    names: list[str] = table["names"]
    shape = np.frombuffer(table["features"], "<i8").reshape(-1, _WIDTH)
    vectors = np.frombuffer(_vocabulary().symbolic(module)["functions"], "<f8")
    graph = _llvm.call_graph(module)
    calls = np.zeros(len(graph["names"]), np.float32)
    np.add.at(calls, np.frombuffer(graph["callee"], "<i4"), np.frombuffer(graph["calls"], "<i4"))
    callers = dict(zip(graph["names"], calls, strict=True))
    features = (
        shape,
        vectors.reshape(-1, _vocabulary().dimension),
        np.array([[callers[name]] for name in names]).reshape(-1, 1),
    )
    shapes = np.frombuffer(_llvm.function_shapes(module)["shapes"], "<i8")
    return Described(
        names, shape[:, _SIZE].astype(np.int32), np.hstack(features).astype(np.float32), shapes
    )


def label(
    base: Base, tails: Sequence[str], names: Sequence[str] | None = None
) -> tuple[Described, NDArray[np.int32]]:
    """Return the functions of a base, and the instructions that each tail leaves in each.

    With `names`, return these functions only.
    """
    module = read(base)
    described = describe(module)
    if names is not None:
        described = described.where(np.isin(described.names, list(names)))
    left, *_ = _llvm.try_on(module, [(name, tails) for name in described.names])
    shape = (len(described.names), len(tails))
    return described, np.frombuffer(left, "<i8").reshape(shape).astype(np.int32)


def label_bytes(
    base: bytes, tails: Sequence[str], names: Sequence[str] | None = None
) -> tuple[Described, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Like `label`, and then the bytes of each function and those that each tail leaves.

    Functions without separate code are left out: those of other modules, and those that share a
    section.
    """
    described = describe(base)
    known = _function_bytes(_llvm.Module(base)).keys() & (
        described.names if names is None else names
    )
    described = described.where(np.isin(described.names, list(known)))
    choices = [(name, [NOTHING, *tails]) for name in described.names]
    shape = (len(choices), len(tails) + 1)
    left, sizes = (values.reshape(shape).astype(np.int32) for values in _try_bytes(base, choices))
    return described, left[:, 1:], sizes[:, 0], sizes[:, 1:]


def _try_bytes(
    base: bytes, choices: Sequence[tuple[str, Sequence[str]]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the instructions that tails leave, and the bytes, in the order of `choices`.

    Code is generated once for each different result: for the first of each function together,
    then for the second of each, and so on.
    """
    counts, _, digests = _llvm.try_on(_llvm.Module(base), choices)
    pairs = [(name, tail) for name, tails in choices for tail in tails]
    keys = [(name, digest) for (name, _), digest in zip(pairs, to_numbers(digests), strict=True)]
    results: dict[str, dict[int, str]] = defaultdict(dict)
    for (name, digest), (_, tail) in zip(keys, pairs, strict=True):
        results[name].setdefault(digest, tail)
    sizes: dict[tuple[str, int], int] = {}
    rows = [[(name, *item) for item in own.items()] for name, own in results.items()]
    for layer in zip_longest(*rows):
        chosen = list(filter(None, layer))
        module, names = _llvm.Module(base), defaultdict[str, list[str]](list)
        for name, _, tail in chosen:
            names[tail].append(name)
        for tail, own in names.items():
            module.run_on(tail, own)
        _llvm.keep_bodies(module, [name for name, *_ in chosen])
        found = _function_bytes(module)
        sizes |= {(name, digest): found[name] for name, digest, _ in chosen}
    return np.frombuffer(counts, "<i8"), np.array([sizes[key] for key in keys], np.int64)


def _function_bytes(module: _llvm.Module) -> dict[str, int]:
    return _elf.function_bytes(_llvm.object_code_in_sections(module))


def to_numbers(data: bytes) -> list[int]:
    """Return the hashes of `try_on`."""
    return np.frombuffer(data, "<u8").tolist()


def keep_smallest(
    base: bytes, choices: Mapping[str, Sequence[str]], module: _llvm.Module | None = None
) -> tuple[bytes, int, int]:
    """Try the tails of each function on clones, and run the best of those that make it smaller.

    Return the new bitcode, and the number of instructions before and after. `module` is the base
    if it was read before, and is changed.
    """
    module = module or read(base)
    sizes = count_instructions(module)
    tails = [(name, list(own)) for name, own in choices.items()]
    _run_best(module, tails, np.frombuffer(_llvm.try_on(module, tails)[0], "<i8"), sizes)
    before, after = sum(sizes.values()), module.instruction_count()
    # Trials and runs agree in tests; should they ever differ, the base remains.
    return (module.bitcode(), before, after) if after < before else (base, before, before)


def keep_fewest_bytes(base: bytes, choices: Mapping[str, Sequence[str]]) -> tuple[bytes, int, int]:
    """Like `keep_smallest`, for the bytes of the functions that have separate code."""
    sizes = _function_bytes(_llvm.Module(base))
    tails = [(name, list(own)) for name, own in choices.items() if name in sizes]
    module = _llvm.Module(base)
    _run_best(module, tails, _try_bytes(base, tails)[1], sizes)
    bitcode = module.bitcode()
    before, after = sum(sizes.values()), sum(_function_bytes(module).values())
    return (bitcode, before, after) if after < before else (base, before, before)


def _run_best(
    module: _llvm.Module,
    choices: Sequence[tuple[str, Sequence[str]]],
    left: NDArray[np.int64],
    sizes: Mapping[str, int],
) -> None:
    """Run the tail of each function that leaves least, if that is less than its size."""
    remaining: list[int] = left.tolist()
    best: dict[str, list[str]] = {}
    for name, own in choices:
        results, remaining = remaining[: len(own)], remaining[len(own) :]
        if results and min(results) < sizes[name]:
            best.setdefault(own[results.index(min(results))], []).append(name)
    for tail, names in best.items():
        module.run_on(tail, names)


def read(base: Base) -> _llvm.Module:
    """Return the module of a base."""
    return _llvm.Module(base) if isinstance(base, bytes) else base


def count_instructions(module: _llvm.Module) -> dict[str, int]:
    """Return the instructions of each function that has a body."""
    table = _llvm.function_table(module)
    rows = np.frombuffer(table["features"], "<i8").reshape(-1, _WIDTH)
    return dict(zip(table["names"], rows[:, _SIZE].tolist(), strict=True))


@cache
def _vocabulary() -> _llvm.Ir2VecVocabulary:
    return _llvm.Ir2VecVocabulary(str(vocabulary_path()))
