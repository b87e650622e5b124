"""What the server makes of a text and its entities before it is shown. Pure.

Rule 1: what can be mended is mended in silence, as the real server does it; each mending is a ``Flaw``, for whoever is
        judged should have sent it right.
Rule 2: code takes nothing inside; links, mentions and the like take none of their kind inside; quotes take no quotes;
        bold and its kin may stand anywhere but in code, and are cut where they cross another's border.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from adapters.loopback.telegram import outbound, utf16
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import CODE, QUOTES, SPLITTABLE, Entity

FlawKind = Literal["empty", "blank", "overlap", "nested quote", "crosses a quote", "inside code", "crosses another"]

_DROPPED = frozenset("\r\u0333\u033f\u030a") | {chr(code) for code in range(0x2028, 0x202F)}
_SPACES = " \n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """An entity against the documented rules, as it was sent, and what is wrong with it."""

    kind: FlawKind
    entity: Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a reader's client is given.

    Attributes:
        text: without what the server takes away.
        entities: those that are left, in its coordinates.
        flaws: what had to be mended.
        ignored: those beyond the hundredth.
    """

    text: str
    entities: tuple[Entity, ...] = ()
    flaws: tuple[Flaw, ...] = ()
    ignored: tuple[Entity, ...] = ()


def show(text: str, entities: Sequence[Entity] = ()) -> Shown:
    """Do to a text and its entities what the server does.

    Raises:
        RefusedError: an entity lies outside the text or parts a character, or nothing is left of the text.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedError(outbound.TEXT_ENCODING) from None
    flaws = [Flaw(kind="empty", entity=each) for each in entities if not each.length]
    ordered = sorted((each for each in entities if each.length), key=_order)
    mended = _mend(ordered, flaws)
    cleaned, mended = _clean(text, ordered, mended)
    cleaned, mended = _trim(cleaned, mended, flaws)
    if not cleaned:
        raise RefusedError(outbound.TEXT_BLANK)
    most = outbound.ENTITY_COUNT.limit
    return Shown(text=cleaned, entities=tuple(mended[:most]), flaws=tuple(flaws), ignored=tuple(mended[most:]))


def _order(entity: Entity) -> tuple[int, int, bool, str]:
    """Outer before inner; of two alike, what is cut before what is not."""
    return entity.offset, -entity.length, entity.type in SPLITTABLE, entity.type


def _mend(entities: Sequence[Entity], flaws: list[Flaw]) -> list[Entity]:
    quotes = list(_disjoint([each for each in entities if each.type in QUOTES], "nested quote", flaws))
    solid = list[Entity]()
    for each in _disjoint([each for each in entities if each.type not in QUOTES | SPLITTABLE], "overlap", flaws):
        # A quote holds links and code; it is not held by them.
        if any(quote.crosses(each) or (each.contains(quote) and each.length > quote.length) for quote in quotes):
            flaws.append(Flaw(kind="crosses a quote", entity=each))
        else:
            solid.append(each)
    borders = quotes + solid
    result = list(borders)
    for each in entities:
        if each.type in SPLITTABLE:
            if any(each.crosses(other) for other in entities):
                flaws.append(Flaw(kind="crosses another", entity=each))
            result += _pieces(each, borders, flaws)
    return sorted(result, key=_order)


def _disjoint(entities: Sequence[Entity], kind: FlawKind, flaws: list[Flaw]) -> Iterator[Entity]:
    """Those that do not reach into an earlier one."""
    end = 0
    for each in entities:
        if each.offset < end:
            flaws.append(Flaw(kind=kind, entity=each))
        else:
            end = each.end
            yield each


def _pieces(entity: Entity, borders: Sequence[Entity], flaws: list[Flaw]) -> list[Entity]:
    """What is left of a bold or its kin: nothing inside code, and cut at the borders that it crosses."""
    cuts = {entity.offset, entity.end}
    for other in borders:
        if entity.crosses(other) or (other.type in CODE and entity.contains(other)):
            cuts |= {at for at in (other.offset, other.end) if entity.offset < at < entity.end}
    ordered = sorted(cuts)
    pieces = [replace(entity, offset=start, length=end - start) for start, end in pairwise(ordered)]
    left = [piece for piece in pieces if not any(other.type in CODE and other.contains(piece) for other in borders)]
    if len(left) < len(pieces):
        flaws.append(Flaw(kind="inside code", entity=entity))
    return left


def _clean(text: str, sent: Sequence[Entity], mended: Sequence[Entity]) -> tuple[str, list[Entity]]:
    """Take characters away that are never shown, and move the entities."""
    result = list[str]()
    places = dict[int, int]()
    bytes_at = dict[int, int]()
    old = new = at_byte = 0
    for character in text:
        places[old], bytes_at[old] = new, at_byte
        step = utf16.width(character)
        old += step
        at_byte += len(character.encode())
        bytes_at.setdefault(old - 1, at_byte)
        if character in _DROPPED:
            continue
        result.append(" " if character < " " and character != "\n" else character)
        new += step
    places[old], bytes_at[old] = new, at_byte
    for each in sent:
        _check_place(each, places, bytes_at, old)
    moved = [
        replace(each, offset=places[each.offset], length=places[each.end] - places[each.offset]) for each in mended
    ]
    return "".join(result), moved


def _check_place(entity: Entity, places: dict[int, int], bytes_at: dict[int, int], size: int) -> None:
    if entity.offset > size or (entity.offset == size and entity.length):
        raise RefusedError(outbound.ENTITY_BEGIN, entity.offset)
    if entity.offset not in places:
        raise RefusedError(outbound.ENTITY_SPLITS, "begins", bytes_at[entity.offset])
    if entity.end > size:
        raise RefusedError(outbound.ENTITY_END, entity.offset, entity.end)
    if entity.end not in places:
        where = f"beginning at UTF-16 offset {entity.offset} ends"
        raise RefusedError(outbound.ENTITY_SPLITS, where, bytes_at[entity.end])


def _trim(text: str, entities: Sequence[Entity], flaws: list[Flaw]) -> tuple[str, list[Entity]]:
    """Take white space off both ends of the text and off the beginning of each entity; blank entities go."""
    kept = list[Entity]()
    end = utf16.length(text.rstrip(_SPACES))
    for each in entities:
        inside = utf16.cut(text, each.offset, min(each.end, end))
        lead = len(inside) - len(inside.lstrip(_SPACES))
        if not inside.strip(_SPACES):
            flaws.append(Flaw(kind="blank", entity=each))
            continue
        start = each.offset + lead
        kept.append(replace(each, offset=start, length=min(each.end, end) - start))
    text = text.rstrip(_SPACES)
    lead = len(text) - len(text.lstrip(_SPACES))
    return text[lead:], [replace(each, offset=each.offset - lead) for each in kept]
