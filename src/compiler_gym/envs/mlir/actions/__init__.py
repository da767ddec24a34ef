# SPDX-License-Identifier: MIT
"""The action spaces: four ways to write a transformation, and the one of CompilerGym 0.2.5."""

from compiler_gym.envs.mlir.actions.menu import LONGEST_NEST, MENU, NEXT, STOP
from compiler_gym.envs.mlir.actions.moves import KINDS
from compiler_gym.session import (
    ActionSpaceSpec,
    DictSpec,
    DiscreteSpec,
    MultiDiscreteSpec,
    NamedDiscreteSpec,
    PermutationSpec,
    ScalarSpec,
    SpaceSequenceSpec,
    SpaceSpec,
    TextSpec,
)

__all__ = [
    "ACTION_SPACES",
    "COMPOSITE",
    "ENTRIES",
    "LARGEST_SIZE",
    "LEGAL",
    "MATRIX",
    "MENU_SPACE",
    "MOST_OPERATIONS",
    "SCRIPT",
    "SIZES",
    "TRANSFORMATIONS",
    "legal_space",
]

MENU_SPACE, COMPOSITE, LEGAL, SCRIPT = "Schedule", "CompositeMoves", "LegalMoves", "ScriptLines"
MATRIX = "MatrixMultiplication"

ENTRIES = (*MENU, NEXT, STOP)
"""The names of the flat list's actions."""
SIZES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)
"""What a number of the composite action space stands for."""
TRANSFORMATIONS = (*KINDS, STOP)
MOST_OPERATIONS = 16
"""The most operations that the composite action space and the features speak of."""
LARGEST_SIZE = 2**31 - 1


def legal_space(moves: tuple[str, ...]) -> ActionSpaceSpec:
    """Return the action space of what may be done now; it changes with the program."""
    return ActionSpaceSpec(
        LEGAL, NamedDiscreteSpec(moves), "Only the transformations that make sense now, by name"
    )


def _enum(*items: str) -> SpaceSpec:
    return NamedDiscreteSpec(items)


_TILE = {
    "tile_sizes": SpaceSequenceSpec(ScalarSpec(1, LARGEST_SIZE, "int"), 3, 3),
    "interchange_vector": PermutationSpec(3),
    "promote": ScalarSpec(0, 1, "bool"),
    "promote_full_tile": ScalarSpec(0, 1, "bool"),
    "loop_type": _enum("loops", "affine_loops"),
}
_VECTORS = {
    "vectorize_to": _enum("dot", "matmul", "outer_product"),
    "vector_transfer_split": _enum("none", "linalg_copy", "vector_transfer"),
    "unroll_vector_transfers": ScalarSpec(0, 1, "bool"),
}

ACTION_SPACES = (
    ActionSpaceSpec(
        MENU_SPACE,
        NamedDiscreteSpec(ENTRIES),
        "A fixed list of transformations of the operation at the cursor; ScheduleMask says which "
        "mean something now, and the others do nothing",
    ),
    ActionSpaceSpec(
        COMPOSITE,
        DictSpec(
            {
                "operation": DiscreteSpec(MOST_OPERATIONS),
                "transformation": NamedDiscreteSpec(TRANSFORMATIONS),
                "sizes": MultiDiscreteSpec((len(SIZES),) * LONGEST_NEST),
                "order": PermutationSpec(LONGEST_NEST),
            }
        ),
        f"Any transformation of any operation; a size is one of {', '.join(map(str, SIZES))}",
    ),
    legal_space(("stop",)),
    ActionSpaceSpec(
        SCRIPT,
        TextSpec(),
        "A transformation as a line, such as 'tile matmul0 8 32 4'; an empty one ends the episode",
    ),
    ActionSpaceSpec(
        MATRIX,
        SpaceSequenceSpec(
            DictSpec({"tile_options": DictSpec(_TILE), "vectorize_options": DictSpec(_VECTORS)}),
            1,
            4,
        ),
        "CompilerGym 0.2.5's: 1 to 4 tilings of a matrix product, and how to vectorise; one step",
    ),
)
