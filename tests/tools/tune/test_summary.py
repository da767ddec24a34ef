# SPDX-License-Identifier: MIT
"""The summary says whether something became better, by the goal."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.tools.tune import Goal, Request, Result, TuningJob
from compiler_gym.tools.tune.summary import TuningSummary, share, write_summary
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    folder = tmp_path_factory.mktemp("summary")
    return Request(("make",), write_project(folder / "project"), folder / "out", seconds=100.0)


@pytest.fixture(scope="module")
def results(request_: Request) -> list[Result]:
    return TuningJob(request_, SimpleTuner("-Os")).run()


def summary(request_: Request, results: list[Result]) -> TuningSummary:
    return write_summary(
        request_, results, compiler="simple 1", others=["other"], is_interrupted=False
    )


def sizes_of(loaded: int) -> dict[str, int]:
    return {"text": 50, "loaded": loaded, "total": 90}


def test_the_sizes_decide_for_size(request_: Request, results: list[Result]) -> None:
    (result,) = results
    for loaded, is_better in ((10, True), (20, False), (30, False)):
        sizes = {"fair": sizes_of(20), "tuned": sizes_of(loaded)}
        found = summary(request_, [replace(result, sizes=sizes)])
        assert found.is_better is found.binaries[0].is_better is is_better
        assert found.binaries[0].rival == "fair"


def test_the_lower_bound_decides_for_speed(request_: Request, results: list[Result]) -> None:
    (result,) = results
    wanted = replace(request_, goal=Goal.SPEED)
    for low, is_better in ((1.01, True), (1.0, False), (0.98, False)):
        speed = {"speedup": 1.05, "low": low, "high": 1.1}
        assert (
            summary(wanted, [replace(result, found=replace(result.found, speed=speed))]).is_better
            is is_better
        )
    assert not summary(wanted, results).is_better


def test_it_is_json(request_: Request, results: list[Result]) -> None:
    found = summary(request_, results)
    read = json.loads(json.dumps(found.to_json()))
    assert read["binaries"][0]["name"] == "program"
    assert read["binaries"][0]["sizes"]["tuned"] == dict(results[0].sizes["tuned"])
    assert read["binaries"][0]["decisions"][0]["name"] == "flag -Os"
    assert read["others"] == ["other"]
    assert Path(read["folder"]) == request_.output


def test_shares_read_as_people_write_them() -> None:
    assert share(1000, 999) == "0.1 % smaller"
    assert share(1000, 1001) == "0.1 % larger"
