import re
from pathlib import Path

from adapters.loopback.clock import PlatformClock
from adapters.loopback.slack import block_rule, limit, rule
from adapters.loopback.slack.api import WebApi
from adapters.loopback.slack.history import History
from adapters.loopback.slack.rule import Rule
from adapters.loopback.slack.workspace import Workspace

README = Path(rule.__file__).with_name("README.md")
TESTS = Path(__file__).parents[4]
RULES = (*rule.RULES, *block_rule.RULES)

# Each rule and a test that fails without it.
PROOFS = {
    rule.NO_TOKEN: "test_the_wrong_token_or_method_is_refused",
    rule.INVALID_TOKEN: "test_a_wrong_token_is_refused",
    rule.TOKEN_TYPE: "test_a_wrong_app_token_opens_no_socket",
    rule.UNKNOWN_METHOD: "test_a_method_that_does_not_exist_is_refused",
    rule.MISSING_SCOPE: "test_a_missing_scope_is_named",
    rule.RATE_LIMITED: "test_too_many_posts_in_a_channel_are_told_to_wait_in_platform_seconds",
    rule.CHANNEL_UNKNOWN: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.NOT_A_MEMBER: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.USER_UNKNOWN: "test_channels_and_users_can_be_looked_up",
    rule.NO_TEXT: "test_a_post_and_an_update_that_break_a_rule_are_refused",
    rule.MARKDOWN_ALONE: "test_a_post_and_an_update_that_break_a_rule_are_refused",
    rule.MARKDOWN_LENGTH: "test_a_post_and_an_update_that_break_a_rule_are_refused",
    rule.POST_LENGTH: "test_long_text_is_cut_with_a_warning",
    rule.UPDATE_LENGTH: "test_text_of_4001_characters_can_be_posted_but_not_updated",
    rule.BLOCK_COUNT: "test_a_post_and_an_update_that_break_a_rule_are_refused",
    rule.BLOCKS_LENGTH: "test_a_post_and_an_update_that_break_a_rule_are_refused",
    rule.BLOCKS_FORMAT: "test_a_post_and_an_update_that_break_a_rule_are_refused",
    rule.METADATA_FORMAT: "test_metadata_stays_until_it_is_replaced_by_nothing",
    rule.MESSAGE_UNKNOWN: "test_an_update_needs_a_message_of_the_bots_own",
    rule.NOT_THE_AUTHOR: "test_an_update_needs_a_message_of_the_bots_own",
    rule.NOT_THE_OWNER: "test_an_update_needs_a_message_of_the_bots_own",
    rule.SAME_EDIT: "test_all_that_a_message_was_is_kept",
    rule.THREAD_FORMAT: "test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing",
    rule.THREAD_GONE: "test_a_reply_to_a_message_that_is_gone_comes_back_without_its_thread",
    rule.THREAD_OF_REPLY: "test_a_reply_to_what_is_not_there_lands_at_top_level",
    rule.TOMBSTONE: "test_a_deleted_message_with_replies_keeps_its_thread",
    rule.THREAD_UNKNOWN: "test_a_thread_can_be_read_back_with_its_metadata",
    rule.TOMBSTONE_EVENT: "test_the_deletion_of_a_message_with_replies_is_its_change_into_a_tombstone",
    rule.THREAD_ROOT: "test_a_threads_root_is_on_every_page_whatever_was_asked_for",
    rule.CHANNEL_ORDER: "test_a_channel_asked_for_from_a_time_on_begins_there",
    rule.RANGE_OLDEST: "test_a_listing_holds_what_is_between_two_times",
    rule.RANGE_LATEST: "test_a_listing_holds_what_is_between_two_times",
    rule.CURSOR: "test_a_cursor_that_slack_did_not_give_is_refused",
    rule.METADATA_ASKED: "test_a_thread_can_be_read_back_with_its_metadata",
    rule.QUERY_ONLY: "test_a_thread_is_not_asked_for_in_json",
    rule.READ_SCOPE: "test_reading_needs_the_scope_of_the_conversations_type",
    rule.REACTION_ITEM: "test_a_reaction_that_breaks_a_rule_is_refused",
    rule.REACTION_TIME: "test_a_reaction_that_breaks_a_rule_is_refused",
    rule.REACTION_NAME: "test_a_reaction_that_breaks_a_rule_is_refused",
    rule.REACTION_ONCE: "test_a_reaction_is_put_once_and_taken_away_once",
    rule.REACTION_UNKNOWN: "test_a_reaction_is_put_once_and_taken_away_once",
    rule.ACKNOWLEDGE_IN_TIME: "test_a_late_acknowledgement_does_not_count",
    rule.REDELIVERY: "test_what_is_not_acknowledged_comes_again_on_schedule",
    rule.ENVELOPE_FIELDS: "test_other_payloads_carry_no_retry_and_are_not_repeated",
    rule.SOCKET_COUNT: "test_an_eleventh_socket_is_sent_away",
    rule.ONE_TIME_TICKET: "test_a_sockets_address_works_once",
    rule.MENTION_TWICE: "test_a_mention_arrives_twice_under_one_ts_and_is_acknowledged",
    rule.OWN_MESSAGES: "test_what_the_bot_writes_comes_back_to_it",
    rule.ESCAPED_INBOUND: "test_what_a_user_types_arrives_as_slack_writes_it",
    rule.PINGS: "test_what_slack_resolves_is_found",
    rule.PINGS_IN_CODE: "test_in_code_it_is_reported_as_uncertain",
    rule.PLAIN_PINGS: "test_an_update_that_says_nothing_about_names_is_parsed_as_a_client_does",
    block_rule.BLOCK_SHAPE: "test_blocks_that_break_a_rule_are_refused",
    block_rule.BLOCK_ID: "test_blocks_that_break_a_rule_are_refused",
    block_rule.SECTION_LENGTH: "test_blocks_that_break_a_rule_are_refused",
    block_rule.MARKDOWN_BLOCKS: "test_blocks_that_break_a_rule_are_refused",
    block_rule.ACTIONS: "test_blocks_that_break_a_rule_are_refused",
    block_rule.ACTION_ID: "test_blocks_that_break_a_rule_are_refused",
    block_rule.BUTTON_TEXT: "test_blocks_that_break_a_rule_are_refused",
    block_rule.BUTTON_VALUE: "test_blocks_that_break_a_rule_are_refused",
    block_rule.BUTTON_STYLE: "test_blocks_that_break_a_rule_are_refused",
    block_rule.BLOCKS_STAY: "test_an_update_leaves_the_blocks_that_it_does_not_name",
    block_rule.PRESS: "test_a_press_arrives_as_slack_tells_of_it",
    block_rule.WHISPER_MEMBER: "test_a_private_word_needs_a_reader_who_is_in_the_channel",
    block_rule.WHISPER_ALONE: "test_a_private_word_is_seen_by_one_and_kept_nowhere",
    block_rule.WHISPER_THREAD: "test_a_private_word_in_a_thread_without_replies_is_not_seen",
}


def row_of(each: Rule) -> str:
    sources = ", ".join(f"<{part}>" if part.startswith("http") else part for part in each.source.split(", "))
    error = f"`{each.error}`" if each.error else ""
    says = each.says.replace("<", "\\<").replace("*", "\\*")
    return f"| {each.name} | {says} | {error} | {each.confidence.value} | {sources} |"


def test_every_rule_has_a_name_of_its_own_and_a_source() -> None:
    assert len({each.name for each in RULES}) == len(RULES)
    assert all(each.says.endswith(".") and each.source for each in RULES)


def test_every_rule_is_proved_by_a_test_that_exists() -> None:
    files = [*TESTS.glob("e2e/test_loopback_slack*.py"), *Path(__file__).parent.glob("test_*.py")]
    written = set(re.findall(r"def (test_\w+)", "".join(file.read_text() for file in files)))
    assert PROOFS.keys() == set(RULES)
    assert set(PROOFS.values()) <= written


def test_every_rule_of_the_module_is_in_the_table() -> None:
    written = [value for module in (rule, block_rule) for value in vars(module).values() if isinstance(value, Rule)]
    assert set(map(id, written)) == set(map(id, RULES))


def test_the_readme_shows_every_rule_as_it_is() -> None:
    shown = [line for line in README.read_text().splitlines() if line.startswith("| ") and line.count("|") == 6]
    assert shown[1:] == [row_of(each) for each in RULES]


def test_every_method_has_a_budget_and_every_budget_a_method() -> None:
    history = History(PlatformClock(), lambda _: None, "UBOT")
    assert WebApi(Workspace(), history, lambda _: None, str).methods.keys() == limit.LIMITS.keys()
