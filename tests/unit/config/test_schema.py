from __future__ import annotations

import sys

import msgspec
import pytest

from flybridge.config.schema import KEYS, PROJECT_KEYS, AgentConfig, Config, section


def test_without_any_file_there_are_two_agents() -> None:
    config = Config()
    assert config.default_agent == "claude"
    assert config.agents == {
        "claude": AgentConfig(kind="claude", program=("claude",)),
        "demo": AgentConfig(
            kind="demo", program=(sys.executable, "-P", "-m", "flybridge.agents.demo")
        ),
    }


def test_the_defaults_are_valid_by_their_own_rules() -> None:
    assert msgspec.convert(msgspec.to_builtins(Config()), Config) == Config()


def test_two_configurations_do_not_share_their_agents() -> None:
    one, other = Config(), Config()
    assert one.agents is not other.agents


def test_every_leaf_has_a_dotted_key() -> None:
    assert set(KEYS) == {
        "default_agent",
        "folder_settings",
        "title",
        "labels",
        "idle_exit_s",
        "keeper.orphan_s",
        "keeper.hello_s",
        "limits.line_bytes",
        "limits.held_inputs",
        "limits.sessions",
        "limits.idle_s",
        "retention.days",
        "output.adhoc_output",
        "ipc.permission_mode",
        "serve.host",
        "serve.port",
        "serve.names",
        "serve.forwarders",
        "serve.users",
        "serve.base_path",
        "serve.client_header",
        "serve.tls_cert",
        "serve.tls_key",
        "serve.companion_host",
        "serve.companion_port",
        "control.team",
        "control.folder",
        "control.max_age_s",
        "control.skew_s",
        "control.soft_bytes",
        "control.hard_bytes",
        "control.ack_timeout_s",
        "control.retries",
        "control.backoff_s",
        "control.log_text",
        "log_level",
    }


def test_a_project_may_set_only_what_is_shown() -> None:
    assert {"default_agent", "title", "labels", "output"} == PROJECT_KEYS


@pytest.mark.parametrize(
    ("kind", "is_one"), [(Config, True), (str, False), (dict[str, str], False)]
)
def test_a_section_is_a_struct(kind: object, is_one: bool) -> None:
    assert (section(kind) is not None) is is_one
