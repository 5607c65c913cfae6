"use strict";
// Shows the items of all rooms: a list, a search, filters. Every text goes in by textContent, so
// that no text of a record can become an element.
const { items, words, notes, sample } = JSON.parse(document.getElementById("data").textContent);
const AT_ONCE = 30, SHOWN_TEXTS = 2;
const find = (id) => document.getElementById(id);
const names = ["q", "room", "kind", "topic", "order"];
const rooms = Object.keys(words.rooms);
let state = {}, terms = [], found = [], shown = 0;

// Hangul is compared letter by letter, so that a half composed word finds what it begins.
const LEADS = [..."ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"];
const VOWELS = [..."ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"];
const ENDS = ["", ..."ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"];
const PARTS = Object.fromEntries("ㄳㄱㅅ ㄵㄴㅈ ㄶㄴㅎ ㄺㄹㄱ ㄻㄹㅁ ㄼㄹㅂ ㄽㄹㅅ ㄾㄹㅌ ㄿㄹㅍ ㅀㄹㅎ ㅄㅂㅅ ㅘㅗㅏ ㅙㅗㅐ ㅚㅗㅣ ㅝㅜㅓ ㅞㅜㅔ ㅟㅜㅣ ㅢㅡㅣ".split(" ").map(([whole, ...parts]) => [whole, parts.join("")]));
const place = (syllable) => syllable.charCodeAt(0) - 0xac00;
const spelled = (it) => LEADS[Math.floor(place(it) / 588)] + VOWELS[Math.floor((place(it) % 588) / 28)] + ENDS[place(it) % 28];
const small = (text) => text.normalize("NFC").toLowerCase();
const fold = (text) => small(text).replace(/[가-힣]/g, spelled).replace(/[ㄳㄵㄶㄺ-ㅀㅄㅘ-ㅚㅝ-ㅟㅢ]/g, (it) => PARTS[it]);
const leads = (text) => small(text).replace(/[가-힣]/g, (it) => LEADS[Math.floor(place(it) / 588)]);
const areLeads = (term) => /^[ㄱ-ㅎ]+$/.test(term);
const has = (item, term) => item.folded.includes(term) || (areLeads(term) && item.leads.includes(term));
const anchor = (item) => `${item.room}-${item.id.replace(/[^\w-]/g, "")}`;
const topicsOf = (item) => item.topic.split(", ").filter(Boolean);
const roomName = (room) => words.rooms[room] ?? room;
const kindName = (room, kind) => words.kinds[`${room}.${kind}`] ?? kind;

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

/** Returns which characters of a text a term covers. */
function covered(chars, term) {
  const at = [], places = new Set();
  const form = areLeads(term) && !fold(chars.join("")).includes(term) ? leads : fold;
  const text = chars.map((char, number) => (at.push(...Array(form(char).length).fill(number)), form(char))).join("");
  for (let start = text.indexOf(term); start >= 0; start = text.indexOf(term, start + term.length))
    for (let end = start; end < start + term.length; end++) places.add(at[end]);
  return places;
}

/** Puts a text into an element: what is between backticks as code, what was searched marked. */
function put(into, text) {
  for (const piece of text.split(/(`[^`\n]+`)/)) {
    const isCode = /^`[^`\n]+`$/.test(piece);
    const inside = isCode ? into.appendChild(element("code")) : into;
    const chars = [...(isCode ? piece.slice(1, -1) : piece).normalize("NFC")];
    const folded = fold(piece), isThere = (term) => folded.includes(term) || areLeads(term);
    const places = terms.filter(isThere).map((term) => covered(chars, term));
    const isMarked = (at) => places.some((it) => it.has(at));
    for (let start = 0, end; start < chars.length; start = end) {
      for (end = start + 1; end < chars.length && isMarked(end) === isMarked(start); ) end++;
      const part = chars.slice(start, end).join("");
      inside.append(isMarked(start) ? element("mark", "", part) : part);
    }
  }
  into.dir = "auto";
  if (/[가-힣]/.test(text)) into.lang = "ko";
  return into;
}

function labelled(texts) {
  const list = element("dl");
  for (const [label, text] of texts) {
    const row = list.appendChild(element("div"));
    row.append(element("dt", "", label), put(element("dd", "text"), text));
  }
  return list;
}

function card(item) {
  const marks = { "*": "starred", "!": "warned" };
  const article = element("article", `${item.room} ${marks[item.mark] ?? ""}`);
  [article.id, article.tabIndex] = [anchor(item), -1];
  const about = element("p", "about"), day = element("a", "day", item.date);
  day.href = `#${anchor(item)}`;
  if (item.topic) about.append(put(element("span", "topic"), item.topic));
  if (item.kind !== "log") about.append(element("span", "kind", `${item.mark === "!" ? "! " : ""}${kindName(item.room, item.kind)}`));
  about.append(day);
  const [[, text] = ["", ""], ...rest] = item.texts;
  const [first] = text.match(/^(?:`[^`\n]*`|[^`\n])+?(?:[.!?。](?=\s+(?![a-z])|$)|(?=\n)|$)/) ?? [text];
  const lesson = element("p", "first text");
  lesson.append(put(element("b"), first), put(element("span"), text.slice(first.length)));
  article.append(about, lesson, labelled(rest.slice(0, SHOWN_TEXTS)));
  if (rest.length > SHOWN_TEXTS) {
    const more = article.appendChild(element("details"));
    more.open = terms.length > 0;
    more.append(element("summary", "", words.details), labelled(rest.slice(SHOWN_TEXTS)));
  }
  const facts = article.appendChild(element("p", "facts", item.facts.map((it) => `${it} · `).join("")));
  const id = facts.appendChild(element("button", "id", item.id));
  [id.type, id.title] = ["button", words.copy];
  id.onclick = async () => {
    await navigator.clipboard?.writeText(item.id);
    id.textContent = words.copied;
    setTimeout(() => (id.textContent = item.id), 1500);
  };
  return article;
}

function more(count) {
  find("items").append(...found.slice(shown, shown + count).map(card));
  shown = Math.min(shown + count, found.length);
  find("more").hidden = shown === found.length;
}

function choices(name, label, values) {
  const counts = new Map();
  for (const [value, text] of values) counts.set(value, [text, (counts.get(value)?.[1] ?? 0) + 1]);
  const sorted = [...counts].sort((one, other) => other[1][1] - one[1][1]);
  find(name).replaceChildren(new Option(label, ""), ...sorted.map(([value, [text, count]]) => new Option(`${text} (${count})`, value)));
  find(name).ariaLabel = label;
  find(name).hidden = counts.size < 2;
  return sorted;
}

function press(value, text, name, count) {
  const button = element("button");
  button.type = "button";
  button.append(element("span", "", text), ` `, element("span", "", count));
  button.dataset[name] = value;
  button.onclick = () => go({ [name]: value });
  return button;
}

/** Offers what the chosen room has: its kinds and its topics. */
function offer() {
  const there = items.filter((it) => !state.room || it.room === state.room);
  choices("kind", words.all_kinds, there.map((it) => [`${it.room}.${it.kind}`, kindName(it.room, it.kind)]));
  const topics = choices("topic", words.all_topics, there.flatMap((it) => topicsOf(it).map((topic) => [topic, topic])));
  find("topics").replaceChildren(press("", words.all_topics, "topic", there.length), ...topics.map(([topic, [, count]]) => press(topic, topic, "topic", count)));
  find("topics").hidden = topics.length < 2;
}

function show() {
  const { q = "", room, kind, topic, order } = state;
  terms = fold(q).split(/\s+/).filter(Boolean);
  found = items.filter((it) => (!room || it.room === room) && (!kind || `${it.room}.${it.kind}` === kind) && (!topic || topicsOf(it).includes(topic)) && terms.every((term) => has(it, term)));
  if (order === "oldest") found.reverse();
  for (const name of ["q", "kind", "topic", "order"]) find(name).value = state[name] ?? "";
  for (const button of document.querySelectorAll("[data-room], [data-topic]"))
    button.ariaPressed = Object.entries(button.dataset).every(([name, value]) => value === (state[name] ?? ""));
  find("items").replaceChildren();
  shown = 0;
  more(AT_ONCE);
  find("count").textContent = found.length ? words.found.replace("{shown}", found.length).replace("{count}", items.length) : words.nothing;
  find("count").hidden = found.length === items.length && rooms.length > 1; // the buttons say it
}

/** Shows another choice; the address says it, and only a finished one is a place to go back to. */
function go(choice, isTyping = false) {
  const isOther = (choice.room ?? state.room) !== state.room;
  state = { ...state, ...(isOther ? { kind: "", topic: "" } : {}), ...choice };
  const address = new URLSearchParams(names.filter((name) => state[name]).map((name) => [name, state[name]]));
  history[isTyping ? "replaceState" : "pushState"](null, "", `#${address}`);
  if (isOther) offer();
  show();
}

function fromAddress() {
  const at = items.findIndex((it) => `#${anchor(it)}` === location.hash);
  state = Object.fromEntries([...new URLSearchParams(at < 0 ? location.hash.slice(1) : "")].filter(([name]) => names.includes(name)));
  offer();
  show();
  if (at < 0) return;
  more(at + 1 - shown);
  find(anchor(items[at])).focus();
}

function step(by) {
  const cards = [...document.querySelectorAll("#items article")];
  const below = cards.findIndex((it) => it.getBoundingClientRect().bottom > find("search").offsetHeight);
  const at = cards.indexOf(document.activeElement.closest("article"));
  const next = cards[at < 0 ? Math.max(below, 0) : at + by];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

function begin() {
  find("items").append(element("h2", "", words.begin), element("ol", "steps"), element("h2", "", words.sample), card(sample));
  find("items").querySelector("ol").append(...words.steps.map((it) => put(element("li"), it)));
}

for (const item of items) {
  const all = [item.id, item.kind, item.topic, item.date, ...item.facts, ...item.texts.map(([, text]) => text)].join("\n");
  [item.folded, item.leads] = [fold(all), leads(all)];
}

if (rooms.length > 1) find("rooms").append(press("", words.all_rooms, "room", items.length), ...rooms.map((room) => press(room, roomName(room), "room", items.filter((it) => it.room === room).length)));
find("order").append(new Option(words.newest, ""), new Option(words.oldest, "oldest"));
find("order").ariaLabel = words.order;
find("q").placeholder = find("q").ariaLabel = words.search;
find("more").textContent = words.more;
find("notes").append(...notes.map((it) => put(element("p"), it)));
const foot = find("foot");
foot.append(element("p", "", words.made));
if (items.length) {
  const keys = foot.appendChild(element("p")), label = keys.appendChild(element("label")), box = element("input");
  [box.type, box.id, box.checked] = ["checkbox", "keys", true];
  label.append(box, ` ${words.keys}`);
  find("search").hidden = false;
  fromAddress();
} else begin();

for (const name of ["kind", "topic", "order"]) find(name).onchange = () => go({ [name]: find(name).value });
find("q").oninput = () => go({ q: find("q").value }, true);
find("search").onsubmit = (event) => (event.preventDefault(), step(0));
find("more").onclick = () => more(AT_ONCE);
addEventListener("popstate", fromAddress);
addEventListener("beforeprint", () => more(found.length));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && event.target === find("q")) return go({ q: "", room: "", kind: "", topic: "", order: "" });
  if (event.key === "ArrowDown" && event.target === find("q")) return event.preventDefault(), step(0);
  if (!find("keys")?.checked || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  const move = { KeyJ: 1, KeyK: -1 }[event.code];
  if (event.key === "/") event.preventDefault(), find("q").focus();
  if (move) event.preventDefault(), step(move);
});
