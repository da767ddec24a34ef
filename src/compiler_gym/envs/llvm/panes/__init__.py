# SPDX-License-Identifier: MIT
"""The explorer's views of a module: the observation and the layout of each.

``control_flow`` reads blocks from the IR, ``structure`` draws calls, loops and the program graph,
``source_lines`` maps lines of IR and assembly to the source, and ``pasted`` makes programs from
pasted text, which is untrusted.
"""

from compiler_gym.core import GraphPane, Listing, Panes, TextPane, cost_panes
from compiler_gym.envs.llvm.observations import (
    AUTOPHASE_FEATURES,
    INST_COUNT_FEATURES,
    ROWS,
    TABLE,
)
from compiler_gym.envs.llvm.observations.runs import RUNS
from compiler_gym.envs.llvm.panes.control_flow import control_flow
from compiler_gym.envs.llvm.panes.pasted import make_pasted
from compiler_gym.envs.llvm.panes.source_lines import read_assembly, read_ir
from compiler_gym.envs.llvm.panes.structure import calls, loops, program_graph
from compiler_gym.tables import Cost

__all__ = ["IR", "PANES"]

IR = Listing("llvm", ";", begin=r'define .*@("[^"]+"|[\w.$-]+)\(', end=r"}")
"""The syntax of LLVM IR text."""
_ASSEMBLY = Listing(
    "gas", "#", begin=r'\s*\.type\s+("[^"]+"|[^\s,]+), *[@%]function', end=r"\s*\.size\s+[^,]+, *\."
)
_RUN_OBSERVATION = "RuntimeInstructions"
_RUNNING = {row.name for row in RUNS} - {"IsBuildable", "Buildtime"}
_COUNTED = next(
    row for row in ROWS if isinstance(row, Cost) and row.observation == _RUN_OBSERVATION
)

PANES = Panes(
    text=TextPane("Ir", IR, read_ir, "LLVM IR"),
    assembly=TextPane("Assembly", _ASSEMBLY, read_assembly, "Assembly"),
    costs=cost_panes(
        TABLE.costs,
        {
            "IrInstructionCount": "IR instructions",
            "ObjectTextSizeBytes": "text size",
            "McaCycles": "cycles",
            "ObjectInstructionCount": "machine instructions",
            "TextSizeBytes": "linked text size",
            _RUN_OBSERVATION: "instructions run",
        },
        at_once=("IrInstructionCount",),
    ),
    vectors={
        "Autophase": tuple(AUTOPHASE_FEATURES),
        "InstCount": tuple(INST_COUNT_FEATURES),
        "IR2Vec": (),
    },
    graphs=(
        GraphPane("cfg", "Control flow", control_flow, of_function=True),
        GraphPane("calls", "Calls", calls, ("CallGraph",)),
        GraphPane("loops", "Loops", loops, ("LoopForest", "CallGraph")),
        GraphPane("programl", "Program graph", program_graph, ("ProgramlJson",)),
    ),
    running=frozenset({*_RUNNING, _RUN_OBSERVATION, *_COUNTED.baselines, _COUNTED.initial}),
    changes="PassStatistics",
    paste=make_pasted,
)
"""All views of an LLVM module."""
