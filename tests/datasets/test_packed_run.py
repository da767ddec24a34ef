# SPDX-License-Identifier: MIT
"""How to run a program survives the way to a worker."""

from pathlib import Path

from compiler_gym.datasets import (
    Benchmark,
    BundledPrograms,
    ExpectedOutput,
    RunCase,
    RunSpec,
    pack_run,
    unpack_run,
)


def test_a_spec_comes_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"\x00\xff")
    expected = ExpectedOutput.of(3, stdout=b"out", files={"o": b"1"})
    case = RunCase(
        ("-n", "{dir}/a"),
        {"a": b"1", "b": tmp_path / "in.txt"},
        b"typed",
        ("o",),
        expected,
        "small/0",
        "small",
    )
    spec = RunSpec((case, RunCase()), link=("-lm",), time_limit=2.5)
    found = unpack_run(pack_run(spec))
    assert (found.link, found.time_limit, len(found.cases)) == (("-lm",), 2.5, 2)
    assert found.cases[1] == RunCase()
    first = found.cases[0]
    assert (first.argv, first.stdin, first.outputs) == (case.argv, b"typed", ("o",))
    assert first.files == {"a": b"1", "b": b"\x00\xff"}
    assert first.expected == expected
    assert (first.name, first.size) == ("small/0", "small")


def test_a_bundled_program_sends_only_a_run_of_the_users_own() -> None:
    program = BundledPrograms().benchmark("benchmark://cbench-v1/crc32")
    assert program.packed_run() == b""
    program.run = RunSpec.single(argv=("x",))
    assert unpack_run(program.packed_run()).cases[0].argv == ("x",)


def test_a_program_that_cannot_be_run_sends_nothing() -> None:
    assert Benchmark("demo-v0/1", b"BC").packed_run() == b""
