# SPDX-License-Identifier: MIT
"""The linked programs of a corpus, as builds that can be repeated without source code.

The modules of a program act as its sources, and each is compiled with the options of a plan only.
Only differences between plans matter, so libraries that are missing on this machine are not
linked, and their symbols remain undefined.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds import CompilerCommand
from compiler_gym.datasets import CorpusDataset, Dataset
from compiler_gym.envs.llvm import make_datasets
from compiler_gym.envs.llvm.programs import find_shapes
from compiler_gym.errors import DatasetInitError, UnknownNameError, unknown_name
from compiler_gym.registration import make
from compiler_gym.tools.tune.builds import Binary, Input, Unit
from compiler_gym_corpus.packages import gather, holds_packages

__all__ = ["CorpusChoice", "CorpusProgram", "choose_programs", "list_programs", "open_corpus"]

_PROGRAM, _LIBRARY = "program", "library"
_LIBRARIES = ("-lm", "-lpthread", "-ldl", "-lrt")
"""Libraries that every machine has; unneeded ones are not linked."""
_UNDEFINED = ("-Wl,--as-needed", "-Wl,--unresolved-symbols=ignore-all")
_OF_GENERATORS = 30
"""The number of programs to use from an unbounded dataset."""
_GATHERED = "corpus.sqlite"


@dataclass(frozen=True, slots=True)
class CorpusChoice:
    """A selection of programs of a corpus."""

    splits: tuple[str, ...] = ()
    """The splits to use; empty for all."""
    per_package: int = 0
    """The maximum number of programs per package, largest first; 0 for all."""
    most: int = 0
    """The maximum number of instructions before any pass; 0 for no limit."""

    def takes(self, program: "CorpusProgram") -> bool:
        """Return whether `program` is selected, disregarding `per_package`."""
        is_small = not 0 < self.most < program.instructions
        return is_small and (not self.splits or program.split in self.splits)


@dataclass(frozen=True, slots=True)
class CorpusProgram:
    """One linked program, or shared library, of a corpus."""

    name: str
    """Its address."""
    package: str
    """Its package; the address itself if the corpus has no packages."""
    dataset: Dataset
    split: str = ""
    """Its split; empty if the corpus has no splits."""
    instructions: int = 0
    """The number of instructions before any pass; 0 if not counted."""
    is_cxx: bool = True
    is_shared: bool = False
    parts: tuple[str, ...] = ()
    """The keys of its modules; empty if it is a single module."""

    def modules(self) -> Iterator[bytes]:
        """Yield the bitcode of its modules, as the front end produced them."""
        if isinstance(self.dataset, CorpusDataset):
            for key in self.parts:
                yield self.dataset.program(f"{self.dataset.name}/{key}").contents
            return
        with make("llvm-v0") as env:
            env.reset(benchmark=self.dataset.benchmark(self.name))
            yield env.observation["Bitcode"].tobytes()

    def binary(self, folder: Path) -> Binary:
        """Write the modules to `folder` and return the program as a binary to build there."""
        folder.mkdir(parents=True, exist_ok=True)
        inputs = list[Input]()
        for number, module in enumerate(self.modules()):
            source = folder / f"{number}.bc"
            source.write_bytes(module)
            name = f"{number}.o"
            command = CompilerCommand.parse(["cc", "-c", source.name, "-o", name], folder)
            unit = Unit(command, command.sources[0])
            inputs.append(Input(name, folder / name, (unit,), at=(number + 1, 0)))
        arguments = ["c++" if self.is_cxx else "cc", *(input.word for input in inputs)]
        arguments += [
            *(["-shared"] if self.is_shared else []),
            *_UNDEFINED,
            *_LIBRARIES,
            "-o",
            "linked",
        ]
        link = CompilerCommand.parse(arguments, folder)
        return Binary("linked", folder / "linked", link, tuple(inputs), folder)


ALL = CorpusChoice()


def open_corpus(named: str, folder: Path) -> Dataset:
    """Return the dataset `named`: a name, a corpus file, or a folder of built packages.

    The corpus of built packages is gathered into `folder`, once. Raises `UnknownNameError` if
    there is no such dataset.
    """
    path = Path(named).expanduser()
    if path.is_file():
        return CorpusDataset(path)
    if path.is_dir() and holds_packages(path):
        gathered = folder / _GATHERED
        if not gathered.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            gather(path, gathered, name=f"{path.name}-v0", shapes=find_shapes)
        return CorpusDataset(gathered)
    datasets = {dataset.name.removeprefix("benchmark://"): dataset for dataset in make_datasets()}
    name = named.removeprefix("benchmark://")
    if name not in datasets:
        raise UnknownNameError(unknown_name("dataset", named, datasets))
    datasets[name].install()
    return datasets[name]


def choose_programs(corpus: str, folder: Path, choice: CorpusChoice) -> list[CorpusProgram]:
    """Return the programs of a corpus that `choice` selects.

    Raises `DatasetInitError` if it selects none.
    """
    programs = list_programs(open_corpus(corpus, folder), choice)
    if not programs:
        splits = " or ".join(filter(None, choice.splits)) or "any"
        limit = f" with at most {choice.most:,} instructions" if choice.most else ""
        raise DatasetInitError(
            f"{corpus} has no linked programs in the split {splits}{limit}; choose another --split "
            "or a larger --most"
        )
    return programs


def list_programs(dataset: Dataset, choice: CorpusChoice = ALL) -> list[CorpusProgram]:
    """Return the linked programs of `dataset` that `choice` selects, smallest first.

    In a dataset that was not gathered from packages, every program counts as linked; an unbounded
    dataset contributes the first 30.
    """
    by_package = defaultdict[str, list[CorpusProgram]](list)
    for program in filter(choice.takes, _all_programs(dataset)):
        by_package[program.package].append(program)
    selected = list[CorpusProgram]()
    for programs in by_package.values():
        programs.sort(key=lambda program: (-program.instructions, program.name))
        selected += programs[: choice.per_package or None]
    return sorted(selected, key=lambda program: (program.instructions, program.name))


def _all_programs(dataset: Dataset) -> Iterator[CorpusProgram]:
    if not (isinstance(dataset, CorpusDataset) and dataset.has_splits):
        uris = itertools.islice(dataset.benchmark_uris(), dataset.size or _OF_GENERATORS)
        yield from (CorpusProgram(uri, uri, dataset) for uri in uris)
        return
    for stored in dataset.programs():
        facts = dataset.read_facts(stored)
        if _PROGRAM in facts.kinds or _LIBRARY in facts.kinds:
            yield CorpusProgram(
                f"{dataset.name}/{stored.key}", facts.places[0].package, dataset,
                split=facts.split, instructions=facts.instructions,
                is_cxx=stored.language == "c++", is_shared=_PROGRAM not in facts.kinds,
                parts=facts.modules or (stored.key,),
            )  # fmt: skip
