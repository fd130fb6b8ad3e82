// Episodes: what was done and how it went, what memory warned of, which guidance it gave at each step.

import { atMoment, get } from "./api.js";
import { el, link, moment, table, when } from "./dom.js";
import { Panel } from "./panels.js";

const MOST = 50;
const DELIVERED = { experience: "guidance", brief: "changes of the brief state", hybrid: "guidance and changes of the brief state", noaction: "nothing new" };
const OUTCOMES = { running: "", unknown: "", done: "good", failed: "bad" };

function outcomeOf(one) {
  if (one.success === null) return one.ended_s ? "unknown" : "running";
  return one.success ? "done" : "failed";
}

/** Return what an episode took in words, of the robot and of a language model. */
function costOf({ robot_s: robot, tokens_in: read, tokens_cached: cached, tokens_out: written, replies, model_s: model, usd }) {
  const share = read ? ` (${Math.round((100 * cached) / read)} % cached)` : "";
  const ofModel = replies ? [`language model ${model.toFixed(1)} s, asked ${replies} times`, `${read} tokens read${share}, ${written} written`, usd ? `$${usd.toFixed(4)}` : "no price given"] : ["no language model"];
  return [`robot ${robot.toFixed(1)} s`, ...ofModel].join(" · ");
}

const marked = (text) => el("span", { class: OUTCOMES[text] ?? "bad" }, text);

function stepRow(step) {
  const outcome = step.success ? "done" : step.reason.replaceAll("_", " ");
  const where = [step.room, step.held && `holds ${step.held}`, step.duration_s ? `${step.duration_s.toFixed(1)} s` : ""].filter(Boolean).join(" · ");
  return el("li", { class: "answer" },
    el("div", { class: "head" }, el("span", { class: "rank" }, `${step.index + 1}.`), el("span", {}, step.action), marked(outcome)),
    el("div", { class: "why" }, where, step.message ? el("div", {}, step.message) : "", step.reasoning ? el("div", {}, `Why: ${step.reasoning}`) : ""),
    step.warnings.map((text) => el("div", { class: "why warning" }, `Warning: ${text}`)));
}

function guidanceRow(one, index) {
  return el("li", { class: "answer" },
    el("div", { class: "head" }, el("span", { class: "rank" }, `${index + 1}.`), el("span", {}, one.guidance || el("span", { class: "soft" }, one.lessons.length ? "a lesson in words" : "no guidance"))),
    el("div", { class: "why" }, [one.problem, DELIVERED[one.delivery] ?? one.delivery, `${one.ms.toFixed(1)} ms`].filter(Boolean).join(" · ")),
    one.lessons.map((text) => el("div", { class: "why" }, `Lesson: ${text}`)),
    el("details", { class: "why" },
      el("summary", {}, one.changes.length ? `brief state, ${one.changes.length} changed` : "brief state"),
      one.changes.map((text) => el("div", {}, text)), el("pre", {}, one.state.join("\n"))));
}

const guidelines = (rows) => (rows.length
  ? el("ul", {}, rows.map((one) => el("li", {}, one.text, " ", el("span", { class: "soft" }, one.tried ? `helped ${one.helped} of ${one.tried} times` : "not tried yet"))))
  : el("p", { class: "soft" }, "none"));

export class EpisodesPanel extends Panel {
  constructor(app) {
    super(app);
    this.list = el("div", {});
    this.detail = el("div", { tabIndex: -1 });
    this.root.append(this.list, this.detail);
  }

  open() { return this.list.hidden ? this.refresh() : this.showList(); }
  changed() { this.refresh(); }

  /** Ask again for what is shown: episodes begin, go on and end. */
  refresh() {
    return this.list.hidden ? this.showId(this.shownId, false) : this.showList();
  }

  async showList() {
    const told = await this.episodes();
    const words = JSON.stringify(told);
    if (!told || words === this.words) return;
    this.words = words;
    const rows = told.episodes.map((one) => [link(one.instruction || one.task_type || one.id, () => this.show(one)), marked(outcomeOf(one)), moment(one.started_s)]);
    this.list.replaceChildren(
      ...(told.running ? [el("h2", {}, "The running episode"), el("pre", {}, told.running)] : []),
      el("h2", {}, this.app.asOf() ? "Episodes that had begun then" : "Episodes"),
      rows.length ? table(["instruction", "outcome", "began"], rows) : el("p", { class: "soft" }, "None is remembered yet. One begins when the robot is given an instruction."),
      rows.length === MOST ? el("p", { class: "soft" }, `the newest ${MOST}`) : "");
  }

  episodes() {
    return get(atMoment("/api/v1/episodes", this.app.asOf())).catch((error) => this.app.fail(error));
  }

  /** Show an episode that something else names; isNew: it is not the one that is shown. */
  async showId(id, isNew = true) {
    const told = await this.episodes();
    const one = told?.episodes.find((found) => found.id === id);
    if (one) await this.show(one, isNew);
    else if (told && isNew) this.app.fail(new Error(`This episode is not among the newest ${MOST}.`));
  }

  showAll() {
    this.shownId = this.shownWords = null;
    this.detail.replaceChildren();
    this.list.hidden = false;
    this.app.writeLink();
    this.showList();
  }

  async show(one, isNew = true) {
    const told = await get(`/api/v1/episodes/${encodeURIComponent(one.id)}`).catch((error) => this.app.fail(error));
    if (!told) return;
    const asOf = this.app.asOf();
    const steps = told.steps.filter((step) => !asOf || step.stamp_s <= asOf);
    const words = JSON.stringify([one, told, asOf]);
    if (words === this.shownWords) return;
    [this.shownId, this.shownWords] = [one.id, words];
    const failed = steps.filter((step) => !step.success).length;
    const back = link("← all episodes", () => this.showAll());
    this.list.hidden = true;
    this.detail.replaceChildren(
      back,
      el("h2", {}, `“${one.instruction}”`),
      el("p", {}, marked(outcomeOf(one)), ` · attempt ${one.attempt} · ${steps.length} steps${failed ? `, ${failed} failed` : ""} · began ${when(one.started_s)}`),
      el("p", { class: "soft cost" }, costOf(told.cost)),
      told.notes.length ? el("ul", {}, told.notes.map((text) => el("li", {}, `“${text}”`))) : "",
      el("h3", {}, "Steps"), el("ol", { class: "plain" }, steps.map(stepRow)),
      el("h3", {}, "Guidance by step"),
      told.compiled.length ? el("ol", { class: "plain" }, told.compiled.slice(0, steps.length).map(guidanceRow)) : el("p", { class: "soft" }, "None is kept: the compiler did not run in this episode, or memory was started since."),
      el("h3", {}, "Lessons that it used"), guidelines(told.used),
      el("h3", {}, "Lessons that it taught"), guidelines(told.guidelines));
    if (isNew) back.focus();
    this.app.writeLink();
  }
}
