# SPDX-License-Identifier: MIT
"""JSON records with a digest of themselves, so that damage can be detected."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["is_intact", "seal"]

_SEAL = "seal"


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return `record` with its digest, replacing an old one.

    >>> is_intact(seal({"rows": 3})), is_intact({**seal({"rows": 3}), "rows": 2})
    (True, False)
    """
    plain = {name: value for name, value in record.items() if name != _SEAL}
    text = json.dumps(plain, sort_keys=True)
    return {**plain, _SEAL: hashlib.sha256(text.encode()).hexdigest()[:16]}


def is_intact(record: Mapping[str, Any]) -> bool:
    """Return whether `record` matches its digest, or has none because an old version wrote it."""
    return _SEAL not in record or record == seal(record)
