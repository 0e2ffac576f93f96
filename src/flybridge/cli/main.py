"""The commands of `flybridge`, in one place."""

# The modules of the commands import what they need when they do it: --help takes no time.

from __future__ import annotations

import flybridge.cli.early_signals  # before everything that takes time to import

# isort: split
import click

import flybridge
from flybridge.cli.access.audit import audit
from flybridge.cli.access.ci_keys import ci_key
from flybridge.cli.access.tokens import password, token
from flybridge.cli.chat.command import chat
from flybridge.cli.companion.command import companion
from flybridge.cli.companion.devices import devices
from flybridge.cli.config.command import config
from flybridge.cli.control.command import control
from flybridge.cli.control.team import team
from flybridge.cli.doctor.command import doctor
from flybridge.cli.gateway.browser import open_browser
from flybridge.cli.gateway.command import gateway, status, stop
from flybridge.cli.gateway.serve import serve
from flybridge.cli.gateway.service import logs, service
from flybridge.cli.history.command import history
from flybridge.cli.ipc.command import ipc
from flybridge.cli.opening.trust import trust
from flybridge.cli.runs.adhoc import adhoc, alias_of
from flybridge.cli.runs.command import runs
from flybridge.cli.sessions.command import sessions


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(flybridge.__version__, prog_name="flybridge")
def main() -> None:
    """The second set of controls for coding agents."""


main.add_command(chat)
main.add_command(adhoc)
main.add_command(alias_of(adhoc), "run")
main.add_command(runs)
main.add_command(sessions)
main.add_command(gateway)
main.add_command(history)
main.add_command(config)
main.add_command(doctor)
main.add_command(serve)
main.add_command(ipc)
main.add_command(companion)
main.add_command(devices)
main.add_command(status)
main.add_command(stop)
main.add_command(logs)
main.add_command(open_browser)
main.add_command(service)
main.add_command(token)
main.add_command(password)
main.add_command(ci_key)
main.add_command(audit)
main.add_command(trust)
main.add_command(team)
main.add_command(control)
