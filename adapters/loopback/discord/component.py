"""Buttons and their kin: how many and how long they may be. Pure."""

from collections.abc import Iterator
from typing import cast

from adapters.loopback.discord import rule
from adapters.loopback.discord.answer import invalid_form
from adapters.loopback.discord.message import Content, Flag
from adapters.loopback.discord.ping import texts_of

_MOST_DISPLAYED = 4_000
_MOST_CUSTOM_ID, _MOST_LABEL = 100, 80
_ROW, _BUTTON, _LINK_BUTTON = 1, 2, 5
_STYLES = range(1, 6)


def check_components(content: Content) -> None:
    """Refuse components that are too many, too long, or together with what they exclude.

    Raises:
        RefusedError: it names the first fault.
    """
    for component in all_components(content.components):
        _check(component)
    if Flag.COMPONENTS_V2 in content.flags:
        _check_displayed(content)
    else:
        _check_rows(list(content.components))
    named = [each["custom_id"] for each in all_components(content.components) if "custom_id" in each]
    if any(name in named[:number] for number, name in enumerate(named)):
        raise invalid_form(rule.COMPONENT_LIMITS, "components", code="COMPONENT_CUSTOM_ID_DUPLICATED")


def _check_displayed(content: Content) -> None:
    if content.text or content.embeds:
        raise invalid_form(rule.COMPONENTS_V2, "content", code="MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2")
    displayed = sum(map(len, texts_of(content.components)))
    if len(list(all_components(content.components))) > rule.COMPONENTS_V2.limit or displayed > _MOST_DISPLAYED:
        raise invalid_form(rule.COMPONENTS_V2, "components")


def _check_rows(rows: list[object]) -> None:
    if len(rows) > rule.COMPONENT_LIMITS.limit:
        raise invalid_form(rule.COMPONENT_LIMITS, "components")
    for number, row in enumerate(rows):
        inside = list(_children(row))
        if _type(row) != _ROW or not 1 <= len(inside) <= rule.COMPONENT_LIMITS.limit:
            raise invalid_form(rule.COMPONENT_LIMITS, "components", str(number), "components")


def all_components(components: object) -> Iterator[dict[str, object]]:
    """Every component, those inside others too."""
    for component in cast("list[object]", components) if isinstance(components, list | tuple) else []:
        if isinstance(component, dict):
            yield cast("dict[str, object]", component)
            yield from all_components(list(_children(cast("object", component))))


def find_component(content: Content, custom_id: str) -> dict[str, object] | None:
    """The component of that id."""
    return next((each for each in all_components(content.components) if each.get("custom_id") == custom_id), None)


def _check(component: dict[str, object]) -> None:
    custom_id, label = component.get("custom_id"), component.get("label")
    if _type(component) == _BUTTON and component.get("style") != _LINK_BUTTON and not custom_id:
        raise invalid_form(rule.COMPONENT_LIMITS, "components", "custom_id", code="BASE_TYPE_REQUIRED")
    if isinstance(custom_id, str) and len(custom_id) > _MOST_CUSTOM_ID:
        raise invalid_form(rule.COMPONENT_LIMITS, "components", "custom_id")
    if isinstance(label, str) and len(label) > _MOST_LABEL:
        raise invalid_form(rule.COMPONENT_LIMITS, "components", "label")
    if _type(component) == _BUTTON:
        _check_button(component)


def _check_button(button: dict[str, object]) -> None:
    if button.get("style") not in _STYLES:
        raise invalid_form(rule.COMPONENT_LIMITS, "components", "style", code="BASE_TYPE_CHOICES")
    if not (button.get("label") or button.get("emoji")):
        raise invalid_form(rule.COMPONENT_LIMITS, "components", code="BUTTON_COMPONENT_EMPTY")


def _children(component: object) -> Iterator[object]:
    if isinstance(component, dict):
        parts = cast("dict[str, object]", component)
        inside = parts.get("components")
        yield from cast("list[object]", inside) if isinstance(inside, list) else []
        if isinstance(accessory := parts.get("accessory"), dict):
            yield cast("object", accessory)


def _type(component: object) -> object:
    return cast("dict[str, object]", component).get("type") if isinstance(component, dict) else None
