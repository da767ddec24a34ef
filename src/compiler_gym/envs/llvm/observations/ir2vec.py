# SPDX-License-Identifier: MIT
"""Which vocabulary IR2Vec uses, and how long its vectors are.

Ours comes with the package; ``COMPILER_GYM_IR2VEC_VOCABULARY`` names another in LLVM's
JSON form, read when the first environment starts.
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
    """Return the file of the vocabulary."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(__file__).with_name("ir2vec_vocabulary.json")


@cache
def dimension() -> int:
    """Return the length of the vocabulary's vectors."""
    path = vocabulary_path()
    try:
        return len(next(iter(json.loads(read_regular(path))["Opcodes"].values())))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration) as error:
        raise EnvironmentNotSupported(
            f"expected a vocabulary of IR2Vec (JSON with Opcodes, Types and Arguments) in {path}, "
            f"found {str(error) or 'no opcode'}: correct or unset {VARIABLE}"
        ) from error
