"""What an agent gets of the gateway's environment: a list of what passes, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# A star at the end stands for the rest of a name. Whatever is not listed stays with the
# gateway: its own secrets first of all, then everything that changes how programs load
# (LD_*, PYTHON*, NODE_OPTIONS, GIT_*).
AGENT_ENV: tuple[str, ...] = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "ANTHROPIC_*",
    "CLAUDE_*",
    "IS_SANDBOX",
)


def agent_environment(env: Mapping[str, str], extra: Sequence[str] = ()) -> dict[str, str]:
    """Pick from ``env`` what an agent may see: the allow-list, and the ``extra`` names.

    Nothing named ``FLYBRIDGE_*`` passes, not even when it is asked for.
    """
    allowed = frozenset(AGENT_ENV) | frozenset(extra)
    prefixes = tuple(name[:-1] for name in AGENT_ENV if name.endswith("*"))
    return {
        name: value
        for name, value in env.items()
        if (name in allowed or name.startswith(prefixes))
        and not name.upper().startswith("FLYBRIDGE_")
    }
