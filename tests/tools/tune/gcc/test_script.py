# SPDX-License-Identifier: MIT
"""A plan as commands: in another folder they make the same bytes, without this library."""

import shutil
import subprocess
from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.gcc.making import SMALLEST
from compiler_gym.tools.tune.gcc.script import write_script
from tests.tools.tune.gcc.projects import maker

LINKER = ("-Wl,--gc-sections",)


def test_a_script_makes_the_same_bytes_elsewhere(tmp_path: Path) -> None:
    made = maker(tmp_path)
    flags = ("-fdata-sections", "-flto", "-fno-gcse", "--param=max-inline-insns-size=1")
    plan = BinaryPlan(made.binary.name, SMALLEST, flags=flags, linker=LINKER)
    expected = made.make_plan("tuned", plan).read_bytes()
    text = write_script(made.tools, made.binary, plan)
    assert str(tmp_path) not in text
    root, out = tmp_path / "else where", tmp_path / "out"
    shutil.copytree(made.binary.root, root)
    out.mkdir()
    for _ in range(2):  # the second time over what the first left
        subprocess.run(
            ["sh", "-euc", text], env={"PATH": "/usr/bin:/bin", "ROOT": str(root), "OUT": str(out)},
            check=True, capture_output=True,
        )  # fmt: skip
        assert (out / made.binary.name).read_bytes() == expected
