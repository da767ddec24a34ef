# SPDX-License-Identifier: MIT
import pickle

import compiler_gym
from compiler_gym import errors, validation
from compiler_gym.errors.finding import ValidationError


def test_every_documented_path_leads_to_one_record() -> None:
    paths = (compiler_gym.ValidationError, errors.ValidationError, validation.ValidationError)
    assert all(found is ValidationError for found in paths)


def test_a_finding_survives_pickling_and_reads_as_a_sentence() -> None:
    finding = ValidationError("another cost is measured", {"recorded": 1, "measured": 2})
    assert pickle.loads(pickle.dumps(finding)) == finding
    assert str(finding) == "another cost is measured, recorded=1, measured=2"


def test_a_finding_is_not_an_error_that_a_worker_may_name() -> None:
    assert isinstance(errors.error_from_name("ValidationError", "x"), errors.SessionError)
