# SPDX-License-Identifier: MIT
"""What a run depends on is written down."""

import json
from pathlib import Path

from compiler_gym.runs import RunFolder

CONFIG = {"task": "demo", "limit": 3}


def test_a_run_says_what_it_depends_on(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", "training", CONFIG, seeds={"env": 7}) as run:
        assert not run.is_done
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (document["kind"], document["config"], document["seeds"]) == (
        "training", CONFIG, {"env": 7},
    )  # fmt: skip
    assert {"compiler_gym", "python", "numpy"} <= document["versions"].keys()
    assert document["host"]["processors"] >= 1
    assert set(document) >= {"started", "command", "git"}
    assert RunFolder.open(tmp_path / "run", "training", CONFIG, seeds={"env": 7}).is_done
