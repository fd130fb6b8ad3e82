// Puts the page together: the scene of now or then, the panels, edits with their undo, the stream of changes.

import { atMoment, cropUrl, follow, get, onTokenNeeded, post } from "./api.js";
import { CachePanel } from "./cache.js";
import { CardPanel } from "./card.js";
import { ask, toast } from "./confirm.js";
import { byId, el, isClock, nameOf, when } from "./dom.js";
import { EpisodesPanel } from "./episodes.js";
import { Panels } from "./panels.js";
import { PromptPanel } from "./prompt.js";
import { SceneView } from "./scene_view.js";
import { SearchPanel } from "./search.js";
import { Timeline } from "./timeline.js";
import { ChangesPanel, EditsPanel, KnowledgePanel } from "./views.js";

const ROLES = ["read", "edit", "forget"];
// The name of those who need no token.
const LOCAL = "local";
// What cannot be taken back is carried out so much later.
const WAIT_S = 10;
// The timeline needs objects that are gone, too: after changes it is asked for so seldom.
const TIMELINE_EVERY_MS = 30_000;
// Panels of what the stream of changes does not tell are asked for so often.
const REFRESH_MS = 3000;

/** Return a scene with what is new of it. */
function merged(scene, { changed, gone, ...news }) {
  const objects = new Map(scene.objects.map((one) => [one.id, one]));
  for (const one of changed) objects.set(one.id, one);
  for (const id of gone) objects.delete(id);
  return { ...scene, ...news, objects: [...objects.values()] };
}

class App {
  waitS = WAIT_S;
  took = 0;
  about = { images: false, role: "read", source: "", name: "", now_s: 0, told_ms: 0 };
  told = { objects: [], rooms: [], areas: [], floors: [], relations: [], frame_verified: true };

  async start() {
    onTokenNeeded(async (isWrong) => (await ask(isWrong ? "This token is not valid." : "This memory asks for a token.", [{ name: "token", title: "token", secret: true }], this.told, "Use it"))?.token ?? "");
    const about = get("/api/v1/about");
    const scene = get("/api/v1/scene_graph");
    this.view = new SceneView(byId("scene"), byId("labels"), { onPick: (found) => this.select(found?.id ?? null), onHover: (...args) => this.hover(...args) });
    this.timeline = new Timeline(() => this.load().catch((error) => this.fail(error)));
    this.card = new CardPanel(this);
    this.episodes = new EpisodesPanel(this);
    const panels = [
      ["search", "Search", new SearchPanel(this)], ["object", "Object", this.card], ["changes", "Changes", new ChangesPanel(this)],
      ["cache", "Cache", new CachePanel(this)], ["episodes", "Episodes", this.episodes], ["knowledge", "Knowledge", new KnowledgePanel(this)],
      ["prompt", "Prompt", new PromptPanel(this)], ["edits", "Edits", new EditsPanel(this)],
    ];
    this.about = { ...(await about), told_ms: performance.now() };
    byId("source").textContent = `${this.about.source} · ${this.about.name === LOCAL ? "you" : this.about.name} may ${this.about.role}`;
    this.panels = new Panels(panels, () => this.writeLink());
    this.showLayers();
    this.show(await scene);
    await this.view.shown();
    document.body.dataset.readyMs = String(Math.round(performance.now()));
    this.timeline.load().then(() => this.followLink()).catch((error) => this.fail(error));
    window.addEventListener("hashchange", () => this.followLink());
    setInterval(() => { if (!document.hidden) this.loadPath(); }, 2000);
    setInterval(() => { if (!document.hidden) this.panels.refresh(); }, REFRESH_MS);
    setInterval(() => { if (!document.hidden && this.timeline.isOld) this.timeline.load().catch((error) => this.fail(error)); }, TIMELINE_EVERY_MS);
    this.loadPath();
    follow(() => this.onChange(), (isConnected) => this.connected(isConnected)).catch((error) => this.fail(error));
  }

  scene() { return this.told; }
  asOf() { return this.timeline.asOf; }
  object(id) { return this.view.objectOf?.get(id) ?? null; }
  images() { return this.about.images; }
  classes() { return [...new Set(this.told.objects.map((one) => one.class))].sort(); }
  nameOf(id) { return id && this.view.objectOf?.has(id) ? nameOf(this.view.objectOf.get(id)) : id; }
  canEdit(role) { return !this.asOf() && ROLES.indexOf(this.about.role) >= ROLES.indexOf(role); }
  mark(ids) { this.view.marked = new Set(ids); this.view.redraw(); }

  placeOf(areaId) {
    return [this.roomOf(areaId), this.areaOf.get(areaId)?.name].filter(Boolean).join(", ");
  }

  roomOf(areaId) {
    return this.roomNames.get(this.areaOf.get(areaId)?.room_id) ?? "";
  }

  /** Return where an object is in words: what it stands on or in, and its room. */
  whereOf(one) {
    const support = one.on && this.view.objectOf.has(one.on) ? `${one.inside ? "in" : this.asOf() ? "on or in" : "on"} ${this.nameOf(one.on)}` : "";
    return [support, this.roomOf(one.area)].filter(Boolean).join(", ");
  }

  /** Return memory's time of what is shown, in seconds. */
  moment() {
    const now = isClock(this.about.now_s) ? this.about.now_s + (performance.now() - this.about.told_ms) / 1000 : 0;
    return this.asOf() || Math.max(now, this.told.stamp_s ?? 0, this.timeline.span.end_s);
  }

  showEpisode(id) {
    this.panels.show("episodes");
    this.episodes.showId(id);
  }

  /** Put panel, thing, episode and moment into the address, for it to lead here again. */
  writeLink() {
    if (!this.isLinked) return;
    const told = { panel: this.panels.shown, thing: this.card.id, episode: this.panels.shown === "episodes" ? this.episodes.shownId : null, at: this.asOf() || null };
    const words = new URLSearchParams(Object.entries(told).filter(([, value]) => value));
    history.replaceState(null, "", `#${words}`);
  }

  /** Show what the address names. */
  followLink() {
    const words = new URLSearchParams(location.hash.slice(1));
    const at = Number(words.get("at")) || 0;
    if (at !== this.asOf()) this.timeline.goTo(at);
    if (words.get("thing")) this.select(words.get("thing"), true);
    if (words.get("episode")) this.showEpisode(words.get("episode"));
    else if (this.panels.panels.has(words.get("panel"))) this.panels.show(words.get("panel"));
    this.isLinked = true;
  }

  async load() {
    const asOf = this.asOf();
    const last = this.told;
    const isFollowing = !asOf && !last.asOf && last.version >= 0;
    const told = await get(isFollowing ? `/api/v1/scene_graph?since=${last.version}` : atMoment("/api/v1/scene_graph", asOf));
    if (asOf !== this.asOf()) return;
    if (last !== this.told) return this.load(); // another answer came in between, which may be older
    this.show({ ...(told.changed ? merged(last, told) : told), asOf });
  }

  show(scene) {
    this.told = scene;
    this.areaOf = new Map(scene.areas.map((one) => [one.id, one]));
    this.roomNames = new Map(scene.rooms.map((one) => [one.id, one.name]));
    this.view.show(scene);
    byId("count").textContent = `${scene.objects.length} ${scene.objects.length === 1 ? "object" : "objects"}${this.asOf() ? " then" : ""}${scene.frame_verified ? "" : " · map not verified"}`;
    this.showPast();
    this.panels.changed();
    this.writeLink();
  }

  /** Say of the past that it is the past, and what memory does not keep of it. */
  showPast() {
    const asOf = this.asOf();
    byId("past").hidden = !asOf;
    byId("view").classList.toggle("past", Boolean(asOf));
    byId("past").textContent = asOf ? `As of ${when(asOf)}. Classes, sizes, uncertainty, names of rooms and pictures are of now: older ones are not kept.` : "";
    this.loadPath();
  }

  async loadPath() {
    const asOf = this.asOf();
    const path = await get(atMoment("/api/v1/path", asOf)).catch(() => this.view.path);
    if (asOf !== this.asOf() || path.length === this.view.path.length) return;
    this.view.path = path;
    this.view.redraw();
  }

  /** Take notice of a change: the newest scene is asked for once for all changes of a moment. */
  onChange() {
    this.timeline.isOld = true;
    if (this.asOf()) return;
    if (this.reloading) {
      this.isBehind = true;
      return;
    }
    this.reloading = setTimeout(async () => {
      const began = performance.now();
      await this.load().catch((error) => this.fail(error));
      this.took = performance.now() - began;
      this.reloading = null;
      if (this.isBehind) this.onChange();
    }, Math.max(250, 3 * this.took));
    this.isBehind = false;
  }

  select(id, move = false) {
    this.view.select(id, move);
    this.card.show(id);
    if (id) this.panels.show("object");
    this.writeLink();
  }

  hover(found, x, y) {
    const box = byId("hover");
    box.hidden = !found;
    if (!found) return;
    if (box.dataset.id !== found.id) {
      box.dataset.id = found.id;
      const seen = el("div", { class: "soft" }, `${found.class} ${found.p.toFixed(2)} · there ${found.existence.toFixed(2)} · ± ${(100 * found.sigma).toFixed(0)} cm`);
      box.replaceChildren(el("strong", {}, nameOf(found)), " ", found.states.join(", "), seen);
      clearTimeout(this.cropping);
      if (this.images()) this.cropping = setTimeout(async () => {
        const url = await cropUrl(found.id);
        if (url && box.dataset.id === found.id) box.append(el("img", { src: url, alt: "" }));
      }, 150);
    }
    const { clientWidth, clientHeight } = byId("view");
    box.style.left = `${Math.min(x + 14, clientWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${Math.min(y + 14, clientHeight - box.offsetHeight - 4)}px`;
  }

  /** Ask once, then carry an edit out; return its record, null where the user does not want it or memory refuses. */
  async edit(verb, body, question, fields = []) {
    const given = await ask(question, fields, this.told);
    if (!given) return null;
    try {
      const record = await post(`/api/v1/${verb}`, { ...body, ...given });
      const waits = record.state === "waiting";
      toast(`${record.what}${waits ? ` in ${WAIT_S} seconds` : ""}`, { action: record.undoable ? "Undo" : null, onAction: () => this.undo(record.id), forS: waits ? WAIT_S : 8 });
      await this.load();
      return record;
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  async undo(id) {
    try {
      toast(`undone: ${(await post(`/api/v1/edits/${encodeURIComponent(id)}/undo`, {})).what}`);
      await this.load();
    } catch (error) {
      this.fail(error);
    }
  }

  showLayers() {
    for (const name of Object.keys(this.view.layers)) {
      const box = el("input", { type: "checkbox", checked: true, change: () => { this.view.layers[name] = box.checked; this.view.redraw(); } });
      byId("layers").append(el("label", {}, box, name));
    }
  }

  connected(isConnected) {
    const state = byId("state");
    if (isConnected && state.classList.contains("lost")) this.onChange();
    state.textContent = isConnected ? "live" : "not connected";
    state.classList.toggle("lost", !isConnected);
  }

  fail(error) {
    toast(error.message);
  }
}

const app = new App();
window.inspector = app;
app.start().catch((error) => {
  byId("state").textContent = error.message;
  byId("state").classList.add("lost");
});
