# SPDX-License-Identifier: MIT
"""Strengths of a sandbox."""

import threading

import pytest

from compiler_gym.datasets import run_contained
from compiler_gym.errors import SandboxError, UnknownNameError
from compiler_gym.sandbox import (
    ENVIRONMENT_VARIABLE,
    Sandbox,
    available,
    choose_tier,
    find_requested,
    is_own,
    require,
    use,
    use_sandbox,
    way,
    why_not,
)


@pytest.fixture
def without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine on which none can be made."""
    reason = "unshare: make namespaces: Operation not permitted; bubblewrap is not installed"
    monkeypatch.setattr("compiler_gym.sandbox.tiers._way", lambda: (None, reason))


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


def test_the_strongest_that_works_is_the_default() -> None:
    assert choose_tier() is available()[0]
    assert find_requested() is None
    assert available()[-1] is Sandbox.NONE


def test_the_setting_nearest_to_the_run_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "none")
    assert choose_tier() is Sandbox.NONE
    with use_sandbox("limits") as tier:
        assert (tier, choose_tier()) == (Sandbox.LIMITS, Sandbox.LIMITS)
        assert choose_tier("none") is Sandbox.NONE
        with use_sandbox(None):
            assert choose_tier() is Sandbox.LIMITS
    assert choose_tier() is Sandbox.NONE
    assert run_contained(["/bin/true"]).sandbox == "none"


def test_a_context_is_one_of_its_thread() -> None:
    seen: list[Sandbox] = []
    with use_sandbox("none"):
        thread = threading.Thread(target=lambda: seen.append(choose_tier()))
        thread.start()
        thread.join()
    assert seen == [available()[0]]


def test_a_worker_uses_its_options() -> None:
    use(Sandbox.NONE)
    try:
        assert choose_tier() is Sandbox.NONE
    finally:
        use(None)
    assert find_requested() is None


def test_an_unknown_name_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no sandbox 'namespace': did you mean namespaces"):
        choose_tier("namespace")
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "jail")
    with pytest.raises(UnknownNameError, match="no sandbox 'jail'"):
        run_contained(["/bin/true"])


@pytest.mark.usefixtures("without_namespaces")
def test_without_namespaces_the_next_tier_is_taken_and_gives_the_reason() -> None:
    assert available() == [Sandbox.LIMITS, Sandbox.NONE]
    assert choose_tier() is Sandbox.LIMITS
    assert "not permitted" in why_not(Sandbox.NAMESPACES)
    assert run_contained(["/bin/true"]).sandbox == "limits"
    with pytest.raises(SandboxError, match=r"'namespaces' does not work .*not permitted.*limits"):
        run_contained(["/bin/true"], sandbox="namespaces")
    with pytest.raises(SandboxError, match="not permitted"):
        way()


def test_an_untrusted_program_is_not_run_without_a_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert require(what="a submission") is available()[0]
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "none")
    with pytest.raises(SandboxError, match="a submission is untrusted"):
        require(what="a submission")
    assert require("none", what="a submission") is Sandbox.NONE
    assert require("limits", what="a submission") is Sandbox.LIMITS


def test_tiers_are_compared_by_strength() -> None:
    assert [tier.strength for tier in Sandbox] == [2, 1, 0]
    assert [Sandbox.of_strength(tier.strength) for tier in Sandbox] == list(Sandbox)
    assert Sandbox.of_strength(None) is None


@pytest.mark.parametrize(
    ("uri", "own"),
    [
        ("benchmark://user-v0/0a1b", True),
        ("benchmark://user-v0/0a1b?goal=speed", True),
        ("file:///home/me/program.c", True),
        ("benchmark://cbench-v1/crc32", False),
        ("benchmark://anghabench-v1/x/user-v0/y", False),
        ("benchmark://user-v00/x", False),
        ("generator://csmith-v0/7", False),
    ],
)
def test_whose_a_program_is(uri: str, own: bool) -> None:
    assert is_own(uri) is own
