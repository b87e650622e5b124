"""All rules, in the order of the README's table."""

from adapters.loopback.discord import gateway_rule, interaction_rule, rule
from adapters.loopback.discord.rule import Rule

RULES: tuple[Rule, ...] = tuple(
    value
    for module in (rule, interaction_rule, gateway_rule)
    for value in vars(module).values()
    if isinstance(value, Rule)
)
