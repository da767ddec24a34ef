# SPDX-License-Identifier: MIT
"""Each rule of the size plug-in changes machine code where its conditions hold, and nowhere else.

Each rule has a file of machine IR with its name. The comment after a function is what the rule
makes of it; a function without such a comment must stay as it is. By hand:

    COMPILER_GYM_SIZE=rules=exchange llc-22 -load=compiler_gym_size.so \
        -run-pass=compiler-gym-encodings -simplify-mir exchange.mir -o -
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.size_plugin import explain_problem, find_plugin
from tests.native.conftest import need

pytestmark = pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in")
FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.mir"))
SETTINGS = {"frame", "stores", "simple", "unprepared"}
"""Code generations of whole functions, which the plug-in chooses from; not rules."""
PASSES = {
    "shift-frame": "compiler-gym-shift-frame",
    "share-save": "compiler-gym-share-frames",
    "share-restore": "compiler-gym-share-frames",
}


def run_rule(file: Path, rules: str) -> dict[str, str]:
    """Return the body of each function of `file` after `rules`."""
    command = [need("llc-22"), f"-load={find_plugin()}", "-mtriple=x86_64-linux-gnu"]
    command += [f"-run-pass={PASSES.get(file.stem, 'compiler-gym-encodings')}", "-simplify-mir"]
    command += ["-verify-machineinstrs", str(file), "-o", "-"]
    environment = os.environ | {"COMPILER_GYM_SIZE": f"rules={rules}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    functions = re.findall(r"^name: +(\S+)$(.*?)^\.\.\.$", done.stdout, re.M | re.S)
    return {name: text.partition("\nbody: ")[2].partition("\n")[2] for name, text in functions}


def read_expected(file: Path) -> dict[str, str]:
    """Return the bodies that the comments of `file` expect."""
    comments = re.findall(r"^# (\S+) becomes:\n((?:#.*\n)*)", file.read_text(), re.M)
    return {name: re.sub(r"^# ?", "", text, flags=re.M) for name, text in comments}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_rule_changes_these_functions_and_no_others(file: Path) -> None:
    before, after, expected = run_rule(file, ""), run_rule(file, file.stem), read_expected(file)
    assert expected
    assert before.keys() - expected.keys(), "a rule needs a function where it must not apply"
    lines = {name: [line.rstrip() for line in text.splitlines()] for name, text in after.items()}
    assert lines == {
        name: [line.rstrip() for line in text.splitlines()]
        for name, text in (before | expected).items()
    }


def test_every_rule_has_a_file_and_unknown_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    done = subprocess.run(
        [need("clang-22"), "-Oz", f"-fpass-plugin={find_plugin()}", "-c", "a.c"],
        env=os.environ | {"COMPILER_GYM_SIZE": "rules=-exchange+no-such-rule"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    refusal = "compiler_gym_size: no rule 'no-such-rule'; use "
    assert done.stderr.startswith(refusal)
    names = set(done.stderr.splitlines()[0].removeprefix(refusal).split(", "))
    assert names >= SETTINGS
    assert names - SETTINGS == {file.stem for file in FILES}
