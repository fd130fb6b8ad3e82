// Names over the 3D view: rooms, the selected object, and of the others as many as do not lie over each other.

import { color } from "./dom.js";

const MOST = 70;
const NEAR_M = 14;

/** Draw the labels of a view on a fitted canvas. */
export function drawLabels({ context, width, height }, view, matrix) {
  context.clearRect(0, 0, width, height);
  context.textAlign = "center";
  const [ink, paper, soft] = [color("ink"), color("paper"), color("soft")];
  const taken = [];
  const put = (text, at, { size, bold = false, fill = ink, always = false }) => {
    const [x, y, depth] = view.camera.project(at, matrix);
    if (depth <= 0 || x < 0 || y < 0 || x > width || y > height) return;
    context.font = `${bold ? 600 : 400} ${size}px system-ui, "Liberation Sans", sans-serif`;
    const half = context.measureText(text).width / 2 + 3;
    const box = [x - half, y - size, x + half, y + 4];
    if (!always && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return;
    taken.push(box);
    context.lineWidth = 3;
    context.strokeStyle = paper;
    context.strokeText(text, x, y);
    context.fillStyle = fill;
    context.fillText(text, x, y);
  };
  const above = (object) => [object.at[0], object.at[1], object.at[2] + object.size[2] / 2 + 0.08];
  const chosen = view.objectOf?.get(view.selected);
  if (chosen) put(chosen.class, above(chosen), { size: 14, bold: true, always: true });
  if (view.layers.rooms) {
    for (const room of view.scene.rooms) put(room.name || "room", [...room.at, view.heightOf(room)], { size: 14, bold: true, fill: soft });
  }
  if (!view.layers.objects) return;
  const eye = view.camera.eye;
  const far = (object) => Math.hypot(object.at[0] - eye[0], object.at[1] - eye[1], object.at[2] - eye[2]);
  const near = view.scene.objects.map((object) => [far(object), object]).filter(([distance]) => distance < NEAR_M + view.camera.distance * 0.4);
  near.sort((a, b) => a[0] - b[0]);
  for (const [, object] of near.slice(0, MOST)) if (object !== chosen) put(object.class, above(object), { size: 11.5 });
}
