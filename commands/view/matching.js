// Finds the records that have every word of a query, the best first, and the places of the words.
// The same as core/text/matching.py and places.py, which say what is found and why: a test holds
// the two to the same hits in the same order, so a change of one is a change of both. It knows no
// page. TABLES comes from there as well: words, letters and particles.
"use strict";

const WHOLE = 0;
const BEGUN = 1;
const ANYWHERE = 2; // a whole word, the beginning of one, any part of one
const SAME = 1.0;
const FORM = 0.8;
const BEGINNING = 0.5;
const PART = 0.3;
const STRONG = TABLES.weights.strong; // a lesson, a topic
const WEAK = TABLES.weights.weak; // any other text
const NAME_WEIGHT = 4.0;
const LEAST_NAME_CHARS = 4;
const QUERY_CHARS = 1000;
const MOST_APART = 3;
const NEAR_WORDS = 3;

const FUNCTION_WORDS = new Set(TABLES.functionWords);
const OTHER_FORMS = new Map(Object.entries(TABLES.otherForms));
const PARTICLES = new RegExp(TABLES.particles);
const JOINING = new Map([
  ...TABLES.leads.map((letter, at) => [String.fromCharCode(0x1100 + at), letter]),
  ...TABLES.vowels.map((letters, at) => [String.fromCharCode(0x1161 + at), letters]),
  ...TABLES.tails.map((letters, at) => [String.fromCharCode(0x11a7 + at), letters]).slice(1),
]);
const CHUNK = /[^\t-\r \x1c-\x1f\x85\u1680\u2028\u2029\ufeff]+/g;
const LETTER_RUN = "(?:(?![\\p{Nd}\\u3040-\\u{10ffff}])[\\p{L}\\p{N}])+";
const RUN = new RegExp(`\\p{Nd}+|(?:(?![\\p{Nd}\\0-\\u303f])[\\p{L}\\p{N}])+|${LETTER_RUN}`, "gu");
const FIRST_LETTERS = new RegExp(`^${LETTER_RUN}`, "u");
const FIRST_DIGITS = /^\p{Nd}+/u;
const STARTS_HANGUL = /^[ㄱ-ㅣ가-힣]/;
const ONLY_LEADS = /^[ㄱ-ㅎ]+$/;
const ONLY_SEPARATORS = /^[-_]*$/;
const ONLY_ASCII = /^[\0-\x7f]*$/;

const ASCII_KINDS = [...Array(0x80).keys()].map((code) => {
  const char = String.fromCharCode(code);
  return /[a-z]/i.test(char) ? "letter" : /[0-9]/.test(char) ? "digit" : "";
});

// Hangul: core/text/hangul.py

const apart = (text) => text.replace(/[\u1100-\u11ff]/g, (jamo) => JOINING.get(jamo) ?? jamo);

function lettersOf(char) {
  const at = char.charCodeAt(0) - 0xac00;
  if (!(at >= 0 && at < 11172)) return char;
  return TABLES.leads[Math.floor(at / 588)] + TABLES.vowels[Math.floor(at / 28) % 21] + TABLES.tails[at % 28];
}

const inLetters = (text) => text.replace(/[가-힣]/g, lettersOf);

const inLeads = (text) =>
  text.replace(/[가-힣]/g, (syllable) => TABLES.leads[Math.floor((syllable.charCodeAt(0) - 0xac00) / 588)]);

function withoutParticle(word, least = 2) {
  const at = word.slice(least).search(PARTICLES);
  return at < 0 ? word : word.slice(0, least + at);
}

// English: core/text/english.py

function inflected(base) {
  const [stem, before, last] = [base.slice(0, -1), base.at(-2), base.at(-1)];
  if (last === "e") {
    const action = base.length > 5 && /[aeu]te$/.test(base) ? ["ion", "ions"] : [];
    return (before === "e" ? ["es"] : ["es", "ed", "ing", ...action]).map((ending) => stem + ending);
  }
  if (last === "y" && !"aeiou".includes(before)) return [stem + "ies", stem + "ied", base + "ing"];
  const forms = [base + "s"];
  if ("sxzo".includes(last) || /[cs]h$/.test(base)) forms.push(base + "es");
  if (/[aeiou][bdfgklmnprtvz]$/.test(base)) forms.push(base + last + "ed", base + last + "ing");
  if (!/^[^aeiou]*[aeiou][bdfgklmnprtvz]$/.test(base)) forms.push(base + "ed", base + "ing");
  return forms;
}

function basesOf(word) {
  const found = [];
  for (const suffix of ["s", "es", "ies", "ed", "ied", "ing", "ion", "ions"]) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, -suffix.length);
    found.push(stem, stem + "e", stem + "y", stem.slice(0, -1));
  }
  return found.filter(
    (base) =>
      (/[aeiouy]/.test(base.replace(/e$/, "")) || base + "s" === word) &&
      base.length > 1 &&
      !FUNCTION_WORDS.has(base) &&
      inflected(base).includes(word),
  );
}

function formsOf(word) {
  if (FUNCTION_WORDS.has(word) || !/^[a-z]{2,}$/.test(word)) return new Set([word]);
  const others = (base) => OTHER_FORMS.get(base) ?? [];
  const bases = [word, ...basesOf(word), ...others(word)];
  return new Set([word, ...bases.flatMap((base) => [base, ...inflected(base), ...others(base)])]);
}

// Texts

/** A text in one form for what reads the same: with and without its capital letters, equally long. */
function folded(text) {
  const cased = ONLY_ASCII.test(text) ? text : apart(text.normalize("NFKC"));
  let low = cased.toLowerCase();
  if (low.length !== cased.length) {
    low = [...cased].map((char) => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join("");
  }
  return { cased, low: low.replaceAll("ς", "σ") };
}

/** The kind of a character, "" for a sign; a word ends where it changes. */
function kindOf(char) {
  if (char < "\x80") return ASCII_KINDS[char.charCodeAt(0)] ?? "";
  if (!/^[\p{L}\p{N}]/u.test(char)) return "";
  if (/^\p{Nd}/u.test(char)) return "digit";
  return char >= "\u3040" ? "wide" : "letter";
}

const charAt = (text, at) => (at < text.length ? String.fromCodePoint(text.codePointAt(at)) : "");

/** The character before a place, whole. */
function charBefore(text, at) {
  const code = text.charCodeAt(at - 1);
  if (code < 0xdc00 || code > 0xdfff) return text[at - 1];
  const before = text.charCodeAt(at - 2);
  return before >= 0xd800 && before <= 0xdbff ? text.slice(at - 2, at) : text[at - 1];
}

const isUpper = (char) => char >= "A" && char <= "Z" && char.length === 1;
const isLower = (char) => char >= "a" && char <= "z" && char.length === 1;

/** Whether a part of a name begins here: `fee|Rate`, `HTTP|Server`. */
function changesCase(cased, at) {
  if (!at || !isUpper(cased[at])) return false;
  return isLower(cased[at - 1]) || (isUpper(cased[at - 1]) && isLower(cased[at + 1] ?? ""));
}

/** Whether a run of letters, digits or wide characters, or a part of a name, begins here. */
const begins = (text, at) =>
  !at || kindOf(charBefore(text.low, at)) !== kindOf(charAt(text.low, at)) || changesCase(text.cased, at);

function startsOf(needle, low) {
  const found = [];
  for (let at = low.indexOf(needle); at >= 0; at = low.indexOf(needle, at + 1)) found.push(at);
  return found;
}

// The query

function partOf(text, isFirst = true) {
  const kind = kindOf(charAt(text, 0));
  let forms = new Set([text]);
  if (kind === "letter") forms = formsOf(text);
  else if (kind === "wide" && STARTS_HANGUL.test(text)) {
    const stem = withoutParticle(text, isFirst ? 2 : 0);
    if (!stem) return null;
    forms = new Set([stem]);
  }
  const short = [...forms].sort();
  const needles = short.filter((form, at) => !short.slice(0, at).some((start) => form.startsWith(start)));
  const letters = needles.map(inLetters);
  return { text, kind, forms, needles, letters, mostChars: Math.max(...short.map((form) => form.length)) };
}

function chunkOf(low, cased) {
  if (ONLY_LEADS.test(low)) return { text: low, parts: [], joined: null };
  const parts = [];
  let joined = "";
  let end = 0;
  for (const run of low.matchAll(RUN)) {
    const stop = run.index + run[0].length;
    let start = run.index;
    for (let at = start + 1; at <= stop; at++) {
      if (at < stop && !changesCase(cased, at)) continue;
      const part = partOf(low.slice(start, at), !parts.length);
      if (part) parts.push(part);
      start = at;
    }
    const isJoined = kindOf(charAt(run[0], 0)) === "letter" && ONLY_SEPARATORS.test(low.slice(end, run.index));
    joined += isJoined ? run[0] : " ";
    end = stop;
  }
  const isOne = parts.length > 1 && !joined.includes(" ");
  return { text: low, parts, joined: isOne ? partOf(joined) : null };
}

const isLeads = (chunk) => ONLY_LEADS.test(chunk.text);

/** The words of a query; words without a meaning and mere signs only if there are no others. */
function chunksOf(query) {
  const form = folded([...query.slice(0, 2 * QUERY_CHARS)].slice(0, QUERY_CHARS).join(""));
  const chunks = new Map();
  for (const found of form.low.matchAll(CHUNK)) {
    const [text] = found;
    if (!chunks.has(text)) chunks.set(text, chunkOf(text, form.cased.slice(found.index, found.index + text.length)));
  }
  const all = [...chunks.values()];
  const telling = all.filter((it) => !FUNCTION_WORDS.has(it.text) && (it.parts.length || isLeads(it)));
  return telling.length ? telling : all;
}

// Places

const raw = (word, text) =>
  startsOf(word, text.low).map((start) => ({ start, end: start + word.length, worth: PART }));

/** Where syllables begin with these consonants; a single one begins a word. */
const consonants = (word, text) =>
  startsOf(word, inLeads(text.low))
    .filter((at) => word.length > 1 || begins(text, at))
    .map((start) => ({ start, end: start + word.length, worth: BEGINNING }));

/** Where the letters of a word are, the last syllable of which may not be finished. */
function letterPlaces(word, text) {
  const letters = inLetters(text.low);
  const sought = inLetters(word);
  if (!letters.includes(sought)) return [];
  const placeOf = [];
  for (let at = 0; at < text.low.length; at++) {
    for (let count = lettersOf(text.low[at]).length; count > 0; count--) placeOf.push(at);
  }
  return startsOf(sought, letters).map((at) => ({
    start: placeOf[at],
    end: placeOf[at + sought.length - 1] + 1,
    worth: BEGINNING,
  }));
}

function widePlaces(part, text, level) {
  const [needle] = part.forms;
  const isShort = needle.length === 1 && STARTS_HANGUL.test(needle);
  const places = [];
  for (const start of startsOf(needle, text.low)) {
    const end = start + needle.length;
    const isBegin = begins(text, start);
    if (!isShort || isBegin) places.push({ start, end, worth: isBegin ? SAME : FORM });
    else if (level === ANYWHERE) places.push({ start, end, worth: PART });
  }
  if (level !== WHOLE && STARTS_HANGUL.test(part.text)) places.push(...letterPlaces(part.text, text));
  return places;
}

/** The forms that begin here, if they end where a word or a part of a name does. */
function endedPlaces(part, text, start) {
  const expression = part.kind === "digit" ? FIRST_DIGITS : FIRST_LETTERS;
  const run = expression.exec(text.low.slice(start, start + part.mostChars + 1));
  const end = start + (run ? run[0].length : 0);
  const ends = [end];
  for (let at = start + 1; at < end; at++) if (changesCase(text.cased, at)) ends.push(at);
  return ends
    .filter((stop) => part.forms.has(text.low.slice(start, stop)))
    .map((stop) => ({ start, end: stop, worth: text.low.slice(start, stop) === part.text ? SAME : FORM }));
}

function partPlaces(part, text, level) {
  if (part.kind === "wide") return widePlaces(part, text, level);
  const places = [];
  for (const needle of part.needles) {
    for (const at of startsOf(needle, text.low)) {
      if (begins(text, at)) places.push(...endedPlaces(part, text, at));
    }
  }
  if (level === WHOLE) return places;
  for (const start of startsOf(part.text, text.low)) {
    const end = start + part.text.length;
    if (begins(text, start)) places.push({ start, end, worth: BEGINNING });
    else if (level === ANYWHERE) places.push({ start, end, worth: PART });
  }
  return places;
}

/** Where the parts stand side by side, with nothing but a few signs between them. */
function phrasePlaces(others, text, last, level) {
  if (others.some((places) => !places.length)) return [];
  let places = partPlaces(last, text, level);
  for (const earlier of others.toReversed()) {
    const following = new Map(places.toReversed().map((place) => [place.start, place]));
    places = [];
    for (const place of earlier) {
      let start = place.end;
      for (let signs = 0; signs <= MOST_APART; signs++) {
        const next = following.get(start);
        if (next) {
          places.push({ start: place.start, end: next.end, worth: Math.min(place.worth, next.worth) });
          break;
        }
        const sign = charAt(text.low, start);
        if (!sign || sign === "\n" || kindOf(sign)) break;
        start += sign.length;
      }
    }
  }
  return places;
}

function placesOf(chunk, text, level) {
  if (!chunk.parts.length) return isLeads(chunk) ? consonants(chunk.text, text) : raw(chunk.text, text);
  const others = chunk.parts.slice(0, -1).map((part) => partPlaces(part, text, WHOLE));
  const places = phrasePlaces(others, text, chunk.parts.at(-1), level);
  if (chunk.joined) places.push(...partPlaces(chunk.joined, text, level));
  if (level === ANYWHERE) places.push(...raw(chunk.text, text));
  return places;
}

/** The cheap question first: whether all that a word needs is anywhere in a text. */
function mayHave(chunk, entry, level) {
  if (isLeads(chunk)) return (entry.leads ??= inLeads(entry.joined)).includes(chunk.text);
  if (!chunk.parts.length) return entry.joined.includes(chunk.text);
  const isJoined = (needle) => entry.joined.includes(needle);
  if (level === WHOLE) {
    return chunk.joined?.needles.some(isJoined) || chunk.parts.every((part) => part.needles.some(isJoined));
  }
  return chunk.parts.some((part) => part.letters.some((needle) => entry.letters.includes(needle)));
}

// Searching

/** Entries as `search` takes them, from [{texts: [[weight, text], …], names: [id, date, …]}, …]. */
function searchable(entries) {
  return entries.map(({ texts, names = [] }) => {
    const forms = texts.filter(([, text]) => text).map(([weight, text]) => [weight, folded(text)]);
    const joined = forms.map(([, text]) => text.low).join("\n");
    return { texts: forms, names: names.map((name) => name.toLowerCase()), joined, letters: inLetters(joined) };
  });
}

function worthsOf(chunk, entries, level) {
  const worths = new Map();
  const isName = [...chunk.text].length >= LEAST_NAME_CHARS;
  entries.forEach((entry, at) => {
    let worth = 0;
    if (mayHave(chunk, entry, level)) {
      for (const [weight, text] of entry.texts) {
        let times = 0;
        for (const place of placesOf(chunk, text, level)) times += place.worth;
        if (times) worth += (weight * times) / (times + 1);
      }
    }
    if (isName && entry.names.some((name) => name.startsWith(chunk.text))) worth += NAME_WEIGHT;
    if (worth) worths.set(at, worth);
  });
  return worths;
}

/**
 * What a query finds in `searchable` entries: hits (their places, the best first; of equals, the
 * later first), counts (how many have each word) and sought (what `places` wants).
 * loose: words are found in the middle of others. typing: the last syllable may not be finished.
 */
function search(query, entries, { loose = false, typing = false } = {}) {
  const sought = chunksOf(query).map((chunk) => {
    let level = loose ? ANYWHERE : typing ? BEGUN : WHOLE;
    let worths = worthsOf(chunk, entries, level);
    if (!worths.size && level === WHOLE) {
      level = BEGUN;
      worths = worthsOf(chunk, entries, level);
    }
    return { chunk, level, worths };
  });
  const counts = sought.map(({ chunk, worths }) => [chunk.text, worths.size]);
  if (!sought.length) return { hits: [], counts, sought };
  const whole = sought.map(({ chunk }) => chunk.text).join(" ");
  const isPhrase = sought.length > 1 || sought[0].chunk.parts.length > 1;
  const scores = new Map();
  for (const at of sought[0].worths.keys()) {
    if (!sought.every(({ worths }) => worths.has(at))) continue;
    let score = 0;
    for (const { worths } of sought) score += worths.get(at) * Math.sqrt(entries.length / worths.size);
    if (isPhrase) for (const [weight, text] of entries[at].texts) if (text.low.includes(whole)) score += weight;
    scores.set(at, score);
  }
  const hits = [...scores.keys()].sort((one, other) => scores.get(other) - scores.get(one) || other - one);
  return { hits, counts, sought };
}

/** Where the words are in a text, as [start, end], in order; places that touch are one. */
function places(sought, text) {
  const form = folded(text);
  const found = sought.flatMap(({ chunk, level }) => placesOf(chunk, form, level));
  found.sort((one, other) => one.start - other.start || one.end - other.end);
  const merged = [];
  for (const { start, end } of found) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(end, last[1]);
    else merged.push([start, end]);
  }
  return form.cased === text ? merged : mapped(merged, text, form);
}

/** Places of a form as places of the text itself; none where the two cannot be matched. */
function mapped(merged, text, form) {
  const [starts, ends] = [[], []];
  let built = "";
  for (const found of text.matchAll(/.[\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f]*/gsu)) {
    const piece = folded(found[0]).low;
    built += piece;
    for (let count = piece.length; count > 0; count--) {
      starts.push(found.index);
      ends.push(found.index + found[0].length);
    }
  }
  return built === form.low ? merged.map(([start, end]) => [starts[start], ends[end - 1]]) : [];
}

/** How many letters to add, drop, change or swap with the next to make one the other. */
function distance(one, other) {
  let [older, before, row] = [[], [], [...Array(other.length + 1).keys()]];
  for (let at = 1; at <= one.length; at++) {
    [older, before, row] = [before, row, [at]];
    for (let place = 1; place <= other.length; place++) {
      const isOther = one[at - 1] !== other[place - 1];
      let cost = Math.min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (isOther ? 1 : 0));
      if (at > 1 && place > 1 && one[at - 1] === other[place - 2] && one[at - 2] === other[place - 1]) {
        cost = Math.min(cost, older[place - 2] + 1);
      }
      row.push(cost);
    }
  }
  return row.at(-1);
}

/** The words of the entries that are written almost like this one, the nearest first. */
function near(word, entries) {
  const sought = [...inLetters(withoutParticle(folded(word).low))];
  const most = sought.length < 6 ? 1 : 2;
  const letters = new Set(sought);
  const counts = new Map();
  for (const { texts } of entries) {
    const runs = new Set(texts.flatMap(([, text]) => text.low.match(RUN) ?? []));
    for (const run of runs) {
      const other = run < "\u3040" ? run : withoutParticle(run);
      counts.set(other, (counts.get(other) ?? 0) + 1);
    }
  }
  const found = [];
  for (const [other, count] of counts) {
    const theirs = [...inLetters(other)];
    if (Math.abs(theirs.length - sought.length) > most || theirs.length <= most + 1) continue;
    const own = new Set(theirs);
    const apartBy = theirs.filter((letter) => !letters.has(letter)).length;
    if (apartBy > most || sought.filter((letter) => !own.has(letter)).length > most) continue;
    const by = distance(sought, theirs);
    if (by <= most) found.push([by, -count, other]);
  }
  found.sort((one, other) => one[0] - other[0] || one[1] - other[1] || (one[2] < other[2] ? -1 : 1));
  return found.slice(0, NEAR_WORDS).flatMap(([by, , other]) => (by === found[0][0] ? [other] : []));
}
