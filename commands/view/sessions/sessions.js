// Sessions: a link opens the one that it names, a key opens the one in focus, and what is found in
// a folded one is shown below its goal.
"use strict";

const foldOf = (article) => article?.querySelector(".opens details");

/** Open the session that the address names, as `reveal` has gone to it. */
function openSession() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.matches("article.session")) return;
  const fold = foldOf(target);
  if (fold) unfold([...opened, fold.id]);
  target.scrollIntoView({ block: "start", behavior: "instant" });
}

/** Open the session with the focus, or close it. */
function turn() {
  const fold = foldOf(document.activeElement?.closest("article.session"));
  if (fold) fold.open = !fold.open;
}

KEYS.set("o", turn);
KEYS.set("ㅐ", turn);

/** Show below a goal the first text with what is sought, where goal and tags have none of it. */
function quote(article) {
  const has = (element) => places(asked.sought, element.textContent).length > 0;
  if ([...article.querySelectorAll(":scope > .lesson, :scope > .about .of")].some(has)) return false;
  const found = [...article.querySelectorAll(".opens dd.text")].find(has);
  if (!found) return false;
  const copy = document.createElement("dl");
  copy.className = "quoted";
  copy.append(found.parentElement.cloneNode(true));
  article.querySelector(":scope > .opens").before(copy);
  return true;
}

/** Quote what is found now, in the place of what was found before. */
function quoteFound() {
  for (const element of document.querySelectorAll(".quoted")) element.remove();
  if (!asked) return;
  const shown = [...list.querySelectorAll("article.session")];
  if (shown.map(quote).some(Boolean)) paint();
}

new MutationObserver(quoteFound).observe(list, { childList: true });
quoteFound(); // what the address asks for is there already

addEventListener("popstate", openSession);
openSession();
