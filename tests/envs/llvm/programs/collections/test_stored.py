# SPDX-License-Identifier: MIT
"""Programs of an imported corpus compile as the published ones do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, BenchmarkUri, CorpusProgram, Dataset, import_corpus
from compiler_gym.datasets.corpus import CorpusDataset
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.programs.collections.stored import read_stored
from compiler_gym.envs.llvm.programs.source import ClangInvocation
from compiler_gym.errors import (
    BenchmarkInitError,
)


def test_an_imported_corpus_is_compiled_as_it_is_read(
    tmp_path: Path, make_env: Callable[..., LlvmEnv]
) -> None:
    (tmp_path / "in").mkdir()
    texts = {"a.c": "f() { return 1; }", "b.ll": "define void @f() { ret void }", "c.rs": "fn f"}
    for name, text in texts.items():
        (tmp_path / "in" / name).write_text(text)
    import_corpus("mine-v0", tmp_path / "in", site_data_base=tmp_path / "site")
    env = make_env(datasets_site_path=tmp_path / "site", observation_space="IrInstructionCount")
    corpus: Dataset = env.datasets["mine-v0"]
    assert isinstance(corpus, CorpusDataset)
    assert corpus.size == 3
    assert env.reset(benchmark="mine-v0/b.ll")[0] == 1
    assert env.reset(benchmark="mine-v0/a.c")[0] == 1
    with pytest.raises(BenchmarkInitError, match=r"has the suffix '.rs'"):
        env.reset(benchmark="mine-v0/c.rs")


def test_students_solutions_that_were_imported_compile_as_the_published_ones_do(
    make_env: Callable[..., LlvmEnv], tmp_path: Path
) -> None:
    folder = tmp_path / "ProgramData/7"
    folder.mkdir(parents=True)
    text = b"// \xb3\xcc\nvoid main() { char s[LEN]; gets(s); cout << strlen(s); }\n"
    (folder / "1.txt").write_bytes(text)
    import_corpus("solutions-v0", tmp_path / "ProgramData", site_data_base=tmp_path / "site")
    env = make_env(datasets_site_path=tmp_path / "site")
    program = env.datasets["solutions-v0"]["7/1.txt"]
    env.reset(benchmark=program)
    assert env.observation["IrInstructionCount"] > 5
    assert [source.contents for source in program.sources] == [text]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """Return the arguments of every run of clang; nothing was kept before."""
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    runs: list[tuple[str, ...]] = []

    def run(self: ClangInvocation, input: bytes | None = None) -> bytes:
        runs.append(tuple(self.args))
        return b"module of " + (input or b"")

    monkeypatch.setattr(ClangInvocation, "run", run)
    return runs


def stored(suffix: str, contents: bytes = b"source", key: str = "1") -> Benchmark:
    uri = BenchmarkUri.from_string(f"benchmark://mine-v0/{key}")
    return read_stored(uri, CorpusProgram(key, contents, "", suffix, "MIT", "", "", "C"))


@pytest.mark.parametrize("suffix", [".bc", ".ll"])
def test_ir_is_handed_on_as_it_is(compiled: list[tuple[str, ...]], suffix: str) -> None:
    assert stored(suffix).contents == b"source"
    assert compiled == []


def test_a_source_is_compiled_once_in_its_language(compiled: list[tuple[str, ...]]) -> None:
    first, again, other = stored(".c"), stored(".c"), stored(".cpp")
    assert first.contents == again.contents == other.contents == b"module of source"
    assert [run[-3:] for run in compiled] == [("-x", "c", "-"), ("-x", "c++", "-")]
    assert [(s.filename, s.contents) for s in first.sources] == [("source.c", b"source")]


def test_a_file_of_no_known_language_is_refused(compiled: list[tuple[str, ...]]) -> None:
    with pytest.raises(
        BenchmarkInitError, match=r"mine-v0/1 has the suffix '\.f90'; supported are \.bc"
    ):
        stored(".f90")
    with pytest.raises(BenchmarkInitError, match="has the suffix ''"):
        stored("")
    assert compiled == []
