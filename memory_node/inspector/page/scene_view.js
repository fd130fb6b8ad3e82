// The home in 3D: draws a scene graph, tells what lies under the pointer, moves by mouse, touch and keys.

import { Camera } from "./camera.js";
import { color, fitted } from "./dom.js";
import { Boxes, Dots, Lines } from "./gl.js";
import { drawLabels } from "./labels.js";

// Beyond so many objects only the nearest are boxes, the others dots.
const MOST_BOXES = 4000;
const MOST_RINGS = 3000;
const RING = Array.from({ length: 25 }, (_, i) => [Math.cos((i * Math.PI) / 12), Math.sin((i * Math.PI) / 12)]);
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

/** Return the colour of a class, by its name: red, green, blue, 0 to 1. */
export function classColor(name) {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  const hue = (hash % 360) / 60;
  const channel = (shift) => 0.32 + 0.5 * Math.min(Math.max(Math.abs(((hue + shift) % 6) - 3) - 1, 0), 1);
  return [channel(0), channel(4), channel(2)];
}

export class SceneView {
  /** onPick(object | null) and onHover(object | null, x, y) are told what the user points at. */
  constructor(canvas, labels, { onPick, onHover }) {
    this.canvas = canvas;
    this.labels = labels;
    this.onPick = onPick;
    this.onHover = onHover;
    this.camera = new Camera();
    this.layers = { objects: true, rooms: true, areas: true, relations: true, uncertainty: true, path: true };
    this.scene = { objects: [], rooms: [], areas: [], floors: [], relations: [] };
    this.path = [];
    this.selected = this.hovered = null;
    this.marked = new Set();
    this.frames = 0;
    // Where the processor has to draw, smooth edges would cost several times the frame.
    const options = { alpha: false, antialias: true, failIfMajorPerformanceCaveat: true };
    this.gl = canvas.getContext("webgl2", options) ?? canvas.getContext("webgl2", { alpha: false, antialias: false });
    if (!this.gl) throw new Error("this browser has no WebGL 2");
    this.boxes = new Boxes(this.gl);
    this.dots = new Dots(this.gl);
    this.lines = new Lines(this.gl);
    this.outline = new Lines(this.gl);
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /** Show a scene graph; the first one is shown wholly. */
  show(scene) {
    const isFirst = !this.scene.objects.length && !this.scene.areas.length;
    this.scene = scene;
    this.ground = new Map(scene.floors.map((floor) => [floor.id, floor.height]));
    this.objectOf = new Map(scene.objects.map((object) => [object.id, object]));
    if (isFirst) this.home();
    this.redraw();
  }

  home() {
    this.fit();
    const points = [...this.scene.areas, ...this.scene.rooms, ...this.scene.objects].map((one) => one.at);
    if (!points.length) return;
    const low = [0, 1].map((i) => points.reduce((least, at) => Math.min(least, at[i]), Infinity));
    const high = [0, 1].map((i) => points.reduce((most, at) => Math.max(most, at[i]), -Infinity));
    this.camera.show({ low: [...low, this.heightOf(this.scene.areas[0] ?? {})], high });
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
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  heightOf(place) {
    return this.ground?.get(place.floor_id) ?? 0;
  }

  fit() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    [this.camera.width, this.camera.height] = [Math.max(width, 1), Math.max(height, 1)];
    const size = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
  }

  draw() {
    this.fit();
    const { gl, camera } = this;
    const matrix = camera.matrix();
    const back = hexColor(color("ground"));
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...back, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    if (this.isStale || this.nearestHaveChanged()) this.fill(back);
    this.boxes.draw(matrix);
    this.dots.draw(matrix, this.canvas.height * 1.2);
    this.lines.draw(matrix);
    gl.disable(gl.DEPTH_TEST);
    this.outline.draw(matrix);
    drawLabels(fitted(this.labels), this, matrix);
    this.frames += 1;
  }

  /** Return whether other objects may be the nearest now, where not all are drawn as boxes. */
  nearestHaveChanged() {
    if (this.scene.objects.length <= MOST_BOXES) return false;
    const eye = this.camera.eye;
    return Math.hypot(...eye.map((value, i) => value - this.filledFrom[i])) > 0.15 * this.camera.distance;
  }

  /** Make what is drawn: boxes of the near objects, dots of the far ones and of areas, lines. */
  fill(back) {
    const { scene, layers } = this;
    [this.isStale, this.filledFrom] = [false, this.camera.eye];
    const objects = layers.objects ? this.byDistance(scene.objects) : [];
    const boxes = [];
    const dots = [];
    objects.forEach((object, index) => {
      const tint = this.tint(object, back);
      if (index < MOST_BOXES) boxes.push(...object.at, ...object.size.map((side) => Math.max(side, 0.03)), object.yaw, ...tint);
      else dots.push(...object.at, ...tint, Math.max(...object.size, 0.08));
    });
    if (layers.areas) for (const area of scene.areas) dots.push(area.at[0], area.at[1], this.heightOf(area) + 0.02, 0.45, 0.55, 0.7, 1, 0.18);
    this.boxes.set(boxes);
    this.dots.set(dots);
    this.lines.set(this.segments(back));
    this.outline.set(edges(this.objectOf?.get(this.selected)));
  }

  tint(object, back) {
    if (object.id === this.selected) return [1, 0.62, 0.05, 1];
    if (object.id === this.hovered || this.marked.has(object.id)) return [1, 0.8, 0.35, 1];
    const sure = 0.25 + 0.75 * object.existence;
    return [...classColor(object.class).map((value, i) => value * sure + back[i] * (1 - sure)), 1];
  }

  byDistance(objects) {
    if (objects.length <= MOST_BOXES) return objects;
    const eye = this.camera.eye;
    const far = (at) => (at[0] - eye[0]) ** 2 + (at[1] - eye[1]) ** 2 + (at[2] - eye[2]) ** 2;
    const keyed = objects.map((object) => [object.id === this.selected ? -1 : far(object.at), object]);
    return keyed.sort((a, b) => a[0] - b[0]).map(([, object]) => object);
  }

  segments(back) {
    const { scene, layers, selected } = this;
    const made = [];
    const line = (from, to, tint) => made.push(...from, ...tint, ...to, ...tint);
    const soft = back.map((value) => value * 0.55 + 0.45 * (value > 0.5 ? 0.45 : 0.6));
    const areaAt = new Map(scene.areas.map((area) => [area.id, [area.at[0], area.at[1], this.heightOf(area) + 0.02]]));
    for (const [source, kind, target] of scene.relations) {
      if (kind === "navigable" && layers.areas && source < target) {
        if (areaAt.has(source) && areaAt.has(target)) line(areaAt.get(source), areaAt.get(target), [...soft, 1]);
      } else if (layers.relations && (kind === "on" || kind === "in" || (kind === "near" && source === selected))) {
        const [a, b] = [this.objectOf.get(source), this.objectOf.get(target)];
        const tint = kind === "near" ? [0.6, 0.6, 0.65, 1] : kind === "in" ? [0.75, 0.3, 0.75, 1] : [0.2, 0.6, 0.35, 1];
        if (a && b) line(a.at, b.at, tint);
      }
    }
    if (layers.uncertainty) {
      const shown = scene.objects.length <= MOST_RINGS ? scene.objects : scene.objects.filter((one) => one.id === selected);
      for (const object of shown) this.ring(object, soft, line);
    }
    if (layers.path) this.path.slice(1).forEach((at, i) => line([...this.path[i], 0.04], [...at, 0.04], [0.1, 0.45, 0.85, 1]));
    if (layers.path && this.path.length) this.robot(line);
    return made;
  }

  /** Two standard deviations around the centre, on its height; for what is surely placed it is hidden in the box. */
  ring(object, soft, line) {
    const radius = 2 * object.sigma;
    if (radius < 0.02 || (radius < Math.min(object.size[0], object.size[1]) / 2 && object.id !== this.selected)) return;
    const tint = object.id === this.selected ? [1, 0.62, 0.05, 1] : [...soft, 1];
    const at = RING.map(([x, y]) => [object.at[0] + radius * x, object.at[1] + radius * y, object.at[2]]);
    for (let i = 1; i < at.length; i += 1) line(at[i - 1], at[i], tint);
  }

  robot(line) {
    const [x, y] = this.path.at(-1);
    const [px, py] = this.path.at(-2) ?? [x - 1, y];
    const heading = Math.atan2(y - py, x - px);
    const corner = (angle, radius) => [x + radius * Math.cos(heading + angle), y + radius * Math.sin(heading + angle), 0.06];
    const [nose, left, right] = [corner(0, 0.4), corner(2.5, 0.3), corner(-2.5, 0.3)];
    for (const [from, to] of [[nose, left], [left, right], [right, nose]]) line(from, to, [0.1, 0.45, 0.85, 1]);
  }

  /** Return the nearest object whose box the ray through a pixel meets. */
  at(x, y) {
    if (!this.layers.objects) return null;
    const eye = this.camera.eye;
    const direction = this.camera.ray(x, y);
    let [best, nearest] = [null, Infinity];
    for (const object of this.scene.objects) {
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

/** Return the twelve edges of an object's box, which are seen through whatever stands before it. */
function edges(object) {
  if (!object) return [];
  const [c, s] = [Math.cos(object.yaw), Math.sin(object.yaw)];
  const corner = (bits) => {
    const [x, y, z] = [0, 1, 2].map((i) => ((bits >> i) & 1 ? 0.5 : -0.5) * Math.max(object.size[i], 0.06));
    return [object.at[0] + c * x - s * y, object.at[1] + s * x + c * y, object.at[2] + z, 1, 0.62, 0.05, 1];
  };
  const made = [];
  for (let bits = 0; bits < 8; bits += 1) for (const axis of [1, 2, 4]) if (!(bits & axis)) made.push(...corner(bits), ...corner(bits | axis));
  return made;
}

function hexColor(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);
}
