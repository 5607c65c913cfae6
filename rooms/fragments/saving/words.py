"""Holds the sentences that saving, correcting, linking and removing refuse with."""

from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    "bad_importance": ("importance: it must be a number from 0 to 1. Nothing was saved. Give one such as 0.8, or leave it out for the one of the kind.",
        "importance: 0부터 1까지의 수여야 합니다. 저장된 것은 없습니다. 0.8 같은 수를 주거나, 빼고 종류에 따른 값을 쓰게 하세요."),
    "bad_privacy": ("privacy_scope: {known} are the words for it. Nothing was saved. Use one of them and call again.",
        "privacy_scope: 쓸 수 있는 말은 {known}입니다. 저장된 것은 없습니다. 그중 하나로 다시 호출하세요."),
    "bad_relation": ("relationType: {known} are the words for it. Nothing was linked. Use one of them and call again.",
        "relationType: 쓸 수 있는 말은 {known}입니다. 연결한 것은 없습니다. 그중 하나로 다시 호출하세요."),
    "bad_trigger": ("trigger_type: {known} are the words for it. Nothing was noted. Use one of them, or leave it out, and call again.",
        "trigger_type: 쓸 수 있는 말은 {known}입니다. 기록한 것은 없습니다. 그중 하나를 쓰거나 빼고 다시 호출하세요."),
    "session_needed": ("scope: a fragment of the session needs a session, and none is known here. Nothing was saved. Give sessionId, or leave scope out to keep the fragment for good.",
        "scope: 세션에만 두는 조각에는 세션이 있어야 하는데, 여기서는 알 수 없습니다. 저장된 것은 없습니다. sessionId를 주거나, scope를 빼고 계속 남는 조각으로 저장하세요."),
    "in_bin": ("{id}: this fragment is in the bin. Nothing was changed. `{cli} fragments restore {id}` takes it out; then call again.",
        "{id}: 이 조각은 휴지통에 있습니다. 아무것도 바뀌지 않았습니다. `{cli} fragments restore {id}`(으)로 꺼낸 뒤 다시 호출하세요."),
    "shared": ("{id}: all agents share this fragment, so only a key of {owner} may change it. Nothing was changed. Save what differs as your own and link it to this one: remember(content=\"…\", linkedTo=[\"{id}\"]).",
        "{id}: 모든 에이전트가 함께 쓰는 조각이라 {owner}의 키로만 바꿀 수 있습니다. 아무것도 바뀌지 않았습니다. 다른 점을 따로 저장하고 이 조각에 연결하세요: remember(content=\"…\", linkedTo=[\"{id}\"])."),
    "shared_ends": ("{from_id}, {to_id}: all agents share both fragments, so only a key of {owner} may link them. Nothing was linked. Give a fragment of your own as one of the two ids.",
        "{from_id}, {to_id}: 둘 다 모든 에이전트가 함께 쓰는 조각이라 {owner}의 키로만 연결할 수 있습니다. 연결한 것은 없습니다. 두 id 가운데 하나는 직접 저장한 조각으로 주세요."),
    "has_successor": ("{id}: another fragment has taken its place: {other}. Nothing was changed. Amend that one: amend(id=\"{other}\", …).",
        "{id}: 다른 조각 {other}이(가) 이 조각을 대신합니다. 아무것도 바뀌지 않았습니다. 그 조각을 고치세요: amend(id=\"{other}\", …)."),
    "is_promoted": ("{id}: it has become the lesson {record} in the memory log of a project. Nothing was changed. `{cli} fragments restore {id}` makes it a fragment again.",
        "{id}: 프로젝트의 기억 로그에서 교훈 {record}이(가) 된 조각입니다. 바뀐 것은 없습니다. `{cli} fragments restore {id}`을(를) 실행하면 다시 조각이 됩니다."),
    "is_superseded": ("{id}: it was superseded, by a fragment that is gone by now. Nothing was changed. `{cli} fragments restore {id}` puts it back into recall; then call again.",
        "{id}: 다른 조각으로 대체되었지만 그 조각은 이제 없습니다. 아무것도 바뀌지 않았습니다. `{cli} fragments restore {id}`(으)로 다시 회상되게 한 뒤 호출하세요."),
    "same_content": ("{other}: this fragment says the same already. Nothing was changed. Use that one, or say what is different.",
        "{other}: 같은 내용의 조각이 이미 있습니다. 아무것도 바뀌지 않았습니다. 그 조각을 쓰거나, 다른 점을 적으세요."),
    "same_content_in_bin": ("{other}: this fragment says the same and is in the bin. Nothing was changed. `{cli} fragments restore {other}` takes it out, forget(id=\"{other}\", hard=true) removes it for good; then call again.",
        "{other}: 같은 내용의 조각이 휴지통에 있습니다. 아무것도 바뀌지 않았습니다. `{cli} fragments restore {other}`(으)로 꺼내거나 forget(id=\"{other}\", hard=true)로 완전히 지운 뒤 다시 호출하세요."),
    "nothing_new": ("supersedes: the content is the one that the fragment has. Nothing was changed. Give the content that takes its place, or leave supersedes out.",
        "supersedes: 내용이 지금 조각과 같습니다. 아무것도 바뀌지 않았습니다. 대신할 내용을 주거나 supersedes를 빼세요."),
    "nothing_given": ("amend: nothing to change was given. Nothing was changed. Give content, topic, keywords, type, importance or isAnchor.",
        "amend: 바꿀 것이 없습니다. 아무것도 바뀌지 않았습니다. content, topic, keywords, type, importance, isAnchor 가운데 하나를 주세요."),
    "pinned": ("{id}: this fragment is pinned. Nothing was removed. Call unpin first, or give force=true to remove it at once and for good.",
        "{id}: 고정된 조각입니다. 지운 것은 없습니다. 먼저 unpin을 호출하거나, force=true를 주어 바로 완전히 지우세요."),
    "id_or_topic": ("forget: neither id nor topic was given. Nothing was removed. Give the id that recall shows, or a topic.",
        "forget: id도 topic도 없습니다. 지운 것은 없습니다. recall이 보여 주는 id나 주제를 주세요."),
    "own_link": ("{id}: a fragment cannot be linked to itself. Nothing was linked. Give two different ids.",
        "{id}: 조각을 자기 자신과 연결할 수는 없습니다. 연결한 것은 없습니다. 서로 다른 id 두 개를 주세요."),
    "circle": ("{from_id}: it has taken the place of {to_id} already, so {to_id} cannot take its place. Nothing was linked. Swap the two ids, or restore {to_id} first: `{cli} fragments restore {to_id}`.",
        "{from_id}: 이미 {to_id}을(를) 대신하는 조각이라 거꾸로 대신하게 할 수 없습니다. 연결한 것은 없습니다. 두 id를 바꾸거나, 먼저 `{cli} fragments restore {to_id}`(으)로 되살리세요."),
    # what is stored of a session by itself
    "unreflected": ("The session of {agent} on {date} (UTC) ended after {minutes:,} min without reflect. Calls: {calls:,}. Fragments written: {written:,}.",
        "{date}(UTC)에 시작한 {agent} 세션이 reflect 없이 {minutes:,}분 만에 끝났습니다. 호출 {calls:,}회, 저장한 조각 {written:,}개."),
}
# fmt: on
word = partial(sentence, WORDS)
