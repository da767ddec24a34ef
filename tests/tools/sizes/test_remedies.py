# SPDX-License-Identifier: MIT
"""Only remedies that help a file are suggested, the best first."""

from compiler_gym.tools.sizes.remedies import suggest_remedies

from .conftest import MAIN, Build, analyse
from .test_estimates import CLANG, program


def test_nothing_is_suggested_twice_and_the_best_is_first(build: Build) -> None:
    packed = build(MAIN, f"{CLANG} -Wl,-z,pack-relative-relocs -s")
    names = [row.remedy.name for row in suggest_remedies(analyse(packed))]
    assert "packed relocations" not in names
    assert "strip" not in names
    rows = suggest_remedies(analyse(build(program(), CLANG)))
    assert [row.saving.loaded for row in rows] == sorted(
        (row.saving.loaded for row in rows), reverse=True
    )
    assert all(row.saving.total > 0 for row in rows)
