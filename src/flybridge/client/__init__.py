"""The Python client; every command of ours is one."""

from flybridge.client.gateway import Client, connect
from flybridge.client.items import (
    Detached,
    EventItem,
    GaugeItem,
    Item,
    PreviewItem,
    Reset,
    ViewItem,
)
from flybridge.client.prompts import (
    Allow,
    Answers,
    Decline,
    Deny,
    PermissionPrompt,
    QuestionPrompt,
)
from flybridge.client.session import Attachment, Watch
from flybridge.client.transcript import Block, Prompt, Transcript
from flybridge.client.values import Page, SessionRow, SessionView
from flybridge.config.state_dir import StateDir

__all__ = [
    "Allow",
    "Answers",
    "Attachment",
    "Block",
    "Client",
    "Decline",
    "Deny",
    "Detached",
    "EventItem",
    "GaugeItem",
    "Item",
    "Page",
    "PermissionPrompt",
    "PreviewItem",
    "Prompt",
    "QuestionPrompt",
    "Reset",
    "SessionRow",
    "SessionView",
    "StateDir",
    "Transcript",
    "ViewItem",
    "Watch",
    "connect",
]
