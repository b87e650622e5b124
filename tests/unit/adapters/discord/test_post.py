import pytest

from adapters.discord import post
from adapters.discord.post import Posts


def test_a_nonce_is_known_once_discord_has_told_of_it() -> None:
    posts = Posts()
    assert posts.message("n1") is None
    posts.heard("n1", "7")
    assert posts.message("n1") == "7"


@pytest.mark.parametrize("nonce", [None, "", 7])
def test_a_message_without_a_nonce_of_ours_is_none_that_anybody_asks_for(nonce: object) -> None:
    posts = Posts()
    posts.heard(nonce, "7")
    assert posts.message("") is None


def test_the_oldest_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "REMEMBERED", 2)
    posts = Posts()
    for number in range(3):
        posts.heard(f"n{number}", str(number))
    assert [posts.message(f"n{number}") for number in range(3)] == [None, "1", "2"]
