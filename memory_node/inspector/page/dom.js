// Builds elements. Text is always text: nothing that memory holds is ever read as HTML.

/** Return an element; attributes whose value is false or null are left out, functions become listeners. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Return a button that reads as a link. */
export const link = (text, click) => el("button", { type: "button", class: "link", click }, text);

/** Return a named share of one as a bar. */
export function bar(name, share, text = share.toFixed(2)) {
  const width = `${Math.round(100 * Math.min(Math.max(share, 0), 1))}%`;
  const filled = el("i");
  filled.style.width = width;
  return el("div", { class: "bar" }, el("span", {}, name), filled, el("b", {}, text));
}

/** Return a stamp in seconds as an element that breaks between its words alone. */
export const moment = (seconds) => el("time", {}, when(seconds));

/** Return a table; a row is a list of cells, numbers are set right. */
export function table(heads, rows) {
  const cell = (value) => (value instanceof Node ? el("td", {}, value) : el("td", { class: typeof value === "number" ? "number" : null }, String(value)));
  return el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell)))));
}

/** Return pairs of a name and a value as a list of terms; empty values are left out. */
export function terms(pairs) {
  const told = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return el("dl", {}, told.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** Return whether a stamp in seconds is of a clock that tells dates; small ones are of a simulated clock. */
export const isClock = (seconds) => seconds >= 1e8;

/** Return a stamp in seconds as the value of a date's input, of a simulated clock as a number. */
export function toLocal(seconds) {
  if (!isClock(seconds)) return seconds.toFixed(1);
  const at = new Date(seconds * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Return the stamp in seconds of such a value, 0 where there is none. */
export const fromLocal = (value) => (value.includes("T") ? new Date(value).getTime() / 1000 : Number(value)) || 0;

/** Return a stamp in seconds as words, of today without the date; small ones are of a simulated clock. */
export function when(seconds) {
  if (!isClock(seconds)) return `${seconds.toFixed(1)} s`;
  const at = new Date(seconds * 1000);
  const isToday = at.toDateString() === new Date().toDateString();
  return at.toLocaleString(undefined, { hourCycle: "h23", ...(isToday ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" }) });
}

const AGES = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

/** Return how long ago a stamp is at a moment, in words, both in seconds of one clock; "" where it is later. */
export function age(seconds, now) {
  if (seconds > now + 1) return "";
  const past = Math.max(now - seconds, 0);
  const [unit, length] = AGES.find((one) => past >= one[1]) ?? AGES.at(-1);
  const count = Math.round(past / length);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

/** Return a stamp in words with its age at a moment. */
export const ago = (seconds, now) => [when(seconds), age(seconds, now)].filter(Boolean).join(", ");

/** Return what an object is called: its short name ("Mug 2"), with its class where the name, which it keeps, speaks of
 * another one. */
export function nameOf(one) {
  const word = one.name.replace(/ \d+$/, "");
  return one.class.replace(/[^\p{L}\p{N}]/gu, "").startsWith(word) ? one.name || one.class : `${one.name} (${one.class})`;
}

/** Let the browser save a text as a file. */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const metres = (at) => at.map((value) => value.toFixed(2)).join(", ");

/** Size a canvas to its box on screen and clear it; return its context, scaled to CSS pixels, with the box's width and
 * height. */
export function fitted(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  const size = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

const colors = new Map();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colors.clear());

/** Return the value of a colour of the style sheet. */
export function color(name) {
  if (!colors.has(name)) colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colors.get(name);
}
