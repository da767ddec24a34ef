# SPDX-License-Identifier: MIT
"""inst2vec's vocabulary of statements and their vectors, where the user has them.

Both were published with "Neural Code Comprehension" (Ben-Nun et al., 2018) and came with
CompilerGym 0.2.5; they are not ours to ship. ``COMPILER_GYM_INST2VEC`` names a folder
with ``dictionary.pickle`` and ``embeddings.pickle``, or ``dictionary.json`` and
``embeddings.npy``. Pickles are read for numbers, text and arrays alone: anything else in
one is refused and never run.
"""

import io
import json
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import DerivedObservation
from compiler_gym.errors import ObservationError
from compiler_gym.spaces import FreeBox, Scalar

__all__ = ["VARIABLE", "Vocabulary", "inst2vec_observations", "read_vocabulary"]

VARIABLE = "COMPILER_GYM_INST2VEC"
UNKNOWN = "!UNK"
DIMENSIONS = 200
_TEXTS = "Inst2vecPreprocessedText"


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Statements by their index, and a vector for each index."""

    dictionary: dict[str, int]
    embeddings: NDArray[np.float32]

    def indices(self, statements: Sequence[str]) -> NDArray[np.int32]:
        """Return the index of each statement; that of ``!UNK`` for one that is not known."""
        unknown = self.dictionary[UNKNOWN]
        found = [self.dictionary.get(statement, unknown) for statement in statements]
        return np.array(found, dtype=np.int32)

    def vectors(self, statements: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each statement, float32[n, 200]."""
        return self.embeddings[self.indices(statements)]

    def unknown_share(self, statements: Sequence[str]) -> float:
        """Return the share of statements that are not in the vocabulary; 0 of none."""
        missing = sum(statement not in self.dictionary for statement in statements)
        return missing / len(statements) if statements else 0.0


def inst2vec_observations() -> tuple[DerivedObservation, ...]:
    """Return the derived observations of inst2vec."""
    return (
        DerivedObservation(
            "Inst2vecEmbeddingIndices",
            _TEXTS,
            lambda statements: _vocabulary().indices(statements),
            lambda: FreeBox(0, 2**31 - 1, "Inst2vecEmbeddingIndices", (-1,), np.int32),
            "The index of each inst2vec statement in the published vocabulary, int32[n]; needs "
            f"{VARIABLE}.",
            default_value=np.zeros(0, dtype=np.int32),
        ),
        DerivedObservation(
            "Inst2vec",
            _TEXTS,
            lambda statements: _vocabulary().vectors(statements),
            _vectors_space,
            f"The published vector of each inst2vec statement, float32[n, {DIMENSIONS}]; needs "
            f"{VARIABLE}.",
            default_value=np.zeros((0, DIMENSIONS), dtype=np.float32),
        ),
        DerivedObservation(
            "Inst2vecUnknownShare",
            _TEXTS,
            lambda statements: _vocabulary().unknown_share(statements),
            lambda: Scalar("Inst2vecUnknownShare", 0, 1, dtype=float),
            f"The share of statements that inst2vec's vocabulary does not know; needs {VARIABLE}.",
            default_value=0.0,
        ),
    )


def read_vocabulary(folder: Path) -> Vocabulary:
    """Return the vocabulary in `folder`; raise `ObservationError` saying what is wrong with it."""
    dictionary = _read(folder, "dictionary.json", "dictionary.pickle")
    if not isinstance(dictionary, dict) or not isinstance(dictionary.get(UNKNOWN), int):
        raise ObservationError(
            f"expected a dictionary from statements to indices with {UNKNOWN!r} in {folder}"
        )
    embeddings = np.asarray(_read(folder, "embeddings.npy", "embeddings.pickle"), dtype=np.float32)
    largest = max(dictionary.values())
    if embeddings.ndim != 2 or embeddings.shape[1] != DIMENSIONS or len(embeddings) <= largest:
        raise ObservationError(
            f"expected embeddings of at least {largest + 1} rows of {DIMENSIONS} numbers in "
            f"{folder}, found an array of shape {embeddings.shape}"
        )
    return Vocabulary(dictionary, embeddings)


def _vocabulary() -> Vocabulary:
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise ObservationError(
            "inst2vec needs its published vocabulary: set "
            f"{VARIABLE} to a folder with dictionary.pickle and embeddings.pickle, as in "
            "compiler_gym/third_party/inst2vec of CompilerGym 0.2.5"
        )
    return _cached(Path(folder).expanduser())


@lru_cache(maxsize=2)
def _cached(folder: Path) -> Vocabulary:
    return read_vocabulary(folder)


def _vectors_space() -> gymnasium.Space[Any]:
    return FreeBox(-np.inf, np.inf, "Inst2vec", (-1, DIMENSIONS), np.float32)


def _read(folder: Path, plain: str, pickled: str) -> Any:
    try:
        if (folder / plain).is_file():
            data = (folder / plain).read_bytes()
            return json.loads(data) if plain.endswith("json") else np.load(io.BytesIO(data))
        return _PlainUnpickler(io.BytesIO((folder / pickled).read_bytes())).load()
    except (OSError, ValueError, EOFError, pickle.UnpicklingError) as error:
        raise ObservationError(f"cannot read {plain} or {pickled} in {folder}: {error}") from error


class _PlainUnpickler(pickle.Unpickler):
    """Reads arrays of numpy and Python's own plain values."""

    _ALLOWED = frozenset({"ndarray", "dtype", "_reconstruct", "scalar", "encode"})

    def find_class(self, module: str, name: str) -> Any:
        if name in self._ALLOWED and module.split(".")[0] in ("numpy", "_codecs"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"a pickle of numbers does not need {module}.{name}")
