# SPDX-License-Identifier: MIT
"""The vocabulary of IR2Vec and the length of its vectors.

The package contains one; ``COMPILER_GYM_IR2VEC_VOCABULARY`` names another file in LLVM's JSON
format, which is read when the first environment starts.
"""

import json
import os
from functools import cache
from pathlib import Path

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym.files import read_regular

__all__ = ["VARIABLE", "dimension", "vocabulary_path"]

VARIABLE = "COMPILER_GYM_IR2VEC_VOCABULARY"


def vocabulary_path() -> Path:
    """Return the path of the vocabulary."""
    path = os.environ.get(VARIABLE)
    return Path(path) if path else Path(__file__).with_name("ir2vec_vocabulary.json")


@cache
def dimension() -> int:
    """Return the length of the vocabulary's vectors."""
    path = vocabulary_path()
    try:
        return len(next(iter(json.loads(read_regular(path))["Opcodes"].values())))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration) as error:
        raise EnvironmentNotSupported(
            f"{path} is not an IR2Vec vocabulary (JSON with Opcodes, Types and Arguments): "
            f"{str(error) or 'no opcode'}; correct or unset {VARIABLE}"
        ) from error
