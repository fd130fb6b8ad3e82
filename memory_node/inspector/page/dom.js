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

/** Return a named share of one as a bar. */
export function bar(name, share, text = share.toFixed(2)) {
  const width = `${Math.round(100 * Math.min(Math.max(share, 0), 1))}%`;
  const filled = el("i");
  filled.style.width = width;
  return el("div", { class: "bar" }, el("span", {}, name), filled, el("b", {}, text));
}

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

/** Return a stamp in seconds as words; small ones are of a simulated clock. */
export function when(seconds) {
  if (!seconds) return "never";
  if (seconds < 1e8) return `${seconds.toFixed(1)} s`;
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

export const metres = (at) => at.map((value) => value.toFixed(2)).join(", ");

/** Size a canvas to its box on screen; return its context, scaled to CSS pixels, with the box's width and height. */
export function fitted(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { context, width, height };
}

/** Return the value of a colour of the style sheet. */
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
