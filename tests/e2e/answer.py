"""Long answers as models give them: prose, lists, tables, code, other scripts. Each word has a number."""

import itertools
import random
from collections.abc import Callable, Iterator

WORD = "{prefix}{number:04}"
"""How a word looks. It occurs once in an answer, so that nothing can be there twice and go unnoticed."""

CJK = "潮位は毎日記録される。門は六時に開く、そして番人が書く。水が外より高いときは閉じたままにする。"


def long_answer(length: int, *, seed: int, prefix: str = "w") -> str:
    """An answer of at least that many characters, the same for the same seed."""
    dice = random.Random(seed)
    words = (WORD.format(prefix=prefix, number=number) for number in itertools.count())
    blocks: list[str] = []
    while sum(map(len, blocks)) < length:
        blocks += [kind(dice, words) for kind in dice.sample(BLOCKS, len(BLOCKS))]
    return "\n\n".join(blocks) + "\n"


def _take(words: Iterator[str], count: int) -> str:
    return " ".join(itertools.islice(words, count))


def _prose(dice: random.Random, words: Iterator[str]) -> str:
    return " ".join(_take(words, dice.randint(4, 15)) + "." for _ in range(dice.randint(2, 7)))


def _code(dice: random.Random, words: Iterator[str]) -> str:
    lines = (f"{'    ' * dice.randint(0, 4)}{next(words)} = measure({next(words)})" for _ in range(dice.randint(8, 40)))
    return "\n".join([f"```{dice.choice(('python', 'sh', ''))}", *lines, "```"])


def _list(dice: random.Random, words: Iterator[str]) -> str:
    return "\n".join(f"- **{next(words)}** {_take(words, dice.randint(3, 20))}" for _ in range(dice.randint(2, 5)))


def _table(dice: random.Random, words: Iterator[str]) -> str:
    rows = (f"| {next(words)} | `{next(words)}` |" for _ in range(dice.randint(3, 12)))
    return "\n".join([f"| {next(words)} | {next(words)} |", "|---|---|", *rows])


def _cjk(dice: random.Random, words: Iterator[str]) -> str:
    return "".join(CJK[: dice.randint(10, len(CJK))] + next(words) for _ in range(dice.randint(2, 6)))


BLOCKS: list[Callable[[random.Random, Iterator[str]], str]] = [_prose, _code, _list, _prose, _table, _cjk, _code]
