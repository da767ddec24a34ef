# SPDX-License-Identifier: MIT
"""The time of a tuning from its start to its report, by phase.

A search gets the time that the other phases leave. The project's build, its tests, and the builds
to compare with cannot be shortened: if they take longer than the limit, the result says so.
"""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum

from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.runs import FEWEST_CONFIRMING

_EXPLAINING, _MOST_EXPLAINING = 0.1, 60.0
"""The share of the limit for measuring the gain from each decision, and its maximum in seconds."""
_COMPARING = 3
"""The number of project builds that take as long as the builds to compare with."""
_REBUILDING, _LEAST_REBUILDING, _MOST_REBUILDING = 2, 6.0, 0.25
"""The number of project builds that take as long as one with a plan, its minimum in seconds, of
which most is spent on reading the plan, and its largest share of the limit."""
_REPORTING = 1.0
"""Seconds to start the command and to write the report."""
_NOTED = 1.0
"""The number of seconds by which a limit is exceeded before a note says so."""


class Phase(StrEnum):
    """A phase of a tuning, as notes name it."""

    BUILD = "building the project"
    TEST = "testing the original build"
    RUN = "running the program"
    SEARCH = "the builds to compare with and the search"
    PROVE = "testing the result"
    EXPLAIN = "measuring the gain from each decision"
    WRITE = "writing the results"
    REBUILD = "building the project with the plan"


class Timetable:
    """The phases of one tuning, and the time that is left; the time starts now.

    >>> timetable = Timetable(Request(seconds=60.0))
    >>> with timetable.measure(Phase.BUILD):
    ...     pass
    >>> 50 < timetable.seconds_left <= 60, timetable.explain_excess()
    (True, '')
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._began = time.monotonic()
        self.took: dict[Phase, float] = {}
        """The seconds of each phase so far."""

    @contextmanager
    def measure(self, phase: Phase) -> Generator[None]:
        """Count the time of the block for `phase`."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.took[phase] = self._took(phase) + time.monotonic() - began

    @property
    def seconds_left(self) -> float:
        """The seconds until the limit, negative after it; infinite if only compilations count."""
        if self._request.seconds_allowed is None:
            return math.inf
        return self._request.seconds_allowed - _REPORTING - (time.monotonic() - self._began)

    @property
    def seconds_to_rebuild(self) -> float:
        """The seconds to keep for a build of the project with the plan."""
        most = _MOST_REBUILDING * (self._request.seconds_allowed or 0.0)
        return min(max(_REBUILDING * self._took(Phase.BUILD), _LEAST_REBUILDING), most)

    def predict_judging(self) -> float:
        """Return the seconds to test, time, explain and write the result for one binary."""
        request = self._request
        test, run = self._took(Phase.TEST) / 2, self._took(Phase.RUN)
        confirmed = FEWEST_CONFIRMING if request.confirm else 0
        explaining = min(_EXPLAINING * (request.seconds_allowed or 0.0), _MOST_EXPLAINING)
        written = self._took(Phase.BUILD) if request.debug else 0.0
        counted = explaining if request.goal.counts_bytes else 0.0
        return test + (1 + confirmed) * run + counted + written

    def describe_plan(self, seconds: float, after: float) -> str:
        """Return how the `seconds` for one binary will be used; empty if they are not limited.

        The phases after the search are predicted to take `after` seconds.
        """
        if math.isinf(seconds):
            return ""
        compared = _COMPARING * self._took(Phase.BUILD)
        if seconds > after + compared:
            return (
                f": {seconds - after:.0f} s for {Phase.SEARCH}, then about {after:.0f} s to test "
                "the result, measure gains and build with the plan"
            )
        unbounded = compared + after - self.seconds_to_rebuild
        return (
            f": {seconds:.0f} s are left, but comparing builds and testing the result cannot be "
            f"shortened and will take about {unbounded:.0f} s"
        )

    def explain_excess(self) -> str:
        """Return a remark on a tuning that exceeded its limit; empty if it did not."""
        if self.seconds_left > -_NOTED:
            return ""
        listed = ", ".join(
            f"{phase} {seconds:.0f} s"
            for phase, seconds in sorted(self.took.items(), key=lambda item: -item[1])
            if seconds >= _NOTED
        )
        total = time.monotonic() - self._began
        return f"took {total:.0f} s instead of {self._request.seconds_allowed:.0f} s: {listed}"

    def _took(self, phase: Phase) -> float:
        return self.took.get(phase, 0.0)
