# SPDX-License-Identifier: MIT
"""Descriptions of actions, observations and rewards, as Gymnasium spaces.

``Box``, ``Dict``, ``Discrete``, ``MultiBinary``, ``MultiDiscrete`` and ``Tuple`` are Gymnasium's
with a name. ``NamedDiscrete`` and ``Commandline`` name their actions. ``Scalar``, ``Sequence``,
``SpaceSequence``, ``Permutation``, ``FreeBox``, ``Opaque`` and ``NetworkxGraph`` hold values for
which Gymnasium has no space; `networkx_graph` reads the node-link form. ``ActionSpace`` gives any
space a text form. ``Reward`` is a scalar with a function that computes it, and ``rewards`` is
arithmetic on observations. ``action_names`` returns the names of the actions of any space,
``action_words`` reads an action from text, ``kinds`` describes values briefly, and a ``Decision``
is an entry in the list of a space that depends on the program. ``to_plain`` turns a value of any
space into plain Python, and ``make_array`` turns lists into arrays.
"""

from compiler_gym.spaces import (
    _for_gymnasium as _for_gymnasium,
)  # registers flatten and batch_space
from compiler_gym.spaces._arrays import make_array
from compiler_gym.spaces._plain import to_plain, value_from_json
from compiler_gym.spaces.action_names import (
    action_descriptions,
    action_flags,
    action_name,
    action_names,
    action_parts,
    action_text,
    space_name,
)
from compiler_gym.spaces.action_part import ActionPart
from compiler_gym.spaces.action_space import ActionSpace
from compiler_gym.spaces.action_words import (
    close_names,
    describe_range,
    find_action,
    find_actions,
    read_action,
)
from compiler_gym.spaces.box import Box, FreeBox
from compiler_gym.spaces.commandline import Commandline, CommandlineFlag
from compiler_gym.spaces.containers import Dict, Tuple
from compiler_gym.spaces.decision import Decision
from compiler_gym.spaces.discrete import Discrete, MultiBinary, MultiDiscrete
from compiler_gym.spaces.function_reward import FunctionReward
from compiler_gym.spaces.kinds import space_kind
from compiler_gym.spaces.named_discrete import NamedDiscrete
from compiler_gym.spaces.networkx_graph import NetworkxGraph, networkx_graph
from compiler_gym.spaces.opaque import Opaque
from compiler_gym.spaces.permutation import Permutation
from compiler_gym.spaces.reward import DefaultRewardFromObservation, Reward
from compiler_gym.spaces.runtime_reward import RuntimeReward
from compiler_gym.spaces.scalar import Scalar
from compiler_gym.spaces.sequence import Sequence
from compiler_gym.spaces.space_sequence import SpaceSequence

__all__ = [
    "ActionPart",
    "ActionSpace",
    "Box",
    "Commandline",
    "CommandlineFlag",
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
    "Opaque",
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
