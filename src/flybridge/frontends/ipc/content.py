"""What a user message holds, as the blocks an agent gets."""

from __future__ import annotations

import base64
import binascii

from flybridge.errors import InvalidRequestError
from flybridge.frontends.ipc.wire import messages as w
from flybridge.model.content import Content, Image, Text


def to_content(message: w.UserMessage) -> tuple[Content, ...]:
    """The text first, then a block for each attachment. The filename is not sent.

    Raises:
        InvalidRequestError: a picture of another type, too big, or no base64.
    """
    blocks: list[Content] = []
    if message.text or not message.attachments:
        blocks.append(Text(message.text))
    blocks += [_block(one) for one in message.attachments]
    return tuple(blocks)


def _block(one: w.Attachment) -> Content:
    if one.media_type in w.IMAGE_TYPES:
        _check_size(one)
        return Image(one.media_type, data=one.content)
    if one.media_type.startswith("image/"):
        raise InvalidRequestError(
            f"Unsupported image type: {one.media_type[:60]}; {', '.join(w.IMAGE_TYPES)} are taken"
        )
    return Text(one.content)


def _check_size(one: w.Attachment) -> None:
    try:
        size = len(base64.b64decode(one.content, validate=True))
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError(f"The picture is no base64: {error}") from error
    if size > w.MAX_IMAGE_BYTES:
        raise InvalidRequestError(
            f"The picture has {size} bytes, which is more than {w.MAX_IMAGE_BYTES}"
        )
