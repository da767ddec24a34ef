# SPDX-License-Identifier: MIT
"""The table of parameters is LLVM's: its words, its options, its defaults."""

import re
import shutil
import subprocess

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions import ACTION_SPACES
from compiler_gym.envs.llvm.actions.parameters import (
    NAME,
    PARAMETERS,
    SLOTS,
    Form,
    Parameter,
    make_setting,
)
from compiler_gym.errors import InvalidActionError
from compiler_gym.session import CommandlineSpec, DictSpec

SPACE = next(spec.space for spec in ACTION_SPACES if spec.name == NAME)
assert isinstance(SPACE, DictSpec)
PASSES = SPACE.items["pass"]
assert isinstance(PASSES, CommandlineSpec)
FLAGS = {item.name: item.flag for item in PASSES.items}
ROWS = [parameter for rows in PARAMETERS.values() for parameter in rows]
OPTIONS = [row for row in ROWS if row.form is Form.OPTION]


def test_every_pass_with_parameters_is_an_action_and_no_parameter_stands_twice():
    assert PARAMETERS.keys() <= FLAGS.keys()
    for rows in PARAMETERS.values():
        assert len({row.name for row in rows}) == len(rows)
        assert "pass" not in {row.name for row in rows}
        assert "values" not in {row.name for row in rows}
    assert max(map(len, PARAMETERS.values())) == SLOTS


def test_an_action_without_values_is_the_plain_pass():
    for name, flag in FLAGS.items():
        assert make_setting({"pass": name}, FLAGS).pipeline == flag
        assert make_setting({"pass": name}, FLAGS).options == ()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.pass_name}-{row.name}")
def test_llvm_takes_the_first_and_the_last_value_and_reads_back_what_was_written(row: Parameter):
    module = _llvm.Module(b"define i32 @f(i32 %x) {\n  ret i32 %x\n}\n")
    for value in (row.values[0], row.values[-1]):
        assert row.read(row.text(value)) == value
        setting = make_setting({"pass": row.pass_name, row.name: value}, FLAGS)
        module.run_with(setting.pipeline, setting.options)


def test_words_in_pipelines_are_those_that_llvm_lists():
    hints = {name: hint.split(";") for _, name, hint in _llvm.registered_passes()}
    for row in ROWS:
        if row.form is Form.OPTION:
            continue
        for value in (row.values[0], row.values[-1]):
            word = re.sub(r"=-?\d+$", "=N", row.text(value))
            assert word in hints[row.pass_name], (row.pass_name, word)


@pytest.mark.skipif(shutil.which("opt-22") is None, reason="opt-22 is missing")
def test_defaults_of_options_are_those_that_opt_prints():
    done = subprocess.run(
        ["opt-22", "--print-all-options", "-disable-output", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"--?(\S+)\s+= .*?\(default: (.*)\)", done.stdout + done.stderr))
    truth = {"0": "false", "1": "true"}
    for row in OPTIONS:
        default = found[row.name].replace("*no default*", "")
        is_truth = row.values[0] is False
        assert row.default == (truth.get(default, default) if is_truth else default), row.name


def test_unknown_names_are_refused():
    with pytest.raises(InvalidActionError, match="no pass 'licmm': did you mean licm"):
        make_setting({"pass": "licmm"}, FLAGS)
    with pytest.raises(InvalidActionError, match="licm has no parameter 'x'; choose from"):
        make_setting({"pass": "licm", "x": 1}, FLAGS)
    with pytest.raises(
        InvalidActionError, match=r"bonus-inst-threshold must be one of 0\.\.16 .got 17"
    ):
        make_setting({"pass": "simplifycfg", "bonus-inst-threshold": 17}, FLAGS)
    for wrong in (1, "yes", None, 0.5, float("nan"), list[int]()):
        with pytest.raises(InvalidActionError, match="allowspeculation must be one of "):
            make_setting({"pass": "licm", "allowspeculation": wrong}, FLAGS)
