# SPDX-License-Identifier: MIT
# PyKEEN and PyTorch are installed to train only.
# pyright: reportMissingImports=false
"""Train the vocabulary of IR2Vec that comes with this package.

    pip install pykeen
    python -m scripts.train_ir2vec out.json

LLVM 22 computes IR2Vec but Debian ships no vocabulary for it. This one is learnt from the
bundled programs, as they are and after each of clang's levels, and from programs of Csmith:
``llvm-ir2vec-22`` lists which opcode has which type, operands and successor, and TransE
(Bordes et al., 2013) as PyKEEN has it places what is related at a relation's distance. With
a fixed seed and one thread the same file comes out again on the same kind of machine with
the same PyTorch. A vocabulary trained on more code can be named instead
(`COMPILER_GYM_IR2VEC_VOCABULARY`).
"""

import argparse
import gc
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.datasets import BundledPrograms
from compiler_gym.envs.llvm.programs.collections.generators import CsmithDataset
from compiler_gym.errors import EnvironmentNotSupported

__all__ = ["train"]

TOOL = "llvm-ir2vec-22"
LEVELS = (None, "O1", "O2", "O3", "Os", "Oz")
CSMITH_PROGRAMS, CSMITH_LEVELS = 20, (None, "O2")
DIMENSIONS = 75
EPOCHS, BATCH, MARGIN, RATE, NEGATIVES, SEED = 300, 512, 1.0, 0.01, 4, 0
Triplets = NDArray[np.int64]


def train(triplets: Triplets, entities: int, *, epochs: int = EPOCHS) -> NDArray[np.float64]:
    """Return a vector of length 1 for each entity.

    A row of `triplets` is (head, tail, relation), as ``llvm-ir2vec-22`` writes it. Raises
    `EnvironmentNotSupported` without PyKEEN.
    """
    pykeen = _pykeen()
    torch = pykeen.torch
    torch.set_num_threads(1)
    torch.set_deterministic_debug_mode("error")  # its other spelling imports a compiler
    pykeen.set_random_seed(SEED)
    known = pykeen.CoreTriplesFactory(
        torch.as_tensor(triplets[:, [0, 2, 1]]),
        num_entities=entities,
        num_relations=int(triplets[:, 2].max()) + 1,
    )
    model = pykeen.TransE(
        triples_factory=known,
        embedding_dim=DIMENSIONS,
        scoring_fct_norm=2,
        loss=pykeen.MarginRankingLoss(margin=MARGIN),
        random_seed=SEED,
    )
    loop = pykeen.SLCWATrainingLoop(
        model=model,
        triples_factory=known,
        optimizer=torch.optim.Adam(model.parameters(), lr=RATE),
        negative_sampler="bernoulli",
        negative_sampler_kwargs={"num_negs_per_pos": NEGATIVES, "filtered": True},
    )
    gc.freeze()  # PyKEEN collects garbage after each epoch, mostly the libraries' own objects
    try:
        loop.train(known, num_epochs=epochs, batch_size=BATCH, use_tqdm=False, pin_memory=False)
    finally:
        gc.unfreeze()
    return model.entity_representations[0](None).detach().double().numpy()


def _pykeen() -> Any:
    """Return what is used of PyKEEN and PyTorch, in one namespace."""
    from types import SimpleNamespace

    try:
        import torch
        from pykeen.losses import MarginRankingLoss
        from pykeen.models import TransE
        from pykeen.training import SLCWATrainingLoop
        from pykeen.triples import CoreTriplesFactory
        from pykeen.utils import set_random_seed
    except ImportError as error:
        raise EnvironmentNotSupported(
            f"training a vocabulary of IR2Vec needs PyKEEN ({error}): `pip install pykeen`"
        ) from error
    return SimpleNamespace(
        torch=torch,
        MarginRankingLoss=MarginRankingLoss,
        TransE=TransE,
        SLCWATrainingLoop=SLCWATrainingLoop,
        CoreTriplesFactory=CoreTriplesFactory,
        set_random_seed=set_random_seed,
    )


def _entities() -> list[str]:
    lines = subprocess.run([TOOL, "entities"], capture_output=True, text=True, check=True).stdout
    return [line.split("\t")[0] for line in lines.splitlines()[1:]]


def _triplets_of(bitcode: bytes) -> set[tuple[int, ...]]:
    with tempfile.NamedTemporaryFile(suffix=".bc") as file:
        file.write(bitcode)
        file.flush()
        command = [TOOL, "triplets", file.name]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in lines.splitlines() if not line.startswith("MAX_RELATION"))
    return {tuple(map(int, row)) for row in rows}


def _corpus() -> Iterator[bytes]:
    """Yield the bitcode of every program to learn from."""
    for program in BundledPrograms().benchmarks():
        yield from _at(program.contents, LEVELS)
    csmith = CsmithDataset()
    for seed in range(CSMITH_PROGRAMS):
        yield from _at(csmith[f"{csmith.name}/{seed}"].contents, CSMITH_LEVELS)


def _at(bitcode: bytes, levels: tuple[str | None, ...]) -> Iterator[bytes]:
    from compiler_gym import _llvm

    for level in levels:
        module = _llvm.Module(bitcode)
        if level is not None:
            module.apply_level(level)
        yield module.bitcode()


def _vocabulary(
    names: list[str], vectors: NDArray[np.float64]
) -> dict[str, dict[str, list[float]]]:
    sections: dict[str, dict[str, list[float]]] = {"Opcodes": {}, "Types": {}, "Arguments": {}}
    for name, vector in zip(names, np.round(vectors, 5).tolist(), strict=True):
        sections[_section(name)][name] = vector
    return sections


def _section(name: str) -> str:
    if name.endswith("Ty"):
        return "Types"
    operands = ("Function", "Pointer", "Constant", "Variable")
    return "Arguments" if name in operands or name[:5] in ("FCMP_", "ICMP_") else "Opcodes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    names = _entities()
    seen = set[tuple[int, ...]]().union(*map(_triplets_of, _corpus()))
    vectors = train(np.array(sorted(seen), dtype=np.int64), len(names))
    text = json.dumps(_vocabulary(names, vectors), separators=(",", ":"))
    options.output.write_text(text.replace("],", "],\n") + "\n")
    print(f"{len(names)} entities from {len(seen)} different triplets")


if __name__ == "__main__":
    main()
