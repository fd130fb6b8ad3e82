// The short-term memory as its replacement policy sees it: what it holds, in which segment, and what would go next.

import { get } from "./api.js";
import { bar, color, el, fitted, link, table, when } from "./dom.js";
import { notOfThen, Panel } from "./panels.js";

const LISTED = 300;
const SHOWN_ABOVE = ["policy", "hit_ratio", "occupancy"];

/** The short-term memory: figures, the hit ratio over time, units by when they would go. */
export class CachePanel extends Panel {
  refresh() { this.open(); }

  async open() {
    if (this.app.asOf()) {
      this.root.replaceChildren(notOfThen("The short-term memory holds what is in use now; what it held then is not kept."));
      return;
    }
    let cache;
    try {
      cache = await get("/api/v1/cache");
    } catch (error) {
      this.root.replaceChildren(el("p", { class: "soft" }, error.message));
      return;
    }
    const { figures, units, hits } = cache;
    const asked = figures.lookups > 0;
    const chart = el("canvas", { class: "line", role: "img", "aria-label": `hit ratio over time, now ${figures.hit_ratio.toFixed(2)}` });
    const isFull = units.length >= figures.capacity;
    this.root.replaceChildren(
      el("h2", {}, `Short-term memory: ${figures.policy}`),
      bar("occupancy", figures.occupancy ?? units.length / figures.capacity, `${units.length}/${figures.capacity}`),
      bar("hit ratio", figures.hit_ratio, asked ? undefined : "–"),
      el("h3", {}, "Hit ratio over time"),
      hits.length ? chart : el("p", { class: "soft" }, "Nothing has been asked of it yet."),
      ...(hits.length ? [el("p", { class: "soft ends" }, el("span", {}, when(hits[0][0])), el("span", {}, "now"))] : []),
      units.length ? el("h3", {}, "Segments") : "",
      ...segments(units).map(([name, count]) => bar(name, count / Math.max(units.length, 1), `${count}`)),
      el("h3", {}, "What would go next"),
      el("p", { class: "soft" }, units.length ? nextOut(units, isFull) : "It is empty."),
      units.length ? table(["", "", "segment", "last used", "by"], units.slice(0, LISTED).map((unit, i) => [i + 1, link(unit.class, () => this.app.select(unit.id, true)), `${unit.segment}${unit.pinned ? ", kept" : ""}`, when(unit.used_s), unit.by])) : "",
      units.length > LISTED ? el("p", { class: "soft" }, `and ${units.length - LISTED} more`) : "",
      el("h3", {}, "Figures"),
      table(["", ""], Object.entries(figures).filter(([name]) => !SHOWN_ABOVE.includes(name)).map(([name, value]) => [name.replaceAll("_", " "), typeof value === "number" ? Math.round(value * 1000) / 1000 : String(value)])));
    if (hits.length) this.draw(chart, hits);
  }

  draw(chart, hits) {
    const { context, width, height } = fitted(chart);
    const [first, last] = [hits[0][0], hits.at(-1)[0]];
    const across = (at) => (last > first ? ((at - first) * width) / (last - first) : width);
    const down = (ratio) => height - 4 - ratio * (height - 8);
    context.strokeStyle = color("line");
    for (const ratio of [0, 0.5, 1]) context.strokeRect(0, down(ratio), width, 0);
    context.strokeStyle = color("accent");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(0, down(hits[0][1]));
    for (const [at, ratio] of hits) context.lineTo(across(at), down(ratio));
    context.stroke();
  }
}

/** Return the segments with their counts, the fullest first. */
function segments(units) {
  const counts = new Map();
  for (const { segment } of units) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function nextOut(units, isFull) {
  const next = units.find((unit) => !unit.pinned) ?? units[0];
  return isFull ? `A new object would push out the ${next.class} of the first row. The order is what it would be if nothing were used again.`
    : "There is still room, so nothing has to go. Were it full, units would go in this order.";
}
