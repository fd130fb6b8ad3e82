// Names over the 3D view: rooms, the selected object, and of the others as many as do not lie over each other.

import { color, nameOf } from "./dom.js";
import { nearest } from "./nearest.js";

const NEAR_M = 14;
const MOST_KEPT = 600;
const PAD = 4;
const LONGEST = 28;
// Names as pictures: to write one anew in every frame costs the most of a frame.
const pictures = new Map();

/** Draw the labels of a view on a fitted canvas, at most so many of objects. */
export function drawLabels({ context, width, height }, view, matrix, most) {
  context.clearRect(0, 0, width, height);
  const [ink, paper, soft] = [color("ink"), color("paper"), color("soft")];
  const taken = [];
  const put = (text, at, { size, bold = false, fill = ink, always = false }) => {
    const [x, y, depth] = view.camera.project(at, matrix);
    if (depth <= 0 || x < 0 || y < 0 || x > width || y > height) return;
    const picture = written(text, `${bold ? 600 : 400} ${size}px system-ui, "Liberation Sans", sans-serif`, size, fill, paper);
    const [left, top] = [Math.round(x - picture.wide / 2), Math.round(y - size)];
    const box = [left, top, left + picture.wide, top + size + PAD];
    if (!always && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return;
    taken.push(box);
    context.drawImage(picture.canvas, left, top - PAD, picture.wide, picture.high);
  };
  const above = (object) => [object.at[0], object.at[1], object.at[2] + object.size[2] / 2 + 0.08];
  const short = (one) => (nameOf(one).length > LONGEST ? `${nameOf(one).slice(0, LONGEST)}…` : nameOf(one));
  const chosen = view.objectOf?.get(view.selected);
  if (chosen) put(short(chosen), above(chosen), { size: 14, bold: true, always: true });
  if (view.layers.rooms) {
    for (const room of view.scene.rooms) put(room.name || "room", [...room.at, view.heightOf(room)], { size: 14, bold: true, fill: soft });
  }
  if (!view.layers.objects) return;
  for (const index of nearest(view.drawn.places, view.camera.eye, most, NEAR_M + view.camera.distance * 0.4)) {
    const object = view.scene.objects[index];
    if (object !== chosen) put(short(object), above(object), { size: 11.5 });
  }
}

/** Return a canvas that holds a text with paper around its letters, and its size in CSS pixels. */
function written(text, font, size, fill, paper) {
  const key = `${text}\n${font}\n${fill}`;
  const known = pictures.get(key);
  if (known) return known;
  if (pictures.size >= MOST_KEPT) pictures.clear();
  const canvas = document.createElement("canvas");
  const scale = window.devicePixelRatio || 1;
  let context = canvas.getContext("2d");
  context.font = font;
  const [wide, high] = [Math.ceil(context.measureText(text).width) + 6, Math.ceil(size) + 2 * PAD];
  [canvas.width, canvas.height] = [wide * scale, high * scale];
  context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = font;
  context.lineWidth = 3;
  context.strokeStyle = paper;
  context.fillStyle = fill;
  context.strokeText(text, 3, size + PAD);
  context.fillText(text, 3, size + PAD);
  const made = { canvas, wide, high };
  pictures.set(key, made);
  return made;
}
