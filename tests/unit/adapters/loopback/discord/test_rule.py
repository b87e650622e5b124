import re
from pathlib import Path

from adapters.loopback.discord import gateway_rule, interaction_rule, rule
from adapters.loopback.discord.answer import failed, milliseconds_up
from adapters.loopback.discord.rule import Rule
from adapters.loopback.discord.rulebook import RULES
from adapters.loopback.fault import Failure

README = Path(rule.__file__).with_name("README.md")
TESTS = Path(__file__).parents[4]

# Each rule and a test that fails without it.
PROOFS = {
    rule.UNAUTHORIZED: "test_a_call_with_the_wrong_token_or_none_is_refused",
    rule.UNKNOWN_ROUTE: "test_a_route_that_is_not_there_is_refused_and_its_secrets_are_not_logged",
    rule.BODY_FORMAT: "test_a_body_that_is_no_json_is_refused_and_a_form_is_read",
    rule.JSON_EXACTLY: "test_answers_are_json_without_a_charset",
    rule.RATE_LIMITED: "test_a_bucket_says_what_is_left_and_refuses_what_is_too_much",
    rule.RATE_HEADERS: "test_every_answer_of_a_bucket_carries_its_headers",
    rule.VIA: "test_what_discord_answers_has_a_via_header",
    rule.GLOBAL_RATE: "test_more_than_fifty_calls_a_second_are_refused_for_all_routes_but_interactions",
    rule.INVALID_REQUESTS: "test_after_too_many_invalid_requests_cloudflare_answers",
    rule.UNKNOWN_CHANNEL: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.UNKNOWN_MESSAGE: "test_an_edit_needs_a_message_of_the_bots_own_that_stands_there",
    rule.UNKNOWN_USER: "test_users_guilds_and_channels_can_be_looked_up",
    rule.UNKNOWN_GUILD: "test_users_guilds_and_channels_can_be_looked_up",
    rule.UNKNOWN_APPLICATION: "test_commands_are_registered_and_overwritten",
    rule.MISSING_ACCESS: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.MISSING_PERMISSIONS: "test_the_bot_deletes_its_own_and_with_the_right_what_others_wrote",
    rule.THREAD_PERMISSIONS: "test_a_thread_asks_its_parent",
    rule.REPLY_PERMISSIONS: "test_a_reply_needs_the_right_to_read_what_was",
    rule.THREAD_OPENS: "test_an_archived_thread_is_opened_by_a_post_and_takes_no_edit",
    rule.THREAD_ARCHIVED: "test_an_archived_thread_is_opened_by_a_post_and_takes_no_edit",
    rule.USER_CLOSED: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.UNKNOWN_RECIPIENT: "test_direct_messages_are_opened_with_users_who_exist",
    rule.NOT_THE_AUTHOR: "test_an_edit_needs_a_message_of_the_bots_own_that_stands_there",
    rule.NOT_IN_A_DM: "test_the_bot_deletes_its_own_and_with_the_right_what_others_wrote",
    rule.UNKNOWN_EMOJI: "test_a_reaction_is_an_emoji_and_stands_once",
    rule.CONTENT_LENGTH: "test_the_length_is_counted_in_code_points",
    rule.EMPTY: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.TRIMMED: "test_white_space_round_the_content_is_taken_off",
    rule.NONCE_LENGTH: "test_a_longer_nonce_is_refused",
    rule.NONCE_ENFORCED: "test_a_nonce_brings_back_the_first_message_for_a_while",
    rule.EMBED_LIMITS: "test_an_embed_that_is_too_long_is_refused",
    rule.COMPONENT_LIMITS: "test_components_that_are_too_many_or_too_long_are_refused",
    rule.COMPONENTS_V2: "test_version_two_of_components_stands_alone_and_has_limits",
    rule.COMPONENTS_V2_STAY: "test_version_two_of_components_stays",
    rule.ALLOWED_MENTIONS: "test_a_list_of_more_than_a_hundred_is_refused",
    rule.PINGS_BY_DEFAULT: "test_a_post_pings_all_that_it_is_not_forbidden",
    rule.PINGS_OF_WEBHOOKS: "test_an_answer_that_says_nothing_of_it_pings_users_only",
    rule.PINGS_OF_EDITS: "test_every_edit_is_read_with_the_defaults_again",
    rule.PREVIEWS: "test_links_show_previews_until_they_are_suppressed",
    rule.REFERENCE_UNKNOWN: "test_a_reply_to_what_is_gone_needs_fail_if_not_exists",
    rule.OLD_EDITS: "test_a_message_older_than_an_hour_takes_three_edits_in_six_seconds",
    interaction_rule.FIRST_RESPONSE: "test_the_first_response_comes_in_three_real_seconds",
    interaction_rule.ONE_RESPONSE: "test_an_interaction_is_answered_once",
    interaction_rule.RESPONSE_TYPE: "test_a_response_is_of_a_type_that_fits",
    interaction_rule.NOT_ANSWERED: "test_before_the_first_response_there_is_nothing_to_edit",
    interaction_rule.TOKEN_LIFE: "test_a_token_lives_fifteen_platform_minutes",
    interaction_rule.FOLLOW_UPS: "test_where_the_app_is_only_user_installed_five_follow_ups_are_taken",
    interaction_rule.FOLLOW_UP_FILLS: "test_a_follow_up_to_what_is_loading_becomes_that_message",
    interaction_rule.EPHEMERAL_FIXED: "test_what_only_the_user_sees_is_settled_by_the_deferral",
    interaction_rule.EPHEMERAL_UNSEEN: "test_what_is_ephemeral_is_not_there_for_the_channel",
    interaction_rule.WITH_RESPONSE: "test_a_callback_is_answered_only_on_demand",
    interaction_rule.COMMAND_FORM: "test_a_command_that_breaks_a_rule_is_refused_and_the_fault_is_named",
    interaction_rule.COMMAND_COUNT: "test_there_are_a_hundred_commands_of_a_type",
    interaction_rule.COMMAND_CREATES: "test_two_hundred_commands_are_created_a_day",
    interaction_rule.COMMAND_OFFERED: "test_a_user_is_offered_what_is_registered_where_it_is_offered",
    gateway_rule.GATEWAY_TOKEN: "test_a_wrong_token_opens_nothing",
    gateway_rule.INTENTS: "test_an_intent_that_the_app_does_not_have_is_refused",
    gateway_rule.EVENTS_BY_INTENT: "test_a_message_reaches_sessions_by_intent_and_the_bots_own_places_only",
    gateway_rule.MESSAGE_CONTENT: "test_without_the_intent_a_client_reads_what_is_meant_for_it_only",
    gateway_rule.MEMBER_FLAGS: "test_the_real_client_is_told_who_members_are_with_their_flags",
    gateway_rule.HEARTBEATS: "test_heartbeats_are_acknowledged_until_the_connection_is_a_zombie",
    gateway_rule.PAYLOADS: "test_a_payload_that_breaks_a_rule_closes_the_connection",
    gateway_rule.OPERATIONS: "test_a_payload_that_breaks_a_rule_closes_the_connection",
    gateway_rule.IDENTIFIED_FIRST: "test_a_connection_identifies_first_and_once",
    gateway_rule.IDENTIFIED_ONCE: "test_a_connection_identifies_first_and_once",
    gateway_rule.SENDS: "test_a_connection_sends_120_payloads_in_60_real_seconds",
    gateway_rule.IDENTIFY_PACE: "test_another_identify_within_five_platform_seconds_is_told_to_begin_anew",
    gateway_rule.IDENTIFY_BUDGET: "test_a_reset_token_opens_nothing_any_more",
    gateway_rule.RESUME_REPLAYS: "test_resuming_replays_in_order_what_was_missed",
    gateway_rule.RESUME_UNKNOWN: "test_a_session_that_is_gone_cannot_be_resumed",
    gateway_rule.RESUME_SEQ: "test_a_number_that_was_never_sent_ends_the_session",
    gateway_rule.CLOSE_ENDS: "test_a_client_that_says_goodbye_cannot_resume",
}


def row_of(each: Rule) -> str:
    sources = ", ".join(f"<{part}>" if part.startswith("http") else part for part in each.source.split(", "))
    error = f"`{each.error}`" if each.error else ""
    says = each.says.replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")
    return f"| {each.name} | {says} | {error} | {each.known.value} | {sources} |"


def test_every_rule_has_a_name_of_its_own_and_a_source() -> None:
    assert len({each.name for each in RULES}) == len(RULES)
    assert all(each.says.endswith(".") and each.source for each in RULES)


def test_every_rule_is_proved_by_a_test_that_exists() -> None:
    files = [*TESTS.glob("e2e/test_loopback_discord*.py"), *Path(__file__).parent.glob("test_*.py")]
    written = set(re.findall(r"def (test_\w+)", "".join(file.read_text() for file in files)))
    assert PROOFS.keys() == set(RULES)
    assert set(PROOFS.values()) <= written


def test_a_refusal_has_a_status_and_says_why() -> None:
    for each in RULES:
        assert not each.code or each.status, each.name
        assert each.status in {0, 429} or each.message, each.name


def test_a_code_of_choice_brings_the_text_that_belongs_to_it() -> None:
    assert failed(Failure(error="10008", status=404)).body == {"message": "Unknown Message", "code": 10008}
    assert failed(Failure(error="0", status=502)).body == {"message": "502: Internal Server Error", "code": 0}
    assert failed(Failure(error="ratelimited", status=429, retry_after=7)).scope == "user"
    assert failed(Failure(error="30046", status=429, retry_after=7)).error == "30046"


def test_a_wait_is_never_told_shorter_than_it_is() -> None:
    assert [milliseconds_up(each) for each in (2.0, 2.0001, 1.9999, 0.0)] == [2.0, 2.001, 2.0, 0.0]


def test_the_readme_shows_every_rule_as_it_is() -> None:
    shown = [line for line in README.read_text().splitlines() if line.startswith("| ") and line.count("|") == 6]
    assert shown[1:] == [row_of(each) for each in RULES]
