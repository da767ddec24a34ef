# SPDX-License-Identifier: MIT
import json
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError
from compiler_gym.search import (
    Budget,
    Improvement,
    ProgressLog,
    run_search,
    write_json,
    write_results,
)
from search.puzzle import make_puzzle
from tests.stand_ins import stand_in


def test_results_can_be_read_back(tmp_path: Path) -> None:
    results = run_search(make_puzzle, budget=Budget(steps=50))
    path = write_results(tmp_path / "new" / "results.json", results, note="kept")
    document = json.loads(path.read_text())
    assert document["note"] == "kept"
    assert document["results"][0]["reward"] == results[0].reward
    assert document["results"][0]["actions"] == list(results[0].actions)
    assert document["results"][0]["improvements"][-1]["reward"] == results[0].reward


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write_json(tmp_path / "results.json", {"run": 1})
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_json(path, {"run": object()})
    assert json.loads(path.read_text()) == {"run": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [stand_in(lambda path: write_json(path, {})), ProgressLog])
def test_a_place_that_cannot_be_written_is_a_typed_error(write: object, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match=r"cannot write .* choose another path"):
        write(tmp_path / "file" / "below")  # type: ignore[operator]


def test_the_log_has_one_line_per_improvement_at_once(tmp_path: Path) -> None:
    with ProgressLog(tmp_path / "log.jsonl") as log:
        log.add(Improvement(0, "benchmark://a/b", 0.5, 3, 1, 2.0, (4, 5)))
        line = json.loads((tmp_path / "log.jsonl").read_text())
    assert (line["benchmark"], line["reward"], line["actions"]) == ("benchmark://a/b", 2.0, [4, 5])
