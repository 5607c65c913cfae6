// Keys: from record to record, to the search, and the list of them; a click that copies an id.
"use strict";

const shortcuts = find("#shortcuts");
const help = find("#keys");
const toast = find(".toast");

const isSeen = (element) => (element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null);
const inSight = () => [...document.querySelectorAll("article")].filter(isSeen);

function go(element) {
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "start", behavior: "instant" });
}

/** How many records begin above what the window shows. */
function past(shown) {
  const top = Math.max(bar.getBoundingClientRect().bottom, 0);
  return shown.filter((element) => element.getBoundingClientRect().top < top).length;
}

/** Go to the record after or before the one that has the focus, else from the top of the window. */
function step(by) {
  const here = inSight().indexOf(document.activeElement?.closest("article"));
  if (here >= 0 && here + by >= moved.length && moved.length < found.length) showMore();
  const shown = inSight();
  const next = here >= 0 ? here + by : past(shown) + Math.min(by, 0);
  go(shown[Math.min(Math.max(next, 0), shown.length - 1)]);
}

/** From the search to what it found; what was typed is finished by that. */
function leave() {
  finish();
  go(inSight()[0]);
}

const KEYS = new Map([
  ["/", () => box.focus()],
  ["?", () => help.showModal()],
  ["j", () => step(1)],
  ["ㅓ", () => step(1)],
  ["k", () => step(-1)],
  ["ㅏ", () => step(-1)],
]);

document.addEventListener("keydown", (event) => {
  // Safari ends a composition before it tells of the key that ended it: 229, as all others do.
  if (event.isComposing || event.keyCode === 229) return;
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target === box) {
    if (event.key === "Escape" && isNarrowed()) clear();
    else if (event.key === "ArrowDown" || event.key === "Enter") leave();
    else return;
  } else if (shortcuts.checked && KEYS.has(event.key) && !event.target.matches("select, input")) {
    KEYS.get(event.key)();
  } else return;
  event.preventDefault();
});

find("#help").addEventListener("click", () => help.showModal());
shortcuts.addEventListener("change", () => kept("sentinel-memory-shortcuts", shortcuts.checked ? "on" : "off"));
shortcuts.checked = kept("sentinel-memory-shortcuts") !== "off";

let telling = 0;

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  const { copy } = button.dataset;
  try {
    await navigator.clipboard.writeText(copy);
  } catch {
    return; // a browser may refuse; the id can be read where the pointer is
  }
  toast.textContent = toast.dataset.copied.replace("{text}", () => copy);
  clearTimeout(telling);
  telling = setTimeout(() => {
    toast.textContent = "";
  }, 2500);
});
