"""Turns and headings of a chat, and the syntax of a tool call."""

from core.injection.rule import COLON, LINE, ROLE, TOOL_CALL, Rule

# Transcripts: where a line begins, also a quoted or an indented one.


# `wrap it in <system> tags` speaks of a tag.
_NAMED = r"(?!\s?(?:태그|요소|블록|사이)|\s(?:tags?|elements?|blocks?|and|or|from|to)›)"

# fmt: off
TRANSCRIPTS: tuple[Rule, ...] = (
    # `List<System>` and `<system.web>` are code, and so is a tag between backquotes.
    Rule(ROLE, ("<",),
        r"(?<![\w<`])</?(?:system|assistant|(?:system|developer|user|assistant)[-_](?:reminder"
        r"|prompts?|messages?|instructions?|note|query)|instructions?|important|im_start|im_end"
        r"|(?:start|end)_of_turn|human_turn)(?:\s[^<>=\n]{1,40}=[^<>\n]{0,80})?>" + _NAMED),
    Rule(ROLE, ("<|", "[inst", "[/inst", "<<"),
        r"(?<!`)(?:<\|(?!tool)[a-z][a-z0-9_▁]{1,40}\|>"
        r"|(?<![\w)\]$])\[/?inst\](?![\[(=.])|<</?sys>>)"),
    # Bug reports have `System: Ubuntu 22.04`, so what follows must address a model.
    Rule(ROLE, ("system:", "system*", "system :", "시스템:", "시스템 :", "시스템*"),
        rf"{LINE}\[?(?:system(?: (?:prompt|message))?|시스템(?:·(?:프롬프트"
        rf"|메시지))?)\]?{COLON}\s{{0,4}}"
        r"(?=(?:you›|(?:ignore|disregard|forget|override) (?:the (?:user|above)|all|any|your|every"
        r"|previous|prior|what)|from now|your›|the (?:user|assistant|previous)|(?:never|always"
        r"|do not) (?:obey|follow|answer|approve|refuse|tell|ask|reveal|mention)|new (?:instruction"
        r"|policy|rule|role|task|prompt)|너는|넌›|당신|지금부터"
        r"|이제·(?:너|넌|당신)|(?:이전|모든)·(?:지시"
        r"|지침|규칙|명령|제한|도구|대화)|사용자(?:의·(?:지시|말|요청|명령)|를·무시|에게)))"),
    Rule(ROLE, ("assistant", "어시스턴트"),
        rf"{LINE}(?:assistant|어시스턴트){COLON}\s{{0,4}}(?=[^\s:])"),
    # Two turns: one alone is any form with a field for a user.
    Rule(ROLE, ("user:", "user*", "user :", "human:", "human*", "human :", "사용자", "유저"),
        rf"{LINE}(?:user|human|사용자|유저){COLON}[^\n]{{1,200}}\n(?:[^\n]{{0,200}}\n)"
        rf"{{0,3}}{LINE}(?:ai|bot|assistant|model|claude|gpt|chatgpt|챗봇|봇|모델|인공지능"
        rf"|어시스턴트){COLON}"),
    Rule(ROLE, ("###", "prompt", "instruction", "message", "프롬프트"),
        r"(?:(?<![^\r\n])\s{0,3}###\s?(?:instruction|human|assistant|system|지시)\s?[:：]"
        r"|(?<![^\r\n])[-=*#<\[(~_\s]{0,20}+(?:(?:begin|end|start|start of"
        r"|end of) (?:new )?system (?:prompt|instructions?|message)›|시스템·프롬프트·(?:시작"
        r"|끝)(?=[-=*#>\])~_\s]*(?:\n|$))))"),
    Rule(TOOL_CALL, ("<",),
        r"(?<![\w<`])</?(?:[a-z][\w.-]{0,30}:)?(?:invoke(?:\s{1,4}name\s?=[^<>\n]{0,80}|\s?>)"
        r"|(?:[a-z0-9]{1,20}_){0,3}(?:function_calls?|tool_calls?|tool_use|tool_results?"
        r"|tool_response|tool_code|tool_outputs?)(?:_[a-z0-9]{1,20}){0,2}(?:\s[^<>\n]{0,80})"
        r"?/?>?(?<=[>\s\"'])|tool-(?:calls?|use|results?)>)" + _NAMED),
    Rule(TOOL_CALL, ("<|tool", "[tool_", "[/tool_", "```tool", "[available_tools"),
        r"(?:(?<!`)<\|tool[a-z0-9_▁]{0,40}\|>|(?<![\w)\]$`])\[/?(?:tool_calls|tool_results"
        r"|available_tools)\]|```tool_(?:code|call|use|outputs?)›)"),
    Rule(TOOL_CALL, ("tool_", "function_call"),
        r"(?<!`)(?<!`\{)\\?[\"'](?:type\\?[\"']\s{0,4}:\s{0,4}\\?[\"'](?:server_"
        r"|mcp_)?(?:tool_use|tool_result"
        r"|function_call)\\?[\"']|tool_calls\\?[\"']\s{0,4}:\s{0,4}\[|function_call\\?[\"']\s{0,"
        r"4}:\s{0,4}\{)"),
)
# fmt: on
