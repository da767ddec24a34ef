# SPDX-License-Identifier: MIT
"""The inputs of bundled programs are made when they are looked at, and there is no end of them."""

import pickle
import subprocess
import sys

import pytest

from compiler_gym.datasets import BundledPrograms, RunCase, RunSpec, find_run, pack_run
from compiler_gym.errors import BenchmarkInitError

PROGRAMS = {uri.rpartition("/")[2]: uri for uri in BundledPrograms().benchmark_uris()}


def test_cases_are_sorted_by_their_size_and_made_on_demand() -> None:
    spec = BundledPrograms().benchmark(PROGRAMS["qsort"]).run
    assert spec is not None
    sizes = [spec.of_size(size) for size in ("test", "small", "ref")]
    assert sum(len(part.cases) for part in sizes) == len(spec.cases)
    assert spec.cases[0].name == "test/0"
    assert spec.cases[-1].size == "ref"
    assert [case.name for case in spec.cases[1:3]] == ["test/1", "test/2"]
    assert spec.of_size("test").cases[0] == spec.cases[0]
    assert spec.is_judged


@pytest.mark.parametrize("name", PROGRAMS)
def test_further_inputs_differ_and_repeat_themselves(name: str) -> None:
    spec = BundledPrograms().benchmark(PROGRAMS[name]).run
    assert spec is not None
    assert spec.more is not None
    cases = [spec.more(number) for number in range(20, 26)]
    assert cases == [spec.more(number) for number in range(20, 26)]
    assert all(isinstance(case, RunCase) and case.expected is None for case in cases)
    inputs = {(case.argv, case.stdin, *sorted(case.files.items())) for case in cases}
    assert len(inputs) >= 3


def test_a_program_can_be_pickled_after_its_runs_were_read() -> None:
    program = BundledPrograms().benchmark(PROGRAMS["sha"])
    assert program.is_validatable()
    assert program.run is not None
    assert program.run.more is not None
    again = pickle.loads(pickle.dumps(program))
    assert again.run.cases[0] == program.run.cases[0]
    assert again.run.more(3) == program.run.more(3)


def test_sources_of_programs_that_share_files_find_each_other() -> None:
    names = [source.filename for source in BundledPrograms().benchmark(PROGRAMS["jpeg-c"]).sources]
    assert {"jpeg-c/jpeg-c.c", "_jpeg/jpeg.h"} <= set(names)
    alone = [source.filename for source in BundledPrograms().benchmark(PROGRAMS["sha"]).sources]
    assert "sha.c" in alone


def test_threads_may_read_the_first_runs_at_once() -> None:
    code = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from compiler_gym.datasets import BundledPrograms
sys.setswitchinterval(1e-6)
programs = BundledPrograms()
uris = list(programs.benchmark_uris())[:8]
together = threading.Barrier(len(uris))
def read(uri):
    together.wait()
    return len(programs.benchmark(uri).run.cases)
with ThreadPoolExecutor(len(uris)) as pool:
    assert all(pool.map(read, uris))
"""
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_run_travels_with_its_program_or_is_known_by_name() -> None:
    spec = RunSpec.single(("7",))
    assert find_run("benchmark://own-v0/1", pack_run(spec)) == spec
    assert find_run("benchmark://own-v0/1", b"") is None
    bundled = find_run("benchmark://cbench-v1/crc32", b"")
    assert bundled is not None
    assert len(bundled.cases) >= 20
    assert find_run("benchmark://cbench-v1/nosuch", b"") is None


def test_an_address_may_choose_one_of_the_inputs() -> None:
    programs = BundledPrograms()
    every = programs.benchmark(PROGRAMS["crc32"]).run
    assert every is not None
    for number in (0, 5, len(every.cases) - 1):
        program = programs.benchmark(f"{PROGRAMS['crc32']}?dataset={number}")
        assert program.uri.parameters == {"dataset": str(number)}
        assert program.run is not None
        assert [case.name for case in program.run.cases] == [every.cases[number].name]
        assert program.encode_run()
    for wrong in ("", "x", "-1", "1.5", str(len(every.cases)), "\u0664"):
        with pytest.raises(BenchmarkInitError, match=rf"from 0 to {len(every.cases) - 1} "):
            programs.benchmark(f"{PROGRAMS['crc32']}?dataset={wrong}")
