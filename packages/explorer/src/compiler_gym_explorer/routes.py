# SPDX-License-Identifier: MIT
"""The table of routes: the path, query, body and response of every request.

The application, the schema and the tests all use this table. Each row names the method of `Api`
that serves it.
"""

from dataclasses import dataclass, field
from typing import Any

from compiler_gym_explorer import records

__all__ = ["ROUTES", "Parameter", "Route"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter of a request."""

    name: str
    type: type[Any]
    description: str
    default: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """One request that the server answers."""

    method: str
    path: str
    """The path in OpenAPI's syntax, such as ``/api/sessions/{session}``; sessions and tasks are
    strings, nodes are numbers."""
    name: str
    """The method of `Api`, and the operation's name for clients."""
    summary: str
    answer: type[Any] | None
    """The type of the response; None for status 204 without a body."""
    body: type[Any] | None = None
    query: tuple[Parameter, ...] = ()
    is_stream: bool = False
    """True if the response is a stream of server-sent events, each a record of `answer`."""
    status: int = field(default=200)


_SESSION = "/api/sessions/{session}"
_NODE = f"{_SESSION}/nodes/{{node}}"
_TASK = f"{_SESSION}/tasks/{{task}}"
_RUN_QUERY = Parameter("run", bool, "Permit running the program.", default=False)
_FUNCTION = Parameter("function", str, "Function name; default: all.")
_AGAINST = Parameter("against", int, "Another node: mark the differences from it.")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/server", "server", "Describe the server.", records.Server),
    Route(
        "GET", "/api/environments/{environment}", "environment",
        "Describe an environment and its views.", records.Environment,
    ),
    Route(
        "GET", "/api/environments/{environment}/programs", "programs",
        "List the programs on this machine; nothing is downloaded.", records.Catalogue,
        query=(
            Parameter("dataset", str, "Dataset; default: all."),
            Parameter("search", str, "Text that the names must contain.", default=""),
            Parameter("most", int, "Maximum number of programs.", default=200),
        ),
    ),
    Route("GET", "/api/sessions", "sessions", "List the open sessions.", records.Sessions),
    Route(
        "POST", "/api/sessions", "open_session",
        "Open a session: reset an environment to a program.", records.Session,
        body=records.NewSession, status=201,
    ),
    Route("GET", _SESSION, "session", "Return a session and its tree.", records.Session),
    Route(
        "GET", f"{_NODE}/actions", "actions",
        "Return the actions of a node, which may depend on its program.",
        records.ActionSpace,
    ),
    Route("DELETE", _SESSION, "close_session", "Close a session.", None, status=204),
    Route(
        "GET", f"{_SESSION}/events", "session_events",
        "Stream the events of a session.", records.Event, is_stream=True,
    ),
    Route(
        "POST", f"{_SESSION}/nodes", "add_nodes",
        "Apply actions from a node; each one leads to a node.", records.Nodes,
        body=records.NewNodes, status=201,
    ),
    Route("GET", _NODE, "node", "Return a node.", records.Node),
    Route(
        "DELETE", _NODE, "remove_node",
        "Remove a node and its descendants from the tree.", None, status=204,
    ),
    Route(
        "POST", f"{_SESSION}/costs", "costs",
        "Measure costs of nodes; results are cached.", list[records.CostValues],
        body=records.Costs,
    ),
    Route(
        "GET", f"{_SESSION}/baselines", "baselines",
        "Return the costs of the standard levels, by observation.", dict[str, float | None],
        query=(
            Parameter("cost", str, "Cost to return baselines of.", required=True),
            _RUN_QUERY,
        ),
    ),
    Route(
        "GET", f"{_NODE}/functions", "functions",
        "List the functions of a state, with a digest of the text of each.", records.Functions,
    ),
    Route(
        "GET", f"{_NODE}/ir", "ir", "Return the text of a state, or of one function.",
        records.Text, query=(_FUNCTION,),
    ),
    Route(
        "GET", f"{_NODE}/assembly", "assembly",
        "Return the assembly of a state, or of one function.", records.Text, query=(_FUNCTION,),
    ),
    Route("GET", f"{_SESSION}/source", "source", "Return the program's source.", records.Text),
    Route(
        "GET", f"{_SESSION}/difference", "difference",
        "Compare the functions of two states.", records.Difference,
        query=(
            Parameter("a", int, "State before.", required=True),
            Parameter("b", int, "State after.", required=True),
        ),
    ),
    Route(
        "GET", f"{_NODE}/graphs/{{kind}}", "graph",
        "Return a graph of a state.", records.Graph, query=(_FUNCTION, _AGAINST),
    ),
    Route(
        "GET", f"{_NODE}/observations/{{name}}", "observation",
        "Return an observation of a state.", records.ObservationValue, query=(_RUN_QUERY,),
    ),
    Route(
        "GET", f"{_NODE}/export", "export",
        "Return a state as JSON, fragment, command line and Python.", records.Export,
    ),
    Route(
        "POST", f"{_SESSION}/try-all", "try_all",
        "Start a task that tries every action on a node.", records.Task,
        body=records.NewTryAll, status=201,
    ),
    Route(
        "POST", f"{_SESSION}/search", "search",
        "Start a search from the actions of a node.", records.Task,
        body=records.NewSearch, status=201,
    ),
    Route("GET", _TASK, "task", "Return the progress of a task.", records.AllTried),
    Route("DELETE", _TASK, "cancel_task", "Cancel a task.", records.Task),
    Route(
        "GET", f"{_TASK}/events", "task_events",
        "Stream all events of a task.", records.Event, is_stream=True,
    ),
    Route(
        "GET", "/api/recordings", "recordings",
        "List runs, leaderboard entries and tuned projects on this machine.", records.Recordings,
    ),
    Route(
        "POST", "/api/import", "read_import",
        "Read a recording and return its episodes.", records.Episodes,
        body=records.ImportRequest,
    ),
)  # fmt: skip
"""Every route."""
