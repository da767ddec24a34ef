# SPDX-License-Identifier: MIT
"""Measure README's training snippet with ten seeds: ``python -m docs.readme_training``.

Needs the extra ``rl`` and about ten minutes of one core. A test compares the stored scores with
README.
"""

import json
import re
from pathlib import Path
from typing import Any

from docs.site import ROOT

__all__ = ["SCORES", "snippet"]

SCORES = Path(__file__).with_suffix(".json")
"""The score on the held-out program with each seed, after the training and without it."""
_SEEDS = range(10)


def snippet(seed: int, *, trains: bool = True) -> str:
    """Return README's snippet with a seed."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r'^```python needs="[^"]*"\n(.*?)^```$', text, re.M | re.S)
    seeded = str(code).replace("batch_size=128)", f"batch_size=128, seed={seed})")
    return seeded if trains else re.sub(r"model\.learn\(.*\n", "", seeded)


def main() -> None:
    """Store the scores."""
    scores: dict[str, list[float]] = {"trained": [], "untrained": []}
    for kind, measured in scores.items():
        for seed in _SEEDS:
            names: dict[str, Any] = {}
            exec(snippet(seed, trains=kind == "trained"), names)
            names["envs"].close()
            measured.append(round(float(names["score"]), 3))
    SCORES.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
