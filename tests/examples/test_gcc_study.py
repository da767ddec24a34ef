# SPDX-License-Identifier: MIT
"""The study of GCC's options runs, in a small version, and its figures can be repeated."""

import json
import math
import shlex
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from compiler_gym_gcc import GccEnv
from tests.loading import load_script

SCRIPT = Path(__file__).parents[2] / "examples" / "gcc_study" / "study.py"
BUDGET = 4


@pytest.fixture(scope="module")
def study() -> ModuleType:
    for library in ("nevergrad", "optuna", "matplotlib"):
        pytest.importorskip(library)
    if shutil.which("gcc-12") is None:
        pytest.skip("needs gcc-12: apt install gcc-12")
    return load_script(SCRIPT, "gcc_study")


@pytest.mark.filterwarnings("ignore")  # of the libraries that search
@pytest.mark.slow
def test_every_search_uses_its_budget_and_never_ends_worse_than_os(
    study: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--budget", str(BUDGET), "--programs", "crc32", "--output", str(tmp_path)]
    study.main(arguments)
    figures = json.loads((tmp_path / "results.json").read_text())
    assert [run["algorithm"] for run in figures["runs"]] == list(study.ALGORITHMS)
    for run in figures["runs"]:
        assert len(run["costs"]) == len(run["best"]) == BUDGET
        assert run["best"][-1] <= figures["baselines"]["crc32"]["os"]
        assert run["costs"][0] == figures["baselines"]["crc32"]["os"]
    assert (tmp_path / "study.png").read_bytes().startswith(b"\x89PNG")
    table = capsys.readouterr().out
    assert f"| crc32 | {figures['baselines']['crc32']['o3']:.0f} |" in table

    # The same command goes on where it was interrupted, and repeats what is missing.
    (tmp_path / "runs" / "crc32-optuna.json").unlink()
    study.main(arguments)
    again = json.loads((tmp_path / "results.json").read_text())
    assert capsys.readouterr().out.count(" bytes, ") == 1
    assert [run["costs"] for run in again["runs"]] == [run["costs"] for run in figures["runs"]]
    with pytest.raises(SystemExit, match="name another --output"):
        study.main([*arguments, "--seed", "1"])
    (tmp_path / "runs" / "crc32-optuna.json").unlink()
    with pytest.raises(SystemExit, match="no program is done"):
        study.main([*arguments, "--table"])


def test_numbers_are_tried_too_but_not_absurd_ones(study: ModuleType) -> None:
    with GccEnv(gcc_bin="gcc-12", action_space="Choices") as env:
        options = {option.name: option for option in env.gcc_spec.options}
        env.reset(benchmark="cbench-v1/crc32")
        task = study.Task(env, "crc32", "obj_size")
    assert set(study.PROGRAMS) == {
        str(uri).rpartition("/")[2] for uri in env.datasets["cbench-v1"].benchmark_uris()
    }
    assert set(task.values) == set(options)
    for name, values in task.values.items():
        assert values.count(-1) == 1
        assert all(-1 <= value < len(options[name]) for value in values)
    unroll = [
        options["--param=max-unroll-times="][v]
        for v in task.values["--param=max-unroll-times="]
        if v >= 0
    ]
    tried = [int(setting.rpartition("=")[2]) for setting in unroll]
    assert tried == sorted(tried)
    assert (tried[0], tried[-1]) == (0, 128)


def test_a_figure_is_what_its_command_line_gives(study: ModuleType, tmp_path: Path) -> None:
    with GccEnv(gcc_bin="gcc-12", action_space="Choices") as env:
        task = study.Task(env, "crc32", "obj_size")
        cost, command_line = task.measure(task.start)
        (tmp_path / "src.i").write_text(env.source)
    subprocess.run(shlex.split(command_line), cwd=tmp_path, check=True)
    assert (tmp_path / "obj.o").stat().st_size == cost


def test_a_configuration_that_fails_costs_infinity(study: ModuleType) -> None:
    with GccEnv(gcc_bin="gcc-12", action_space="Choices") as env:
        task = study.Task(env, "crc32", "obj_size")
        failing = {"-flive-patching=": 1, "-fipa-pta": 0}
        assert math.isinf(task.measure(failing)[0])
        assert math.isfinite(task.measure(task.start)[0])
