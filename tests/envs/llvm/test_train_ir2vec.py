# SPDX-License-Identifier: MIT
"""The vocabulary of IR2Vec that comes with the package, and how one is trained."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.envs.llvm import _train_ir2vec
from compiler_gym.envs.llvm._ir2vec import VARIABLE, vocabulary_path

SHIPPED = vocabulary_path()


def test_training_places_what_is_related_nearer_than_what_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_train_ir2vec, "EPOCHS", 40)
    triplets = np.array([[i, (i + 3) % 12, i % 2] for i in range(12)], dtype=np.int64)
    vectors = _train_ir2vec.train(triplets, np.full(12, 1 / 12), 12)
    assert vectors.shape == (12, 75)
    assert np.linalg.norm(vectors, axis=1).max() <= 1 + 1e-9
    again = _train_ir2vec.train(triplets, np.full(12, 1 / 12), 12)
    assert np.array_equal(vectors, again), "the same file must come out again"

    def spread(heads: np.ndarray, tails: np.ndarray) -> float:
        """Return how much the difference from head to tail varies within a relation."""
        gaps = vectors[heads] - vectors[tails]
        return float(np.mean([gaps[triplets[:, 2] == r].std(axis=0).mean() for r in (0, 1)]))

    related = spread(triplets[:, 0], triplets[:, 1])
    unrelated = spread(triplets[:, 0], (triplets[:, 1] + 5) % 12)
    assert related < unrelated


def test_the_shipped_vocabulary_has_every_entity_of_llvm() -> None:
    sections = json.loads(SHIPPED.read_text())
    assert list(sections) == ["Opcodes", "Types", "Arguments"]
    names = [name for section in sections.values() for name in section]
    try:
        assert names == _train_ir2vec._entities()
    except FileNotFoundError:
        pytest.skip("needs llvm-ir2vec-22")
    lengths = {len(vector) for section in sections.values() for vector in section.values()}
    assert lengths == {75}


@pytest.mark.parametrize(
    ("name", "text"),
    [("missing.json", None), ("other.json", '{"Types": {}}'), ("broken.json", "{")],
)
def test_a_vocabulary_that_cannot_be_used_is_named(
    tmp_path: Path, name: str, text: str | None
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", "import compiler_gym.envs.llvm.observations"],
        env={VARIABLE: str(path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert (
        f"expected a vocabulary of IR2Vec (JSON with Opcodes, Types and Arguments) in {path}"
        in (done.stderr)
    )


def test_a_vocabulary_of_another_length_gives_vectors_of_that_length(tmp_path: Path) -> None:
    sections = json.loads(SHIPPED.read_text())
    short = {s: {name: v[:5] for name, v in words.items()} for s, words in sections.items()}
    path = tmp_path / "short.json"
    path.write_text(json.dumps(short))
    program = (
        "import compiler_gym\n"
        "with compiler_gym.make('llvm-v0', observation_space='IR2Vec') as env:\n"
        "    observation, _ = env.reset(benchmark='cbench-v1/crc32')\n"
        "    assert observation in env.observation_space\n"
        "    print(observation.shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={VARIABLE: str(path), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "(5,)\n"
