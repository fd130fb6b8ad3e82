// What is drawn of a scene graph: places and colours as rows of numbers, ready for the graphics card.

import { grid, slabs } from "./floor.js";
import { nearestWithin } from "./nearest.js";

const BOX = 11;
const DOT = 8;
const LINE = 14;
// Rings around more objects say nothing.
const MOST_RINGS = 500;
const LEAST_BOX_M = 0.03;
const LEAST_DOT_M = 0.08;
const CHOSEN = [1, 0.62, 0.05];
const POINTED = [1, 0.8, 0.35];
const ROBOT = [0.1, 0.45, 0.85];
const AREA = [0.45, 0.55, 0.7];
const RELATIONS = { on: [0.2, 0.6, 0.35], in: [0.75, 0.3, 0.75], near: [0.6, 0.6, 0.65] };

const hues = new Map();

/** Return the colour of a class, by its name: red, green, blue, 0 to 1. */
export function classColor(name) {
  if (!hues.has(name)) hues.set(name, hueOf(name));
  return hues.get(name);
}

function hueOf(name) {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  const hue = (hash % 360) / 60;
  const channel = (shift) => 0.32 + 0.5 * Math.min(Math.max(Math.abs(((hue + shift) % 6) - 3) - 1, 0), 1);
  return [channel(0), channel(4), channel(2)];
}

/** Lines of two ends and a colour; the room for them grows. */
class Strokes {
  constructor() {
    this.data = new Float32Array(LINE * 256);
    this.length = 0;
  }

  add(from, to, [red, green, blue]) {
    if (this.length + LINE > this.data.length) {
      const larger = new Float32Array(2 * this.data.length);
      larger.set(this.data);
      this.data = larger;
    }
    for (const [x, y, z] of [from, to]) {
      const at = this.length;
      [this.data[at], this.data[at + 1], this.data[at + 2]] = [x, y, z];
      [this.data[at + 3], this.data[at + 4], this.data[at + 5], this.data[at + 6]] = [red, green, blue, 1];
      this.length += LINE / 2;
    }
  }

  get values() {
    return this.data.subarray(0, this.length);
  }
}

/** A scene graph as rows of numbers; they are made once, however often the view moves. */
export class Drawn {
  /** heightOf(place): of the floor that a room or an area lies on, metres. */
  constructor(scene, heightOf) {
    this.scene = scene;
    this.heightOf = heightOf;
    const count = scene.objects.length;
    this.places = new Float32Array(3 * count);
    this.indexOf = new Map();
    scene.objects.forEach((object, index) => {
      this.places.set(object.at, 3 * index);
      this.indexOf.set(object.id, index);
    });
    this.isBox = new Uint8Array(count);
    this.slabs = slabs(scene);
    this.areaAt = new Map(scene.areas.map((area) => [area.id, [area.at[0], area.at[1], heightOf(area) + 0.02]]));
  }

  /** Return boxes of at most `most` objects, those nearest to the eye, and dots of the others, for Boxes and Dots. */
  objects(eye, most, back, chosen) {
    const { objects } = this.scene;
    const { squared, limit } = nearestWithin(this.places, eye, most);
    const [boxes, dots] = [new Float32Array(BOX * objects.length), new Float32Array(DOT * objects.length)];
    let [box, dot] = [0, 0];
    for (let i = 0; i < objects.length; i += 1) {
      const { at, size, yaw, id } = objects[i];
      const tint = this.tint(objects[i], back, chosen);
      this.isBox[i] = squared[i] < limit || id === chosen.selected ? 1 : 0;
      if (this.isBox[i]) {
        for (let k = 0; k < 3; k += 1) {
          boxes[box + k] = at[k];
          boxes[box + 3 + k] = Math.max(size[k], LEAST_BOX_M);
          boxes[box + 7 + k] = tint[k];
        }
        boxes[box + 6] = yaw;
        boxes[box + 10] = 1;
        box += BOX;
      } else {
        for (let k = 0; k < 3; k += 1) [dots[dot + k], dots[dot + 3 + k]] = [at[k], tint[k]];
        dots[dot + 6] = 1;
        dots[dot + 7] = Math.max(size[0], size[1], size[2], LEAST_DOT_M);
        dot += DOT;
      }
    }
    return { boxes: boxes.subarray(0, box), dots: dots.subarray(0, dot) };
  }

  /** Return the dots of areas. */
  areas() {
    return new Float32Array([...this.areaAt.values()].flatMap((at) => [...at, ...AREA, 1, 0.18]));
  }

  tint(object, back, { selected, hovered, marked }) {
    if (object.id === selected) return CHOSEN;
    if (object.id === hovered || marked.has(object.id)) return POINTED;
    const sure = 0.25 + 0.75 * object.existence;
    const hue = classColor(object.class);
    return [0, 1, 2].map((k) => hue[k] * sure + back[k] * (1 - sure));
  }

  /** Return ways, relations and the robot's path as lines. Relations of what is a dot only are left out. */
  lines(layers, back, selected, path) {
    const strokes = new Strokes();
    const soft = softOf(back);
    const faint = back.map((value, k) => 0.75 * value + 0.25 * soft[k]);
    if (layers.floor) grid(this.slabs, (from, to) => strokes.add(from, to, faint));
    const boxed = (index) => index !== undefined && this.isBox[index];
    const { objects } = this.scene;
    for (const [source, kind, target] of this.scene.relations) {
      if (kind === "navigable") {
        if (layers.areas && source < target && this.areaAt.has(source) && this.areaAt.has(target)) strokes.add(this.areaAt.get(source), this.areaAt.get(target), soft);
      } else if (layers.relations && RELATIONS[kind] && (kind !== "near" || source === selected)) {
        const [a, b] = [this.indexOf.get(source), this.indexOf.get(target)];
        if (boxed(a) && boxed(b)) strokes.add(objects[a].at, objects[b].at, RELATIONS[kind]);
      }
    }
    if (layers.path && path.length) {
      for (let i = 1; i < path.length; i += 1) strokes.add([...path[i - 1], 0.04], [...path[i], 0.04], ROBOT);
      robot(path, strokes);
    }
    return strokes.values;
  }

  /** Return rings of two standard deviations around the centres of the nearest boxes: at (3), radius, colour (4); the
   * selected object's first, then the nearest. A ring that the box hides is drawn for the selected object alone. */
  rings(eye, back, selected) {
    const soft = softOf(back);
    const { squared, limit } = nearestWithin(this.places, eye, MOST_RINGS);
    const made = [];
    this.scene.objects.forEach(({ id, size, sigma }, index) => {
      const isChosen = id === selected;
      const radius = 2 * sigma;
      if (radius < 0.02 || !(isChosen || (this.isBox[index] && squared[index] < limit && radius >= Math.min(size[0], size[1]) / 2))) return;
      made.push([isChosen ? -1 : squared[index], index]);
    });
    made.sort((a, b) => a[0] - b[0]);
    return made.flatMap(([far, index]) => {
      const { at, sigma } = this.scene.objects[index];
      return [...at, 2 * sigma, ...(far < 0 ? CHOSEN : soft), 1];
    });
  }
}

function softOf(back) {
  return back.map((value) => value * 0.55 + 0.45 * (value > 0.5 ? 0.45 : 0.95));
}

function robot(path, strokes) {
  const [x, y] = path.at(-1);
  const [px, py] = path.at(-2) ?? [x - 1, y];
  const heading = Math.atan2(y - py, x - px);
  const corner = (angle, radius) => [x + radius * Math.cos(heading + angle), y + radius * Math.sin(heading + angle), 0.06];
  const [nose, left, right] = [corner(0, 0.4), corner(2.5, 0.3), corner(-2.5, 0.3)];
  for (const [from, to] of [[nose, left], [left, right], [right, nose]]) strokes.add(from, to, ROBOT);
}

/** Return the twelve edges of an object's box, which are seen through whatever stands before it. */
export function edges(object) {
  const strokes = new Strokes();
  if (!object) return strokes.values;
  const [c, s] = [Math.cos(object.yaw), Math.sin(object.yaw)];
  const corner = (bits) => {
    const [x, y, z] = [0, 1, 2].map((i) => ((bits >> i) & 1 ? 0.5 : -0.5) * Math.max(object.size[i], 0.06));
    return [object.at[0] + c * x - s * y, object.at[1] + s * x + c * y, object.at[2] + z];
  };
  for (let bits = 0; bits < 8; bits += 1) for (const axis of [1, 2, 4]) if (!(bits & axis)) strokes.add(corner(bits), corner(bits | axis), CHOSEN);
  return strokes.values;
}
