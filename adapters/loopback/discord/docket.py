"""All interactions, and the clock that ticks for each of them.

Rule 1: the first response comes within the deadline, in real seconds: it measures the client. Then the interaction is
        lost, and stays so.
Rule 2: the token lives platform seconds, whether it was used or not.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord import interaction_rule, rule
from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.change import Change, InteractionChanged, InteractionCreated
from adapters.loopback.discord.interaction import Interaction, State
from adapters.loopback.discord.limit import Limits


class Docket:
    """Keeps every interaction. Runs inside an asyncio loop."""

    def __init__(
        self, clock: PlatformClock, limits: Limits, next_id: Callable[[], str], tell: Callable[[Change], None]
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._next_id = next_id
        self._tell = tell
        self._interactions: dict[str, Interaction] = {}
        self._tokens: dict[str, str] = {}
        self._deadlines: dict[str, asyncio.TimerHandle] = {}

    def __iter__(self) -> Iterator[Interaction]:
        """All of them, oldest first."""
        return iter(tuple(self._interactions.values()))

    def find(self, interaction_id: str) -> Interaction | None:
        """The interaction of that id."""
        return self._interactions.get(interaction_id)

    def with_token(self, token: str) -> Interaction | None:
        """The interaction of that token."""
        return self.find(self._tokens.get(token, ""))

    def add(
        self,
        *,
        kind: int,
        name: str,
        data: Mapping[str, object],
        user: str,
        place: tuple[str, str | None, bool],
        source: str | None = None,
    ) -> Interaction:
        """Begin an interaction; ``place`` is its channel, its guild, and whether only the user brought the app."""
        channel, guild, user_installed = place
        now = self._clock.now()
        interaction = Interaction(
            id=self._next_id(),
            token=secrets.token_urlsafe(48),
            type=kind,
            name=name,
            data=data,
            user=user,
            channel=channel,
            guild=guild,
            user_installed=user_installed,
            source=source,
            t=now,
            at=self._clock.real(),
            expires=now + self._limits.token_life,
        )
        self._interactions[interaction.id] = interaction
        self._tokens[interaction.token] = interaction.id
        deadline = asyncio.get_running_loop().call_later(self._limits.first_response, self._time_out, interaction.id)
        self._deadlines[interaction.id] = deadline
        self._tell(InteractionCreated(interaction=interaction))
        return interaction

    def answerable(self, interaction_id: str, token: str) -> Interaction:
        """The interaction, if it still waits for its first response.

        Raises:
            RefusedError: it does not, or the token is another's.
        """
        interaction = self.find(interaction_id)
        if interaction is None or interaction.token != token or interaction.state == "lost":
            raise RefusedError(interaction_rule.FIRST_RESPONSE)
        if self._clock.real() - interaction.at > self._limits.first_response and interaction.state == "waiting":
            raise RefusedError(interaction_rule.FIRST_RESPONSE)
        if interaction.state != "waiting":
            raise RefusedError(interaction_rule.ONE_RESPONSE)
        return interaction

    def open(self, application: bool, token: str) -> Interaction:
        """The answered interaction of a token that is good.

        Raises:
            RefusedError: it is not good, or nothing was answered.
        """
        interaction = self.with_token(token)
        if interaction is None or not application or self._clock.now() >= interaction.expires:
            raise RefusedError(interaction_rule.TOKEN_LIFE)
        if interaction.state in {"waiting", "lost"}:
            raise RefusedError(interaction_rule.NOT_ANSWERED)
        return interaction

    def respond(self, interaction: Interaction, state: State, response: str | None, *, ephemeral: bool) -> Interaction:
        """Note the first response."""
        self._deadlines.pop(interaction.id).cancel()
        latency = self._clock.real() - interaction.at
        return self._put(replace(interaction, state=state, response=response, ephemeral=ephemeral, latency=latency))

    def complete(self, interaction: Interaction) -> Interaction:
        """What was deferred is answered now."""
        return interaction if interaction.state == "answered" else self._put(replace(interaction, state="answered"))

    def follow_up(self, interaction: Interaction, message: str) -> Interaction:
        """Note a follow-up."""
        return self._put(replace(interaction, follow_ups=(*interaction.follow_ups, message)))

    def expire(self, interaction_id: str) -> Interaction:
        """End a token now."""
        return self._put(replace(self._interactions[interaction_id], expires=self._clock.now()))

    def outdate(self, interaction_id: str) -> None:
        """Let it be too late for everything: the first response, if there was none, and the token."""
        if (deadline := self._deadlines.get(interaction_id)) is not None:
            deadline.cancel()
            self._time_out(interaction_id)
        self.expire(interaction_id)

    def owned(self, interaction: Interaction, message: str) -> None:
        """Let a message pass that this interaction's token may touch.

        Raises:
            RefusedError: it is another's.
        """
        if message not in {interaction.response, *interaction.follow_ups}:
            raise RefusedError(rule.UNKNOWN_MESSAGE)

    def stop(self) -> None:
        """Cancel every deadline."""
        for deadline in self._deadlines.values():
            deadline.cancel()
        self._deadlines.clear()

    def _time_out(self, interaction_id: str) -> None:
        del self._deadlines[interaction_id]
        self._put(replace(self._interactions[interaction_id], state="lost"))

    def _put(self, interaction: Interaction) -> Interaction:
        self._interactions[interaction.id] = interaction
        self._tell(InteractionChanged(interaction=interaction))
        return interaction
