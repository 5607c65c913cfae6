// Search, filters, keys and the address: one list while somebody looks for something, else the
// whole page.
"use strict";

// What people wrote; not our labels, which are in every record.
const TEXTS = [":scope > .lesson", ":scope > .about .of", ":scope > dl dd.text", ":scope > .places code"].join();
const CHOICES = ["q", "type", "agent", "since", "sort", "topics", "theme"];
const MOST_PAINTED = 1000;
const AT_ONCE = 100;
const TYPING_MS = 600;
const TOLD_MS = 2500;

const LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
const VOWELS = "ㅏ ㅐ ㅑ ㅒ ㅓ ㅔ ㅕ ㅖ ㅗ ㅗㅏ ㅗㅐ ㅗㅣ ㅛ ㅜ ㅜㅓ ㅜㅔ ㅜㅣ ㅠ ㅡ ㅡㅣ ㅣ".split(" ");
const TAILS = " ㄱ ㄲ ㄱㅅ ㄴ ㄴㅈ ㄴㅎ ㄷ ㄹ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅁ ㅂ ㅂㅅ ㅅ ㅆ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ".split(" ");
const SYLLABLES = /[가-힣]/g;
const HANGUL = /[ㄱ-ㅣ가-힣]/;
const ONLY_LEADS = /^[ㄱ-ㅎ]+$/;

const find = (selector) => document.querySelector(selector);
const box = find("#query");
const said = find("#found");
const list = find("#found-records");
const theme = find("#theme");
const among = find("#among-topics");
const bar = find(".search");
const help = find("#keys");
const shortcuts = find("#shortcuts");
const toast = find(".toast");
const controls = { type: find("#type"), agent: find("#agent"), since: find("#since"), sort: find("#sort") };
const topics = [...document.querySelectorAll(".topic")].map((element) => ({
  element,
  name: folded(element.querySelector("h3").textContent),
  articles: [...element.querySelectorAll("article")],
}));
const folds = new Map([...document.querySelectorAll("details[id]")].map((it) => [decodeURIComponent(it.id), it]));
const records = topics.flatMap(({ element, articles }) =>
  articles.map((article, at) => ({
    element: article,
    home: element,
    next: articles[at + 1] ?? null,
    kinds: article.dataset.kinds.split(" "),
    agent: article.dataset.agent,
    day: article.dataset.day,
    at: Number(article.dataset.at),
    seen: Number(article.dataset.seen),
  })),
);
const orderAtHome = new Map(records.map((record, at) => [record, at]));

// Search: a record is found that has every word anywhere in its texts

/** A text in the form in which texts are compared. */
function folded(text) {
  return text.normalize("NFC").toLowerCase();
}

/** Each syllable as the letters that are typed for it: what is half composed finds what it begins. */
function inLetters(text) {
  return text.replace(SYLLABLES, (syllable) => {
    const at = syllable.charCodeAt(0) - 0xac00;
    return LEADS[Math.floor(at / 588)] + VOWELS[Math.floor(at / 28) % 21] + TAILS[at % 28];
  });
}

/** Each syllable as its first consonant. */
function inLeads(text) {
  return text.replace(SYLLABLES, (syllable) => LEADS[Math.floor((syllable.charCodeAt(0) - 0xac00) / 588)]);
}

const words = () => folded(box.value).split(/\s+/).filter(Boolean);

/** What a record says, in each form; made when first wanted, as most visits only look. */
function searched(record) {
  if (!record.text) {
    const texts = [...record.element.querySelectorAll(TEXTS)].map((it) => it.textContent);
    record.text = folded([...texts, record.element.dataset.names].join("\n"));
    record.letters = inLetters(record.text);
    record.leads = inLeads(record.text);
  }
  return record;
}

function has(record, word) {
  const { text, letters, leads } = searched(record);
  if (text.includes(word)) return true;
  if (ONLY_LEADS.test(word)) return leads.includes(word);
  return HANGUL.test(word) && letters.includes(inLetters(word));
}

function passes(record) {
  const [type, agent, since] = ["type", "agent", "since"].map((name) => controls[name]?.value);
  return (
    (!type || record.kinds.includes(type)) &&
    (!agent || record.agent === agent) &&
    (!since || (record.day >= since && record.day[0] !== "?"))
  );
}

const ORDERS = {
  newest: (one, other) => other.at - one.at,
  oldest: (one, other) => one.at - other.at,
  seen: (one, other) => other.seen - one.seen || other.at - one.at,
};

const grouped = (count) => count.toLocaleString("en"); // as the rest of the page, in both languages
const isNarrowed = () =>
  box.value.trim() !== "" || Object.values(controls).some((control) => control?.value);

let found = [];
let moved = []; // those of them that are shown

/** Put the records that were found back to where they are at home. */
function putBack() {
  moved.sort((one, other) => orderAtHome.get(other) - orderAtHome.get(one));
  for (const { element, home, next } of moved) home.insertBefore(element, next);
  moved = [];
}

/** Show further records that were found, all of them for paper. */
function showMore(count = AT_ONCE) {
  const more = found.slice(moved.length, moved.length + count);
  list.append(...more.map((record) => record.element));
  moved.push(...more);
  find("#next").hidden = moved.length >= found.length;
  paint();
}

/** Show what the search and the filters say. */
function show() {
  const isSearch = isNarrowed() && records.length > 0;
  const sought = words();
  putBack();
  found = isSearch ? records.filter((it) => passes(it) && sought.every((word) => has(it, word))) : [];
  found.sort(ORDERS[controls.sort.value] ?? ORDERS.newest);
  find("#results").hidden = find("#clear").hidden = !isSearch;
  find("#overview").hidden = isSearch;
  find("#nothing").hidden = found.length > 0;
  const counts = { shown: grouped(found.length), count: grouped(records.length) };
  said.textContent = isSearch ? said.dataset.some.replace(/\{(\w+)\}/g, (_, name) => counts[name]) : "";
  showMore();
}

/** Colour what was found, where the browser can do that without changing the page. */
function paint() {
  if (!CSS.highlights) return;
  CSS.highlights.delete("found");
  const sought = words();
  const ranges = [];
  for (const part of moved.flatMap(({ element }) => [...element.querySelectorAll(TEXTS)])) {
    if (ranges.length >= MOST_PAINTED || !sought.length) break;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const text = folded(node.data);
      if (text.length !== node.length) continue; // its places are not those of the text itself
      for (const word of sought) {
        const form = ONLY_LEADS.test(word) ? inLeads(text) : text;
        for (let at = form.indexOf(word); at >= 0; at = form.indexOf(word, at + word.length)) {
          // Not a live range: every change of the page would have to look after all of them.
          const [startOffset, endOffset] = [at, at + word.length];
          ranges.push(new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }));
        }
      }
    }
  }
  if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
}

/** Show only the topics whose name has these letters. */
function showTopics() {
  const wanted = folded(among?.value.trim() ?? "");
  for (const { element, name } of topics) element.hidden = !name.includes(wanted) && element.closest("#topics") !== null;
}

// The address: what can be seen can be linked, and gone back to

/** What an address says; a link to a record or a section says nothing of it. */
function stateIn(hash) {
  const state = { open: new Set() };
  for (const key of CHOICES) state[key] = "";
  if (!hash.includes("=")) return state;
  for (const [key, value] of new URLSearchParams(hash.slice(1))) {
    if (CHOICES.includes(key)) state[key] = value;
    else if (key === "topic" || key === "show") state.open.add(`${key}=${value}`);
  }
  return state;
}

/** The address of a state, "" for that of a page as it is first opened. */
function hashOf(state) {
  const chosen = CHOICES.filter((key) => state[key]).map((key) => [key, state[key]]);
  const open = [...state.open].map((name) => name.split(/=(.*)/s));
  // A topic is written as the page writes its links.
  const parts = [...chosen, ...open].map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

/** Put a state into the address, as a new place to come back to or in the place of this one. */
function keepAddress(state, isNew) {
  try {
    const hash = hashOf(state);
    if (hash === location.hash) return;
    const address = location.href.split("#")[0] + hash;
    if (isNew) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // half of a character, or more than a browser takes at once: the next one will do
  }
}

let opened = new Set(); // the names of what is unfolded, by the reader or by the address

function unfold(names) {
  opened = new Set(names);
  for (const [name, fold] of folds) fold.open = opened.has(name);
}

/** What the page shows now. */
function stateNow() {
  const state = { q: box.value.trim(), topics: among?.value.trim() ?? "", open: opened };
  for (const [name, control] of Object.entries(controls)) state[name] = control?.value ?? "";
  state.theme = stateIn(location.hash).theme;
  return state;
}

let typing = 0; // the timer that lets the address say what is typed
let isTyping = false; // a word is one place to come back to, however many keys it has

/** Show what the address says. */
function apply() {
  const state = stateIn(location.hash);
  clearTimeout(typing);
  typing = 0;
  isTyping = false;
  box.value = state.q;
  for (const [name, control] of Object.entries(controls)) {
    if (!control) continue;
    const isDate = control === controls.since;
    // What is no date, or not among the choices, chooses nothing.
    control.value = isDate && !/^\d{4}-\d\d-\d\d$/.test(state[name]) ? "" : state[name];
    if (control.selectedIndex === -1) control.value = "";
  }
  if (among) among.value = state.topics;
  unfold(state.open);
  if (state.theme) setTheme(state.theme);
  showTopics();
  show();
  reveal();
}

/** What unfolds within a card. */
const foldOf = (article) => article?.querySelector(".opens details");

/** Go to the record or the topic that the address names, wherever it is. */
function reveal() {
  const target = document.getElementById(location.hash.slice(1)); // anchors are plain
  if (!target || !records.length) return;
  if (target.matches("article")) {
    const outer = target.closest("details");
    const inner = foldOf(target);
    unfold([decodeURIComponent(outer.id), ...(inner ? [inner.id] : [])]);
    outer.open = true; // one that has no name is in no address
  }
  target.scrollIntoView({ block: "start", behavior: "instant" });
  if (target.matches("article")) target.focus({ preventScroll: true });
}

function clear() {
  box.value = "";
  for (const control of Object.values(controls)) if (control) control.value = "";
  show();
  keepAddress(stateNow(), true);
}

function keepTyped() {
  clearTimeout(typing);
  typing = setTimeout(() => {
    typing = 0;
    keepAddress(stateNow(), !isTyping);
    isTyping = true;
  }, TYPING_MS);
}

/** What was typed is finished: let the address say so at once. */
function finish() {
  clearTimeout(typing);
  typing = 0;
  keepAddress(stateNow(), !isTyping);
  isTyping = false;
}

function choose() {
  show();
  isTyping = false;
  finish();
}

box.addEventListener("input", () => {
  show();
  keepTyped();
});
box.addEventListener("change", () => {
  if (typing) finish();
});
for (const control of Object.values(controls)) control?.addEventListener("change", choose);
among?.addEventListener("input", () => {
  showTopics();
  keepTyped();
});
for (const [name, fold] of folds) {
  fold.addEventListener("toggle", () => {
    if (fold.open === opened.has(name)) return; // not by the reader
    if (fold.open) opened.add(name);
    else opened.delete(name);
    keepAddress(stateNow(), true);
  });
}
find("#next").addEventListener("click", () => showMore());
find("#clear").addEventListener("click", () => {
  clear();
  box.focus();
});
find("#more-filters").addEventListener("click", ({ currentTarget }) => {
  const isOpen = find("#filters").classList.toggle("open");
  currentTarget.setAttribute("aria-expanded", isOpen);
});

// Keys: from record to record, to the search, and the list of them

const isSeen = (element) => (element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null);
const inSight = () => [...document.querySelectorAll("article")].filter(isSeen);
const focused = () => document.activeElement?.closest("article");

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
  const here = inSight().indexOf(focused());
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

/** Unfold the record with the focus, or fold it. */
function turn() {
  const fold = foldOf(focused());
  if (fold) fold.open = !fold.open;
}

const KEYS = new Map([
  ["/", () => box.focus()],
  ["?", () => help.showModal()],
  ["j", () => step(1)],
  ["ㅓ", () => step(1)],
  ["k", () => step(-1)],
  ["ㅏ", () => step(-1)],
  ["o", turn],
  ["ㅐ", turn],
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
  }, TOLD_MS);
});

// Settings of the reader, paper, and the beginning

/** A setting that the browser keeps; it may refuse that for a file. */
function kept(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // they hold for as long as the page is open
  }
  return null;
}

function setTheme(name) {
  theme.value = ["light", "dark"].includes(name) ? name : "auto";
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

theme.addEventListener("change", () => {
  setTheme(theme.value);
  kept("sentinel-memory-theme", theme.value);
  keepAddress({ ...stateNow(), theme: theme.value === "auto" ? "" : theme.value }, false);
});
find("#help").addEventListener("click", () => help.showModal());
shortcuts.addEventListener("change", () => kept("sentinel-memory-shortcuts", shortcuts.checked ? "on" : "off"));
shortcuts.checked = kept("sentinel-memory-shortcuts") !== "off";

let before = opened;
addEventListener("beforeprint", () => {
  before = opened;
  showMore(found.length);
  unfold(folds.keys());
});
addEventListener("afterprint", () => unfold(before));

for (const element of document.querySelectorAll(".live")) element.hidden = !records.length && element !== find("#help");
for (const link of document.querySelectorAll("[data-to]")) link.href = `#${link.dataset.to}`;
setTheme(kept("sentinel-memory-theme"));
addEventListener("popstate", apply); // a link within the page, back and forward
// What is jumped to must not lie behind the search, which is as high as the window makes it.
function leaveRoom() {
  const isSticky = getComputedStyle(bar).position === "sticky";
  document.documentElement.style.scrollPaddingTop = `${(isSticky ? bar.offsetHeight : 0) + 8}px`;
}
new ResizeObserver(leaveRoom).observe(bar);
leaveRoom();
apply();
