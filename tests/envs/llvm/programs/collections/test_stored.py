# SPDX-License-Identifier: MIT
"""Programs of an imported corpus compile as the published ones do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import Dataset, import_corpus
from compiler_gym.datasets.corpus import CorpusDataset
from compiler_gym.envs.llvm import LlvmEnv
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
    with pytest.raises(BenchmarkInitError, match=r"is a \.rs file"):
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
