// The home in 3D: draws a scene graph, tells what lies under the pointer, moves by mouse, touch and keys.

import { Camera } from "./camera.js";
import { Detail } from "./detail.js";
import { color, fitted } from "./dom.js";
import { Drawn, edges } from "./drawn.js";
import { slabBoxes } from "./floor.js";
import { Boxes, context, Dots, Lines, Rings } from "./gl.js";
import { drawLabels } from "./labels.js";

const KEYS = {
  ArrowLeft: (camera) => camera.pan(40, 0),
  ArrowRight: (camera) => camera.pan(-40, 0),
  ArrowUp: (camera) => camera.pan(0, 40),
  ArrowDown: (camera) => camera.pan(0, -40),
  "+": (camera) => camera.zoom(0.85),
  "=": (camera) => camera.zoom(0.85),
  "-": (camera) => camera.zoom(1 / 0.85),
  q: (camera) => camera.rotate(-0.12, 0),
  e: (camera) => camera.rotate(0.12, 0),
  r: (camera) => camera.rotate(0, 0.08),
  f: (camera) => camera.rotate(0, -0.08),
};

export class SceneView {
  /** onPick(object | null) and onHover(object | null, x, y) are told what the user points at. */
  constructor(canvas, labels, { onPick, onHover }) {
    this.canvas = canvas;
    this.labels = labels;
    this.onPick = onPick;
    this.onHover = onHover;
    this.camera = new Camera();
    this.layers = { objects: true, floor: true, rooms: true, areas: true, relations: true, uncertainty: true, path: true };
    this.scene = { objects: [], rooms: [], areas: [], floors: [], relations: [] };
    this.path = [];
    this.selected = this.hovered = null;
    this.marked = new Set();
    this.frames = 0;
    this.gl = context(canvas);
    this.floors = new Boxes(this.gl);
    this.boxes = new Boxes(this.gl);
    this.dots = new Dots(this.gl);
    this.areas = new Dots(this.gl);
    this.lines = new Lines(this.gl);
    this.rings = new Rings(this.gl);
    this.outline = new Lines(this.gl);
    this.detail = new Detail(() => this.redraw());
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /** Show a scene graph; the first one is shown wholly. */
  show(scene) {
    const isFirst = !this.scene.objects.length && !this.scene.areas.length;
    this.scene = scene;
    this.ground = new Map(scene.floors.map((floor) => [floor.id, floor.height]));
    this.objectOf = new Map(scene.objects.map((object) => [object.id, object]));
    this.drawn = new Drawn(scene, (place) => this.heightOf(place));
    if (isFirst) this.home();
    this.redraw();
  }

  home() {
    this.fit();
    const points = [...this.scene.areas, ...this.scene.rooms, ...this.scene.objects].map((one) => one.at);
    if (!points.length) return;
    const low = [0, 1].map((i) => points.reduce((least, at) => Math.min(least, at[i]), Infinity));
    const high = [0, 1].map((i) => points.reduce((most, at) => Math.max(most, at[i]), -Infinity));
    const ground = this.drawn.slabs.map(({ height }) => height);
    this.camera.show({ low: [...low, ground.length ? Math.min(...ground) : 0], high });
    this.redraw();
  }

  select(id, move = false) {
    this.selected = id;
    const found = this.objectOf?.get(id);
    if (found && move) {
      this.camera.target = [...found.at];
      this.camera.distance = Math.min(this.camera.distance, 7);
    }
    this.redraw();
  }

  /** Draw soon; isSame: only the camera has moved. */
  redraw(isSame = false) {
    this.isStale ||= !isSame;
    if (this.waiting || !this.objectOf) return;
    this.askedAt = performance.now();
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  /** Return a promise of the first frame that is on screen. */
  async shown() {
    const frame = () => new Promise((resume) => requestAnimationFrame(resume));
    while (!this.frames) await frame();
    await frame();
  }

  heightOf(place) {
    return this.ground?.get(place.floor_id) ?? 0;
  }

  /** Make the canvas as sharp as its place on screen, or a share of that. */
  fit(sharpness = 1) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const scale = (window.devicePixelRatio || 1) * sharpness;
    [this.camera.width, this.camera.height] = [Math.max(width, 1), Math.max(height, 1)];
    const size = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
  }

  draw() {
    const detail = this.detail.frame(!this.isStale, performance.now() - this.askedAt);
    this.fit(detail.sharpness);
    const { gl, camera } = this;
    const matrix = camera.matrix();
    const back = hexColor(color("ground"));
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...back, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    if (this.isStale || this.nearestHaveChanged(detail.boxes)) this.fill(back, detail.boxes);
    if (this.layers.floor) this.floors.draw(matrix, camera.eye);
    this.boxes.draw(matrix, camera.eye);
    this.dots.draw(matrix, this.canvas.height * 1.2);
    if (this.layers.areas) this.areas.draw(matrix, this.canvas.height * 1.2);
    this.lines.draw(matrix);
    if (this.layers.uncertainty) this.rings.draw(matrix, detail.rings);
    gl.disable(gl.DEPTH_TEST);
    this.outline.draw(matrix);
    drawLabels(fitted(this.labels), this, matrix, detail.names);
    this.frames += 1;
  }

  /** Return whether others than were filled in are to be boxes: not all can be, and the eye has moved. */
  nearestHaveChanged(most) {
    const count = this.scene.objects.length;
    if (Math.min(count, most) !== Math.min(count, this.filledWith)) return true;
    if (count <= most) return false;
    const eye = this.camera.eye;
    return Math.hypot(...eye.map((value, i) => value - this.filledFrom[i])) > 0.15 * this.camera.distance;
  }

  /** Hand what is drawn to the graphics card: boxes of the near objects, dots of the far ones and of areas, lines. */
  fill(back, most) {
    const { layers, drawn, selected } = this;
    const eye = this.camera.eye;
    [this.isStale, this.filledFrom, this.filledWith] = [false, eye, most];
    const { boxes, dots } = layers.objects ? drawn.objects(eye, most, back, this) : { boxes: [], dots: [] };
    this.floors.set(slabBoxes(drawn.slabs, slabOf(back)));
    this.boxes.set(boxes);
    this.dots.set(dots);
    this.areas.set(drawn.areas());
    this.lines.set(drawn.lines(layers, back, selected, this.path));
    this.rings.set(drawn.rings(eye, back, selected));
    this.outline.set(edges(this.objectOf.get(selected)));
  }

  /** Return the nearest object whose box the ray through a pixel meets. */
  at(x, y) {
    if (!this.layers.objects) return null;
    const eye = this.camera.eye;
    const direction = this.camera.ray(x, y);
    let [best, nearest] = [null, Infinity];
    for (const object of this.scene.objects) {
      if (isBeside(eye, direction, object)) continue;
      const along = meets(eye, direction, object);
      if (along < nearest) [best, nearest] = [object, along];
    }
    return best;
  }

  listen() {
    const { canvas, camera } = this;
    const held = new Map();
    let moved = 0;
    const local = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const spread = () => {
      const [a, b] = [...held.values()];
      return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, local(event));
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = local(event);
      const last = held.get(event.pointerId);
      if (!last) return this.hover(x, y);
      const [right, down] = [x - last[0], y - last[1]];
      const before = spread();
      held.set(event.pointerId, [x, y]);
      moved += Math.abs(right) + Math.abs(down);
      if (held.size > 1) {
        camera.zoom(before / Math.max(spread(), 1));
        camera.pan(right / 2, down / 2);
      } else if (event.buttons & 2 || event.shiftKey) camera.pan(right, down);
      else camera.rotate(-right * 0.006, down * 0.006);
      this.redraw(true);
    });
    const release = (event) => {
      if (held.delete(event.pointerId) && event.type === "pointerup" && moved < 5 && event.button === 0) this.onPick(this.at(...local(event)));
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.hover(-1, -1));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      camera.zoom(Math.exp(event.deltaY * 0.0012));
      this.redraw(true);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Home") this.home();
      else if (event.key === "Escape") this.onPick(null);
      else if (KEYS[event.key] && !event.ctrlKey && !event.metaKey) KEYS[event.key](camera);
      else return;
      event.preventDefault();
      this.redraw(true);
    });
  }

  hover(x, y) {
    this.pointer = [x, y];
    if (this.hovering) return;
    this.hovering = requestAnimationFrame(() => {
      this.hovering = null;
      const found = this.pointer[0] < 0 ? null : this.at(...this.pointer);
      if ((found?.id ?? null) === this.hovered && found === null) return;
      const isNew = (found?.id ?? null) !== this.hovered;
      this.hovered = found?.id ?? null;
      this.onHover(found, ...this.pointer);
      if (isNew) this.redraw();
    });
  }
}

/** Return how far along a ray an object's box is met, Infinity where it is not (slabs, in the box's own axes). */
function meets(eye, direction, { at, size, yaw }) {
  const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
  const [x, y, z] = [eye[0] - at[0], eye[1] - at[1], eye[2] - at[2]];
  const from = [c * x + s * y, c * y - s * x, z];
  const to = [c * direction[0] + s * direction[1], c * direction[1] - s * direction[0], direction[2]];
  let [enter, leave] = [0, Infinity];
  for (let i = 0; i < 3; i += 1) {
    const half = Math.max(size[i], 0.06) / 2;
    const [a, b] = [(-half - from[i]) / to[i], (half - from[i]) / to[i]];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter <= leave ? enter : Infinity;
}

/** Return whether a ray passes an object's box by far: most are told so, in few steps. */
function isBeside(eye, direction, { at, size }) {
  const [x, y, z] = [at[0] - eye[0], at[1] - eye[1], at[2] - eye[2]];
  const along = x * direction[0] + y * direction[1] + z * direction[2];
  const radius = 0.5 * (size[0] + size[1] + size[2]) + 0.1;
  return x * x + y * y + z * z - along * along > radius * radius;
}

/** Return the colour of the ground: told apart from what is behind it, in light and in dark. */
function slabOf(back) {
  return back.map((value) => (value > 0.5 ? value * 0.98 : value * 0.85 + 0.12));
}

function hexColor(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);
}
