# SPDX-License-Identifier: MIT
"""The names of the observations, by the type of their values, for type checkers and completion.

``make docs`` generates the lists from the table of observations, which a type checker cannot read.
"""

from typing import TYPE_CHECKING, Any, Literal, overload

from compiler_gym.core import ObservationView

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Arrays", "Flags", "Floats", "Integers", "LlvmObservationView", "Records", "Texts"]

Arrays = Literal[
    "Bitcode",
    "InstCount",
    "Autophase",
    "CodegenChoices",
    "IR2Vec",
    "IR2VecFlowAware",
    "Buildtime",
    "Runtime",
    "InstCountNorm",
    "Inst2vecEmbeddingIndices",
    "Inst2vec",
]
"""A numpy array."""
Integers = Literal[
    "IrInstructionCount",
    "IrInstructionCountO0",
    "IrInstructionCountO1",
    "IrInstructionCountO2",
    "IrInstructionCountO3",
    "IrInstructionCountOs",
    "IrInstructionCountOz",
    "IrInstructionCountOptOz",
    "IrInstructionCountInitial",
    "ObjectTextSizeBytes",
    "ObjectTextSizeO0",
    "ObjectTextSizeO1",
    "ObjectTextSizeO2",
    "ObjectTextSizeO3",
    "ObjectTextSizeOs",
    "ObjectTextSizeOz",
    "ObjectTextSizeOptOz",
    "ObjectTextSizeInitial",
    "TextSizeBytes",
    "TextSizeO0",
    "TextSizeO1",
    "TextSizeO2",
    "TextSizeO3",
    "TextSizeOs",
    "TextSizeOz",
    "TextSizeOptOz",
    "TextSizeInitial",
    "LinkedTextSizeBytes",
    "LinkedTextSizeO0",
    "LinkedTextSizeO1",
    "LinkedTextSizeO2",
    "LinkedTextSizeO3",
    "LinkedTextSizeOs",
    "LinkedTextSizeOz",
    "LinkedTextSizeOptOz",
    "LinkedTextSizeInitial",
    "LinkedSizeBytes",
    "LinkedSizeO0",
    "LinkedSizeO1",
    "LinkedSizeO2",
    "LinkedSizeO3",
    "LinkedSizeOs",
    "LinkedSizeOz",
    "LinkedSizeOptOz",
    "LinkedSizeInitial",
    "ObjectInstructionCount",
    "ObjectInstructionCountO0",
    "ObjectInstructionCountO1",
    "ObjectInstructionCountO2",
    "ObjectInstructionCountO3",
    "ObjectInstructionCountOs",
    "ObjectInstructionCountOz",
    "ObjectInstructionCountOptOz",
    "ObjectInstructionCountInitial",
    "RuntimeInstructions",
    "RuntimeInstructionsO0",
    "RuntimeInstructionsO1",
    "RuntimeInstructionsO2",
    "RuntimeInstructionsO3",
    "RuntimeInstructionsOs",
    "RuntimeInstructionsOz",
    "RuntimeInstructionsOptOz",
    "RuntimeInstructionsInitial",
]
"""An `int`."""
Floats = Literal[
    "McaCycles",
    "McaCyclesO0",
    "McaCyclesO1",
    "McaCyclesO2",
    "McaCyclesO3",
    "McaCyclesOs",
    "McaCyclesOz",
    "McaCyclesOptOz",
    "McaCyclesInitial",
    "Inst2vecUnknownShare",
]
"""A `float`."""
Flags = Literal["IsBuildable", "IsRunnable"]
"""A `bool`."""
Texts = Literal["Ir", "Assembly", "IrSha1", "IrHash", "BitcodeFile"]
"""A `str`."""
Records = Literal[
    "CpuInfo",
    "ProgramlJson",
    "ProgramlArrays",
    "LexedIrArrays",
    "LexedIrWords",
    "FunctionFeatures",
    "FunctionShapes",
    "CallGraph",
    "LoopForest",
    "CallSites",
    "Loops",
    "Functions",
    "IR2VecFunctions",
    "IR2VecFlowAwareFunctions",
    "PassStatistics",
    "RuntimeComparison",
    "AutophaseDict",
    "InstCountDict",
    "InstCountNormDict",
    "LexedIr",
]
"""A dictionary by column."""


class LlvmObservationView(ObservationView):
    """``env.observation`` of an `LlvmEnv`: an `ObservationView` with typed values."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, name: Arrays) -> "NDArray[Any]": ...
        @overload
        def __getitem__(self, name: Integers) -> int: ...
        @overload
        def __getitem__(self, name: Floats) -> float: ...
        @overload
        def __getitem__(self, name: Flags) -> bool: ...
        @overload
        def __getitem__(self, name: Texts) -> str: ...
        @overload
        def __getitem__(self, name: Records) -> dict[str, Any]: ...
        @overload
        def __getitem__(self, name: str) -> Any: ...
        def __getitem__(self, name: str) -> Any: ...
