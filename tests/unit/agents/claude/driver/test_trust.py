from __future__ import annotations

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.trust import TRUST_FILES, restricted
from flybridge.model.options import AgentOptions


def test_the_settings_of_the_folder_are_left_out_and_nothing_else_changes() -> None:
    options: AgentOptions = {"max_turns": 3, "setting_sources": ("user", "project")}
    without = restricted(options)
    assert without == {"max_turns": 3, "setting_sources": ("user",), "strict_mcp_config": True}
    assert restricted(without) == without
    assert ClaudeAgent().restricted(options) == without


def test_settings_and_instructions_are_apart() -> None:
    settings = {file.path for file in TRUST_FILES.settings}
    instructions = {file.path for file in TRUST_FILES.instructions}
    assert settings == {".claude", ".mcp.json"}
    assert {"CLAUDE.md", "AGENTS.md"} <= instructions
    (folder,) = [file for file in TRUST_FILES.settings if file.kind == "folder"]
    assert "CLAUDE.md" in folder.harmless
