"""Long answers as models give them: prose, lists, tables, code, other scripts. Each word has a number."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence

WORD = "{prefix}{number:04}"
"""How a word looks. It occurs once in an answer, so that nothing can be there twice and go unnoticed."""

FAMILIES = ("👨‍👩‍👧‍👦", "👩‍👩‍👦‍👦", "👍🏽", "🇩🇪🇫🇷", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️", "🧑🏿‍🚀")
"""What looks like one character, and is several code points, and more units of UTF-16."""

CJK = "潮位は毎日記録される。門は六時に開く、そして番人が書く。水が外より高いときは閉じたままにする。"


Words = Iterator[str]
Block = Callable[[random.Random, Words], str]


def long_answer(length: int, *, seed: int, prefix: str = "w", blocks: Sequence[Block] | None = None) -> str:
    """An answer of at least that many characters, the same for the same seed.

    Args:
        length: in characters.
        seed: of what is drawn.
        prefix: of its words.
        blocks: what it is made of, each as often as the others; ``BLOCKS`` where not given.
    """
    dice = random.Random(seed)
    words = (WORD.format(prefix=prefix, number=number) for number in itertools.count())
    kinds, made = blocks or BLOCKS, list[str]()
    while sum(map(len, made)) < length:
        made += [kind(dice, words) for kind in dice.sample(kinds, len(kinds))]
    return "\n\n".join(made) + "\n"


def _take(words: Words, count: int) -> str:
    return " ".join(itertools.islice(words, count))


def _prose(dice: random.Random, words: Words) -> str:
    return " ".join(_take(words, dice.randint(4, 15)) + "." for _ in range(dice.randint(2, 7)))


def _code(dice: random.Random, words: Words) -> str:
    lines = (f"{'    ' * dice.randint(0, 4)}{next(words)} = measure({next(words)})" for _ in range(dice.randint(8, 40)))
    return "\n".join([f"```{dice.choice(('python', 'sh', ''))}", *lines, "```"])


def _list(dice: random.Random, words: Words) -> str:
    return "\n".join(f"- **{next(words)}** {_take(words, dice.randint(3, 20))}" for _ in range(dice.randint(2, 5)))


def _table(dice: random.Random, words: Words) -> str:
    rows = (f"| {next(words)} | `{next(words)}` |" for _ in range(dice.randint(3, 12)))
    return "\n".join([f"| {next(words)} | {next(words)} |", "|---|---|", *rows])


def _cjk(dice: random.Random, words: Words) -> str:
    return "".join(CJK[: dice.randint(10, len(CJK))] + next(words) for _ in range(dice.randint(2, 6)))


def _families(dice: random.Random, words: Words) -> str:
    return " ".join(f"{next(words)} {dice.choice(FAMILIES)}{dice.choice(FAMILIES)}" for _ in range(dice.randint(5, 15)))


def _wide_table(dice: random.Random, words: Words) -> str:
    """Its head has no numbered words: it is repeated where the table is cut."""
    rows = (f"| {next(words)} | 潮位 {dice.choice(FAMILIES)} {next(words)} |" for _ in range(dice.randint(10, 40)))
    return "\n".join(["| when | what |", "|---|---|", *rows])


def _long_code(dice: random.Random, words: Words) -> str:
    lines = (f"{'    ' * dice.randint(0, 4)}{next(words)} = measure({next(words)})" for _ in range(300))
    return "\n".join(["```python", *lines, "```"])


def _short_code(dice: random.Random, words: Words) -> str:
    lines = (f"{'  ' * dice.randint(0, 2)}{next(words)} = {number}" for number in range(dice.randint(3, 12)))
    return "\n".join(["```", *lines, "```"])


BLOCKS: Sequence[Block] = (_prose, _code, _list, _prose, _table, _cjk, _code)

LARGE: Sequence[Block] = (_prose, _long_code, _list, _prose, _wide_table, _cjk, _families, _code)
"""What is hard to cut, in a message of some hundred characters."""

NARROW: Sequence[Block] = (_prose, _short_code, _list, _cjk, _families)
"""What can be cut into messages of 40 characters, and put together again."""
