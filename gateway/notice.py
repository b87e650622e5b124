"""The sentences that the bot says itself; in parentheses, so that nobody takes them for the model's."""

from types import MappingProxyType

from gateway.event import EndReason, ErrorType

NO_ANSWER = "(The model gave no answer.)"
MAY_BE_A_REPEAT = "(The next message may be a repeat.)"
MAY_BE_MISSING = "(A part may be missing here.)"
LEFT_OUT = "(I can show no more of my answer here. Ask me to go on.)"
FOR = "(For {}: the command has expired meanwhile, so the answer stands here.)"
"""Names who had asked; ``{}`` is how the platform names them."""

ENDINGS: MappingProxyType[EndReason, str] = MappingProxyType(
    {
        "complete": "",
        "stopped": "(Stopped.)",
        "refusal": "(The model declined to answer this.)",
        "cut": "(The answer ends here because it reached the model's length limit. Ask for the rest to go on.)",
        "context_window": "(This conversation has become too long for the model. Please begin a new one.)",
        "turn_limit": "(The answer ends here because the model was asked as often as it may be. Ask me to go on.)",
        "token_budget": "(The answer ends here because it has used up what one answer may cost. Ask me to go on.)",
        "deadline": "(The answer ends here because it has taken as long as it may. Ask me to go on.)",
        "loop": "(The answer ends here because the model did the same again and again. Please ask in other words.)",
        "error": "(Something went wrong and the answer is not complete.",
        "consumer_stalled": "(The answer was stopped because the chat could not keep up.",
    }
)
"""What the user is told when a run ends; where the parenthesis stays open, a reference is added."""

FAILURES: MappingProxyType[ErrorType, str] = MappingProxyType(
    {
        "incomplete_stream": "(The connection to the model broke off, so the answer is not complete. Please ask again.",
        "overloaded": "(The model is overloaded at the moment. Please ask again in a minute.",
        "rate_limited": "(Too many requests went to the model. Please ask again in a minute.",
        "authentication": "(The model refused the bot's key. The bot's operator has to mend that.",
        "invalid_request": "(The model did not accept the request. The bot's operator can find out why.",
        "server": "(The model's service had a failure. Please ask again.",
        "timeout": "(The model took too long to answer. Please ask again.",
        "unknown": ENDINGS["error"],
    }
)
"""As above, by what went wrong."""


def ending(reason: EndReason, error: ErrorType | None, run_id: str) -> str:
    """How a run ended, in a sentence; empty where the answer is complete."""
    sentence = FAILURES[error] if reason == "error" and error else ENDINGS[reason]
    return sentence if not sentence or sentence.endswith(")") else f"{sentence} Reference: {run_id})"
