# SPDX-License-Identifier: MIT
"""What the tests of tunings leave out."""

import pytest

from compiler_gym.tools.tune import job


@pytest.fixture(autouse=True)
def no_rebuild(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Build no project with the plan of a `SimpleTuner`, which ``compiler-gym-cc`` cannot apply.

    That takes most of the time of such a tuning. ``test_rebuilding.py`` tests it.
    """
    names = vars(request.module)
    if "SimpleTuner" in names and not names["__name__"].endswith("test_rebuilding"):
        monkeypatch.setattr(job, "find_rebuild", lambda *_, **__: "")
