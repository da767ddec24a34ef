# SPDX-License-Identifier: MIT
"""The action spaces: four notations for transformations, and the space of CompilerGym 0.2.5."""

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
from compiler_gym_mlir.actions.menu import LONGEST_NEST, MENU, NEXT, STOP
from compiler_gym_mlir.actions.moves import KINDS

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
"""The names of the actions in the flat list."""
SIZES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)
"""The sizes that the numbers of the composite action space stand for."""
TRANSFORMATIONS = (*KINDS, STOP)
MOST_OPERATIONS = 16
"""The largest number of operations in the composite action space and the features."""
LARGEST_SIZE = 2**31 - 1


def legal_space(moves: tuple[str, ...]) -> ActionSpaceSpec:
    """Return the space of the actions that are possible now; it changes with the program."""
    return ActionSpaceSpec(
        LEGAL, NamedDiscreteSpec(moves), "Only the transformations that apply now, by name"
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
        "A fixed list of transformations of the operation at the cursor; ScheduleMask shows which "
        "apply now, and the others have no effect",
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
        "One transformation per line, such as 'tile matmul0 8 32 4'; an empty one ends the episode",
    ),
    ActionSpaceSpec(
        MATRIX,
        SpaceSequenceSpec(
            DictSpec({"tile_options": DictSpec(_TILE), "vectorize_options": DictSpec(_VECTORS)}),
            1,
            4,
        ),
        "As in CompilerGym 0.2.5: 1 to 4 tilings of a matrix product, and vectorisation; 1 step",
    ),
)
