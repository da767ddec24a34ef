# SPDX-License-Identifier: MIT
"""What the tests of tunings leave out."""

import pytest

from compiler_gym.tools.tune import job
from tests.stand_ins import always


@pytest.fixture(autouse=True, scope="module")
def no_rebuild(request: pytest.FixtureRequest) -> object:
    """Do not build the project again with the plan, which takes most of the time of a tuning.

    ``test_rebuilding.py`` tests that, and so do the tests of the command.
    """
    with pytest.MonkeyPatch.context() as context:
        if not request.node.nodeid.endswith("test_rebuilding.py"):
            context.setattr(job, "find_rebuild", always(""))
        yield
