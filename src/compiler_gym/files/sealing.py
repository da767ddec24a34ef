# SPDX-License-Identifier: MIT
"""Records of JSON that carry a digest of themselves, so that a damaged one is noticed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["is_intact", "seal"]

_SEAL = "seal"


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return `record` with its digest, in place of the one that it may have.

    >>> is_intact(seal({"rows": 3})), is_intact({**seal({"rows": 3}), "rows": 2})
    (True, False)
    """
    plain = {name: value for name, value in record.items() if name != _SEAL}
    text = json.dumps(plain, sort_keys=True)
    return {**plain, _SEAL: hashlib.sha256(text.encode()).hexdigest()[:16]}


def is_intact(record: Mapping[str, Any]) -> bool:
    """Return whether `record` is as it was sealed, or was written by a version without seals."""
    return _SEAL not in record or record == seal(record)
