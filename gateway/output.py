"""What a tool said, in as many bytes as a model is given; the whole of what is longer is kept in a file.

Rule 1: what fits is given as it is. What does not keeps its beginning and its end, cut between characters, and a line
        between them says how much is missing and where it is.
Rule 2: a call's id comes from outside: nothing of it but letters, digits, ``_`` and ``-`` gets into the file's name.
"""

import re
from hashlib import blake2s
from pathlib import Path

import anyio

from gateway.tool import LONGEST

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")


async def fitted(text: str, folder: Path | None, tool_use_id: str, *, longest: int = LONGEST) -> str:
    """The text in so many bytes of UTF-8, a line of ours aside. Half a surrogate pair becomes ``?``.

    Args:
        text: the whole.
        folder: where it is kept if it is longer; made if it is missing.
        tool_use_id: names its file.
        longest: how many bytes.
    """
    whole = text.encode(errors="replace")
    if len(whole) <= longest:
        return whole.decode()
    where = await _kept(whole, folder, tool_use_id)
    head = whole[: longest // 2].decode(errors="ignore")
    tail = whole[-(longest // 2) :].decode(errors="ignore")
    left_out = len(whole) - len(head.encode()) - len(tail.encode())
    return f"{head}\n\n[{left_out:,} of {len(whole):,} bytes are left out here; {where}.]\n\n{tail}"


async def _kept(whole: bytes, folder: Path | None, tool_use_id: str) -> str:
    if folder is None:
        return "the whole is not kept"
    digest = blake2s(tool_use_id.encode(errors="replace"), digest_size=4).hexdigest()
    name = f"{_FOREIGN.sub('', tool_use_id)[:40]}-{digest}.txt"
    place = anyio.Path(folder)
    try:
        await place.mkdir(parents=True, exist_ok=True)
        await (place / name).write_bytes(whole)
    except OSError as error:
        return f"the whole could not be kept ({error.strerror})"
    return f"the whole is in the file {name}"
