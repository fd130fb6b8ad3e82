// Search by words: ranked answers with what ranks them, or an answer in words; without words a list of all objects.

import { post } from "./api.js";
import { age, bar, download, el, nameOf, when } from "./dom.js";
import { notOfThen, Panel } from "./panels.js";
import { doubt } from "./views.js";

const LISTED = 200;
const ALPHABETIC = new Intl.Collator();
// The only kind of question that memory answers of an earlier time.
const OF_THEN = "find_objects";
const COLUMNS = ["id", "name", "class", "p", "existence", "sigma", "room", "where", "x", "y", "z", "states", "seen_s"];

export class SearchPanel extends Panel {
  /** app: scene(), asOf(), moment(), whereOf(object), roomOf(area), select(id), mark(ids), fail(error). */
  constructor(app) {
    super(app);
    this.words = el("input", { type: "search", placeholder: "mug, the red fruit, …", "aria-label": "what to look for" });
    this.kind = el("select", { "aria-label": "where to look" },
      el("option", { value: OF_THEN }, "things, in long-term memory"),
      el("option", { value: "recall_objects" }, "things just seen or used, in short-term memory"),
      el("option", { value: "locate_object" }, "where is it, or where to look for it"),
      el("option", { value: "ask_memory" }, "a question, to what is known"));
    this.kind.addEventListener("change", () => { if (this.words.value.trim()) this.ask(); });
    const form = el("form", { class: "ask", role: "search", submit: (event) => { event.preventDefault(); this.ask(); } }, this.words, el("button", { class: "main" }, "Search"), this.kind);
    this.words.addEventListener("input", () => { if (!this.words.value) this.list(); });
    const filter = (title) => el("select", { "aria-label": title, change: () => this.again() });
    [this.room, this.state, this.sure] = ["room", "state", "how sure"].map(filter);
    this.sure.append(...[["", "unsure too"], ["0.5", "0.5 or more"], ["0.8", "0.8 or more"], ["doubtful", "doubtful"]].map(([value, title]) => el("option", { value }, title)));
    const save = (title, write) => el("button", { type: "button", click: write }, title);
    this.results = el("div", { "aria-live": "polite" });
    this.root.append(form, el("div", { class: "filters" }, this.room, this.state, this.sure), this.results,
      el("div", { class: "actions" }, save("Download as JSON", () => this.saveJson()), save("Download as CSV", () => this.saveCsv())));
    this.shown = [];
  }

  open() {
    const scene = this.app.scene();
    const options = (select, all, values) => {
      const chosen = select.value;
      select.replaceChildren(el("option", { value: "" }, all), ...values.map((value) => el("option", { value }, value.replaceAll("_", " "))));
      select.value = values.includes(chosen) ? chosen : "";
    };
    const distinct = (values) => [...new Set(values)].filter(Boolean).sort(ALPHABETIC.compare);
    options(this.room, "all rooms", distinct(scene.rooms.map((one) => one.name)));
    options(this.state, "all states", distinct(scene.objects.flatMap((one) => one.states)));
    if (!this.words.value) this.list();
    else if (this.askedAsOf !== this.app.asOf()) this.ask();
  }

  again() {
    if (this.words.value.trim()) this.ask();
    else this.list();
  }

  /** Return whether an object of the scene passes the filters. */
  passes(one) {
    const sure = this.sure.value;
    return (!this.room.value || this.app.roomOf(one.area) === this.room.value)
      && (!this.state.value || one.states.includes(this.state.value))
      && (!sure || (sure === "doubtful" ? Boolean(doubt(one)) : one.existence >= Number(sure)));
  }

  /** Return where an object is and when it was seen, in words. */
  told(one) {
    return [one.states.join(", "), this.app.whereOf(one), age(one.seen_s, this.app.moment())].filter(Boolean).join(" · ");
  }

  list() {
    const all = this.app.scene().objects;
    const objects = all.filter((one) => this.passes(one)).sort((a, b) => ALPHABETIC.compare(nameOf(a), nameOf(b)));
    const doubtful = (one) => (doubt(one) ? el("span", { class: "warning" }, doubt(one)) : "");
    const rows = objects.slice(0, LISTED).map((one) => el("li", {}, el("button", { type: "button", class: "link", click: () => this.app.select(one.id, true) }, nameOf(one)), el("span", { class: "soft" }, this.told(one), " ", doubtful(one))));
    const more = objects.length > LISTED ? el("p", { class: "soft" }, `and ${objects.length - LISTED} more: search for them`) : null;
    this.shown = objects;
    this.app.mark([]);
    const count = objects.length === all.length ? `${all.length} objects are remembered` : `${objects.length} of ${all.length} objects`;
    this.results.replaceChildren(el("p", { class: "soft" }, all.length ? count : "Nothing is remembered yet. Objects appear here as the robot sees them."), el("ul", { class: "plain objects" }, rows), more ?? "");
  }

  async ask() {
    const text = this.words.value.trim();
    if (!text) return this.list();
    const asOf = this.askedAsOf = this.app.asOf();
    if (asOf && this.kind.value !== OF_THEN) {
      this.shown = [];
      return this.results.replaceChildren(notOfThen("Only “things, in long-term memory” can be asked of an earlier time."));
    }
    try {
      if (this.kind.value === "ask_memory") return this.tell(await post("/api/v1/ask_memory", { question: text }));
      const more = this.kind.value === OF_THEN ? { as_of_s: asOf } : {};
      const states = this.state.value ? [this.state.value] : [];
      this.show(await post(`/api/v1/${this.kind.value}`, { text, k: 10, states, ...more }));
    } catch (error) {
      this.app.fail(error);
    }
  }

  tell(answer) {
    this.app.mark(answer.object_ids);
    this.shown = answer.object_ids.map((id) => this.app.object(id)).filter(Boolean);
    const told = answer.propositions.map((one) => el("li", { class: "answer" }, one.text, el("div", { class: "why" }, `${when(one.stamp_s)}, shown or said ${one.support} times, read by ${one.made_by}`)));
    this.results.replaceChildren(
      el("pre", {}, answer.answer ?? "Nothing that is known answers this."),
      bar("confidence", answer.confidence),
      el("h3", {}, "It rests on"),
      told.length ? el("ol", { class: "plain" }, told) : el("p", { class: "soft" }, answer.object_ids.length ? "the scene graph" : "nothing"));
  }

  show(found) {
    const { app } = this;
    const known = found.objects.filter((one) => !app.object(one.object_id) || this.passes(app.object(one.object_id)));
    this.shown = known.map((one) => app.object(one.object_id)).filter(Boolean);
    app.mark(known.map((one) => one.object_id));
    const where = (one) => {
      const here = app.object(one.object_id);
      const told = here ? app.whereOf(here) : one.room;
      return [one.states.join(", "), told, age(app.moment() - one.age_s, app.moment()), one.status === "ok" ? "" : one.status.replaceAll("_", " ")].filter(Boolean).join(" · ");
    };
    const answers = known.map((one, index) => el("li", { class: "answer" },
      el("div", { class: "head" },
        el("span", { class: "rank" }, `${index + 1}.`),
        el("button", { type: "button", class: "link", click: () => app.select(one.object_id, true) }, app.object(one.object_id)?.name || one.object_class),
        el("span", { class: "soft" }, where(one))),
      el("div", { class: "why" }, bar("relevance", one.score), bar("class", one.class_probability), bar("still there", one.existence), one.why.slice(3).join("; "))));
    const areas = (found.areas ?? []).map((area) => el("li", {}, bar(area.name, area.probability), el("div", { class: "why" }, area.reason)));
    const none = found.objects.length ? "No answer passes the filters." : `Memory has no answer: ${found.explanation || "nothing fits"}`;
    this.results.replaceChildren(
      el("p", { class: "soft" }, known.length ? `${known.length} ${known.length === 1 ? "answer" : "answers, best first"}` : none),
      el("ol", { class: "plain" }, answers),
      ...(areas.length ? [el("h3", {}, "Where to look"), el("ol", { class: "plain" }, areas)] : []));
  }

  /** Save what is listed, as rows of REST. */
  saveJson() {
    const { app } = this;
    const told = { source: app.about.source, as_of_s: app.asOf() || null, stamp_s: app.moment(), frame_id: app.scene().frame_id, objects: this.shown };
    download("robot_memory.json", JSON.stringify(told, null, 2), "application/json");
  }

  saveCsv() {
    const cell = (value) => `"${String(value).replaceAll('"', '""')}"`;
    const rows = this.shown.map((one) => ({ ...one, room: this.app.roomOf(one.area), where: this.app.whereOf(one), x: one.at[0], y: one.at[1], z: one.at[2], states: one.states.join(" ") }));
    download("robot_memory.csv", [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name] ?? ""))].map((row) => row.map(cell).join(",")).join("\r\n"), "text/csv");
  }
}
