# SPDX-License-Identifier: MIT
"""What was compiled before is known: to this process, to others, and in spite of damage."""

import multiprocessing
from pathlib import Path

import pytest

from compiler_gym_gcc.programs import memo as memos
from compiler_gym_gcc.programs.memo import Memo, open_memo


def test_facts_are_known_at_once_and_to_another_process(tmp_path: Path) -> None:
    ours, theirs = Memo(tmp_path / "a" / "facts"), Memo(tmp_path / "a" / "facts")
    assert theirs.facts("-O2") == {}
    ours.add("-O2", {"obj_size": 1})
    ours.add("-O2", {"asm_size": 2})
    ours.add("-Os", {"obj_size": 3})
    assert ours.facts("-O2") == {"obj_size": 1, "asm_size": 2}
    assert theirs.facts("-Os") == {"obj_size": 3}
    assert Memo(tmp_path / "a" / "facts").facts("-O2") == {"obj_size": 1, "asm_size": 2}


def test_torn_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    memo = Memo(tmp_path / "facts")
    memo.add("-O2", {"obj_size": 1})
    key = memos._command_key("-O2")  # pyright: ignore[reportPrivateUsage]  # tested on its own
    with memo.path.open("ab") as file:
        file.write(
            b"rubbish\n" + key + b" {torn\n" + key + b' {"asm_size": 2}\n' + key + b' {"x": '
        )
    assert Memo(memo.path).facts("-O2") == {"obj_size": 1, "asm_size": 2}


def test_a_file_that_has_grown_too_large_starts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memos, "MOST_BYTES", 200)
    memo = Memo(tmp_path / "facts")
    for number in range(50):
        memo.add(f"-O{number}", {"obj_size": number})
        assert memo.path.stat().st_size < 400
    assert memo.facts("-O3") == {"obj_size": 3}
    assert Memo(memo.path).facts("-O49") == {"obj_size": 49}


def test_more_command_lines_than_fit_into_memory_are_known_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memos, "MOST_KNOWN", 10)
    memo = Memo(tmp_path / "facts")
    for number in range(35):
        memo.add(f"-O{number}", {"obj_size": number})
        assert len(memo._known) <= 10  # pyright: ignore[reportPrivateUsage]  # no public name tells
    assert all(memo.facts(f"-O{n}") == {"obj_size": n} for n in range(35))


def _write(path: Path, name: str) -> None:
    memo = Memo(path)
    for number in range(200):
        memo.add(f"{name}{number}", {"value": "x" * 200 + str(number)})


def test_several_processes_may_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(tmp_path / "facts", n)) for n in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    memo = Memo(tmp_path / "facts")
    for name in "abcd":
        for number in range(200):
            assert memo.facts(f"{name}{number}") == {"value": "x" * 200 + str(number)}


def test_a_place_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memo = Memo(tmp_path / "file" / "facts")
    memo.add("-O2", {"obj_size": 1})
    assert memo.facts("-O2") == {"obj_size": 1}


def test_sessions_of_a_process_share_a_memo_and_old_ones_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memos, "_MOST_PROGRAMS", 2)
    first = open_memo(tmp_path / "1")
    assert open_memo(tmp_path / "1") is first
    open_memo(tmp_path / "2")
    open_memo(tmp_path / "3")
    assert open_memo(tmp_path / "1") is not first
