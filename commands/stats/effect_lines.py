"""Prints what became of the records that hooks showed or withheld, with what that cannot show."""

from commands.hook.journal import KEPT_DAYS
from commands.stats.effect import MOST_GIT_S, WITHIN_DAYS, Arms, Effect
from commands.stats.intervals import LEAST, difference
from commands.stats.parts import share_text
from commands.stats.words import word
from commands.terminal.columns import wrapped
from core.messages import Language


def effect_sections(effect: Effect, lang: Language) -> list[list[str]]:
    """Return the sections, none where no hook noted anything for them."""
    sections = list[list[str]]()
    if any(effect.trial):
        sections.append(_holdout(effect, lang))
    if effect.followed.of or effect.waiting:
        sections.append(_followed(effect, lang))
    if sections and not effect.is_whole:
        sections[-1] += wrapped(word(lang, "effect_cut", seconds=MOST_GIT_S))
    return sections


def _holdout(effect: Effect, lang: Language) -> list[str]:
    shown, withheld = effect.trial
    lines = [word(lang, "holdout", shown=shown, withheld=withheld)]
    for name, arms in effect.outcomes.items():
        lines += wrapped(_arms(word(lang, name, days=WITHIN_DAYS), arms, lang))
    if any(arms.is_enough for arms in effect.outcomes.values()):
        lines += wrapped(word(lang, "intervals"))
    return [*lines, *wrapped(word(lang, "holdout_limits", days=KEPT_DAYS))]


def _arms(what: str, arms: Arms, lang: Language) -> str:
    if not arms.is_enough:
        counts = {"shown": arms.shown.count, "shown_of": arms.shown.of}
        counts |= {"withheld": arms.withheld.count, "withheld_of": arms.withheld.of}
        return word(lang, "arms_few", what=what, least=LEAST, **counts)
    gap, low, high = (round(100 * it) for it in difference(arms.shown, arms.withheld))
    shares = {"shown": share_text(arms.shown, lang), "withheld": share_text(arms.withheld, lang)}
    return word(lang, "arms", what=what, gap=gap, low=low, high=high, **shares)


def _followed(effect: Effect, lang: Language) -> list[str]:
    followed = effect.followed
    if followed.is_enough:
        text = word(lang, "followed_share", days=WITHIN_DAYS, share=share_text(followed, lang))
        text += " " + word(lang, "intervals")
    else:
        facts = {"count": followed.count, "of": followed.of, "least": LEAST}
        text = word(lang, "followed_few", days=WITHIN_DAYS, **facts)
    if effect.waiting:
        text += " " + word(lang, "followed_waiting", waiting=effect.waiting)
    text += " " + word(lang, "followed_limits")
    return [word(lang, "followed_title"), *wrapped(text)]
