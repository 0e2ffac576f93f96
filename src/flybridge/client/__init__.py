"""The Python client; every command of ours is one."""

from flybridge.client.gateway import Client, Page, connect
from flybridge.client.items import (
    Detached,
    EventItem,
    GaugeItem,
    Item,
    PreviewItem,
    Reset,
    ViewItem,
)
from flybridge.client.session import Attachment, Watch
from flybridge.client.state_dir import StateDir
from flybridge.client.transcript import Block, Prompt, Transcript

__all__ = [
    "Attachment",
    "Block",
    "Client",
    "Detached",
    "EventItem",
    "GaugeItem",
    "Item",
    "Page",
    "PreviewItem",
    "Prompt",
    "Reset",
    "StateDir",
    "Transcript",
    "ViewItem",
    "Watch",
    "connect",
]
