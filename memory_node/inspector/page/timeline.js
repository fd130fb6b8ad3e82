// The slider of time: the scene as of a moment, and how much changed when. It shows a span that zooms.

import { get } from "./api.js";
import { byId, color, fitted, fromLocal, isClock, toLocal, when } from "./dom.js";

const BARS = 200;
const SHORTEST_S = 2;
const ZOOM = 4;

export class Timeline {
  /** onMoment(seconds) is told the chosen moment, 0 for now. */
  constructor(onMoment) {
    this.onMoment = onMoment;
    this.asOf = 0;
    this.span = { begin_s: 0, end_s: 0, moments: [] };
    this.shown = [0, 0];
    this.slider = byId("when");
    this.slider.addEventListener("input", () => this.goTo(this.shown[0] + Number(this.slider.value) * (this.shown[1] - this.shown[0])));
    this.slider.addEventListener("keydown", (event) => this.onKey(event));
    byId("now").addEventListener("click", () => this.goTo(0));
    byId("before").addEventListener("click", () => this.step(-1));
    byId("after").addEventListener("click", () => this.step(1));
    byId("closer").addEventListener("click", () => this.zoom(1 / ZOOM));
    byId("wider").addEventListener("click", () => this.zoom(ZOOM));
    byId("date").addEventListener("change", ({ target }) => {
      const moment = fromLocal(target.value);
      if (moment) this.goTo(Math.max(moment, this.span.begin_s));
    });
    byId("timeline").addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7);
    }, { passive: false });
    new ResizeObserver(() => this.draw()).observe(byId("histogram"));
  }

  async load() {
    this.isOld = false;
    const isWhole = this.isWhole();
    this.span = await get("/api/v1/timeline");
    const { begin_s: begin, end_s: end } = this.span;
    if (isWhole) this.shown = [begin, end];
    byId("date").type = isClock(end) ? "datetime-local" : "number";
    this.place();
  }

  isWhole() {
    return this.shown[0] <= this.span.begin_s && this.shown[1] >= this.span.end_s;
  }

  onKey(event) {
    const deed = { ArrowLeft: () => this.step(-1), ArrowDown: () => this.step(-1), ArrowRight: () => this.step(1), ArrowUp: () => this.step(1), Home: () => this.goTo(this.span.begin_s), End: () => this.goTo(0) }[event.key];
    if (!deed) return;
    event.preventDefault();
    deed();
  }

  /** Go to the change before or after the moment that is shown; after the last one to now. */
  step(direction) {
    const { moments, end_s: end } = this.span;
    const at = this.asOf || end;
    const next = direction > 0 ? moments.find((one) => one > at) : moments.findLast((one) => one < at);
    if (next !== undefined) this.goTo(next);
    else if (direction > 0) this.goTo(0);
  }

  /** Show a span so many times as long around the moment that is shown. */
  zoom(factor) {
    const { begin_s: begin, end_s: end } = this.span;
    const long = Math.min(Math.max((this.shown[1] - this.shown[0]) * factor, SHORTEST_S), end - begin);
    const from = Math.min(Math.max((this.asOf || end) - long / 2, begin), end - long);
    this.shown = [from, from + long];
    this.place();
  }

  /** Go so many seconds back from the end, at most to the beginning. */
  goBack(seconds) {
    this.goTo(Math.max(this.span.end_s - seconds, this.span.begin_s));
  }

  goTo(moment) {
    this.asOf = moment && moment < this.span.end_s ? moment : 0;
    const [at, [from, until]] = [this.asOf || this.span.end_s, this.shown];
    if (at < from || at > until) {
      const long = until - from;
      const start = Math.min(Math.max(at - long / 2, this.span.begin_s), this.span.end_s - long);
      this.shown = [start, start + long];
    }
    this.place();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.onMoment(this.asOf), 120);
  }

  /** Show the moment and the span. */
  place() {
    const [from, until] = this.shown;
    const at = this.asOf || this.span.end_s;
    const isNow = !this.asOf;
    this.slider.value = until > from ? (at - from) / (until - from) : 1;
    byId("moment").textContent = isNow ? "now" : when(at);
    this.slider.setAttribute("aria-valuetext", byId("moment").textContent);
    byId("now").disabled = isNow;
    byId("date").value = this.span.moments.length ? toLocal(at) : "";
    byId("begin").textContent = this.span.moments.length ? `${when(from)} to ${until >= this.span.end_s ? "now" : when(until)}` : "nothing has been seen yet";
    byId("closer").disabled = until - from <= SHORTEST_S;
    byId("wider").disabled = this.isWhole();
    byId("before").disabled = !this.span.moments.some((one) => one < at);
    byId("after").disabled = isNow;
    this.draw();
  }

  draw() {
    const { context, width, height } = fitted(byId("histogram"));
    const [from, until] = this.shown;
    const counts = new Array(BARS).fill(0);
    for (const moment of this.span.moments) {
      const bar = Math.floor((BARS * (moment - from)) / Math.max(until - from, 1e-6));
      if (bar >= 0 && bar <= BARS) counts[Math.min(bar, BARS - 1)] += 1;
    }
    const most = Math.max(...counts, 1);
    context.fillStyle = color("bar");
    counts.forEach((count, i) => {
      const tall = count ? Math.max(2, (height * Math.sqrt(count)) / Math.sqrt(most)) : 0;
      context.fillRect((i * width) / BARS, height - tall, Math.max(1, width / BARS - 1), tall);
    });
  }
}
