# SPDX-License-Identifier: MIT
"""What the API takes and answers: one record per thing, from which its schema is made.

Records hold plain values and do nothing. A field that may be left out of a request has a
default here; answers always have every field.
"""

from typing import Any

from msgspec import Struct, field

__all__ = [
    "Action",
    "ActionPart",
    "ActionSpace",
    "AllTried",
    "Baseline",
    "Catalogue",
    "Cost",
    "CostValues",
    "Costs",
    "Dataset",
    "Difference",
    "Edge",
    "Environment",
    "EnvironmentName",
    "Episode",
    "Episodes",
    "Event",
    "Export",
    "Fact",
    "Format",
    "FunctionDifference",
    "Functions",
    "Graph",
    "GraphKind",
    "GraphNode",
    "ImportRequest",
    "LineMap",
    "NewNodes",
    "NewSearch",
    "NewSession",
    "NewTryAll",
    "Node",
    "Nodes",
    "Observation",
    "ObservationValue",
    "Problem",
    "Reward",
    "SearchMethod",
    "Server",
    "Session",
    "Sessions",
    "Source",
    "Task",
    "Text",
    "Tried",
    "Vector",
]


class Problem(Struct, frozen=True, kw_only=True):
    """Why a request was not served; the body of every answer whose status is 400 or more."""

    type: str
    """The class of the error, such as ``InvalidActionError``."""
    message: str
    expected: str = ""
    found: str = ""
    next: str = ""
    """What to do about it, if anything is known to help."""


# -- what there is -----------------------------------------------------------------------------


class Format(Struct, frozen=True, kw_only=True):
    """A way to write a program that can be pasted."""

    name: str
    """What a person calls it, such as ``C++``; what `Source.language` takes."""
    suffixes: list[str]


class EnvironmentName(Struct, frozen=True, kw_only=True):
    """One registered environment, before it is asked what it offers."""

    id: str
    compiler: str
    description: str
    observation: str | None
    reward: str | None
    """The reward it is made with, or null."""
    formats: list[Format]


class Server(Struct, frozen=True, kw_only=True):
    """What is served: the first thing that a page asks."""

    version: str
    environments: list[EnvironmentName]
    default_environment: str
    program: str | None
    """What the command line named to begin with, as `NewSession.benchmark` takes it."""
    source: "Source | None"
    """The program that the command line was given as text, if it was."""
    most_sessions: int
    idle_seconds: float
    most_body_bytes: int
    search_methods: list["SearchMethod"]


class SearchMethod(Struct, frozen=True, kw_only=True):
    """A search that can be started."""

    name: str
    description: str


class Action(Struct, frozen=True, kw_only=True):
    """One action of a space whose actions have names."""

    index: int
    name: str
    flag: str | None
    description: str | None


class ActionPart(Struct, frozen=True, kw_only=True):
    """What one number of an action says, where an action is several numbers."""

    name: str
    values: str
    description: str


class ActionSpace(Struct, frozen=True, kw_only=True):
    """A set of actions."""

    name: str
    space: str
    actions: list[Action]
    """Empty where actions have no names; they are lists of numbers then, told by `parts`."""
    parts: list[ActionPart]
    shape: list[int]
    """How many values each number of an action has; empty for one number."""
    settings: bool
    """Whether actions set options, so that their order says little."""


class Observation(Struct, frozen=True, kw_only=True):
    """Something that can be seen of a program."""

    name: str
    space: str
    description: str
    deterministic: bool
    platform_dependent: bool
    runs_program: bool
    """Whether to see it runs the program: it is refused unless a request says ``run=true``."""


class Reward(Struct, frozen=True, kw_only=True):
    """Something that can be earned."""

    name: str
    description: str
    observations: list[str]
    deterministic: bool
    platform_dependent: bool
    runs_program: bool


class Dataset(Struct, frozen=True, kw_only=True):
    """A set of programs."""

    name: str
    programs: int | None
    description: str
    license: str
    installed: bool


class Baseline(Struct, frozen=True, kw_only=True):
    """What a cost is after a standard pipeline."""

    title: str
    """Such as ``-Oz``."""
    observation: str


class Cost(Struct, frozen=True, kw_only=True):
    """A number of the program that the timeline shows; less is better."""

    name: str
    """The observation."""
    title: str
    unit: str
    at_once: bool
    """Whether a step says it; others are asked for with `Costs`."""
    runs_program: bool
    baselines: list[Baseline]


class Vector(Struct, frozen=True, kw_only=True):
    """An observation of many numbers to be drawn over time."""

    name: str
    labels: list[str]
    """A name for each number; empty where they have none."""


class GraphKind(Struct, frozen=True, kw_only=True):
    """A picture that can be drawn of a program."""

    kind: str
    title: str
    of_function: bool
    """Whether there is one for each function: the request names it."""


class Environment(Struct, frozen=True, kw_only=True):
    """All that an environment offers, as ``compiler-gym describe`` gives it, and its views."""

    id: str
    compiler_version: str
    about: str
    action_spaces: list[ActionSpace]
    observation_spaces: list[Observation]
    reward_spaces: list[Reward]
    datasets: list[Dataset]
    default_benchmark: str | None
    default_reward: str | None
    formats: list[Format]
    language: str
    """What the text of a program is written in, such as ``llvm``; what a highlighter calls it."""
    text_title: str
    assembly_title: str
    """What people call that text, such as ``IR``."""
    has_text: bool
    has_assembly: bool
    costs: list[Cost]
    vectors: list[Vector]
    graphs: list[GraphKind]


class Catalogue(Struct, frozen=True, kw_only=True):
    """Programs of a dataset, or of all."""

    benchmarks: list[str]
    more: bool
    """Whether there are others than those listed."""


# -- sessions and their trees -------------------------------------------------------------------


class Source(Struct, frozen=True, kw_only=True):
    """A program that was pasted."""

    text: str
    language: str | None = None
    """The name of a `Format`; told from the text where it is left out."""
    name: str = "pasted"


class Episode(Struct, frozen=True, kw_only=True):
    """Where somebody got with a program: enough to go there again."""

    environment: str | None = None
    benchmark: str | None = None
    source: Source | None = None
    action_space: str | None = None
    reward_space: str | None = None
    commandline: str = ""
    """The actions as their space writes them; `actions` counts where both are given."""
    actions: list[Any] | None = None
    """Names or values of actions."""
    reward: float | None = None
    """What was earned when it was recorded."""
    title: str = ""


class NewSession(Struct, frozen=True, kw_only=True):
    """A session to be opened: of a benchmark, of a pasted program, or where an episode ended."""

    environment: str | None = None
    benchmark: str | None = None
    """The address of a program, or a path on this machine."""
    source: Source | None = None
    action_space: str | None = None
    reward: str | None = None
    episode: Episode | None = None
    """Its fields are taken where those of the request are left out, and its actions replayed."""
    run: bool = False
    """Whether the program may be run: needed by rewards that do."""


class Node(Struct, frozen=True, kw_only=True):
    """A state: what the program is after the actions on the way from the root."""

    id: int
    parent: int | None
    action: Any
    """The value of the action that led here; null at the root."""
    name: str
    """What it is called."""
    depth: int
    reward: float | None
    """What the action earned; null without a reward space."""
    total: float | None
    """What all actions from the root earned."""
    costs: dict[str, float]
    """What is known of the costs by now, by observation."""
    changed: bool
    """Whether the action changed the program. False is a no-op."""
    same_as: int | None
    """Another node whose program is the same, where the compiler can tell."""
    ended: bool
    """Whether the episode ended here: no action can follow."""
    seconds: float
    """What the action took, without what is around it."""
    error: Problem | None
    """Why the action failed: such a node has no program to look at."""


class Session(Struct, frozen=True, kw_only=True):
    """One environment with a program, and the tree of what was tried on it."""

    id: str
    environment: str
    benchmark: str
    action_space: str
    reward: str | None
    nodes: list[Node]
    """The root first; every other after its parent."""
    at: int
    """The node that an episode that was given led to, else the root."""
    idle_seconds: float
    """How long nobody has asked for it."""
    runs_allowed: bool


class Sessions(Struct, frozen=True, kw_only=True):
    """Every open session, without its tree but for the root."""

    sessions: list[Session]


class NewNodes(Struct, frozen=True, kw_only=True):
    """Actions to be applied in order, from a node."""

    actions: list[Any]
    """Names or values; the first that fails is the last."""
    parent: int = 0


class Nodes(Struct, frozen=True, kw_only=True):
    """The nodes on the way, one for each action; those that were there already too."""

    nodes: list[Node]


class Costs(Struct, frozen=True, kw_only=True):
    """The nodes and the costs to be measured of them."""

    nodes: list[int]
    names: list[str]
    """Observations that are a number."""
    run: bool = False


class CostValues(Struct, frozen=True, kw_only=True):
    """A cost of each node that was asked for; null where it failed."""

    node: int
    costs: dict[str, float | None]
    errors: dict[str, Problem] = field(default_factory=dict[str, Problem])


class Fact(Struct, frozen=True, kw_only=True):
    """What is known of one function without its text."""

    name: str
    lines: int
    digest: str
    """Equal where the text is."""


class Functions(Struct, frozen=True, kw_only=True):
    """The functions of a state, in the order of its text."""

    node: int
    functions: list[Fact]
    outside: Fact
    """What stands outside functions, under an empty name."""


class LineMap(Struct, frozen=True, kw_only=True):
    """Lines of a text and the source's lines they come from, both from 1."""

    lines: list[int]
    sources: list[int]


class Text(Struct, frozen=True, kw_only=True):
    """A text of a state."""

    node: int | None
    language: str
    text: str
    line_map: LineMap | None
    """Where each line comes from in the source; null where that is not known."""


class FunctionDifference(Struct, frozen=True, kw_only=True):
    """How a function differs in two states."""

    name: str
    """Empty for what stands outside functions."""
    status: str
    """``same``, ``changed``, ``added`` or ``removed``."""
    added: int
    """Lines."""
    removed: int


class Difference(Struct, frozen=True, kw_only=True):
    """What differs from state `a` to state `b`; the texts are asked for function by function."""

    a: int
    b: int
    functions: list[FunctionDifference]
    """Those that differ first, the most lines first."""


class GraphNode(Struct, frozen=True, kw_only=True):
    """A node of a picture."""

    id: str
    label: str
    kind: str
    function: str
    status: str
    """``same``, ``changed`` or ``added``, against the state that the request names; else empty."""
    weight: float | None
    """How big it is, such as its instructions."""


class Edge(Struct, frozen=True, kw_only=True):
    """An edge of a picture."""

    source: str
    target: str
    label: str
    kind: str
    status: str


class Graph(Struct, frozen=True, kw_only=True):
    """A picture of a state: what the page draws."""

    node: int
    kind: str
    function: str
    nodes: list[GraphNode]
    edges: list[Edge]
    removed_nodes: list[GraphNode]
    """Those that the other state has and this has not."""


class ObservationValue(Struct, frozen=True, kw_only=True):
    """What was seen."""

    node: int
    name: str
    value: Any
    text: str
    """The value as the environment writes it."""


# -- tasks ----------------------------------------------------------------------------------------


class NewTryAll(Struct, frozen=True, kw_only=True):
    """Every action is to be tried on a node."""

    node: int = 0
    costs: list[str] = field(default_factory=list[str])
    """What to measure after each beside its reward."""
    actions: list[Any] | None = None
    """Those to try; left out: all."""


class NewSearch(Struct, frozen=True, kw_only=True):
    """A search that begins with the actions of a node."""

    node: int = 0
    method: str = "portfolio"
    seconds: float = 10.0
    seed: int = 0


class Task(Struct, frozen=True, kw_only=True):
    """Work that goes on by itself, and tells its progress as events."""

    id: str
    kind: str
    """``try-all`` or ``search``."""
    node: int
    total: int | None
    """How many things are to be done, where that is known."""
    done: int
    status: str
    """``running``, ``done``, ``cancelled`` or ``failed``."""


class Tried(Struct, frozen=True, kw_only=True):
    """What one action does at a node. It adds no node to the tree."""

    action: Any
    name: str
    reward: float | None
    changed: bool
    costs: dict[str, float]
    error: Problem | None


class AllTried(Struct, frozen=True, kw_only=True):
    """What is known of a try-all by now."""

    task: Task
    tried: list[Tried]


class Event(Struct, frozen=True, kw_only=True):
    """What an event of a stream holds as JSON; its kind is the event's name too.

    ``nodes``: nodes that came. ``removed``: `node` is gone. ``tried``: of a try-all.
    ``progress``: how far a search is. ``improved``: a better sequence, whose nodes are there.
    ``task``: a task began or ended; the last of its stream. ``recovered``: a worker was lost and
    its states brought back. ``closed``: the session is gone.
    """

    kind: str
    task: Task | None = None
    nodes: list[Node] = field(default_factory=list[Node])
    tried: list[Tried] = field(default_factory=list[Tried])
    reward: float | None = None
    length: int | None = None
    steps: int | None = None
    seconds: float | None = None
    actions: list[str] = field(default_factory=list[str])
    """The names of an improvement's actions, from the root."""
    problem: Problem | None = None
    node: int | None = None


# -- in and out -----------------------------------------------------------------------------------


class Export(Struct, frozen=True, kw_only=True):
    """A state in every form that it leaves in."""

    state: dict[str, Any]
    """As ``compiler-gym replay`` and `ImportRequest.text` read it."""
    fragment: str
    """What stands after the ``#`` of a permanent link."""
    commandline: str
    """The compiler's own command, as far as the environment writes one."""
    python: str
    """A program that goes there."""


class ImportRequest(Struct, frozen=True, kw_only=True):
    """Something recorded: its text or its path on this machine, one of them."""

    text: str | None = None
    """States as JSON, JSON lines or CSV, a search's results, a leaderboard entry, a tuning
    report, or the fragment of a permanent link."""
    path: str | None = None
    """A file of these, or the folder of a run or of what was tuned."""


class Episodes(Struct, frozen=True, kw_only=True):
    """What was read, each of which `NewSession.episode` takes."""

    kind: str
    """``state``, ``fragment``, ``run``, ``leaderboard`` or ``tuning``."""
    episodes: list[Episode]
