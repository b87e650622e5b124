"""Slack's rules for blocks, for the buttons in them, and for what one user sees alone, as data."""

from adapters.loopback.slack.rule import METHODS, SOCKET_MODE, Confidence, Rule

BLOCKS = "https://docs.slack.dev/reference/block-kit/blocks"
BUTTON_ELEMENT = "https://docs.slack.dev/reference/block-kit/block-elements/button-element"
PAYLOAD = "https://docs.slack.dev/reference/interaction-payloads/block_actions-payload"

BLOCK_SHAPE = Rule(
    name="block_shape",
    says="A block is an object of a type that Slack has, with the parts that the type needs; elements likewise.",
    source=BLOCKS,
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
)
BLOCK_ID = Rule(
    name="block_id",
    says="A block_id has at most 255 characters, and no two blocks of a message share one.",
    source=f"{BLOCKS}/actions-block",
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=255,
)
SECTION_LENGTH = Rule(
    name="section_length",
    says="The text of a section has 1 to 3,000 characters.",
    source=f"{BLOCKS}/section-block",
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=3_000,
)
MARKDOWN_BLOCKS = Rule(
    name="markdown_blocks",
    says="The markdown blocks of a message hold at most 12,000 characters together. The error code is a guess.",
    source=f"{BLOCKS}/markdown-block",
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=12_000,
)
ACTIONS = Rule(
    name="actions",
    says="An actions block holds 1 to 25 elements.",
    source=f"{BLOCKS}/actions-block",
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=25,
)
ACTION_ID = Rule(
    name="action_id",
    says="An action_id has at most 255 characters, and no two elements of a block share one.",
    source=BUTTON_ELEMENT,
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=255,
)
BUTTON_TEXT = Rule(
    name="button_text",
    says="A button's text is plain_text of 1 to 75 characters.",
    source=BUTTON_ELEMENT,
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=75,
)
BUTTON_VALUE = Rule(
    name="button_value",
    says="A button's value has at most 2,000 characters.",
    source=BUTTON_ELEMENT,
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=2_000,
)
BUTTON_STYLE = Rule(
    name="button_style",
    says="A button's style is primary or danger; default is to send none.",
    source=BUTTON_ELEMENT,
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
)
BLOCKS_STAY = Rule(
    name="blocks_stay",
    says="chat.update with text leaves the blocks that it does not name, and they are what is shown; an empty list "
    "takes them away. With markdown_text, which excludes blocks, they are gone: a guess.",
    source="https://github.com/slack-go/slack/issues/1214, https://github.com/slackapi/python-slack-sdk/issues/523",
    confidence=Confidence.MEASURED,
)
PRESS = Rule(
    name="press",
    says="A press comes as block_actions in an interactive envelope, with the message as it stands, the button's value "
    "and an action_ts of its own.",
    source=f"{PAYLOAD}, {SOCKET_MODE}",
    confidence=Confidence.DOCUMENTED,
)
WHISPER_MEMBER = Rule(
    name="whisper_member",
    says="chat.postEphemeral needs a reader who is in the channel.",
    source=f"{METHODS}/chat.postEphemeral",
    confidence=Confidence.DOCUMENTED,
    error="user_not_in_channel",
)
WHISPER_ALONE = Rule(
    name="whisper_alone",
    says="What chat.postEphemeral posts is seen by its reader only, is no event, and stands in no listing.",
    source=f"{METHODS}/chat.postEphemeral",
    confidence=Confidence.DOCUMENTED,
)
WHISPER_THREAD = Rule(
    name="whisper_thread",
    says="In a thread without replies it is not seen at all.",
    source=f"{METHODS}/chat.postEphemeral",
    confidence=Confidence.DOCUMENTED,
)

RULES: tuple[Rule, ...] = (
    BLOCK_SHAPE,
    BLOCK_ID,
    SECTION_LENGTH,
    MARKDOWN_BLOCKS,
    ACTIONS,
    ACTION_ID,
    BUTTON_TEXT,
    BUTTON_VALUE,
    BUTTON_STYLE,
    BLOCKS_STAY,
    PRESS,
    WHISPER_MEMBER,
    WHISPER_ALONE,
    WHISPER_THREAD,
)
