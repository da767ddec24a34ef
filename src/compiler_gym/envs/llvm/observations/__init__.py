# SPDX-License-Identifier: MIT
"""The observations: the table of everything that a session computes.

Names, shapes and meanings are those of CompilerGym 0.2.5 where it has them. ``costs``,
``structure`` and ``runs`` hold the rows by kind, ``compute`` computes them in a worker, ``derived``
derives further observations in the client, and ``names`` names array elements.
"""

from typing import TYPE_CHECKING

from compiler_gym.envs.llvm.actions.codegen_options import OPTIONS
from compiler_gym.envs.llvm.observations.costs import COSTS_OF_IR, COSTS_OF_PROGRAMS, LEVELS
from compiler_gym.envs.llvm.observations.cpu import CPU_COUNTS
from compiler_gym.envs.llvm.observations.names import AUTOPHASE_FEATURES, INST_COUNT_FEATURES
from compiler_gym.envs.llvm.observations.runs import RUNS
from compiler_gym.envs.llvm.observations.shapes import COUNT, MOST, counts
from compiler_gym.envs.llvm.observations.structure import STRUCTURE
from compiler_gym.lazy import door
from compiler_gym.session import BoxSpec, DictSpec, SequenceSpec, TextSpec
from compiler_gym.tables import Observation, Table

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.observations.compute import observation_specs
    from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path

__all__ = [
    "AUTOPHASE_FEATURES",
    "COUNT",
    "INST_COUNT_FEATURES",
    "LEVELS",
    "MOST",
    "ROWS",
    "TABLE",
    "observation_specs",
    "vocabulary_path",
]

__getattr__ = door(__name__)


def _text(name: str, length: int | None, compute: str, description: str) -> Observation:
    shortest = length or 0
    return Observation(
        name=name,
        space=SequenceSpec("str", shortest, length),
        description=description,
        compute=compute,
        default=" " * shortest,
    )


_MODULE = (
    _text("Ir", None, "Module.text", "The module as LLVM IR text, without value names."),
    _text(
        "Assembly",
        None,
        "assembly",
        "The assembly of the module's object file, for x86-64 or the target that ``?target=`` "
        "names.",
    ),
    _text("IrSha1", 40, "ir_sha1", "The SHA-1 of the module's bitcode, 40 hexadecimal digits."),
    _text(
        "IrHash",
        32,
        "ir_hash",
        "A 128-bit hash of the IR, 32 hexadecimal digits: the same on every machine, and equal if "
        "the bitcode is equal.",
    ),
    Observation(
        name="Bitcode",
        space=BoxSpec(-128, 127, (-1,), "int8"),
        description="The module as LLVM bitcode: an int8 array of the file's bytes.",
        compute="Module.bitcode",
        default=b"",
    ),
    Observation(
        name="BitcodeFile",
        space=SequenceSpec("str", 0, 4096),
        description="The path of a file with the module's bitcode; deleted when the episode ends.",
        compute="bitcode_file",
        deterministic=False,
        default="",
    ),
    Observation(
        name="InstCount",
        space=counts(len(INST_COUNT_FEATURES)),
        description="The totals, then the number of instructions by opcode: int64[70]. The number "
        "of functions includes declarations.",
        compute="Module.inst_count",
    ),
    Observation(
        name="Autophase",
        space=counts(len(AUTOPHASE_FEATURES)),
        description="The features of the AutoPhase paper (Huang et al., 2019): int64[56].",
        compute="Module.autophase",
    ),
    Observation(
        name="CodegenChoices",
        space=BoxSpec(0, 255, (len(OPTIONS),), "int64"),
        description="The options of the code generator that are set, as an action of ``Codegen``: "
        "a number for each option, 0 for LLVM's default.",
        compute="codegen_choices",
    ),
    Observation(
        name="CpuInfo",
        space=DictSpec({**dict.fromkeys(CPU_COUNTS, COUNT), "name": TextSpec()}),
        description="The processor: cores, caches (bytes) and name; 0 if the kernel does not "
        "report a value.",
        compute="cpu_info",
        platform_dependent=True,
        default={**dict.fromkeys(CPU_COUNTS, 0), "name": ""},
    ),
)

ROWS = (*_MODULE, *COSTS_OF_IR, *STRUCTURE, *COSTS_OF_PROGRAMS, *RUNS)
"""The rows of the observations and costs, for reuse in other tables."""

TABLE = Table(ROWS)
"""Every observation, including the baselines of the costs."""
