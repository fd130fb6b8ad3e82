// An orbit camera over the ground: where it looks, its matrix, the ray under a pixel. Metres and radians, z up.

const FIELD_OF_VIEW = 0.8;
const NEAR = 0.05;

export class Camera {
  constructor() {
    this.target = [0, 0, 0];
    this.distance = 10;
    this.turn = -1.2;
    this.tilt = 0.95;
    this.width = this.height = 1;
  }

  /** Show a box {low, high} of the ground wholly. */
  show({ low, high }) {
    this.target = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]];
    const across = Math.hypot(high[0] - low[0], high[1] - low[1]);
    const narrow = Math.min(1, this.width / this.height);
    this.distance = Math.max(2, (0.62 * Math.max(across, 2)) / Math.tan(FIELD_OF_VIEW / 2) / Math.sqrt(narrow) / 1.25);
  }

  get eye() {
    const flat = Math.cos(this.tilt) * this.distance;
    const [x, y, z] = this.target;
    return [x + Math.cos(this.turn) * flat, y + Math.sin(this.turn) * flat, z + Math.sin(this.tilt) * this.distance];
  }

  zoom(factor) {
    this.distance = Math.min(Math.max(this.distance * factor, 0.3), 2000);
  }

  rotate(turn, tilt) {
    this.turn += turn;
    this.tilt = Math.min(Math.max(this.tilt + tilt, 0.08), 1.55);
  }

  /** Move over the ground by pixels to the right and down. */
  pan(right, down) {
    const scale = (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / this.height;
    const [c, s] = [Math.cos(this.turn), Math.sin(this.turn)];
    this.target[0] += scale * (-s * -right - c * down);
    this.target[1] += scale * (c * -right - s * down);
  }

  /** Return the axes: right, up and back, unit vectors. */
  axes() {
    const [ct, st, cl, sl] = [Math.cos(this.turn), Math.sin(this.turn), Math.cos(this.tilt), Math.sin(this.tilt)];
    return { right: [-st, ct, 0], up: [-ct * sl, -st * sl, cl], back: [ct * cl, st * cl, sl] };
  }

  /** Return the 4 x 4 matrix from map to clip space, by columns. */
  matrix() {
    const { right, up, back } = this.axes();
    const eye = this.eye;
    const far = this.distance * 8 + 200;
    const f = 1 / Math.tan(FIELD_OF_VIEW / 2);
    const a = (f * this.height) / this.width;
    const depth = (far + NEAR) / (NEAR - far);
    const dot = (v) => v[0] * eye[0] + v[1] * eye[1] + v[2] * eye[2];
    const rows = [
      [a * right[0], a * right[1], a * right[2], -a * dot(right)],
      [f * up[0], f * up[1], f * up[2], -f * dot(up)],
      [depth * back[0], depth * back[1], depth * back[2], -depth * dot(back) + (2 * far * NEAR) / (NEAR - far)],
      [-back[0], -back[1], -back[2], dot(back)],
    ];
    return new Float32Array([0, 1, 2, 3].flatMap((column) => rows.map((row) => row[column])));
  }

  /** Return where a point is on screen [x, y, depth], CSS pixels; depth <= 0: behind the camera. */
  project(point, m = this.matrix()) {
    const [x, y, z] = point;
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) return [0, 0, 0];
    const u = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w;
    const v = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
    return [((u + 1) / 2) * this.width, ((1 - v) / 2) * this.height, w];
  }

  /** Return the unit direction of the ray from the eye through a pixel. */
  ray(x, y) {
    const { right, up, back } = this.axes();
    const t = Math.tan(FIELD_OF_VIEW / 2);
    const u = ((2 * x) / this.width - 1) * t * (this.width / this.height);
    const v = (1 - (2 * y) / this.height) * t;
    const direction = [0, 1, 2].map((i) => u * right[i] + v * up[i] - back[i]);
    const length = Math.hypot(...direction);
    return direction.map((value) => value / length);
  }

  /** Return where the ray through a pixel meets the plane z = height, or null. */
  ground(x, y, height = 0) {
    const eye = this.eye;
    const direction = this.ray(x, y);
    const along = (height - eye[2]) / direction[2];
    return along > 0 ? [eye[0] + along * direction[0], eye[1] + along * direction[1], height] : null;
  }
}
