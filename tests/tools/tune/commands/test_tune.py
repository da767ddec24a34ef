# SPDX-License-Identifier: MIT
"""``compiler-gym tune`` as a user meets it: a project of two files, compiled for real."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler_gym.tools.tune import BinaryPlan, BuildPlan, SourceFile, write_plan
from compiler_gym.tools.tune.commands.display import TuningDisplay
from tests.command_line import COMMAND, Ran, Run
from tests.tools.tune.builds.projects import write_project

SEARCH = ("--budget-compilations", "2", "--seed", "1", "--jobs", "1")
PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
"""As in an environment that is active: a printed command finds our compilers."""
needs_lld = pytest.mark.skipif(shutil.which("ld.lld-22") is None, reason="needs lld-22")


def tune(folder: Path, *words: str) -> Ran:
    done = subprocess.run(
        [*COMMAND, "tune", *words], cwd=folder, capture_output=True, text=True, check=False,
        timeout=300, env={**os.environ, "PATH": PATH},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("tune") / "project")


@pytest.fixture(scope="module")
def tuned(project: Path) -> Ran:
    """Return one tuning, into the folder ``tuned``."""
    return tune(project, *SEARCH, "--check", "./program", "--", "make")


@needs_lld
def test_the_table_shows_the_savings_and_the_next_step(project: Path, tuned: Ran) -> None:
    assert tuned.status == 0, tuned.errors
    for shown in (
        "program: bytes, stripped", "your flags", "clang -Oz -flto, --icf=safe",
        "In tuned", "report.html", "tuned.toml", "reproduce.sh", "Next:", "./tuned/bin/program",
        "sh tuned/reproduce.sh",
        f"make 'CC=compiler-gym-cc --plan {project}/tuned/tuned.toml'",
    ):  # fmt: skip
        assert shown in tuned.output, shown
    assert "Not tested" not in tuned.output
    for made in ("bin/program", "work/tree/program"):
        assert made in tuned.output
        subprocess.run([project / "tuned" / made], check=True, capture_output=True)


@needs_lld
def test_progress_is_lines_without_a_terminal(tuned: Ran) -> None:
    lines = tuned.errors.splitlines()
    assert lines[:2] == ["copying the project", "building the project"]
    assert "program: bytes to beat (loaded)" in lines
    assert any(line.endswith("  your flags") for line in lines)
    assert any("start: best so far " in line and " tried" in line for line in lines)
    assert any(line.startswith("testing the tuned program (best so far ") for line in lines)
    assert "\x1b" not in tuned.errors


@needs_lld
def test_page_and_json_are_of_the_same_numbers(project: Path, tuned: Ran) -> None:
    assert tuned.status == 0
    report = json.loads((project / "tuned" / "report.json").read_text())
    (binary,) = report["binaries"]
    page = (project / "tuned" / "report.html").read_text()
    for sizes in binary["sizes"].values():
        assert f"{sizes['text']:,}" in page
        assert f"{sizes['text']:,}" in tuned.output
    assert binary["sizes"]["tuned"]["loaded"] <= binary["sizes"][binary["rival"]]["loaded"]
    assert {source["path"] for source in binary["sources"]} >= {"main.c", "twice.c"}
    assert {f["name"]: f["source"] for f in binary["functions"]}["main"] == "main.c"
    assert {d["name"] for d in binary["decisions"] if d["gain"] is not None}


@needs_lld
def test_a_tuning_is_not_written_over_but_resumed(project: Path, tuned: Ran) -> None:
    assert tuned.status == 0
    again = tune(project, *SEARCH, "--", "make")
    assert again.status == 2
    assert "error: " in again.errors
    assert "continue with --resume" in again.errors
    resumed = tune(project, *SEARCH, "--resume", "--json", "--require-better", "--", "make")
    document = json.loads(resumed.output)
    before = json.loads((project / "tuned" / "report.json").read_text())
    assert document["binaries"][0]["sizes"] == before["binaries"][0]["sizes"]
    assert resumed.status == (0 if document["is_better"] else 1)
    same = tune(project, "diff", "tuned", "tuned/tuned.toml")
    assert (same.status, same.output.splitlines()[-1]) == (0, "no differences")


def test_a_build_is_needed(cli: Run) -> None:
    ran = cli("tune")
    assert ran.status == 2
    assert "nothing to build: write the build command after --" in ran.errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--goal", "beauty"), "--goal must be one of size, speed (got beauty)"),
        (("--time", "soon"), "--time must be a number of seconds, or a time such as 90s"),
        (("--time", "9" * 400), "--time must be"),
        (("--check-time", "soon"), "--check-time must be a number of seconds, or a time such as"),
        (("--max-slowdown", "little"), "--max-slowdown must be a percentage such as 3% (got litt"),
        (("--max-slowdown", "nan"), "--max-slowdown must be a percentage such as 3% (got nan)"),
        (("--max-slowdown", "-100%"), "--max-slowdown must be"),
        (("--measure", "beauty"), "--measure must be one of text, loaded, file, compressed"),
        (("--jobs", "0"), "--jobs must be a whole number of at least 1 (got 0)"),
        (("--budget-compilations", "-1"), "--budget-compilations must be"),
        (
            ("--compiler", "tcc"),
            "no tuner for the compiler 'tcc': use llvm",
        ),
        (("--resume",), "nothing to resume"),
    ],
)
def test_bad_words_are_refused_before_anything_is_written(
    cli: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    ran = cli("tune", *words, "--", "make")
    assert ran.status == 2
    assert said in ran.errors
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_left_alone(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "mine").write_text("mine")
    ran = cli("tune", "--", "make")
    assert ran.status == 2
    assert "tuned contains other files: choose an empty folder with --output" in ran.errors
    assert [path.name for path in (tmp_path / "tuned").iterdir()] == ["mine"]


@needs_lld
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--", "sh", "-c", "echo no way; exit 3"), ("failed with status 3", "no way")),
        (("--", "true"), ("the build linked nothing",)),
        (
            ("--", "no-such-command"),
            ("cannot run no-such-command", "write the build command after `--`"),
        ),
        (("--binary", "editor", "--", "make"), ("does not link 'editor'", "program")),
        (
            ("--check", "echo broken; false", "--", "make"),
            ("the tests failed with status 1", "broken"),
        ),
        (("--run", "exit 127", "--", "make"), ("status 127 on the untuned build",)),
    ],
)
def test_a_project_that_cannot_be_tuned_is_refused(
    cli: Run, tmp_path: Path, words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    write_project(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    ran = cli("tune", *SEARCH, *words)
    assert ran.status == 2
    assert "error: " in ran.errors
    assert "Traceback" not in ran.errors
    for text in said:
        assert text in ran.errors
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "tuned"])
    assert not (tmp_path / "tuned" / "bin").exists()


@needs_lld
def test_ctrl_c_hands_over_what_was_found(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    words = [*COMMAND, "tune", "--time", "600", "--jobs", "1", "--", "make"]
    with subprocess.Popen(
        words, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if ": best " in line:
                break
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "interrupted: these are the results so far" in output
    assert (project / "tuned" / "bin" / "program").is_file()
    assert json.loads((project / "tuned" / "report.json").read_text())["is_interrupted"]


@needs_lld
def test_ctrl_c_during_the_build_ends_it(tmp_path: Path) -> None:
    started = time.monotonic()
    words = [*COMMAND, "tune", "--", "sh", "-c", "while true; do echo on; sleep 0.2; done"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "building" in line:
                break
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=240)
    assert running.returncode == 130
    assert "--resume continues" in errors
    assert time.monotonic() - started < 240


def test_the_display_is_loaded_with_the_command_alone() -> None:
    module = "compiler_gym.tools.tune.commands.display"
    code = f"import sys, compiler_gym.cli._app; print({module!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert TuningDisplay.__module__ == module


def write(path: Path, text: int, option: str, digest: str = "1") -> Path:
    binary = BinaryPlan(
        "tool", "program", "function(gvn)", {"misched": option},
        sizes={"tuned": {"text": text, "total": 5000}}, sources=(SourceFile("a.c", digest),),
    )  # fmt: skip
    return write_plan(path, BuildPlan("llvm 22", "size", "1.0", (binary,)))


def test_differences_are_shown_and_more_code_is_status_1(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 1000, "ilpmax")
    write(tmp_path / "b.toml", 1100, "ilpmin", "9")
    ran = cli("tune", "diff", "a.toml", "b.toml")
    assert ran.status == 1
    for shown in (
        "1,000", "1,100", "10.0 % larger", "- option misched=ilpmax", "+ option misched=ilpmin",
        "sources changed: a.c",
    ):  # fmt: skip
        assert shown in ran.output, shown
    back = cli("tune", "diff", "b.toml", "a.toml")
    assert back.status == 0
    assert "9.1 % smaller" in back.output


def test_json_is_alone_and_keeps_the_status(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 1000, "ilpmax")
    write(tmp_path / "b.toml", 1100, "ilpmax")
    ran = cli("tune", "diff", "--json", "a.toml", "b.toml")
    assert ran.status == 1
    document = json.loads(ran.output)
    assert document["is_worse"] is True
    assert document["binaries"][0]["sizes"]["text"] == [1000, 1100]


def test_an_invalid_plan_is_refused(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 1000, "ilpmax")
    (tmp_path / "b.toml").write_text("version = 99\n")
    for second, said in (("b.toml", "has version 99"), ("c.toml", "cannot read")):
        ran = cli("tune", "diff", "a.toml", second)
        assert ran.status == 2
        assert said in ran.errors
    assert cli("tune", "diff", "a.toml").status == 2
    assert "Exit status" in cli("tune", "diff", "--help").output
