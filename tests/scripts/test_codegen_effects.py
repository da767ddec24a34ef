# SPDX-License-Identifier: MIT
"""What options of the code generator do is measured, and the table says it."""

from pathlib import Path

import pytest

from scripts import codegen_effects


def test_a_value_is_measured_and_one_that_does_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "codegen.tsv"
    table.write_text(
        f"{codegen_effects.HEADING}\n"
        "disable-peephole\ttrue\trare\t0\t0\t0\tLeave it out\n"
        "regalloc\tbasic|no-such\trare\t0\t0\t0\tWhich\n"
    )
    monkeypatch.setattr(codegen_effects, "TABLE", table)
    codegen_effects.main(["--write", "--only", "crc32"])
    heading, peephole, regalloc, note = table.read_text().splitlines()
    assert heading == codegen_effects.HEADING
    name, values, _, mean, least, most, _ = peephole.split("\t")
    assert (name, values) == ("disable-peephole", "true")
    assert float(least) == float(mean) == float(most) != 0
    assert regalloc.split("\t")[1] == "basic"
    assert note.startswith(f"{codegen_effects.REFUSED}regalloc=no-such: 'no-such' is not a value")
