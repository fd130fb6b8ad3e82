// Panels that show without editing: what changed, the cache, episodes, knowledge, the prompt, the record of edits.

import { get, post } from "./api.js";
import { bar, color, el, fitted, metres, table, when } from "./dom.js";
import { Panel } from "./panels.js";

const link = (text, click) => el("button", { type: "button", class: "link", click }, text);

/** What came, went and moved since the moment of the slider. */
export class ChangesPanel extends Panel {
  changed() {
    this.open();
  }

  async open() {
    const { app } = this;
    const since = app.asOf();
    if (!since) {
      this.root.replaceChildren(el("p", { class: "soft" }, "Move the slider to an earlier moment: here stands what has changed since then."));
      return;
    }
    const told = await get(`/api/changes?from_s=${since}`).catch((error) => app.fail(error));
    if (!told) return;
    const part = (title, rows, words) => [el("h3", {}, `${title} (${rows.length})`), el("ul", { class: "plain" }, rows.map((one) => el("li", {}, link(one.class, () => app.select(one.id, true)), " ", el("span", { class: "soft" }, words(one)))))];
    this.root.replaceChildren(el("h2", {}, `Since ${when(since)}`),
      ...part("Came", told.appeared, (one) => metres(one.at)),
      ...part("Moved", told.moved, (one) => `${metres(one.from)} → ${metres(one.at)}`),
      ...part("Gone", told.gone, (one) => `was at ${metres(one.at)}`));
  }
}

/** The short-term memory: figures, the hit ratio while this page is open, units by their last use. */
export class CachePanel extends Panel {
  constructor(app) {
    super(app);
    this.ratios = [];
    setInterval(() => { if (!this.root.hidden && !document.hidden) this.open(); }, 3000);
  }

  async open() {
    let cache;
    try {
      cache = await get("/api/cache");
    } catch (error) {
      this.root.replaceChildren(el("p", { class: "soft" }, error.message));
      return;
    }
    const { figures, units } = cache;
    this.ratios = [...this.ratios, figures.hit_ratio].slice(-200);
    const chart = el("canvas", { class: "line", role: "img", "aria-label": `hit ratio, now ${figures.hit_ratio.toFixed(2)}` });
    this.root.replaceChildren(
      el("h2", {}, `Short-term memory: ${figures.policy}`),
      bar("occupancy", figures.occupancy ?? units.length / figures.capacity, `${units.length}/${figures.capacity}`),
      bar("hit ratio", figures.hit_ratio),
      el("h3", {}, "Hit ratio while this page is open"), chart,
      el("h3", {}, "Figures"),
      table(["", ""], Object.entries(figures).filter(([name]) => !["policy", "hit_ratio", "occupancy"].includes(name)).map(([name, value]) => [name.replaceAll("_", " "), typeof value === "number" ? Math.round(value * 1000) / 1000 : String(value)])),
      el("h3", {}, "Units, used longest ago first"),
      units.length ? table(["", "last used", "by"], units.slice(0, 300).map((unit) => [link(unit.class, () => this.app.select(unit.id, true)), when(unit.used_s), unit.by])) : el("p", { class: "soft" }, "it is empty"));
    this.draw(chart);
  }

  draw(chart) {
    const { context, width, height } = fitted(chart);
    context.strokeStyle = color("accent");
    context.lineWidth = 2;
    context.beginPath();
    this.ratios.forEach((ratio, i) => context.lineTo((i * width) / Math.max(this.ratios.length - 1, 1), height - 4 - ratio * (height - 8)));
    if (this.ratios.length === 1) context.lineTo(width, height - 4 - this.ratios[0] * (height - 8));
    context.stroke();
  }
}

/** Episodes with their steps and what was learnt from them. */
export class EpisodesPanel extends Panel {
  async open() {
    const told = await get("/api/episodes").catch((error) => this.app.fail(error));
    if (!told) return;
    const outcome = (one) => (one.success === null ? (one.ended_s ? "unknown" : "running") : one.success ? "done" : "failed");
    this.steps = el("div", {});
    const rows = told.episodes.map((one) => [link(one.instruction || one.task_type || one.id, () => this.show(one)), outcome(one), when(one.started_s)]);
    this.root.replaceChildren(
      ...(told.running ? [el("h2", {}, "The running episode"), el("pre", {}, told.running)] : []),
      el("h2", {}, "Episodes"),
      rows.length ? table(["instruction", "outcome", "began"], rows) : el("p", { class: "soft" }, "none is remembered"),
      this.steps);
  }

  async show(one) {
    const told = await get(`/api/episodes/${encodeURIComponent(one.id)}`).catch((error) => this.app.fail(error));
    if (!told) return;
    const mark = (step) => el("span", { class: step.success ? "good" : "bad" }, step.success ? "done" : step.reason.replaceAll("_", " "));
    this.steps.replaceChildren(
      el("h3", {}, `“${one.instruction}”, attempt ${one.attempt}`),
      table(["#", "action", "outcome", "room", "holds"], told.steps.map((step) => [step.index, step.action, mark(step), step.room, step.held])),
      el("h3", {}, "Guidelines that rest on it"),
      told.guidelines.length ? el("ul", {}, told.guidelines.map((line) => el("li", {}, line.text))) : el("p", { class: "soft" }, "none"));
    this.steps.scrollIntoView({ block: "nearest" });
  }
}

/** Statements around a concept, as a graph and as a list; telling a fact. */
export class KnowledgePanel extends Panel {
  constructor(app) {
    super(app);
    this.concept = el("input", { type: "search", placeholder: "mug, kitchen, Anna, …", "aria-label": "concept" });
    this.fact = el("input", { type: "text", placeholder: "Anna likes black tea", "aria-label": "a fact" });
    this.told = el("div", { "aria-live": "polite" });
    const tell = async (event) => {
      event.preventDefault();
      const text = this.fact.value.trim();
      if (text && (await app.edit("tell_fact", { text, wait_s: app.waitS }, `Tell memory “${text}”? You have ${app.waitS} seconds to call it off.`))) this.fact.value = "";
    };
    this.teller = el("form", { class: "ask", submit: tell }, this.fact, el("button", {}, "Tell a fact"));
    this.root.append(
      el("form", { class: "ask", role: "search", submit: (event) => { event.preventDefault(); this.show(this.concept.value.trim()); } }, this.concept, el("button", { class: "main" }, "Show")),
      this.teller, this.told);
  }

  open() {
    this.teller.hidden = !this.app.canEdit("edit");
  }

  async show(concept) {
    if (!concept) return;
    this.concept.value = concept;
    const statements = await get(`/api/knowledge?concept=${encodeURIComponent(concept)}`).catch((error) => this.app.fail(error));
    if (!statements) return;
    const around = [...new Set(statements.flatMap((one) => one.concepts))].filter((one) => one !== concept).slice(0, 14);
    this.told.replaceChildren(
      statements.length ? this.graph(concept, around) : el("p", { class: "soft" }, "Nothing is known of it."),
      el("ol", { class: "plain" }, statements.map((one) => el("li", { class: "answer" }, one.text, el("div", { class: "why" }, `${when(one.stamp_s)} · ${one.support} sources (${one.sources.slice(-3).join(", ")}) · read by ${one.made_by}${one.active ? "" : " · replaced"}`)))));
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
      return [circle, svg("text", { x, y: y - radius - 4, "text-anchor": "middle" }, name)];
    };
    return svg("svg", { class: "graph", viewBox: "0 0 360 260", role: "group", "aria-label": `concepts around ${concept}` },
      ...nodes.map(({ x, y }) => svg("line", { x1: 180, y1: 130, x2: x, y2: y })),
      ...nodes.flatMap((one) => node(one, 6)), ...node({ name: concept, x: 180, y: 130 }, 9));
  }
}

/** The prompt as a planner's language model is sent it. */
export class PromptPanel extends Panel {
  constructor(app) {
    super(app);
    this.words = el("input", { type: "text", placeholder: "bring me the apple", "aria-label": "instruction" });
    this.budget = el("input", { type: "number", min: 50, max: 20000, value: 2000, "aria-label": "token budget" });
    this.told = el("div", { "aria-live": "polite" });
    this.root.append(el("form", { class: "ask", submit: (event) => { event.preventDefault(); this.show(); } }, this.words, this.budget, el("button", { class: "main" }, "Show")), this.told);
  }

  async show() {
    const body = { instruction: this.words.value || this.words.placeholder, token_budget: Number(this.budget.value) };
    const context = await post("/api/get_context", body).catch((error) => this.app.fail(error));
    if (!context) return;
    this.told.replaceChildren(
      bar("budget used", context.tokens / context.token_budget, `${context.tokens}`),
      el("h3", {}, "Sections"),
      ...context.sections.map((one) => bar(one.name, one.tokens / Math.max(context.tokens, 1), `${one.tokens}`)),
      el("h3", {}, "As it is sent"), el("pre", {}, context.text));
  }
}

/** Who changed what here, and the way back. */
export class EditsPanel extends Panel {
  changed() {
    this.open();
  }

  async open() {
    const edits = await get("/api/edits").catch((error) => this.app.fail(error));
    if (!edits) return;
    const { app } = this;
    const rows = edits.map((one) => [one.what, one.who, `${one.state}${one.message ? `: ${one.message}` : ""}`, one.undoable && app.canEdit("edit") ? el("button", { type: "button", click: () => app.undo(one.id) }, "Undo") : ""]);
    const confirm = app.canEdit("edit") && !app.scene().frame_verified ? el("div", { class: "actions" }, el("button", { type: "button", click: () => app.edit("confirm_relocalization", { wait_s: app.waitS }, "Is the robot localised in the map that this memory was built in?") }, "Confirm the map")) : "";
    this.root.replaceChildren(el("h2", {}, "Edits made here"), confirm, rows.length ? table(["what", "who", "state", ""], rows) : el("p", { class: "soft" }, "none yet"));
  }
}
