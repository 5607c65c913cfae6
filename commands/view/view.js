// Search and filters: one ranked list while somebody looks for something, else the whole page.
"use strict";

// What people wrote, and how much it says of a record; not our labels, which are in every record.
const { strong, weak } = TABLES.weights;
const WEIGHTS = new Map([
  [":scope > .lesson", strong],
  [":scope > .about .of", strong],
  [":scope > dl dd.text", weak],
  [":scope > .places code", weak],
]);
const PARTS = [...WEIGHTS.keys()].join();
const ENDS_IN_HANGUL = /[ㄱ-ㅣ가-힣]$/;
const MOST_PAINTED = 1000;
const AT_ONCE = 100;
const FEW = 5; // of so many hits or fewer, what else could be found is said
const TYPING_MS = 600;

const find = (selector) => document.querySelector(selector);
const box = find("#query");
const said = find("#found");
const list = find("#found-records");
const theme = find("#theme");
const among = find("#among-topics");
const controls = { type: find("#type"), author: find("#author"), since: find("#since"), sort: find("#sort") };
const topics = [...document.querySelectorAll(".topic")].map((element) => ({
  element,
  name: folded(element.querySelector("h3").textContent).low,
  articles: [...element.querySelectorAll("article")],
}));
const folds = new Map([...document.querySelectorAll("details[id]")].map((it) => [decodeURIComponent(it.id), it]));
const records = topics.flatMap(({ element, articles }) =>
  articles.map((article, at) => ({
    element: article,
    home: element,
    next: articles[at + 1] ?? null,
    kinds: article.dataset.kinds.split(" "),
    author: article.dataset.author,
    day: article.dataset.day,
    at: Number(article.dataset.at),
    seen: Number(article.dataset.seen),
    place: Number(article.dataset.place),
  })),
);
const orderAtHome = new Map(records.map((record, at) => [record, at]));
const inLog = [...records].sort((one, other) => one.place - other.place);
let entries = null;

/** The records as the search takes them, made when first wanted: most visits only look. */
function searched() {
  entries ??= searchable(
    inLog.map(({ element }) => ({
      texts: [...WEIGHTS].flatMap(([part, weight]) =>
        [...element.querySelectorAll(part)].map((it) => [weight, it.textContent]),
      ),
      names: element.dataset.names.split(" "),
    })),
  );
  return entries;
}

const grouped = (count) => count.toLocaleString("en"); // as the rest of the page, in both languages
const isNarrowed = () =>
  box.value.trim() !== "" || Object.values(controls).some((control) => control?.value);

function passes(record) {
  const [type, author, since] = ["type", "author", "since"].map((name) => controls[name]?.value);
  return (
    (!type || record.kinds.includes(type)) &&
    (!author || record.author === author) &&
    (!since || (record.day >= since && record.day[0] !== "?"))
  );
}

const ORDERS = {
  newest: (one, other) => other.at - one.at,
  oldest: (one, other) => one.at - other.at,
  seen: (one, other) => other.seen - one.seen || other.at - one.at,
};

let isLoose = false; // parts of words are found as well
let asked = null; // what the search said last

const ask = (typing, loose) => (box.value.trim() ? search(box.value, searched(), { loose, typing }) : null);
const fitting = (answer) => (answer ? answer.hits.map((at) => inLog[at]) : records).filter(passes);

/** Sort as was chosen; without a choice, the best first, or the newest where nothing is searched. */
function sorted(fit) {
  const order = ORDERS[controls.sort.value] ?? (asked ? null : ORDERS.newest);
  return order ? fit.sort(order) : fit;
}

let found = [];
let moved = []; // those of them that are shown
let isUnsure = false; // whether they are what an unfinished word finds

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

/** Show what the search and the filters say; typing: the last word may not be finished. */
function show(typing) {
  const isSearch = isNarrowed() && records.length > 0;
  isUnsure = typing;
  putBack();
  asked = isSearch ? ask(typing, isLoose) : null;
  found = isSearch ? sorted(fitting(asked)) : [];
  find("#results").hidden = find("#clear").hidden = !isSearch;
  find("#overview").hidden = isSearch;
  find("#nothing").hidden = found.length > 0;
  const counts = { shown: grouped(found.length), count: grouped(records.length) };
  said.textContent = isSearch ? said.dataset.some.replace(/\{(\w+)\}/g, (_, name) => counts[name]) : "";
  advise(asked && !typing && !isLoose && found.length <= FEW ? fitting(ask(false, true)).length - found.length : 0);
  showMore();
}

/** Where little was found, say what else could be looked for. more: with parts of words. */
function advise(more) {
  const link = find("#loose a");
  find("#loose").hidden = more < 1;
  link.textContent = link.dataset.more.replace("{count}", grouped(more));
  link.href = hashOf({ ...stateNow(), loose: "1" });
  const lost = found.length || !asked ? [] : asked.counts.filter(([, count]) => !count);
  const words = lost.flatMap(([word]) => near(word, searched()));
  find("#near").hidden = !words.length;
  find("#near span").replaceChildren(
    ...words.map((word) => Object.assign(document.createElement("a"), { textContent: word, href: hashOf({ ...stateNow(), q: word }) })),
  );
}

/** Colour what was found, where the browser can do that without changing the page. */
function paint() {
  if (!CSS.highlights) return;
  CSS.highlights.delete("found");
  if (!asked || !moved.length) return;
  const ranges = [];
  for (const part of moved.flatMap(({ element }) => [...element.querySelectorAll(PARTS)])) {
    if (ranges.length >= MOST_PAINTED) break;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (const [startOffset, endOffset] of places(asked.sought, node.data)) {
        // Not a live range: every change of the page would have to look after all of them.
        ranges.push(new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }));
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

/** Show only the topics whose name has these letters. */
function showTopics() {
  const wanted = folded(among?.value.trim() ?? "").low;
  for (const { element, name } of topics) element.hidden = !name.includes(wanted) && element.closest("#topics") !== null;
}

let opened = new Set(); // the names of what is unfolded, by the reader or by the address

function unfold(names) {
  opened = new Set(names);
  for (const [name, fold] of folds) fold.open = opened.has(name);
}

/** What the page shows now. */
function stateNow() {
  const state = { q: box.value.trim(), loose: isLoose ? "1" : "", topics: among?.value.trim() ?? "", open: opened };
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
  isLoose = Boolean(state.loose);
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
  show(false);
  reveal();
}

/** Go to the record or the topic that the address names, wherever it is. */
function reveal() {
  const target = document.getElementById(location.hash.slice(1)); // anchors are plain
  if (!target || !records.length) return;
  if (target.matches("article")) {
    const fold = target.closest("details");
    unfold([decodeURIComponent(fold.id)]);
    fold.open = true; // one that has no name is in no address
  }
  target.scrollIntoView({ block: "start", behavior: "instant" });
  if (target.matches("article")) target.focus({ preventScroll: true });
}

function clear() {
  box.value = "";
  isLoose = false;
  for (const control of Object.values(controls)) if (control) control.value = "";
  show(false);
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
  if (isUnsure) show(false);
  keepAddress(stateNow(), !isTyping);
  isTyping = false;
}

function choose() {
  show(false);
  isTyping = false;
  finish();
}

let isTold = false; // of compositions: on iOS Hangul is composed without a word about it

/** Whether what was typed may still change. */
const isUnfinished = (event) =>
  event.isComposing ||
  (!isTold && /^(insertText|deleteContentBackward)$/.test(event.inputType) && ENDS_IN_HANGUL.test(box.value));

box.addEventListener("focus", () => setTimeout(searched)); // so that the first key need not wait
box.addEventListener("compositionstart", () => {
  isTold = true;
});
box.addEventListener("input", (event) => {
  show(isUnfinished(event));
  keepTyped();
});
box.addEventListener("compositionend", () => show(false));
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
const bar = find(".search");
function leaveRoom() {
  const isSticky = getComputedStyle(bar).position === "sticky";
  document.documentElement.style.scrollPaddingTop = `${(isSticky ? bar.offsetHeight : 0) + 8}px`;
}
new ResizeObserver(leaveRoom).observe(bar);
leaveRoom();
apply();
