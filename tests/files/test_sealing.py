# SPDX-License-Identifier: MIT
import json
from typing import Any

import pytest

from compiler_gym.files import is_intact, seal

RECORD: dict[str, Any] = {"rows": 3, "name": "é", "failures": {"A": 1}, "nothing": None}


def test_a_record_that_was_sealed_is_intact_after_json() -> None:
    assert is_intact(json.loads(json.dumps(seal(RECORD))))
    assert seal(seal(RECORD)) == seal(RECORD)


def test_a_record_of_an_earlier_version_has_no_seal() -> None:
    assert is_intact(RECORD)


@pytest.mark.parametrize("change", [{"rows": 2}, {"failures": {}}, {"seal": "0"}, {"more": 1}])
def test_a_changed_record_is_not_intact(change: dict[str, Any]) -> None:
    assert not is_intact({**seal(RECORD), **change})
