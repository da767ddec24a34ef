# SPDX-License-Identifier: MIT
"""Functions that grew from version to version, and versions that fail, are rows."""

from pathlib import Path

import pytest

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym_hunt.llvm import growing
from compiler_gym_hunt.llvm.decisions import HuntedDecision
from compiler_gym_hunt.llvm.hunt import Hunt
from compiler_gym_hunt.llvm.versions import list_versions


def test_functions_that_grew_are_listed_and_failures_are_reported(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {14: 40, 16: 38, 22: 45}

    def made(version: int, text: str, decision: HuntedDecision) -> dict[str, int]:
        if version == 14 and "i32 %1" in text:
            raise OSError("opt-14 is not there")
        return {"f": sizes[version]}

    monkeypatch.setattr(growing, "list_versions", lambda: (14, 16, 22))
    monkeypatch.setattr(growing, "function_sizes_with", made)
    document = Hunt(str(corpus), tmp_path / "grown").compare_versions(seconds=60)
    assert [row["grew"] for row in document["grown"]] == [7, 7, 7]
    assert document["compared"] == 3
    assert {one["failure"][:14] for one in document["failures"]} == {
        "opt-14 is not ", "does not build",
    }  # fmt: skip
    monkeypatch.setattr(growing, "function_sizes_with", None)  # what is done is not done again
    again = Hunt(str(corpus), tmp_path / "grown").compare_versions(seconds=60)
    assert again == document


def test_one_version_alone_is_refused(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "list_versions", lambda: (22,))
    with pytest.raises(EnvironmentNotSupported, match="two versions"):
        Hunt(str(corpus), tmp_path / "grown").compare_versions(seconds=60)


@pytest.mark.skipif(len(list_versions()) < 2, reason="needs opt of another version")
def test_older_versions_read_what_this_one_compiled(corpus: Path, tmp_path: Path) -> None:
    document = Hunt(str(corpus), tmp_path / "grown").compare_versions(seconds=60)
    readable = {one for one in document["versions"] if one >= 14}
    failed = {one["version"] for one in document["failures"] if "broken" not in one["program"]}
    assert not {str(one) for one in readable} & failed
