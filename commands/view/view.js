// Search, filters and keys of the page. Everything to read is there without it.
"use strict";

// Hangul as it is typed: every letter by itself, so that a syllable begun fits the one it becomes.
const LEADS = [..."ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"];
const VOWELS = "ㅏ ㅐ ㅑ ㅒ ㅓ ㅔ ㅕ ㅖ ㅗ ㅗㅏ ㅗㅐ ㅗㅣ ㅛ ㅜ ㅜㅓ ㅜㅔ ㅜㅣ ㅠ ㅡ ㅡㅣ ㅣ".split(" ");
const TAILS = "ㄱ ㄲ ㄱㅅ ㄴ ㄴㅈ ㄴㅎ ㄷ ㄹ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅁ ㅂ ㅂㅅ ㅅ ㅆ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ".split(" ");
const LETTER = new Map([
  ...LEADS.map((letter, at) => [String.fromCharCode(0x1100 + at), letter]),
  ...VOWELS.map((letter, at) => [String.fromCharCode(0x1161 + at), letter]),
  ...TAILS.map((letter, at) => [String.fromCharCode(0x11a8 + at), letter]),
]);
// What people wrote, and what names it; not our labels, which stand in every record.
const SEARCHED = ".lesson, dd, .facts bdi, .facts code, .facts time";
const ONLY_LEADS = /^[ㄱ-ㅎ]+$/;
const ENDS_IN_HANGUL = /[ㄱ-ㅣ가-힣]$/;
const MOST_PAINTED = 1000;

const spelled = (text) => text.replace(/[\u1100-\u11ff]/g, (jamo) => LETTER.get(jamo) ?? jamo);

/** One form for what reads the same: width, case, composed or not. */
const folded = (text) => spelled(text.normalize("NFKC").toLowerCase());

/** The text with every Hangul syllable as its letters. */
const letters = (text) => spelled(folded(text).normalize("NFKD"));

/** The text with every Hangul syllable as its first letter: what people type to find a word fast. */
const leads = (text) =>
  folded(text).replace(/[가-힣]/g, (syllable) => LEADS[Math.floor((syllable.charCodeAt(0) - 0xac00) / 588)]);

const bar = document.querySelector(".search");
const box = document.querySelector("#query");
const said = document.querySelector("#found");
const kinds = [...document.querySelectorAll("input[name=kind]")];
const theme = document.querySelector("#theme");
const shortcuts = document.querySelector("#shortcuts");
const records = [...document.querySelectorAll("article")].map((element) => {
  const parts = [...element.querySelectorAll(SEARCHED)];
  const topic = element.closest(".topic").querySelector("h3 bdi");
  const text = [topic, ...parts].map((part) => part.textContent).join("\n");
  const kinds = element.dataset.kinds.split(" ");
  return { element, kinds, parts, folded: folded(text), letters: letters(text), leads: leads(text) };
});
const topics = [...document.querySelectorAll(".topic")].map((element) => ({
  element,
  articles: [...element.querySelectorAll("article")],
  link: document.querySelector(`.contents a[href="#${element.id}"]`).closest("li"),
  counts: [...document.querySelectorAll(`[data-count="${element.id}"]`)],
}));

const grouped = (count) => count.toLocaleString("en"); // as the rest of the page, in both languages
const chosen = () => kinds.find((radio) => radio.checked).value;
const words = () => folded(box.value).split(/\s+/).filter(Boolean);

/** Whether a word that may not be finished yet stands in a record. */
function holds(record, word, isBeginning) {
  if (ONLY_LEADS.test(word)) return record.leads.includes(word);
  return isBeginning ? record.letters.includes(letters(word)) : record.folded.includes(word);
}

function show(isBeginning) {
  const sought = words();
  const kind = chosen();
  let shown = 0;
  for (const record of records) {
    const fits =
      (kind === "all" || record.kinds.includes(kind)) &&
      sought.every((word) => holds(record, word, isBeginning));
    if (record.element.hidden === fits) record.element.hidden = !fits;
    shown += fits;
  }
  for (const topic of topics) {
    const count = topic.articles.filter((article) => !article.hidden).length;
    topic.element.hidden = topic.link.hidden = !count;
    for (const place of topic.counts) place.textContent = count;
  }
  const isNarrowed = sought.length > 0 || kind !== "all";
  document.querySelector("#glance").hidden = isNarrowed;
  document.querySelector("#nothing").hidden = shown > 0 || !records.length;
  said.textContent = isNarrowed
    ? said.dataset.some.replace("{shown}", grouped(shown)).replace("{count}", grouped(records.length))
    : "";
  paint(sought);
}

/** Where words stand in one piece of text. */
function places(node, sought) {
  const text = folded(node.data);
  if (text.length !== node.data.length) return []; // places in the two would not be the same
  const ranges = [];
  for (const word of sought) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      // Not a live range: every change of the page would have to look after all of them.
      const endOffset = at + word.length;
      ranges.push(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset }));
    }
  }
  return ranges;
}

/** Colour what was found, where the browser can do that without changing the page. */
function paint(sought) {
  if (!CSS.highlights) return;
  CSS.highlights.delete("found");
  const plain = sought.filter((word) => !ONLY_LEADS.test(word));
  if (!plain.length) return;
  const shown = records.filter((record) => !record.element.hidden);
  const ranges = [];
  for (const part of shown.flatMap((record) => record.parts)) {
    if (ranges.length >= MOST_PAINTED) break;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) ranges.push(...places(walker.currentNode, plain));
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

function clear() {
  box.value = "";
  kinds[0].checked = true;
  show(false);
}

const inSight = () => records.map((record) => record.element).filter((element) => !element.hidden);

function go(element) {
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "start", behavior: "instant" });
}

/** Go to the record after or before the one that has the focus, else from the top of the window. */
function step(by) {
  const shown = inSight();
  const here = shown.indexOf(document.activeElement?.closest("article"));
  const next = here >= 0 ? here + by : past(shown) + Math.min(by, 0);
  go(shown[Math.min(Math.max(next, 0), shown.length - 1)]);
}

/** How many records begin above what the window shows. */
function past(shown) {
  const top = Math.max(bar.getBoundingClientRect().bottom, 0);
  return shown.filter((element) => element.getBoundingClientRect().top < top).length;
}

/** From the search to what it found; what was typed is finished by that. */
function leave() {
  show(false);
  go(inSight()[0]);
}

/** A link may point at a record that the search has hidden. */
function reveal() {
  const target = document.getElementById(location.hash.slice(1)); // anchors are plain
  if (records.length && target?.closest("[hidden]")) {
    clear();
    target.scrollIntoView();
  }
  if (target?.matches("article")) target.focus({ preventScroll: true });
}

const KEYS = new Map([
  ["/", () => box.focus()],
  ["j", () => step(1)],
  ["ㅓ", () => step(1)],
  ["k", () => step(-1)],
  ["ㅏ", () => step(-1)],
]);

document.addEventListener("keydown", (event) => {
  // Safari ends a composition before it tells of the key that ended it: 229, as all others do.
  if (event.isComposing || event.keyCode === 229) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box) {
    if (event.key === "Escape" && (box.value || chosen() !== "all")) clear();
    else if (event.key === "ArrowDown" || event.key === "Enter") leave();
    else return;
  } else if (shortcuts.checked && KEYS.has(event.key) && !event.target.matches("select")) {
    KEYS.get(event.key)();
  } else return;
  event.preventDefault();
});

/** Settings of the reader; a browser may refuse to keep them for a file. */
function kept(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // they hold for as long as the page is open
  }
  return null;
}

function paintTheme() {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

let isTold = false; // of compositions: on iOS Hangul is composed without a word about it

/** Whether what was typed may still change. */
const isUnfinished = (event) =>
  event.isComposing ||
  (!isTold && /^(insertText|deleteContentBackward)$/.test(event.inputType) && ENDS_IN_HANGUL.test(box.value));

box.addEventListener("compositionstart", () => {
  isTold = true;
});
box.addEventListener("input", (event) => show(isUnfinished(event)));
box.addEventListener("compositionend", () => show(false));
for (const radio of kinds) radio.addEventListener("change", () => show(false));
theme.addEventListener("change", () => {
  kept("sentinel-memory-theme", theme.value);
  paintTheme();
});
shortcuts.addEventListener("change", () => kept("sentinel-memory-shortcuts", shortcuts.checked ? "on" : "off"));
addEventListener("hashchange", reveal);
document.querySelector("#clear").addEventListener("click", () => {
  clear();
  box.focus();
});

const wanted = kept("sentinel-memory-theme");
if (["light", "dark"].includes(wanted)) theme.value = wanted;
shortcuts.checked = kept("sentinel-memory-shortcuts") !== "off";
paintTheme();
for (const element of document.querySelectorAll(".live")) element.hidden = !records.length;
if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".contents details")?.removeAttribute("open");
// A browser may bring back what was typed or chosen before the page was loaded anew.
if (box.value || chosen() !== "all") show(false);
// What is jumped to must not lie behind the search, which is as high as the window makes it.
new ResizeObserver(() => {
  document.documentElement.style.scrollPaddingTop = `${bar.offsetHeight + 8}px`;
}).observe(bar);
reveal();
