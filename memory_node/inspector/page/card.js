// An object's card: what is believed of it and why, and the edits that mend it.

import { atMoment, cropUrl, get } from "./api.js";
import { ago, bar, el, metres, moment, nameOf, table, terms } from "./dom.js";
import { Panel } from "./panels.js";

/** Return what an object was seen from: a keyframe that is named by its stamp in nanoseconds is told as a time. */
function seenFrom(anchor, now) {
  return /^\d{9,20}$/.test(anchor) ? `the image of ${ago(Number(anchor) * 1e-9, now)}` : anchor;
}

export class CardPanel extends Panel {
  /** app: scene(), nameOf(id), images(), edit(verb, body, question, fields), canEdit(role), pickPlace(), fail(error). */
  constructor(app) {
    super(app);
    this.id = null;
    this.show(null);
  }

  changed() {
    if (this.id) this.show(this.id);
  }

  async show(id) {
    this.id = id;
    if (!id) {
      this.root.replaceChildren(el("p", { class: "soft" }, "Choose an object in the view or in the search."));
      return;
    }
    const asOf = this.app.asOf();
    try {
      const card = await get(atMoment(`/api/v1/objects/${encodeURIComponent(id)}`, asOf));
      if (this.id !== id || this.app.asOf() !== asOf) return;
      this.fill(card);
      if (this.app.images()) await this.showCrop(id);
    } catch (error) {
      if (this.id !== id) return;
      this.root.replaceChildren(el("p", { class: "soft" }, error.status === 404 ? (asOf ? "Memory did not know this object then." : "This object is no longer in memory.") : error.message));
    }
  }

  async showCrop(id) {
    if (this.crop?.id !== id) this.crop = { id, url: await cropUrl(id) };
    if (this.id !== id || !this.crop.url) return;
    this.root.querySelector("h2").after(el("img", { class: "crop", src: this.crop.url, alt: "best view of the object" }));
  }

  fill(card) {
    const { app } = this;
    const asOf = app.asOf();
    const ofNow = (value) => (asOf ? "" : value);
    const support = card.on ? el("button", { type: "button", class: "link", click: () => app.select(card.on, true) }, `${card.inside ? "in" : asOf ? "on or in" : "on"} ${app.nameOf(card.on)}`) : "";
    this.root.replaceChildren(
      el("h2", {}, card.class, card.name && card.name !== card.class ? el("span", { class: "soft" }, ` ${card.name}`) : "", card.removed ? el("span", { class: "bad" }, " (gone)") : ""),
      this.actions(card),
      terms([
        ["where", `${metres(card.at)} m`],
        ["lies", support],
        ["place", app.placeOf(card.area)],
        ["size", `${metres(card.size)} m`],
        ["uncertain by", `${(100 * card.sigma).toFixed(1)} cm`],
        ["first seen", ago(card.first_seen_s, card.now_s)],
        ["last seen", `${ago(card.seen_s, card.now_s)}${ofNow(` (${card.times_seen} times)`)}`],
        ["missed", card.last_missed_s && card.times_missed ? `${card.times_missed} looks in vain, last ${ago(card.last_missed_s, card.now_s)}` : ""],
        ["known from", card.by],
        ["seen from", ofNow(seenFrom(card.anchor, card.now_s))],
        ["id", card.id],
      ]),
      ...(asOf ? [] : [el("h3", {}, "Is it still there?"), bar("yes", card.existence)]),
      el("h3", {}, "What is it?"), ...card.classes.slice(0, 8).map((one) => bar(one.name, one.p)),
      el("h3", {}, "States"),
      card.beliefs.length ? table(["state", "p", "by", "confirmed"], card.beliefs.map((one) => [one.state, one.p, one.by || "?", ago(one.confirmed_s, card.now_s)])) : el("p", { class: "soft" }, asOf ? "none was confirmed by then, and not again since" : "none is known"),
      el("h3", {}, "Earlier places"),
      card.history.length ? table(["from", "last seen there", "where"], [...card.history].reverse().map((one) => [moment(one.since_s), moment(one.until_s), `${metres(one.at)} ${app.placeOf(one.area)}`])) : el("p", { class: "soft" }, "none is told"),
      ...(card.edits.length ? [el("h3", {}, "Edits made here"), table(["who", "what", "when"], card.edits.map((one) => [one.who, one.what, moment(one.stamp_s)]))] : []));
  }

  actions(card) {
    const { app } = this;
    if (!app.canEdit("edit")) return "";
    const button = (title, click, kind = "") => el("button", { type: "button", class: kind, click }, title);
    const edit = (operation, body, question, fields) => app.edit("edit_object", { operation, object_id: card.id, ...body }, question, fields);
    if (card.removed) return el("div", { class: "actions" }, button("Bring back", () => edit("restore", {}, `Bring ${card.class} back to where it was?`)));
    return el("div", { class: "actions" },
      button("Rename", () => edit("relabel", {}, `What is this ${card.class} really?`, [{ name: "new_class", title: "class", value: card.class, names: app.classes() }])),
      button("Move", () => app.edit("move_object", { object_id: card.id }, `Where is ${card.class} now?`, [{ name: "position", title: "x, y, z in map, metres", value: metres(card.at) }])),
      button("State", () => app.edit("remember", { object_id: card.id, object_class: card.class }, `What is so of ${card.class} now?`, [{ name: "added", title: "it is", states: true }, { name: "removed", title: "it is no longer", states: true }])),
      button("Merge", () => edit("merge", {}, `Which entry is the same thing as this ${card.class}? It goes, this one stays.`, [{ name: "other_id", title: "the other one", objects: card }])),
      button("Split", () => edit("split", {}, `Where is the second ${card.class}?`, [{ name: "position", title: "x, y, z in map, metres", value: metres(card.at) }])),
      button("Delete", () => edit("delete", {}, `Is ${card.class} not there? It leaves the present; its history stays.`), "danger"),
      app.canEdit("forget") ? button("Forget", () => app.edit("forget", { object_id: card.id, wait_s: app.waitS }, `Erase ${card.class} for ever, history and pictures included? You have ${app.waitS} seconds to call it off.`), "danger") : null);
  }
}
