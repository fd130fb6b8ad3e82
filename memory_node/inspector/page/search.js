// Search by words: ranked answers with what ranks them, or an answer in words; without words a list of all objects.

import { post } from "./api.js";
import { bar, el, when } from "./dom.js";
import { Panel } from "./panels.js";

const LISTED = 200;
const ALPHABETIC = new Intl.Collator();

export class SearchPanel extends Panel {
  /** app: scene(), asOf(), select(id), mark(ids), fail(error). */
  constructor(app) {
    super(app);
    this.words = el("input", { type: "search", placeholder: "mug, the red fruit, …", "aria-label": "what to look for" });
    this.kind = el("select", { "aria-label": "where to look" },
      el("option", { value: "find_objects" }, "things, in long-term memory"),
      el("option", { value: "recall_objects" }, "things just seen or used, in short-term memory"),
      el("option", { value: "locate_object" }, "where is it, or where to look for it"),
      el("option", { value: "ask_memory" }, "a question, to what is known"));
    this.kind.addEventListener("change", () => { if (this.words.value.trim()) this.ask(); });
    const form = el("form", { class: "ask", role: "search", submit: (event) => { event.preventDefault(); this.ask(); } }, this.words, el("button", { class: "main" }, "Search"), this.kind);
    this.words.addEventListener("input", () => { if (!this.words.value) this.list(); });
    this.results = el("div", { "aria-live": "polite" });
    this.root.append(form, this.results);
  }

  open() {
    if (!this.words.value) this.list();
  }

  changed() {
    this.open();
  }

  list() {
    const objects = [...this.app.scene().objects].sort((a, b) => ALPHABETIC.compare(a.class, b.class));
    const rows = objects.slice(0, LISTED).map((one) => el("li", {}, el("button", { type: "button", class: "link", click: () => this.app.select(one.id, true) }, one.class), " ", el("span", { class: "soft" }, [one.states.join(", "), this.app.roomOf(one.area)].filter(Boolean).join(" · "))));
    const more = objects.length > LISTED ? el("p", { class: "soft" }, `and ${objects.length - LISTED} more: search for them`) : null;
    this.app.mark([]);
    this.results.replaceChildren(el("p", { class: "soft" }, objects.length ? `${objects.length} objects are remembered` : "Nothing is remembered yet. Objects appear here as the robot sees them."), el("ul", { class: "plain objects" }, rows), more ?? "");
  }

  async ask() {
    const text = this.words.value.trim();
    if (!text) return this.list();
    try {
      if (this.kind.value === "ask_memory") return this.tell(await post("/api/ask_memory", { question: text }));
      const asOf = this.kind.value === "find_objects" ? { as_of_s: this.app.asOf() } : {};
      const found = await post(`/api/${this.kind.value}`, { text, k: 10, ...asOf });
      this.show(found);
    } catch (error) {
      this.app.fail(error);
    }
  }

  tell(answer) {
    this.app.mark([]);
    const told = answer.propositions.map((one) => el("li", { class: "answer" }, one.text, el("div", { class: "why" }, `${when(one.stamp_s)}, shown or said ${one.support} times, read by ${one.made_by}`)));
    this.results.replaceChildren(
      el("pre", {}, answer.answer ?? "Nothing that is known answers this."),
      bar("confidence", answer.confidence),
      el("h3", {}, "It rests on"),
      told.length ? el("ol", { class: "plain" }, told) : el("p", { class: "soft" }, "nothing"));
  }

  show(found) {
    this.app.mark(found.objects.map((one) => one.object_id));
    const answers = found.objects.map((one, index) => el("li", { class: "answer" },
      el("div", { class: "head" },
        el("span", { class: "rank" }, `${index + 1}.`),
        el("button", { type: "button", class: "link", click: () => this.app.select(one.object_id, true) }, one.object_class),
        el("span", { class: "soft" }, [one.room, one.states.join(", "), one.status === "ok" ? "" : one.status.replaceAll("_", " ")].filter(Boolean).join(" · "))),
      el("div", { class: "why" }, bar("relevance", one.score), bar("class", one.class_probability), bar("still there", one.existence), one.why.slice(3).join("; "))));
    const areas = (found.areas ?? []).map((area) => el("li", {}, bar(area.name, area.probability), el("div", { class: "why" }, area.reason)));
    this.results.replaceChildren(
      el("p", { class: "soft" }, found.objects.length ? `${found.objects.length} ${found.objects.length === 1 ? "answer" : "answers, best first"}` : `Memory has no answer: ${found.explanation || "nothing fits"}`),
      el("ol", { class: "plain" }, answers),
      ...(areas.length ? [el("h3", {}, "Where to look"), el("ol", { class: "plain" }, areas)] : []));
  }
}
