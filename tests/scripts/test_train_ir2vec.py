# SPDX-License-Identifier: MIT
"""The vocabulary of IR2Vec that comes with the package, and how one is trained."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.envs.llvm.observations.ir2vec import VARIABLE, vocabulary_path
from compiler_gym.errors import EnvironmentNotSupported
from scripts import train_ir2vec

SHIPPED = vocabulary_path()


@pytest.mark.slow
@pytest.mark.timeout(1200)  # PyTorch takes a quarter of a minute to import before it is compiled
def test_training_places_related_words_nearer(tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np\n"
        "from scripts.train_ir2vec import train\n"
        "triplets = np.array([[i, (i + 3) % 12, i % 2] for i in range(12)], dtype=np.int64)\n"
        "np.save(sys.argv[1], [train(triplets, 12, epochs=60) for _ in range(2)])\n"
    )
    if importlib.util.find_spec("pykeen") is None:
        pytest.skip("needs pykeen: pip install pykeen")
    path = tmp_path / "vectors.npy"
    # In a process of its own: it sets how many threads PyTorch has.
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True)
    first, again = np.load(path)
    assert first.shape == (12, 75)
    assert np.allclose(np.linalg.norm(first, axis=1), 1)
    assert np.array_equal(first, again), "the same file must come out again"

    heads = np.arange(12)

    def spread(tails: np.ndarray) -> float:
        """Return how much the difference from head to tail varies within a relation."""
        gaps = first[heads] - first[tails]
        return float(np.mean([gaps[heads % 2 == r].std(axis=0).mean() for r in (0, 1)]))

    assert spread((heads + 3) % 12) < spread((heads + 8) % 12)


def test_training_without_its_library_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EnvironmentNotSupported, match="pip install pykeen"):
        train_ir2vec.train(np.zeros((1, 3), dtype=np.int64), 1)


@pytest.mark.parametrize(
    ("name", "near", "far"),
    [
        ("Add", "Sub", "FAdd"),
        ("FAdd", "FMul", "Add"),
        ("FSub", "FDiv", "Sub"),
        ("Shl", "LShr", "FMul"),
        ("SDiv", "SRem", "FDiv"),
        ("And", "Or", "Call"),
    ],
)
def test_the_shipped_vocabulary_has_like_opcodes_near_one_another(
    name: str, near: str, far: str
) -> None:
    opcodes = json.loads(SHIPPED.read_text())["Opcodes"]

    def distance(other: str) -> float:
        return float(np.linalg.norm(np.subtract(opcodes[name], opcodes[other])))

    assert distance(near) < 0.8 * distance(far)


def test_the_shipped_vocabulary_has_every_entity_of_llvm() -> None:
    sections = json.loads(SHIPPED.read_text())
    assert list(sections) == ["Opcodes", "Types", "Arguments"]
    names = [name for section in sections.values() for name in section]
    try:
        assert names == train_ir2vec._entities()  # pyright: ignore[reportPrivateUsage]  # tested on its own
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
    assert f"{path} is not an IR2Vec vocabulary (JSON with Opcodes, Types and Arguments)" in (
        done.stderr
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
