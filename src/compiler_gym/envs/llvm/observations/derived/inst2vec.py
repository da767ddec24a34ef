# SPDX-License-Identifier: MIT
"""inst2vec's vocabulary of statements and their vectors, if the user provides them.

Both were published with "Neural Code Comprehension" (Ben-Nun et al., 2018) and were part of
CompilerGym 0.2.5, but are not distributed with this library.
``COMPILER_GYM_INST2VEC`` names the wheel of CompilerGym 0.2.5, or a folder with
``dictionary.pickle`` and ``embeddings.pickle`` or with ``dictionary.json`` and ``embeddings.npy``.
A pickle may contain only numbers, text and arrays: anything else is rejected and never run.
"""

import io
import json
import os
import pickle
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import DerivedObservation
from compiler_gym.errors import ObservationError
from compiler_gym.files import read_regular
from compiler_gym.spaces import FreeBox, Scalar

__all__ = ["VARIABLE", "Vocabulary", "inst2vec_observations", "read_vocabulary"]

VARIABLE = "COMPILER_GYM_INST2VEC"
UNKNOWN = "!UNK"
DIMENSIONS = 200
_TEXT_OBSERVATION = "Inst2vecPreprocessedText"
_LABEL = "; <label>:"
_UNREADABLE = (
    *(OSError, ValueError, EOFError, LookupError, TypeError, AttributeError, ImportError),
    *(pickle.UnpicklingError, zipfile.BadZipFile),
)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The index of each statement, and a vector for each index."""

    dictionary: dict[str, int]
    embeddings: NDArray[np.float32]

    def indices(self, statements: Sequence[str]) -> NDArray[np.int32]:
        """Return the index of each statement; unknown statements get the index of ``!UNK``."""
        unknown = self.dictionary[UNKNOWN]
        indices = [self.dictionary.get(statement, unknown) for statement in statements]
        return np.array(indices, dtype=np.int32)

    def vectors(self, statements: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each statement, float32[n, 200]."""
        return self.embeddings[self.indices(statements)]

    def unknown_share(self, statements: Sequence[str]) -> float:
        """Return the share of statements that are not in the vocabulary; 0 if there are none.

        Labels do not count because the vocabulary contains none.
        """
        counted = [statement for statement in statements if not statement.startswith(_LABEL)]
        missing = sum(statement not in self.dictionary for statement in counted)
        return missing / len(counted) if counted else 0.0


def inst2vec_observations() -> tuple[DerivedObservation, ...]:
    """Return the derived observations of inst2vec."""
    return (
        DerivedObservation(
            "Inst2vecEmbeddingIndices",
            _TEXT_OBSERVATION,
            lambda statements: _vocabulary().indices(statements),
            lambda: FreeBox(0, 2**31 - 1, "Inst2vecEmbeddingIndices", (-1,), np.int32),
            "The index of each inst2vec statement in the published vocabulary, int32[n]; needs "
            f"{VARIABLE}.",
            default_value=np.zeros(0, dtype=np.int32),
        ),
        DerivedObservation(
            "Inst2vec",
            _TEXT_OBSERVATION,
            lambda statements: _vocabulary().vectors(statements),
            _vectors_space,
            f"The published vector of each inst2vec statement, float32[n, {DIMENSIONS}]; needs "
            f"{VARIABLE}.",
            default_value=np.zeros((0, DIMENSIONS), dtype=np.float32),
        ),
        DerivedObservation(
            "Inst2vecUnknownShare",
            _TEXT_OBSERVATION,
            lambda statements: _vocabulary().unknown_share(statements),
            lambda: Scalar("Inst2vecUnknownShare", 0, 1, dtype=float),
            f"The share of statements that are not in inst2vec's vocabulary; needs {VARIABLE}.",
            default_value=0.0,
        ),
    )


def read_vocabulary(source: Path) -> Vocabulary:
    """Return the vocabulary in the folder or wheel `source`.

    Raises `ObservationError` if it cannot be read or is not valid.
    """
    data = _read_resource(source, "dictionary.json", "dictionary.pickle")
    dictionary = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if UNKNOWN not in dictionary or not all(
        isinstance(index, int) and index >= 0 for index in dictionary.values()
    ):
        raise ObservationError(
            f"the dictionary in {source} must map statements, including {UNKNOWN!r}, to indices"
        )
    embeddings = _float_array(_read_resource(source, "embeddings.npy", "embeddings.pickle"), source)
    largest = max(dictionary.values())
    if embeddings.ndim != 2 or embeddings.shape[1] != DIMENSIONS or len(embeddings) <= largest:
        raise ObservationError(
            f"the embeddings in {source} must have at least {largest + 1} rows of {DIMENSIONS} "
            f"numbers (got an array of shape {embeddings.shape})"
        )
    # The published dictionary has two spaces before a string; statements have one.
    spaced = {statement.replace("  ", " "): index for statement, index in dictionary.items()}
    return Vocabulary(spaced | dictionary, embeddings)


def _vocabulary() -> Vocabulary:
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise ObservationError(
            "inst2vec needs its published vocabulary; set "
            f"{VARIABLE} to the wheel of CompilerGym 0.2.5 (`pip download --no-deps "
            "compiler_gym==0.2.5`), or to a folder with dictionary.pickle and embeddings.pickle"
        )
    return _read_cached(Path(folder).expanduser())


@lru_cache(maxsize=2)
def _read_cached(folder: Path) -> Vocabulary:
    return read_vocabulary(folder)


def _vectors_space() -> gymnasium.Space[Any]:
    return FreeBox(-np.inf, np.inf, "Inst2vec", (-1, DIMENSIONS), np.float32)


def _float_array(data: Any, source: Path) -> NDArray[np.float32]:
    try:
        return np.asarray(data, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise ObservationError(f"the embeddings in {source} are not numbers: {error}") from error


def _read_resource(source: Path, plain: str, pickled: str) -> Any:
    try:
        if source.is_file():
            return _PlainUnpickler(io.BytesIO(_from_wheel(source, pickled))).load()
        if (source / plain).is_file():
            data = read_regular(source / plain)
            return json.loads(data) if plain.endswith("json") else np.load(io.BytesIO(data))
        return _PlainUnpickler(io.BytesIO(read_regular(source / pickled))).load()
    except _UNREADABLE as error:
        raise ObservationError(f"cannot read {plain} or {pickled} in {source}: {error}") from error


def _from_wheel(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        members = [m for m in archive.namelist() if m.endswith(f"third_party/inst2vec/{name}")]
        if not members:
            raise ValueError(f"the archive has no third_party/inst2vec/{name}")
        return archive.read(members[0])


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler that accepts only numpy arrays and plain Python values."""

    _ALLOWED = frozenset({"ndarray", "dtype", "_reconstruct", "scalar", "encode"})

    def find_class(self, module: str, name: str) -> Any:
        if name in self._ALLOWED and module.split(".")[0] in ("numpy", "_codecs"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed in a pickle of numbers")
