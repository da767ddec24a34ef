# SPDX-License-Identifier: MIT
"""Train the vocabulary of IR2Vec that comes with this package.

    python -m compiler_gym.envs.llvm._train_ir2vec out.json

LLVM 22 computes IR2Vec but Debian ships no vocabulary for it. This one is learnt from the
bundled programs, as they are and after each of clang's levels: ``llvm-ir2vec-22`` lists
which opcode has which type, operands and successor, and TransE places what is related at
a relation's distance. Fixed seeds, one thread and float64: the same file comes out on
machines with the same numpy. A vocabulary trained on more code can be named instead
(`COMPILER_GYM_IR2VEC_VOCABULARY`).
"""

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from compiler_gym.datasets import BundledPrograms

__all__ = ["train"]

TOOL = "llvm-ir2vec-22"
LEVELS = (None, "O1", "O2", "O3", "Os", "Oz")
DIMENSIONS = 75
EPOCHS, BATCH, MARGIN, RATE, NEGATIVES = 400, 512, 1.0, 0.05, 4
Triplets = NDArray[np.int64]


def train(triplets: Triplets, weights: NDArray[np.float64], entities: int) -> NDArray[np.float64]:
    """Return a vector of length at most 1 for each entity, by TransE (Bordes et al., 2013).

    A row of `triplets` is (head, tail, relation); `weights` says how often to draw it.
    """
    rng = np.random.default_rng(0)
    bound = 6 / np.sqrt(DIMENSIONS)
    vectors = rng.uniform(-bound, bound, (entities, DIMENSIONS))
    relations = rng.uniform(-bound, bound, (int(triplets[:, 2].max()) + 1, DIMENSIONS))
    relations /= np.linalg.norm(relations, axis=1, keepdims=True)
    known = {tuple(row) for row in triplets.tolist()}
    steps = max(len(triplets) // BATCH, 8)
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        for _ in range(steps):
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
            rows = triplets[rng.choice(len(triplets), BATCH, p=weights)]
            for _ in range(NEGATIVES):
                _step(vectors, relations, rows, _corrupted(rows, entities, known, rng), rate)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


def _corrupted(
    rows: Triplets, entities: int, known: set[tuple[int, ...]], rng: np.random.Generator
) -> Triplets:
    """Return `rows` with their head or tail replaced; what is true after all stays as it was."""
    wrong = rows.copy()
    side = rng.integers(2, size=len(rows))
    wrong[np.arange(len(rows)), side] = rng.integers(entities, size=len(rows))
    true = np.fromiter((tuple(row) in known for row in wrong.tolist()), bool, len(rows))
    wrong[true] = rows[true]
    return wrong


def _step(
    vectors: NDArray[np.float64],
    relations: NDArray[np.float64],
    right: Triplets,
    wrong: Triplets,
    rate: float,
) -> None:
    """Pull true triplets together and push false ones apart, where the margin is not kept."""

    def apart(rows: Triplets) -> NDArray[np.float64]:
        return vectors[rows[:, 0]] + relations[rows[:, 2]] - vectors[rows[:, 1]]

    near, far = apart(right), apart(wrong)
    near_length, far_length = np.linalg.norm(near, axis=1), np.linalg.norm(far, axis=1)
    active = (MARGIN + near_length - far_length > 0) & (right != wrong).any(axis=1)
    for rows, gap, length, sign in (
        (right, near, near_length, 1.0),
        (wrong, far, far_length, -1.0),
    ):
        pull = -rate * sign * gap[active] / np.maximum(length[active, None], 1e-9)
        np.add.at(vectors, rows[active, 0], pull)
        np.add.at(vectors, rows[active, 1], -pull)
        np.add.at(relations, rows[active, 2], pull / len(rows))


def _entities() -> list[str]:
    lines = subprocess.run([TOOL, "entities"], capture_output=True, text=True, check=True).stdout
    return [line.split("\t")[0] for line in lines.splitlines()[1:]]


def _triplets_of(bitcode: bytes) -> Counter[tuple[int, ...]]:
    with tempfile.NamedTemporaryFile(suffix=".bc") as file:
        file.write(bitcode)
        file.flush()
        command = [TOOL, "triplets", file.name]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in lines.splitlines() if not line.startswith("MAX_RELATION"))
    return Counter(tuple(map(int, row)) for row in rows)


def _corpus() -> Counter[tuple[int, ...]]:
    from compiler_gym import _llvm

    seen: Counter[tuple[int, ...]] = Counter()
    for program in BundledPrograms().benchmarks():
        for level in LEVELS:
            module = _llvm.Module(program.contents)
            if level is not None:
                module.apply_level(level)
            seen.update(_triplets_of(module.bitcode()))
    return seen


def _vocabulary(
    names: list[str], vectors: NDArray[np.float64]
) -> dict[str, dict[str, list[float]]]:
    sections: dict[str, dict[str, list[float]]] = {"Opcodes": {}, "Types": {}, "Arguments": {}}
    for name, vector in zip(names, np.round(vectors, 5).tolist(), strict=True):
        sections[_section(name)][name] = vector
    return sections


def _section(name: str) -> str:
    if name.endswith("Ty"):
        return "Types"
    operands = ("Function", "Pointer", "Constant", "Variable")
    return "Arguments" if name in operands or name[:5] in ("FCMP_", "ICMP_") else "Opcodes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    names, seen = _entities(), _corpus()
    triplets = np.array(sorted(seen), dtype=np.int64)
    counts = np.array([seen[tuple(row)] for row in triplets.tolist()], dtype=np.float64)
    weights = counts**0.5
    vectors = train(triplets, weights / weights.sum(), len(names))
    text = json.dumps(_vocabulary(names, vectors), separators=(",", ":"))
    options.output.write_text(text.replace("],", "],\n") + "\n")
    print(f"{len(names)} entities from {int(counts.sum()):,} triplets, {len(triplets)} different")


if __name__ == "__main__":
    main()
