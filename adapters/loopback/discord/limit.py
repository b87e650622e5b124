"""How long things live and how many there may be, as data. Tests make them short; the defaults are Discord's."""

from dataclasses import dataclass

from adapters.loopback.discord import gateway_rule, interaction_rule, rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Numbers that a test would not wait for.

    Attributes:
        first_response: real seconds for the first answer to an interaction.
        token_life: platform seconds that an interaction's token lives.
        nonce_life: platform seconds that a nonce is remembered.
        invalid_requests: answers of 401, 403 and 429 in ten minutes before Cloudflare answers.
        identifies: IDENTIFYs a day.
        heartbeat_interval: real seconds.
    """

    first_response: float = float(interaction_rule.FIRST_RESPONSE.limit)
    token_life: float = float(interaction_rule.TOKEN_LIFE.limit)
    nonce_life: float = float(rule.NONCE_ENFORCED.limit)
    invalid_requests: int = rule.INVALID_REQUESTS.limit
    identifies: int = gateway_rule.IDENTIFY_BUDGET.limit
    heartbeat_interval: float = 41.25
