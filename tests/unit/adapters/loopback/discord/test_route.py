import pytest

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord import LoopbackDiscord, route
from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.route import ROUTES, Call, Door, find_route, readable


@pytest.mark.parametrize(
    ("method", "path", "name", "values"),
    [
        ("GET", "/users/@me", "GET /users/@me", {}),
        ("GET", "/users/7", "GET /users/{user}", {"user": "7"}),
        ("PATCH", "/webhooks/1/tok/messages/@original", route.PATCH_ORIGINAL, {"application": "1", "token": "tok"}),
        (
            "PATCH",
            "/webhooks/1/tok/messages/7",
            route.PATCH_FOLLOW_UP,
            {"application": "1", "token": "tok", "message": "7"},
        ),
        (
            "PUT",
            "/channels/1/messages/2/reactions/%F0%9F%91%80/@me",
            route.PUT_REACTION,
            {"channel": "1", "message": "2", "emoji": "\N{EYES}"},
        ),
    ],
)
def test_a_path_is_read(method: str, path: str, name: str, values: dict[str, str]) -> None:
    found = find_route(method, path)
    assert found is not None
    assert (found[0].name, found[1]) == (name, values)


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/users/@me"), ("GET", "/users"), ("GET", "/users/1/2"), ("GET", "")]
)
def test_another_path_is_none(method: str, path: str) -> None:
    assert find_route(method, path) is None


def test_interactions_are_called_with_the_token_in_their_path() -> None:
    for each in ROUTES.values():
        assert (each.door is Door.INTERACTION) == ("{token}" in each.name)
        assert all(f"{{{name}}}" in each.name for name in each.major)


def test_every_route_has_a_handler_and_every_handler_a_route() -> None:
    platform = LoopbackDiscord(clock=PlatformClock())
    assert platform._desk._routes.keys() == ROUTES.keys()  # pyright: ignore[reportPrivateUsage]  # what it is made of


def test_a_body_that_could_not_be_read_is_refused() -> None:
    call = Call(route=ROUTES["GET /users/@me"], path={}, body=None)
    with pytest.raises(RefusedError, match="body_format"):
        readable(call)
