"""The rules of interactions and commands, as data."""

from adapters.loopback.discord.rule import COMMANDS, ERRORS, INTERACTION, OPCODES, Confidence, Rule

FIRST_RESPONSE = Rule(
    name="first_response",
    says="An interaction is answered within 3 real seconds; later, or with another token, it is unknown.",
    source=INTERACTION,
    known=Confidence.DOCUMENTED,
    status=404,
    code=10062,
    message="Unknown interaction",
    limit=3,
)
ONE_RESPONSE = Rule(
    name="one_response",
    says="An interaction is answered once.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=400,
    code=40060,
    message="Interaction has already been acknowledged.",
)
RESPONSE_TYPE = Rule(
    name="response_type",
    says="A command is answered with type 4 or 5, a button with 4 to 7; modals are not here.",
    source=INTERACTION,
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="Value must be one of {4, 5, 6, 7}.",
)
NOT_ANSWERED = Rule(
    name="not_answered",
    says="Before its first response an interaction has no original message and takes no follow-up.",
    source=f"{OPCODES}, https://github.com/discord/discord-api-docs/issues/3153",
    known=Confidence.CLAIMED,
    status=404,
    code=10015,
    message="Unknown Webhook",
)
TOKEN_LIFE = Rule(
    name="token_life",
    says="An interaction's token lives 15 minutes.",
    source=f"{INTERACTION}, https://github.com/discord/discord-api-docs/pull/2461",
    known=Confidence.DOCUMENTED,
    status=401,
    code=50027,
    message="Invalid Webhook Token",
    limit=900,
)
FOLLOW_UPS = Rule(
    name="follow_ups",
    says="Where the app is only user-installed an interaction takes 5 follow-ups. The status is a guess.",
    source=f"{INTERACTION}, {ERRORS}",
    known=Confidence.DOCUMENTED,
    status=400,
    code=40094,
    message="This interaction has hit the maximum number of follow up messages",
    limit=5,
)
FOLLOW_UP_FILLS = Rule(
    name="follow_up_fills",
    says="A follow-up to a message that is still loading becomes that message; it counts all the same, a guess.",
    source=INTERACTION,
    known=Confidence.DOCUMENTED,
)
EPHEMERAL_FIXED = Rule(
    name="ephemeral_fixed",
    says="A deferral takes the EPHEMERAL flag only, and what it says is not changed by an edit.",
    source=INTERACTION,
    known=Confidence.DOCUMENTED,
)
EPHEMERAL_UNSEEN = Rule(
    name="ephemeral_unseen",
    says="What is ephemeral is no dispatch, and for the channel's routes it is not there.",
    source=INTERACTION,
    known=Confidence.CLAIMED,
)
WITH_RESPONSE = Rule(
    name="with_response",
    says="A callback answers 204; with_response brings the interaction, the message's id and whether it is loading.",
    source=INTERACTION,
    known=Confidence.DOCUMENTED,
)

# Commands.

COMMAND_FORM = Rule(
    name="command_form",
    says="A command has a name of 1 to 32 lower-case letters, digits, - and _, no two alike, a description of 1 to "
    "100, at most 25 options, the required first, 25 choices each, and 8,000 characters.",
    source=COMMANDS,
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="Invalid Form Body",
    limit=8_000,
)
COMMAND_COUNT = Rule(
    name="command_count",
    says="An app has at most 100 commands of its users' input, everywhere or in one guild.",
    source=f"{COMMANDS}, {OPCODES}",
    known=Confidence.DOCUMENTED,
    status=400,
    code=30032,
    message="Maximum number of application commands reached (100).",
    limit=100,
)
COMMAND_CREATES = Rule(
    name="command_creates",
    says="200 commands can be created a day and guild; overwriting one that is there creates none.",
    source=f"{COMMANDS}, {OPCODES}",
    known=Confidence.DOCUMENTED,
    status=429,
    code=30034,
    message="Max number of daily application command creates has been reached (200)",
    limit=200,
)
COMMAND_OFFERED = Rule(
    name="command_offered",
    says="Users can run what is registered, where its contexts and integration_types let them, with its options.",
    source=COMMANDS,
    known=Confidence.DOCUMENTED,
)
