"""What a message holds beside words, as notes for the model: files cannot be read yet, so they are named.

Source: https://core.telegram.org/bots/api#message
"""

from gateway.payload import Json, mapping, objects, words

FILES = ("photo", "animation", "video", "video_note", "voice", "audio", "sticker", "document", "live_photo")
"""In the order of what says most: an animation comes as a document, too."""

_LATER = "it cannot be read yet"
_LONGEST_NAME = 200


def has_content(message: Json) -> bool:
    """Whether somebody said something with it."""
    return isinstance(message.get("text"), str) or bool(notes(message))


def notes(message: Json, place: int | None = None) -> list[str]:
    """A note for each thing in a message.

    Args:
        message: as it came.
        place: which file of an album it is, from 1.
    """
    found = [note for kind in FILES if kind in message and (note := _file(message, kind, place))][:1]
    return [*found, *_things(message)]


def origin(message: Json) -> str:
    """Who wrote it first, where it was forwarded."""
    came = mapping(message.get("forward_origin"))
    if not came:
        return ""
    chat = mapping(came.get("sender_chat")) or mapping(came.get("chat"))
    return name(mapping(came.get("sender_user"))) or _short(came.get("sender_user_name")) or name(chat) or "somebody"


def name(who: Json) -> str:
    """What a person or a chat is called."""
    given = " ".join(part for part in (_short(who.get("first_name")), _short(who.get("last_name"))) if part)
    return given or _short(who.get("title")) or _short(who.get("username"))


def _file(message: Json, kind: str, place: int | None) -> str:
    content = message.get(kind)
    file = (objects(content) or [{}])[-1] if kind == "photo" else mapping(content)
    identifier = words(file.get("file_id"))
    if not identifier:
        return ""
    title = kind.replace("_", " ") + (f" {place}" if place is not None else "")
    detail = _short(file.get("emoji")) or _short(file.get("file_name")) or _short(file.get("title"))
    return f"[{title}: {detail + ', ' if detail else ''}id {identifier}; {_LATER}]"


def _things(message: Json) -> list[str]:
    found = list[str]()
    for kind in ("venue", "location", "contact", "poll", "dice", "story", "game", "checklist", "paid_media"):
        if (thing := mapping(message.get(kind))) and not (kind == "location" and "venue" in message):
            found.append(f"[{kind.replace('_', ' ')}: {_detail(kind, thing) or 'it cannot be read'}]")
    return found


def _detail(kind: str, thing: Json) -> str:
    place = mapping(thing.get("location")) or thing
    where = f"{place.get('latitude')}, {place.get('longitude')}" if "latitude" in place else ""
    match kind:
        case "venue":
            said = [_short(thing.get("title")), _short(thing.get("address")), where]
        case "location":
            said = [where]
        case "contact":
            said = [name(thing), _short(thing.get("phone_number"))]
        case "poll":
            said = [
                _short(thing.get("question")),
                *(_short(each.get("text")) for each in objects(thing.get("options"))),
            ]
        case "dice":
            said = [_short(thing.get("emoji")), str(thing.get("value", ""))]
        case "checklist":
            said = [_short(thing.get("title")), *(_short(each.get("text")) for each in objects(thing.get("tasks")))]
        case _:
            said = [_short(thing.get("title"))]
    return ", ".join(part for part in said if part)


def _short(value: object) -> str:
    """A name, in one line."""
    return " ".join(words(value).split())[:_LONGEST_NAME]
