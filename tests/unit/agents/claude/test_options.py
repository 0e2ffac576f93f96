from __future__ import annotations

import subprocess
import sys

from flybridge.agents.claude.options import ARGUMENTS, OPTIONS, SCHEMA, Values

GRANTING = {  # by these an agent may do more than it would have to ask for
    "skip_permissions",
    "allow_bypass",
    "allowed_tools",
    "add_dirs",
    "mcp_config",
    "plugin_dirs",
    "settings",
    "setting_sources",
    "agents",
}


def test_names_flags_and_labels_are_unique() -> None:
    for values in (
        [option.name for option in OPTIONS],
        [option.command_line_flag for option in OPTIONS],
        [option.label for option in OPTIONS],
    ):
        assert len(set(values)) == len(values)


def test_every_option_is_said_once_on_the_command_line() -> None:
    names = sorted(argument.option for argument in ARGUMENTS)
    known = {option.name for option in OPTIONS} | set(SCHEMA.common)
    assert names == sorted(known - {"fast"})  # asked for once the agent runs


def test_the_forms_fit_the_types() -> None:
    forms = {argument.option: argument.form for argument in ARGUMENTS}
    for option in OPTIONS:
        form = forms.get(option.name, "switch")
        assert (form == "switch") == (option.type == "flag"), option.name
        assert (form in ("each", "joined", "joined_or_empty")) == (option.type == "list")


def test_what_grants_is_what_granted_before() -> None:
    assert {option.name for option in OPTIONS if option.grants} == GRANTING


def test_values_are_read_by_type() -> None:
    values = Values({"a": True, "b": "x", "c": 3, "d": ("y",), "e": ()})
    assert (values.flag("a"), values.flag("b"), values.flag("z")) == (True, False, False)
    assert (values.text("b"), values.text("c"), values.text("z")) == ("x", "", "")
    assert (values.number("c"), values.number("b")) == (3, 0)
    assert (values.items("d"), values.items("b"), values.items("z")) == (("y",), (), ())
    assert (values.is_given("e"), values.is_given("z")) == (True, False)


def test_the_schema_is_light_enough_for_help() -> None:
    code = (
        "import sys, flybridge.agents.claude.options;"
        "print([name for name in ('msgspec', 'asyncio') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout.strip() == "[]"
