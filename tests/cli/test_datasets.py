# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.envs.llvm.programs.collections.generators import CsmithDataset
from tests.command_line import Run

FUNCTIONS = {
    f"f{number}.c": f"int f{number}(int x) {{ return x * {number}; }}\n" for number in range(8)
}


@pytest.fixture
def own(cli: Run, tmp_path: Path) -> Run:
    """Run commands with a site directory of their own."""

    def run(*arguments: str, **environment: str) -> Any:
        site = str(tmp_path / "site")
        return cli("datasets", *arguments, COMPILER_GYM_SITE_DATA=site, **environment)

    return run


def test_the_list_has_counts_sizes_origins_and_requirements(own: Run) -> None:
    listed = {entry["name"]: entry for entry in own("--json").json["datasets"]}
    assert listed == {entry["name"]: entry for entry in own("list", "--json").json["datasets"]}
    bundled = listed["benchmark://cbench-v1"]
    assert bundled["installed"]
    assert bundled["programs"] >= 20
    assert bundled["needs"] == ""
    npb = listed["benchmark://npb-llvm10-v0"]
    assert (npb["installed"], npb["programs"], npb["bytes"]) == (False, 122, 0)
    assert npb["license"] == "NASA-1.3"
    assert npb["needs"] == "download from dl.fbaipublicfiles.com"
    assert "apt install csmith" in listed["generator://csmith-v0"]["needs"]
    assert listed["generator://csmith-v0"]["programs"] is None
    assert all(entry["license"] for entry in listed.values())


def test_people_see_a_table(own: Run) -> None:
    shown = own(COLUMNS="160").output
    for text in ("npb-llvm10-v0", "1,041,333", "NASA-1.3", "unlimited", "datasets install NAME"):
        assert text in shown
    assert "file://" not in shown
    assert max(map(len, own(COLUMNS="100").output.splitlines())) <= 100


@pytest.mark.skipif(not CsmithDataset().installed, reason="needs csmith")
def test_a_generator_can_be_sampled(own: Run) -> None:
    (entry,) = own("sample", "generator://csmith-v0", "-n", "1", "--seed", "1", "--json").json[
        "programs"
    ]
    assert entry["uri"].startswith("generator://csmith-v0/")
    assert entry["bytes"] > 1000
