// The tabs beside the view: a tab list by the ARIA pattern, arrow keys move between tabs.

import { byId, el } from "./dom.js";

/** What stands under a tab: `root` with its content. `open()` is called when it is shown, `changed()` when the scene or the
 * moment has changed, and `refresh()`, which it may have, every few seconds while it is shown. */
export class Panel {
  constructor(app, ...content) {
    this.app = app;
    this.root = el("div", {}, ...content);
  }

  open() {}
  changed() { this.open(); }
}

/** Return the notice of a panel that cannot tell of the past. */
export const notOfThen = (why) => el("p", { class: "notice", role: "status" }, why);

export class Panels {
  /** panels: [name, title, Panel]. onShow is called when another one is shown. */
  constructor(panels, onShow) {
    this.onShow = onShow;
    this.panels = new Map();
    for (const [name, title, panel] of panels) {
      const id = `panel-${name}`;
      const tab = el("button", { role: "tab", type: "button", id: `tab-${name}`, "aria-controls": id, click: () => this.show(name), keydown: (event) => this.onKey(event) }, title);
      panel.root.id = id;
      panel.root.setAttribute("role", "tabpanel");
      panel.root.setAttribute("aria-labelledby", tab.id);
      byId("tabs").append(tab);
      byId("panels").append(panel.root);
      this.panels.set(name, { tab, panel });
    }
    this.show(panels[0][0]);
  }

  show(wanted) {
    this.shown = wanted;
    for (const [name, { tab, panel }] of this.panels) {
      const isShown = name === wanted;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      panel.root.hidden = !isShown;
      if (isShown) panel.open();
    }
    this.onShow();
  }

  /** Let the shown panel ask for what the stream of changes does not tell. */
  refresh() {
    this.panels.get(this.shown).panel.refresh?.();
  }

  /** Let the shown panel take notice of a change of memory. */
  changed() {
    this.panels.get(this.shown).panel.changed();
  }

  onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = [...this.panels.keys()];
    const next = names[(names.indexOf(this.shown) + step + names.length) % names.length];
    this.show(next);
    this.panels.get(next).tab.focus();
    event.preventDefault();
  }
}
