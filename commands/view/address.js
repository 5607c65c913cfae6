// The state of the page and its address are one: what can be seen can be linked, and gone back to.
"use strict";

const CHOICES = ["q", "loose", "type", "author", "since", "sort", "topics", "theme"];

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
