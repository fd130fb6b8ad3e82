// Panels that show without editing: what changed, knowledge, the record of edits.

import { atMoment, get } from "./api.js";
import { el, link, metres, moment, nameOf, table, when } from "./dom.js";
import { Panel } from "./panels.js";

const SPANS = [["10 minutes", 600], ["an hour", 3600], ["a day", 86400], ["all there is", Infinity]];
// Sources of a statement that are named.
const SOURCES = 3;
// Letters of a concept's name in the drawing.
const LONGEST = 24;
// A thing that is less surely there, or of its class, is told as doubtful.
const SURE = 0.7;
const DOUBTFUL_CLASS = 0.5;

/** Return what is doubtful of an object in words, "" where nothing is. */
export function doubt(one) {
  if (one.existence < SURE) return `doubtful: there with ${one.existence.toFixed(2)}`;
  return one.p < DOUBTFUL_CLASS ? `doubtful: ${one.class} with ${one.p.toFixed(2)}` : "";
}

/** What came, went and moved since the moment of the slider. */
export class ChangesPanel extends Panel {
  async open() {
    const { app } = this;
    const since = app.asOf();
    if (!since) {
      const back = ([title, seconds]) => el("button", { type: "button", click: () => app.timeline.goBack(seconds) }, title);
      this.root.replaceChildren(
        el("p", {}, "What has changed since an earlier moment? Move the slider below the view, or go back by"),
        el("div", { class: "actions" }, SPANS.map(back)));
      return;
    }
    const told = await get(`/api/v1/changes?from_s=${since}`).catch((error) => app.fail(error));
    if (!told) return;
    const part = (title, rows, words) => [el("h3", {}, `${title} (${rows.length})`), rows.length ? "" : el("p", { class: "soft" }, "none"), el("ul", { class: "plain" }, rows.map((one) => el("li", {}, link(nameOf(one), () => app.select(one.id, true)), " ", el("span", { class: "soft" }, words(one)), doubt(one) ? el("span", { class: "warning" }, ` ${doubt(one)}`) : "")))];
    this.root.replaceChildren(el("h2", {}, `Changed since ${when(since)}`),
      el("p", { class: "soft" }, "The view shows the home as it was then. ", link("Back to now", () => app.timeline.goTo(0))),
      ...part("Came", told.appeared, (one) => metres(one.at)),
      ...part("Moved", told.moved, (one) => `${metres(one.from)} → ${metres(one.at)}`),
      ...part("Gone", told.gone, (one) => `was at ${metres(one.at)}`));
  }
}

/** Statements around a concept, as a graph and as a list; telling a fact. */
export class KnowledgePanel extends Panel {
  constructor(app) {
    super(app);
    this.shown = ""; // the concept that is shown; "": what people told last
    this.concept = el("input", { type: "search", placeholder: "mug, kitchen, Anna, …", "aria-label": "concept" });
    this.concept.addEventListener("input", () => { if (!this.concept.value) this.show(""); });
    this.fact = el("input", { type: "text", placeholder: "Anna likes black tea", "aria-label": "a fact" });
    this.told = el("div", { "aria-live": "polite" });
    const tell = async (event) => {
      event.preventDefault();
      const text = this.fact.value.trim();
      if (text && (await app.edit("tell_fact", { text }, `Tell memory “${text}”?`))) this.fact.value = "";
    };
    this.teller = el("form", { class: "ask", submit: tell }, this.fact, el("button", {}, "Tell a fact"));
    this.root.append(
      el("form", { class: "ask", role: "search", submit: (event) => { event.preventDefault(); this.show(this.concept.value.trim()); } }, this.concept, el("button", { class: "main" }, "Show")),
      this.teller, this.told);
  }

  open() {
    this.teller.hidden = !this.app.canEdit("edit");
    this.show(this.shown);
  }

  refresh() { this.open(); }

  /** Show the statements around a concept; "": what people told last. */
  async show(concept) {
    if (concept !== this.shown) [this.shown, this.concept.value] = [concept, concept];
    const { app } = this;
    const statements = await get(atMoment(`/api/v1/knowledge?concept=${encodeURIComponent(concept)}`, app.asOf())).catch((error) => app.fail(error));
    const words = JSON.stringify([concept, statements, app.asOf()]);
    if (!statements || concept !== this.shown || words === this.words) return;
    this.words = words;
    const around = [...new Set(statements.flatMap((one) => one.concepts))].filter((one) => one.toLowerCase() !== concept.toLowerCase()).slice(0, 14);
    const nobody = app.asOf() ? "Nobody had told anything then." : "Nobody has told anything yet.";
    const none = concept ? `Nothing ${app.asOf() ? "was known then" : "is known"} of “${concept}”.` : nobody;
    this.told.replaceChildren(
      concept ? "" : el("h2", {}, "What people told, the newest first"),
      statements.length ? (concept && this.graph(concept, around)) : el("p", { class: "soft" }, none),
      el("ol", { class: "plain" }, statements.map((one) => this.statement(one))));
  }

  /** Return a statement with who told or showed it and when, and what takes it back. */
  statement(one) {
    const { app } = this;
    const origin = one.told ? [`told${one.teller ? ` by ${one.teller}` : ""} ${when(one.stamp_s)}`] : [`${when(one.stamp_s)} · read by ${one.made_by} · from `, this.sources(one)];
    const retract = () => app.edit("retract_fact", { text: one.text }, `Does “${one.text}” no longer count?`);
    return el("li", { class: "answer" },
      el("div", { class: "head" }, el("span", {}, one.text), app.canEdit("edit") && one.active ? el("button", { type: "button", class: "danger", click: retract }, "Remove") : ""),
      el("div", { class: "why" }, origin, one.active ? "" : " · replaced by a newer one"));
  }

  /** Return links to the newest episodes that a statement was read from; what is no step of one is named. */
  sources({ sources, support }) {
    const shown = sources.slice(-SOURCES).map((source) => {
      const [, episode, step] = /^(.+):(\d+)$/.exec(source) ?? [];
      return episode ? link(`step ${Number(step) + 1}`, () => this.app.showEpisode(episode)) : source;
    });
    const more = support > shown.length ? ` and ${support - shown.length} more` : "";
    return shown.length ? [...shown.flatMap((one, i) => (i ? [", ", one] : [one])), more] : "unknown";
  }

  graph(concept, around) {
    const svg = (tag, attributes, ...children) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      made.append(...children);
      return made;
    };
    const nodes = around.map((name, i) => {
      const angle = (2 * Math.PI * i) / around.length;
      return { name, x: 180 + 118 * Math.cos(angle), y: 130 + 96 * Math.sin(angle) };
    });
    const node = ({ name, x, y }, radius) => {
      const circle = svg("circle", { cx: x, cy: y, r: radius, tabindex: 0, role: "button", "aria-label": `show ${name}` });
      circle.addEventListener("click", () => this.show(name));
      circle.addEventListener("keydown", (event) => { if (event.key === "Enter") this.show(name); });
      return [circle, svg("text", { x, y: y - radius - 4, "text-anchor": "middle" }, name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name)];
    };
    return svg("svg", { class: "graph", viewBox: "0 0 360 260", role: "group", "aria-label": `concepts around ${concept}` },
      ...nodes.map(({ x, y }) => svg("line", { x1: 180, y1: 130, x2: x, y2: y })),
      ...nodes.flatMap((one) => node(one, 6)), ...node({ name: concept, x: 180, y: 130 }, 9));
  }
}

/** Who changed what here, and the way back. */
export class EditsPanel extends Panel {
  refresh() { this.open(); }

  async open() {
    const edits = await get("/api/v1/edits").catch((error) => this.app.fail(error));
    if (!edits) return;
    const { app } = this;
    const rows = edits.map((one) => [one.what, one.who, moment(one.stamp_s), `${one.state}${one.message ? `: ${one.message}` : ""}`, one.undoable && app.canEdit("edit") ? el("button", { type: "button", click: () => app.undo(one.id) }, "Undo") : ""]);
    const confirm = app.canEdit("edit") && !app.scene().frame_verified ? el("div", { class: "actions" }, el("button", { type: "button", click: () => app.edit("confirm_relocalization", { wait_s: app.waitS }, "Is the robot localised in the map that this memory was built in?") }, "Confirm the map")) : "";
    this.root.replaceChildren(el("h2", {}, "Edits made here"), confirm, rows.length ? table(["what", "who", "when", "state", ""], rows) : el("p", { class: "soft" }, "Nothing has been edited here yet. Rename, move, state, merge, split and delete are on an object's card."));
  }
}
