// The slider of time: the scene as of a moment, and how much changed when.

import { get } from "./api.js";
import { byId, color, fitted, when } from "./dom.js";

const STEPS = 1000;

export class Timeline {
  /** onMoment(seconds) is told the chosen moment, 0 for now. */
  constructor(onMoment) {
    this.onMoment = onMoment;
    this.asOf = 0;
    this.span = { begin_s: 0, end_s: 0, counts: [] };
    this.slider = byId("when");
    this.slider.addEventListener("input", () => this.choose(Number(this.slider.value)));
    byId("now").addEventListener("click", () => this.choose(STEPS));
    new ResizeObserver(() => this.draw()).observe(byId("histogram"));
  }

  async load() {
    this.isOld = false;
    this.span = await get("/api/timeline");
    byId("begin").textContent = this.span.begin_s ? `from ${when(this.span.begin_s)}` : "nothing has been seen yet";
    this.draw();
  }

  choose(step) {
    const { begin_s: begin, end_s: end } = this.span;
    this.goTo(step >= STEPS ? 0 : begin + ((end - begin) * step) / STEPS);
  }

  /** Go so many seconds back from the end, at most to the beginning. */
  goBack(seconds) {
    this.goTo(Math.max(this.span.end_s - seconds, this.span.begin_s));
  }

  goTo(moment) {
    const { begin_s: begin, end_s: end } = this.span;
    const isNow = !moment || end <= begin;
    this.asOf = isNow ? 0 : moment;
    this.slider.value = isNow ? STEPS : (STEPS * (moment - begin)) / (end - begin);
    byId("moment").textContent = isNow ? "now" : when(this.asOf);
    this.slider.setAttribute("aria-valuetext", byId("moment").textContent);
    byId("now").disabled = isNow;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.onMoment(this.asOf), 120);
  }

  draw() {
    const { context, width, height } = fitted(byId("histogram"));
    const { counts } = this.span;
    const most = Math.max(...counts, 1);
    context.fillStyle = color("bar");
    counts.forEach((count, i) => {
      const tall = count ? Math.max(2, (height * Math.sqrt(count)) / Math.sqrt(most)) : 0;
      context.fillRect((i * width) / counts.length, height - tall, Math.max(1, width / counts.length - 1), tall);
    });
  }
}
