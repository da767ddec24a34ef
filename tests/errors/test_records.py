# SPDX-License-Identifier: MIT
"""Records are written and read as those of CompilerGym 0.2.5 are."""

import json
from typing import Any

import pytest

from compiler_gym import CompilerEnvState, ValidationError, ValidationResult
from compiler_gym.errors.records import Record
from compiler_gym.validation import RungResult, Verdict

STATE = CompilerEnvState("cbench-v1/crc32", "opt -O1", 1.5, 0.25, state_hash="ab")
FINDING = ValidationError("wrong output", {"case": "small", "sizes": [1, 2]})
RUNG = RungResult("run", Verdict.FAILED, 0.5, "as it should", (FINDING,))
RESULT = ValidationResult(
    STATE, 2.5, benchmark_semantics_validation_failed=True, errors=(FINDING,), rungs=(RUNG,)
)


@pytest.mark.parametrize("record", [STATE, FINDING, RUNG, RESULT], ids=lambda r: type(r).__name__)
def test_a_record_that_was_written_is_read(record: Record) -> None:
    text = record.json()
    assert json.loads(text) == record.dict()
    for back in (
        type(record).parse_raw(text),
        type(record).parse_raw(text.encode()),
        type(record).parse_obj(record.dict()),
        record.copy(),
        record.copy(deep=True),
    ):
        assert type(back) is type(record)
        assert back == record
        assert back.dict() == record.dict()


def test_fields_are_read_with_their_types() -> None:
    back = ValidationResult.parse_raw(RESULT.json(indent=2))
    assert back.state == STATE
    assert back.errors == (FINDING,)
    assert back.rungs[0].verdict is Verdict.FAILED
    assert back.rungs[0].errors == (FINDING,)
    assert back.okay() is False
    assert RESULT.dict()["okay"] is False


def test_a_copy_is_changed_and_checked() -> None:
    assert STATE.copy(update={"reward": 1.0}).reward == 1.0
    assert STATE.reward == 0.25
    with pytest.raises(ValueError, match="walltime must be a finite number"):
        STATE.copy(update={"walltime": -1})
    shared, own = FINDING.copy(), FINDING.copy(deep=True)
    assert shared.data["sizes"] is FINDING.data["sizes"]
    assert own.data["sizes"] is not FINDING.data["sizes"]


def test_fields_are_chosen() -> None:
    assert STATE.dict(include={"reward", "walltime"}) == {"reward": 0.25, "walltime": 1.5}
    assert "state" not in json.loads(RESULT.json(exclude={"state"}))
    assert RESULT.dict(include={"okay"}) == {"okay": False}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"benchmark": 3}', '{"walltime": 1}', "{}", b"\xff", '{"colour": "red"}',
     '{"benchmark": "a-v0/b", "walltime": "long"}', "[" * 100_000],
)  # fmt: skip
def test_an_invalid_record_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|must be|needs a benchmark"):
        CompilerEnvState.parse_raw(text)
    with pytest.raises(ValueError, match="expected the"):
        ValidationResult.parse_raw(text)


def test_a_damaged_part_is_refused() -> None:
    plain = RESULT.dict()
    for field, wrong in (("state", 3), ("errors", [3]), ("rungs", [{"name": "run"}])):
        with pytest.raises(ValueError, match="expected the fields of a"):
            ValidationResult.parse_obj({**plain, field: wrong})
