# SPDX-License-Identifier: MIT
"""Descriptions of actions, observations and rewards, as Gymnasium spaces.

``Box``, ``Dict``, ``Discrete``, ``MultiBinary``, ``MultiDiscrete`` and ``Tuple`` are Gymnasium's
with a name. ``NamedDiscrete`` and ``Commandline`` name their actions. ``Scalar``, ``Sequence``,
``SpaceSequence``, ``Permutation``, ``FreeBox``, ``Opaque`` and ``NetworkxGraph`` hold values for
which Gymnasium has no space; `networkx_graph` reads the node-link form. ``ActionSpace`` gives any
space a text form. ``Reward`` is a scalar with a function that computes it; ``CostReward``, its
subclasses and ``ChangeReward`` are arithmetic on observations. ``action_names`` returns the names
of the actions of any space, ``action_words`` reads an action from text, ``kinds`` describes values
briefly, and a ``Decision`` is an entry in the list of a space that depends on the program.
``to_plain`` turns a value of any space into plain Python, and ``make_array`` turns lists into
arrays.
"""

from compiler_gym.spaces import (
    _for_gymnasium as _for_gymnasium,
)  # registers flatten and batch_space
from compiler_gym.spaces.actions import (
    ActionSpace,
    Decision,
    action_descriptions,
    action_flags,
    action_name,
    action_names,
    action_parts,
    action_text,
    close_names,
    describe_range,
    find_action,
    find_actions,
    read_action,
    space_name,
)
from compiler_gym.spaces.base import to_plain, value_from_json
from compiler_gym.spaces.box import Box, FreeBox, make_array
from compiler_gym.spaces.containers import Dict, SpaceSequence, Tuple
from compiler_gym.spaces.discrete import (
    ActionPart,
    Commandline,
    CommandlineFlag,
    Discrete,
    MultiBinary,
    MultiDiscrete,
    NamedDiscrete,
)
from compiler_gym.spaces.kinds import space_kind
from compiler_gym.spaces.opaque import NetworkxGraph, Opaque, networkx_graph
from compiler_gym.spaces.rewards import (
    BaselineReward,
    ChangeReward,
    CostReward,
    DefaultRewardFromObservation,
    FunctionReward,
    NormalizedCostReward,
    Origin,
    Reward,
    RuntimeReward,
)
from compiler_gym.spaces.scalar import Scalar
from compiler_gym.spaces.sequence import Permutation, Sequence

__all__ = [
    "ActionPart",
    "ActionSpace",
    "BaselineReward",
    "Box",
    "ChangeReward",
    "Commandline",
    "CommandlineFlag",
    "CostReward",
    "Decision",
    "DefaultRewardFromObservation",
    "Dict",
    "Discrete",
    "FreeBox",
    "FunctionReward",
    "MultiBinary",
    "MultiDiscrete",
    "NamedDiscrete",
    "NetworkxGraph",
    "NormalizedCostReward",
    "Opaque",
    "Origin",
    "Permutation",
    "Reward",
    "RuntimeReward",
    "Scalar",
    "Sequence",
    "SpaceSequence",
    "Tuple",
    "action_descriptions",
    "action_flags",
    "action_name",
    "action_names",
    "action_parts",
    "action_text",
    "close_names",
    "describe_range",
    "find_action",
    "find_actions",
    "make_array",
    "networkx_graph",
    "read_action",
    "space_kind",
    "space_name",
    "to_plain",
    "value_from_json",
]
