# SPDX-License-Identifier: MIT
"""patricia against pytricia's table and Python's ipaddress."""

import ipaddress
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Execute, cases


def _networks(count: int, seed: int) -> list[ipaddress.IPv4Network]:
    rng = cases.Random(seed)
    return [
        ipaddress.IPv4Network((rng.below(1 << 32) >> 3, rng.between(0, 32)), strict=False)
        for _ in range(count)
    ]


def _addresses(networks: list[ipaddress.IPv4Network], seed: int) -> list[ipaddress.IPv4Address]:
    rng = cases.Random(seed)
    return [network[rng.below(network.num_addresses)] for network in networks]


def _run(execute: Execute, folder: Path, lines: list[str]) -> list[str]:
    (folder / "commands").write_text("\n".join(lines))
    return execute("patricia", "commands").decode().splitlines()


def _answers(table: Any, addresses: list[ipaddress.IPv4Address]) -> list[str]:
    return [
        f"{a} via {table[str(a)]} by {table.get_key(str(a))}"
        if str(a) in table
        else f"{a} has no route"
        for a in addresses
    ]


@pytest.mark.parametrize("count", [1, 2, 10, 100, 3000])
def test_addresses_go_where_pytricia_sends_them(
    execute: Execute, tmp_path: Path, count: int
) -> None:
    pytricia = pytest.importorskip("pytricia", reason="needs pytricia")
    table, networks = pytricia.PyTricia(32), _networks(count, seed=count)
    lines: list[str] = []
    for number, network in enumerate(networks):
        table[str(network)] = f"hop{number}"
        lines.append(f"+ {network} hop{number}")
    addresses = _addresses(networks, 1) + _addresses(_networks(50, seed=2), 3)
    asked = [f"? {address}" for address in addresses]
    gone = sorted(set(networks))[::3]
    asked += [f"- {network}" for network in gone]
    before = _answers(table, addresses)
    removals = [f"{network} removed, via {table[str(network)]}" for network in gone]
    for network in gone:
        del table[str(network)]
    asked += [f"? {address}" for address in addresses]
    expected = before + removals + _answers(table, addresses)
    assert _run(execute, tmp_path, lines + asked) == expected


def test_the_listing_is_in_the_order_of_ipaddress(execute: Execute, tmp_path: Path) -> None:
    networks = _networks(500, seed=7)
    lines = [f"+ {network} gate" for network in networks]
    listed = [line.split()[0] for line in _run(execute, tmp_path, [*lines, "*"])]
    assert listed == [str(network) for network in sorted(set(networks))]


def test_the_trie_has_fewer_forks_than_routes(execute: Execute, tmp_path: Path) -> None:
    networks = set(_networks(2000, seed=8))
    figures = _run(execute, tmp_path, [*(f"+ {n} gate" for n in sorted(networks)), "%"])[-1]
    found = re.match(r"(\d+) routes, (\d+) nodes, (\d+) branches", figures)
    assert found is not None
    routes, nodes, branches = map(int, found.groups())
    assert routes == len(networks)
    assert nodes < 2 * routes
    assert branches < routes


def test_an_emptied_table_has_no_nodes(execute: Execute, tmp_path: Path) -> None:
    networks = sorted(set(_networks(300, seed=9)))
    cases.Random(1).shuffle(networks)
    lines = [f"+ {n} gate" for n in networks] + [f"- {n}" for n in reversed(networks)]
    last = _run(execute, tmp_path, [*lines, "%"])[-1]
    assert last == "0 routes, 0 nodes, 0 branches, depth 0 in all, 0 at most"


def test_merging_drops_routes_and_changes_no_hop(execute: Execute, tmp_path: Path) -> None:
    networks = _networks(800, seed=10)
    lines = [f"+ {n} hop{i % 3}" for i, n in enumerate(networks)]
    asked = [f"? {address}" for address in _addresses(networks, 11)]
    output = _run(execute, tmp_path, [*lines, *asked, "!", *asked])
    hops = [line.split(" by ")[0] for line in output]
    dropped = int(output[len(asked)].split()[0])
    assert hops[: len(asked)] == hops[len(asked) + 1 :]
    assert 0 < dropped < len(networks)


@pytest.mark.parametrize(
    "line", ["? 1.2.3", "? 1.2.3.4.5", "? 01.2.3.4", "+ 1.2.3.0/8 x", "+ 1.0.0.0/33 x", "? a.b.c.d"]
)
def test_addresses_that_ipaddress_refuses_are_refused(
    execute: Execute, tmp_path: Path, line: str
) -> None:
    text = line.split()[1]
    with pytest.raises(ValueError, match=r"\w"):
        ipaddress.ip_network(text) if "/" in text else ipaddress.ip_address(text)
    (tmp_path / "commands").write_text(line)
    assert execute("patricia", "commands", status=3) == b""
