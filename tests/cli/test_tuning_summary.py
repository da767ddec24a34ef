# SPDX-License-Identifier: MIT
"""What a tuning found, as it is printed."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.cli._tuning_summary import show_summary
from compiler_gym.tuning import SourceSize, Summary
from tests.tuning.summaries import SUMMARY, with_binary


def printed(summary: Summary, capsys: pytest.CaptureFixture[str]) -> str:
    show_summary(summary)
    return capsys.readouterr().out


def test_sizes_decisions_and_next_steps_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(SUMMARY, capsys)
    assert [line.split()[0] for line in text.splitlines() if "," in line and "%" in line]
    for shown in (
        "src/tool: bytes, stripped", "1,000", "20.4 % smaller", "11.4 % smaller",
        "Without one decision it would be larger by: passes 60",
        "taken back, for a test fails with it: option broken=true",
        "The build links more: src/other: add --binary NAME", "Not tested",
        "/home/me/tuned/bin/src/tool", "sh /home/me/tuned/reproduce.sh /home/me/tuned/work/tree",
        "make 'CC=compiler-gym-cc --plan /home/me/tuned/tuned.toml' -j2",
    ):  # fmt: skip
        assert shown in text, shown
    assert "interrupted" not in text


def test_a_build_that_is_no_make_gets_the_compiler_in_its_environment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    summary = replace(SUMMARY, build=("sh", "-c", "cc *.c"), folder=str(tmp_path / "my out"))
    text = printed(summary, capsys)
    assert "'./my out/bin/src/tool'" in text
    assert f"--plan '\"'\"'{tmp_path}/my out/tuned.toml'\"'\"'' sh -c 'cc *.c'" in text


@pytest.mark.parametrize(
    ("build", "shown"),
    [
        (("env", "CC=cc", "sh", "build.sh"), "env 'CC={ours}' sh build.sh"),
        (("make", "-j2", "CC=gcc"), "make -j2 'CC={ours}'"),
    ],
)
def test_a_compiler_that_the_build_sets_itself_is_replaced(
    capsys: pytest.CaptureFixture[str], build: tuple[str, ...], shown: str
) -> None:
    ours = "compiler-gym-cc --plan /home/me/tuned/tuned.toml"
    text = printed(replace(SUMMARY, build=build), capsys)
    assert f"  {shown.format(ours=ours)}\n" in text


def test_a_project_in_cxx_gets_both_compilers(capsys: pytest.CaptureFixture[str]) -> None:
    sources = (SourceSize("main.c", 1, 1, 1), SourceSize("lib/part.cpp", 1, 1, 1))
    text = printed(with_binary(sources=sources), capsys)
    plan = "--plan /home/me/tuned/tuned.toml"
    assert f"make 'CC=compiler-gym-cc {plan}' 'CXX=compiler-gym-cxx {plan}' -j2" in text
    assert "CXX" not in printed(SUMMARY, capsys)


def test_nothing_better_and_an_early_end_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(replace(with_binary(is_better=False), is_interrupted=True), capsys)
    assert "nothing smaller than clang -Oz -flto was found, in 1,234 compilations" in text
    assert "interrupted: this is what was found so far" in text
    tested = printed(replace(SUMMARY, check="make check", others=()), capsys)
    assert "Not tested" not in tested
    assert "links more" not in tested


def test_speed_is_printed_with_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    speed = {"speedup": 1.05, "low": 1.02, "high": 1.08}
    text = printed(replace(with_binary(speed=speed), goal="speed"), capsys)
    assert "1.050 times as fast as clang -Oz -flto, between 1.020 and 1.080" in text
