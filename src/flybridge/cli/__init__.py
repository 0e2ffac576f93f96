"""The command line: one module per command, each a client of the gateway."""

# The modules of the commands import what they need when they do it: --help takes no time.

from __future__ import annotations

import click

import flybridge
from flybridge.cli.chat import chat
from flybridge.cli.gateway import gateway
from flybridge.cli.sessions import sessions
from flybridge.cli.transcripts import history


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(flybridge.__version__, prog_name="flybridge")
def main() -> None:
    """The second set of controls for coding agents."""


main.add_command(chat)
main.add_command(sessions)
main.add_command(gateway)
main.add_command(history)
