"""What every object that has to be closed shares: ``async with`` closes it."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A mixin: leaving the block closes, whatever happened inside."""

    async def close(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
