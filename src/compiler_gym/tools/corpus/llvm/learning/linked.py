# SPDX-License-Identifier: MIT
"""The linked programs of a corpus, as builds that can be done again without their sources.

The modules that a program was linked of are its sources, and each is compiled with nothing but
what a plan says. What is the same for all plans does not count: libraries that are not on this
machine are not linked, and what they define stays undefined.
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
from compiler_gym.tools.corpus.packages import gather, holds_packages
from compiler_gym.tools.tune.builds import Binary, Input, Unit

__all__ = ["CorpusChoice", "CorpusProgram", "choose_programs", "list_programs", "open_corpus"]

_PROGRAM, _LIBRARY = "program", "library"
_LIBRARIES = ("-lm", "-lpthread", "-ldl", "-lrt")
"""Those of every machine; what is not needed is left out."""
_UNDEFINED = ("-Wl,--as-needed", "-Wl,--unresolved-symbols=ignore-all")
_OF_GENERATORS = 30
"""How many programs of a dataset without an end there are."""
_GATHERED = "corpus.sqlite"


@dataclass(frozen=True, slots=True)
class CorpusChoice:
    """Which programs of a corpus."""

    splits: tuple[str, ...] = ()
    """Those of these splits; all where it is empty."""
    per_package: int = 0
    """At most so many of a package, the largest of them; 0 for all."""
    most: int = 0
    """None with more instructions before any pass; 0 for all."""

    def takes(self, program: "CorpusProgram") -> bool:
        """Return whether `program` is one, but for how many a package may have."""
        is_small = not 0 < self.most < program.instructions
        return is_small and (not self.splits or program.split in self.splits)


@dataclass(frozen=True, slots=True)
class CorpusProgram:
    """One linked program, or shared library, of a corpus."""

    name: str
    """Its address."""
    package: str
    """The package that it is from; the program itself where nothing is known of packages."""
    dataset: Dataset
    split: str = ""
    """Its split; empty where the corpus has none."""
    instructions: int = 0
    """How many it has before any pass; 0 where nobody counted."""
    is_cxx: bool = True
    is_shared: bool = False
    parts: tuple[str, ...] = ()
    """The keys of its modules; none where it is one module itself."""

    def modules(self) -> Iterator[bytes]:
        """Yield the bitcode of its modules, as the front end left them."""
        if isinstance(self.dataset, CorpusDataset):
            for key in self.parts:
                yield self.dataset.program(f"{self.dataset.name}/{key}").contents
            return
        with make("llvm-v0") as env:
            env.reset(benchmark=self.dataset.benchmark(self.name))
            yield env.observation["Bitcode"].tobytes()

    def binary(self, folder: Path) -> Binary:
        """Return it as the binary of a build in `folder`, which takes the modules."""
        folder.mkdir(parents=True, exist_ok=True)
        inputs = list[Input]()
        for number, module in enumerate(self.modules()):
            source = folder / f"{number}.bc"
            source.write_bytes(module)
            word = f"{number}.o"
            command = CompilerCommand.parse(["cc", "-c", source.name, "-o", word], folder)
            inputs.append(Input(word, folder / word, (Unit(command, command.sources[0]),)))
        words = ["c++" if self.is_cxx else "cc", *(input.word for input in inputs)]
        words += [
            *(["-shared"] if self.is_shared else []),
            *_UNDEFINED,
            *_LIBRARIES,
            "-o",
            "linked",
        ]
        link = CompilerCommand.parse(words, folder)
        return Binary("linked", folder / "linked", link, tuple(inputs), folder)


ALL = CorpusChoice()


def open_corpus(named: str, folder: Path) -> Dataset:
    """Return the dataset that `named` says: its name, a corpus file, or a folder of built packages.

    Of built packages the corpus is gathered into `folder`, once. Raises `UnknownNameError` where
    it is none of these.
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
    known = {dataset.name.removeprefix("benchmark://"): dataset for dataset in make_datasets()}
    name = named.removeprefix("benchmark://")
    if name not in known:
        raise UnknownNameError(unknown_name("dataset", named, known))
    known[name].install()
    return known[name]


def choose_programs(corpus: str, folder: Path, choice: CorpusChoice) -> list[CorpusProgram]:
    """Return the programs of a corpus, as `open_corpus` and `list_programs` do.

    Raises `DatasetInitError` where `choice` takes none.
    """
    found = list_programs(open_corpus(corpus, folder), choice)
    if not found:
        splits = " or ".join(filter(None, choice.splits)) or "any"
        least = f" with at most {choice.most:,} instructions" if choice.most else ""
        raise DatasetInitError(
            f"{corpus} has no linked program of the split {splits}{least}: name another --split "
            "or a larger --most"
        )
    return found


def list_programs(dataset: Dataset, choice: CorpusChoice = ALL) -> list[CorpusProgram]:
    """Return the linked programs of `dataset` that `choice` takes, the smallest first.

    The programs of a dataset that is no corpus of packages count as linked: of one that generates
    them, the first 30.
    """
    by_package = defaultdict[str, list[CorpusProgram]](list)
    for program in filter(choice.takes, _all_programs(dataset)):
        by_package[program.package].append(program)
    found = list[CorpusProgram]()
    for programs in by_package.values():
        programs.sort(key=lambda one: (-one.instructions, one.name))
        found += programs[: choice.per_package or None]
    return sorted(found, key=lambda one: (one.instructions, one.name))


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
