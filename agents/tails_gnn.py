# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch is partially typed, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownLambdaType=false
"""A graph network that chooses a tail of passes for a function, trained with all tails' results.

python agents/tails_gnn.py play cbench-v1/gsm       the trained policy, in `llvm-tails-v0`
python agents/tails_gnn.py train                    a small training on bundled Debian modules
python agents/tails_gnn.py train --corpus FOLDER --run RUN --save tails_gnn.npz
                                                    on a corpus of `compiler-gym datasets build`

In `llvm-tails-v0` one action may be a whole *tail*, so an episode has a single step: a contextual
bandit. Each tail can be tried on each function, so an agent need not explore: the rows of training
have the reward of every action (`compiler-gym tails learn` makes the same rows). The networks learn
by how much each tail saves more than the best constant tail, and choose the largest expected value,
or the constant tail if none is positive. Packages are in one split only.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from reinforce_gnn import GraphPolicy, pack
from reinforce_gnn import Options as GraphOptions
from torch import nn

from compiler_gym.registration import make
from compiler_gym.statistics import ratio_interval
from compiler_gym.tools.learn.tails import Labels, TailOptions, TailRun
from compiler_gym.wrappers import MacroActions

MODEL = Path(__file__).with_suffix(".npz")
"""The trained networks; docs/results/tails-agents.md has their card."""
COUNTS = 133
"""The numbers in `FunctionCounts`."""
TEXTS, DECLARATION = 99, 1
"""The kinds of `node_text` in `ProgramlArrays`, and the one of a function without a body."""
SHORTEST_SHARED = 20
"""Shorter functions are common idioms, and may be equal in training and judgement."""
COLUMNS = ("node_kind", "node_text", "edge_source", "edge_target", "edge_kind", "edge_position")
CPU = torch.device("cpu")
Graph = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a training."""

    hidden: int = 16
    """Numbers that stand for a node."""
    layers: int = 2
    """The number of edges that a node sees."""
    epochs: int = 8
    """Passes over the rows."""
    batch: int = 32
    """Functions of an update."""
    networks: int = 2
    """Networks that differ in their seed; their values are averaged."""
    learning_rate: float = 4e-3


class TailPolicy(nn.Module):
    """The value of each tail over the constant one, from a function's graph and its counts."""

    def __init__(self, counts: int, tails: int, options: Options) -> None:
        super().__init__()
        graph = GraphOptions(hidden=options.hidden, layers=options.layers)
        self.graph = GraphPolicy(TEXTS, 1, graph)
        self.counts = nn.Sequential(nn.Linear(counts, options.hidden), nn.ReLU())
        width = 3 * options.hidden + 1
        self.head = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, tails))

    def forward(self, graphs: Sequence[Graph], counts: Any) -> torch.Tensor:
        """Return a row for each function."""
        read = self.graph.read(pack(graphs, CPU))
        logs = torch.log1p(torch.as_tensor(np.asarray(counts), dtype=torch.float32).clamp(min=0))
        return self.head(torch.cat([read, self.counts(logs / 4)], 1))


@dataclass(frozen=True, slots=True)
class Agent:
    """Trained networks, and the tails that they choose from; the first is the constant one."""

    tails: list[str]
    networks: list[TailPolicy]

    def choose(self, graphs: Sequence[Graph], counts: Any) -> Any:
        """Return the number of the tail for each function."""
        chosen: list[int] = []
        with torch.no_grad():
            for start in range(0, len(graphs), 64):
                rows = slice(start, start + 64)
                each = [network(graphs[rows], counts[rows]) for network in self.networks]
                values = torch.stack(each).mean(0)
                values[:, 0] = 0  # what it saves more than itself
                chosen += values.argmax(1).tolist()
        return np.array(chosen)

    def save(self, path: Path) -> None:
        """Write arrays and text only, so that reading the file runs no code."""
        arrays = {
            f"{number}.{name}": value.numpy().astype(np.float16)
            for number, network in enumerate(self.networks)
            for name, value in network.state_dict().items()
        }
        np.savez_compressed(path, tails=np.array(self.tails), allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: Path = MODEL) -> "Agent":
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            tails = stored["tails"].tolist()
            states: list[dict[str, torch.Tensor]] = []
            for name in stored.files[1:]:
                number, _, key = name.partition(".")
                if int(number) == len(states):
                    states.append({})
                states[-1][key] = torch.as_tensor(stored[name].astype(np.float32))
        networks: list[TailPolicy] = []
        for state in states:
            hidden, counts = state["counts.0.weight"].shape
            layers = sum(name.startswith("graph.norms") for name in state) // 2
            networks.append(TailPolicy(counts, len(tails), Options(hidden, layers)))
            networks[-1].load_state_dict(state)
        return cls(tails, networks)


def split_graph(module: Graph, names: Sequence[str]) -> dict[str, Graph]:
    """Return the graph of each function with a body: its nodes, and those next to them."""
    owner, source, target = (module[n] for n in ("node_function", "edge_source", "edge_target"))
    declared = owner[module["node_text"] == DECLARATION]
    defined = np.setdiff1d(owner, [-1, *declared])
    graphs: dict[str, Graph] = {}
    for function, name in zip(defined, names, strict=True):
        inside = owner == function
        edges = inside[source] | inside[target]
        nodes = np.unique(np.concatenate([np.flatnonzero(inside), source[edges], target[edges]]))
        graph = {n: module[n][nodes if n.startswith("node") else edges] for n in COLUMNS}
        for end in ("edge_source", "edge_target"):
            graph[end] = np.searchsorted(nodes, graph[end])
        graphs[name] = graph
    return graphs


def read_graphs(run: TailRun, labels: Labels) -> list[Graph]:
    """Return the graph of each row's function, after ``clang -Oz``."""
    modules = zip(labels.packages, labels.modules, strict=True)
    paths = [run.folder / "bases" / package / f"{module}.bc" for package, module in modules]
    graphs: dict[Path, dict[str, Graph]] = {}
    with make("llvm-v0", isolation="in-process") as env:
        for path in dict.fromkeys(paths):
            env.reset(benchmark=path.resolve().as_uri())
            names = env.observation["FunctionFeatures"]["names"]
            graphs[path] = split_graph(env.observation["ProgramlArrays"], names)
    return [graphs[path][name] for path, name in zip(paths, labels.names, strict=True)]


def train(labels: Labels, graphs: Sequence[Graph], options: Options, seed: int) -> TailPolicy:
    """Return a network fitted to the instructions that each tail saves over the constant one.

    They are divided by the square root of the function's size, so that large functions count more
    than in a mean of shares, and less than in a sum of instructions.
    """
    torch.manual_seed(seed)
    size, counts = labels.instructions, labels.features[:, :COUNTS]
    value = (labels.savings - labels.savings[:, :1]) / np.sqrt(size)[:, None]
    values = torch.as_tensor(value, dtype=torch.float32).clamp(-5, 5)
    network = TailPolicy(COUNTS, value.shape[1], options)
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=1e-2)
    steps = options.epochs * -(-len(size) // options.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.learning_rate, steps)
    for _ in range(options.epochs):
        for batch in torch.randperm(len(size)).split(options.batch):
            own = batch.numpy()
            expected = network([graphs[row] for row in own], counts[own])
            loss = nn.functional.mse_loss(expected, values[own])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return network


def fit(run: TailRun, splits: Sequence[str], judged: Labels, options: Options) -> Agent:
    """Return networks trained on the packages of `splits`."""
    labels = run.labels(*splits)
    is_shared = np.isin(labels.shapes, judged.shapes) & (labels.instructions >= SHORTEST_SHARED)
    is_helped = labels.savings.max(1) > 0  # most functions are not, and a fifth of those will do
    is_drawn = np.random.default_rng(0).random(len(is_helped)) < 0.2
    labels = labels.where(~is_shared & (is_helped | is_drawn))
    graphs = read_graphs(run, labels)
    return Agent(run.tails, [train(labels, graphs, options, n) for n in range(options.networks)])


def judge(agent: Agent, run: TailRun, labels: Labels) -> str:
    """Return what the agent saves in functions of other packages, and more than the constant."""
    chosen = agent.choose(read_graphs(run, labels), labels.features[:, :COUNTS])
    saved = labels.savings[np.arange(len(chosen)), chosen]
    constant = labels.savings[:, 0]
    rows = {"constant": constant, "agent": saved, "agent minus constant": saved - constant,
            "best with hindsight": labels.savings.max(1)}  # fmt: skip
    return "\n".join(f"{name:21} {_interval(values, labels)}" for name, values in rows.items())


def play(agent: Agent, program: str) -> None:
    """Play an episode of one step for each function of a program, and print what it saves."""
    macros = {f"tail {n}": re.split(",(?=function)", tail) for n, tail in enumerate(agent.tails)}
    spaces: dict[str, Any] = {
        "observation_space": "FunctionCounts",
        "reward_space": "FunctionSavings",
    }
    with MacroActions(make("llvm-tails-v0", benchmark=program, **spaces), macros) as env:
        env.reset()
        names = env.observation["FunctionFeatures"]["names"]
        graphs = split_graph(env.observation["ProgramlArrays"], names)
        before = saved = 0
        for name in names:
            observation, _ = env.reset(benchmark=f"{program}?function={name}")
            tail = int(agent.choose([graphs[name]], [observation])[0])
            size = int(env.observation["FunctionInstructionCount"])
            reward = env.step(env.action_space[f"tail {tail}"])[1]
            before, saved = before + size, saved + round(reward * size)
            if reward:
                print(
                    f"{name:30} {size:6} instructions, {round(reward * size):4} less: tail {tail}"
                )
        print(f"{program}: {before} instructions after clang -Oz, {saved} saved")


def bundle(folder: Path) -> Path:
    """Write the bundled Debian modules as a corpus, and return its folder."""
    with make("llvm-v0") as env:
        dataset = env.datasets["benchmark://debian-sample-v0"]
        for uri in map(str, dataset.benchmark_uris()):
            package, _, name = uri.removeprefix("benchmark://debian-sample-v0/").partition("/")
            own = folder / "packages" / package
            (own / "modules").mkdir(parents=True, exist_ok=True)
            (own / "result.json").write_text(json.dumps({"package": package}))
            file = own / "modules" / f"{name.replace('/', '-')}.bc"
            file.write_bytes(dataset.benchmark(uri).contents)
    return folder


def main() -> None:
    """Train and judge, or play a program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("play", help="choose a tail for each function of a program")
    playing.add_argument("program", help="address of a program, such as cbench-v1/gsm")
    playing.add_argument("--model", type=Path, default=MODEL)
    training = commands.add_parser("train", help="train on a corpus, and judge on other packages")
    training.add_argument("--corpus", type=Path, help="folder of `compiler-gym datasets build`")
    training.add_argument("--run", type=Path, help="folder of `compiler-gym tails learn`, or new")
    training.add_argument("--save", type=Path, help="file for the networks")
    training.add_argument("--judge", action="store_true", help="judge on the test packages: once")
    for name in Options.__dataclass_fields__:
        default = getattr(Options(), name)
        training.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "play":
        return play(Agent.load(arguments.model), arguments.program)
    options = Options(**{name: getattr(arguments, name) for name in Options.__dataclass_fields__})
    with TemporaryDirectory() as folder:
        corpus = arguments.corpus or bundle(Path(folder) / "corpus")
        run = TailRun(arguments.run or Path(folder) / "run", corpus, TailOptions())
        if not (run.folder / "tails.json").is_file():  # otherwise a search would find new ones
            (run.folder / "tails.json").write_text(json.dumps(Agent.load().tails))
        judged = run.labels("test" if arguments.judge else "validation")
        agent = fit(run, ("train", "validation")[: 1 + arguments.judge], judged, options)
        print(judge(agent, run, judged))
    if arguments.save:
        agent.save(arguments.save)


def _interval(saved: Any, labels: Labels) -> str:
    """Return the saving of all instructions together, with a 95 % interval over packages."""
    _, owners = np.unique(labels.packages, return_inverse=True)
    sums = [np.bincount(owners, weights=own).tolist() for own in (saved, labels.instructions)]
    mean, low, high = (100 * value for value in astuple(ratio_interval(*sums)))
    return f"{mean:6.3f} % [{low:6.3f}, {high:6.3f}]"


if __name__ == "__main__":
    main()
