from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flybridge.config.environment import AGENT_ENV, agent_environment


def test_what_is_listed_passes_by_name_or_by_prefix() -> None:
    env = {"PATH": "/bin", "LC_ALL": "C", "ANTHROPIC_API_KEY": "k", "https_proxy": "p"}
    assert agent_environment(env) == env


def test_what_is_not_listed_stays_with_the_gateway() -> None:
    env = {"PATH": "/bin", "AWS_SECRET": "s", "LD_PRELOAD": "x", "PYTHONPATH": ".", "PATHS": "y"}
    assert agent_environment(env) == {"PATH": "/bin"}


def test_a_prefix_needs_its_whole_self() -> None:
    assert agent_environment({"CLAUDECODE": "1", "ANTHROPIC": "1", "LC": "1"}) == {}


def test_more_can_be_asked_for_by_name() -> None:
    env = {"AWS_REGION": "r", "AWS_SECRET": "s"}
    assert agent_environment(env, ["AWS_REGION", "NOT_THERE"]) == {"AWS_REGION": "r"}


names = st.sampled_from(
    ["FLYBRIDGE_SESSION", "FLYBRIDGE_TOKEN", "flybridge_x", "PATH", "HOME", "LC_ALL", "AWS_KEY"]
)


@given(env=st.dictionaries(names, st.text()), extra=st.lists(names))
def test_nothing_of_ours_passes_even_when_asked_for(env: dict[str, str], extra: list[str]) -> None:
    passed = agent_environment(env, extra)
    assert passed.items() <= env.items()
    assert not [name for name in passed if name.upper().startswith("FLYBRIDGE_")]


def test_the_list_names_no_variable_that_changes_how_programs_load() -> None:
    loaders = ("LD_", "DYLD_", "PYTHON", "NODE_OPTIONS", "GIT_", "BASH_ENV", "FLYBRIDGE")
    assert not [name for name in AGENT_ENV if name.startswith(loaders)]
