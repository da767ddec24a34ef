# SPDX-License-Identifier: MIT
"""A corpus of three packages, one for each split, made of bundled programs."""

import json
from pathlib import Path

import pytest

from compiler_gym.tools.learn.tails.llvm.learning import TailOptions, TailRun

PROGRAMS = Path(__file__).parents[3] / "programs"
PACKAGES = {
    "zlib": ("crc32", "stringsearch2", "patricia"),  # train
    "m4": ("qsort", "sha"),  # validation
    "grep": ("stringsearch", "bitcount"),  # test
}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the corpus."""
    folder = tmp_path_factory.mktemp("corpus")
    for package, programs in PACKAGES.items():
        modules = folder / "packages" / f"{package}_1" / "modules"
        modules.mkdir(parents=True)
        (modules.parent / "result.json").write_text(
            json.dumps({"package": package, "license": "GPL-3+"})
        )
        for program in programs:
            contents = (PROGRAMS / program / f"{program}.bc").read_bytes()
            (modules / f"{program}.bc").write_bytes(contents)
    return folder


OPTIONS = TailOptions(mined=300, tails=6)


@pytest.fixture(scope="session")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> TailRun:
    """A run whose tails are chosen."""
    run = TailRun(tmp_path_factory.mktemp("tails") / "run", corpus, OPTIONS)
    assert run.tails
    return run
