"""Paper in memory."""

from __future__ import annotations

from flybridge.cli.rendering.screen import Look, Plain

NO_COLOUR = Look(colour=False)


class Sheet(Plain):
    def __init__(
        self, *, width: int | None = None, marks: bool = True, look: Look = NO_COLOUR
    ) -> None:
        self._said: list[str] = []
        super().__init__(self._said.append, look=look, width=width, marks=marks)

    @property
    def text(self) -> str:
        """Everything written so far."""
        return "".join(self._said)
