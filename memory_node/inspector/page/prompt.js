// Prompts: what a planner's language model is sent of memory, section by section, and what it was sent in episodes.

import { atMoment, get, post } from "./api.js";
import { bar, el, link, moment, table, when } from "./dom.js";
import { notOfThen, Panel } from "./panels.js";

// Episodes whose prompts are offered.
const NEWEST = 10;

/** Return what a budget left out of a section, closed until somebody asks. */
function cutPart(one) {
  return el("details", {}, el("summary", {}, `${one.name}: ${one.cut_tokens} tokens`), el("pre", {}, one.cut.join("\n")));
}

/** Return a context's budget, sections, what was left out, and its text. */
function promptParts(context) {
  const left = context.sections.reduce((sum, one) => sum + one.cut_tokens, 0);
  const count = (one) => `${one.lines}${one.cut.length ? ` (${one.cut.length} left out)` : ""}`;
  return [
    bar("budget used", context.tokens / context.token_budget, `${context.tokens}`),
    el("h3", {}, "Sections"),
    table(["section", "tokens", "lines"], context.sections.map((one) => [one.name, one.tokens, count(one)])),
    el("h3", {}, left ? `Left out for the budget: ${left} tokens` : "Left out for the budget"),
    ...(left ? context.sections.filter((one) => one.cut.length).map(cutPart) : [el("p", { class: "soft" }, "Nothing: everything that memory has to say fits.")]),
    el("h3", {}, "As it is sent"), el("pre", {}, context.text),
  ];
}

/** Return a prompt of an episode, closed until somebody asks. */
function sentPart(one) {
  const steps = one.steps.map((index) => index + 1).join(", ");
  const head = `Sent ${when(one.stamp_s)}, ${one.tokens} tokens, for step ${steps}`;
  return el("details", {}, el("summary", {}, head), el("p", { class: "soft" }, `context ${one.context_id} · asked for “${one.instruction}”`), promptParts(one));
}

export class PromptPanel extends Panel {
  constructor(app) {
    super(app);
    this.words = el("input", { type: "text", placeholder: "bring me the apple", "aria-label": "instruction" });
    this.budget = el("input", { type: "number", min: 50, max: 20000, value: 2000 });
    this.sent = el("div", {});
    this.told = el("div", { "aria-live": "polite" });
    this.notice = notOfThen("Words of your own are answered from memory as it is now.");
    this.root.append(
      this.notice, this.sent,
      el("h3", {}, "Of words of your own"),
      el("form", { class: "ask", submit: (event) => { event.preventDefault(); this.show(); } }, this.words, el("button", { class: "main" }, "Show"), el("label", {}, "token budget", this.budget)),
      this.told);
  }

  /** Offer the prompts of the newest episodes. */
  async open() {
    this.notice.hidden = !this.app.asOf();
    const told = await get(atMoment(`/api/v1/episodes?newest=${NEWEST}`, this.app.asOf())).catch((error) => this.app.fail(error));
    if (!told) return;
    const rows = told.episodes.map((one) => [link(one.instruction || one.id, () => this.showSent(one)), moment(one.started_s)]);
    this.sent.replaceChildren(
      el("h3", {}, "As a planner was sent it"),
      rows.length ? table(["in the episode", "began"], rows) : el("p", { class: "soft" }, "No episode is remembered yet."));
  }

  async showSent(one) {
    const told = await get(`/api/v1/episodes/${encodeURIComponent(one.id)}`).catch((error) => this.app.fail(error));
    if (!told) return;
    const none = "None is kept: this planner asks memory without a language model, or memory was started since.";
    this.told.replaceChildren(
      el("h2", {}, `Sent in “${one.instruction}”`),
      ...(told.prompts.length ? told.prompts.map(sentPart) : [el("p", { class: "soft" }, none)]));
  }

  async show() {
    const body = { instruction: this.words.value || this.words.placeholder, token_budget: Number(this.budget.value) };
    const context = await post("/api/v1/get_context", body).catch((error) => this.app.fail(error));
    if (context) this.told.replaceChildren(...promptParts(context));
  }
}
