"""Holds the sentences that recalling refuses with, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "bad_date": ("{field}: it is not a date such as 2026-11-22. Nothing was searched or changed. Correct it and call again.",
        "{field}: 2026-11-22 같은 날짜가 아닙니다. 아무것도 찾거나 바꾸지 않았습니다. 고쳐서 다시 호출하세요."),
    "bad_type": ("{field}: {known} are the words for it. Nothing was searched or changed. Use one of them, or leave it out, and call again.",
        "{field}: 쓸 수 있는 말은 {known}입니다. 아무것도 찾거나 바꾸지 않았습니다. 그중 하나를 쓰거나 비워 두고 다시 호출하세요."),
    "too_many_tags": ("{field}: {count:,} given, at most {most:,} allowed. Nothing was searched or changed. Keep those that matter and call again.",
        "{field}: {count:,}개로, {most:,}개까지만 줄 수 있습니다. 아무것도 찾거나 바꾸지 않았습니다. 중요한 것만 남겨 다시 호출하세요."),
    "bad_tokens": ("tokenBudget: it must be 1 or more. Nothing was searched or changed. Correct it, or leave it out, and call again.",
        "tokenBudget: 1 이상이어야 합니다. 아무것도 찾거나 바꾸지 않았습니다. 고치거나 비워 두고 다시 호출하세요."),
    "bad_threshold": ("threshold: it must be between 0 and 1. Nothing was searched or changed. Correct it, or leave it out, and call again.",
        "threshold: 0에서 1 사이여야 합니다. 아무것도 찾거나 바꾸지 않았습니다. 고치거나 비워 두고 다시 호출하세요."),
}
# fmt: on
