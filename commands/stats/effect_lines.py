"""Prints what became of the records that hooks showed or withheld, with what that cannot show."""

from commands.hook.journal import KEPT_DAYS
from commands.stats.effect import MOST_GIT_S, WITHIN_DAYS, Arms, Effect
from commands.stats.intervals import LEAST, difference
from commands.stats.parts import Page, share_text
from commands.stats.words import word


def effect_sections(effect: Effect, page: Page) -> list[list[str]]:
    """Return the sections, none where no hook noted anything for them."""
    sections = list[list[str]]()
    if any(effect.trial):
        sections.append(_holdout(effect, page))
    if effect.followed.of or effect.waiting:
        sections.append(_followed(effect, page))
    if sections and not effect.is_whole:
        sections[-1] += page.said(word(page.lang, "effect_cut", seconds=MOST_GIT_S))
    return sections


def _holdout(effect: Effect, page: Page) -> list[str]:
    shown, withheld = effect.trial
    lines = [word(page.lang, "holdout", shown=shown, withheld=withheld)]
    for name, arms in effect.outcomes.items():
        lines += page.said(_arms(word(page.lang, name, days=WITHIN_DAYS), arms, page))
    if any(arms.is_enough for arms in effect.outcomes.values()):
        lines += page.said(word(page.lang, "intervals"))
    return [*lines, *page.said(word(page.lang, "holdout_limits", days=KEPT_DAYS))]


def _arms(what: str, arms: Arms, page: Page) -> str:
    if not arms.is_enough:
        counts = {"shown": arms.shown.count, "shown_of": arms.shown.of}
        counts |= {"withheld": arms.withheld.count, "withheld_of": arms.withheld.of}
        return word(page.lang, "arms_few", what=what, least=LEAST, **counts)
    gap, low, high = (round(100 * it) for it in difference(arms.shown, arms.withheld))
    shares = {"shown": share_text(arms.shown, page), "withheld": share_text(arms.withheld, page)}
    return word(page.lang, "arms", what=what, gap=gap, low=low, high=high, **shares)


def _followed(effect: Effect, page: Page) -> list[str]:
    followed = effect.followed
    if followed.is_enough:
        text = word(page.lang, "followed_share", days=WITHIN_DAYS, share=share_text(followed, page))
        text += " " + word(page.lang, "intervals")
    else:
        facts = {"count": followed.count, "of": followed.of, "least": LEAST}
        text = word(page.lang, "followed_few", days=WITHIN_DAYS, **facts)
    if effect.waiting:
        text += " " + word(page.lang, "followed_waiting", waiting=effect.waiting)
    text += " " + word(page.lang, "followed_limits")
    return [word(page.lang, "followed_title"), *page.said(text)]
