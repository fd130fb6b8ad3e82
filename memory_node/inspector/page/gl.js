// The few things of WebGL 2 that the view needs: boxes, points and lines.

// Of a box the three faces towards the eye are drawn: each face is moved to the side on which the eye is.
const BOXES = `#version 300 es
layout(location=0) in vec3 corner; layout(location=1) in vec3 normal;
layout(location=2) in vec3 at; layout(location=3) in vec3 size; layout(location=4) in float yaw; layout(location=5) in vec4 tint;
uniform mat4 view; uniform vec3 eye; out vec4 color;
void main() {
  float c = cos(yaw), s = sin(yaw);
  mat2 turn = mat2(c, s, -s, c);
  vec3 toward = eye - at; toward.xy = toward.xy * turn;
  vec3 side = vec3(toward.x < 0.0 ? -1.0 : 1.0, toward.y < 0.0 ? -1.0 : 1.0, toward.z < 0.0 ? -1.0 : 1.0);
  vec3 p = corner * size * side; p.xy = turn * p.xy;
  vec3 n = normal * side; n.xy = turn * n.xy;
  float light = 0.62 + 0.38 * max(dot(n, normalize(vec3(0.35, -0.55, 0.9))), 0.0);
  color = vec4(tint.rgb * light, tint.a);
  gl_Position = view * vec4(p + at, 1.0);
}`;
const DOTS = `#version 300 es
layout(location=0) in vec3 at; layout(location=1) in vec4 tint; layout(location=2) in float width;
uniform mat4 view; uniform float scale; out vec4 color;
void main() {
  color = tint;
  gl_Position = view * vec4(at, 1.0);
  gl_PointSize = clamp(scale * width / gl_Position.w, 2.0, 24.0);
}`;
const LINES = `#version 300 es
layout(location=0) in vec3 at; layout(location=1) in vec4 tint;
uniform mat4 view; out vec4 color;
void main() { color = tint; gl_Position = view * vec4(at, 1.0); }`;
const RINGS = `#version 300 es
layout(location=0) in vec2 around; layout(location=1) in vec3 at; layout(location=2) in float radius; layout(location=3) in vec4 tint;
uniform mat4 view; out vec4 color;
void main() { color = tint; gl_Position = view * vec4(at.xy + radius * around, at.z, 1.0); }`;
const PAINT = `#version 300 es
precision mediump float; in vec4 color; out vec4 pixel;
void main() { pixel = color; }`;

function program(gl, vertex) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, PAINT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(`shader: ${gl.getProgramInfoLog(made)}`);
  return made;
}

/** Return three faces of a cube of side one, at its upper ends: corners and normals. */
function faces() {
  const made = [];
  for (const axis of [0, 1, 2]) {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
      const corner = [0, 0, 0];
      const normal = [0, 0, 0];
      [corner[axis], corner[u], corner[v]] = [0.5, a / 2, b / 2];
      normal[axis] = 1;
      made.push(...corner, ...normal);
    }
  }
  return new Float32Array(made);
}

/** Draws vertices of one layout; a layout is a list of the sizes of its attributes, from `first` on. */
class Batch {
  constructor(gl, source, layout, { first = 0, divisor = 0 } = {}) {
    this.gl = gl;
    this.program = program(gl, source);
    this.view = gl.getUniformLocation(this.program, "view");
    this.array = gl.createVertexArray();
    this.buffer = gl.createBuffer();
    this.stride = layout.reduce((sum, size) => sum + size, 0);
    this.count = 0;
    this.attach(this.buffer, layout, first, divisor);
  }

  attach(buffer, layout, first, divisor) {
    const { gl } = this;
    const stride = 4 * layout.reduce((sum, size) => sum + size, 0);
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    let offset = 0;
    layout.forEach((size, index) => {
      gl.enableVertexAttribArray(first + index);
      gl.vertexAttribPointer(first + index, size, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(first + index, divisor);
      offset += 4 * size;
    });
    gl.bindVertexArray(null);
  }

  /** Take new values: a Float32Array or a list of numbers. */
  set(values) {
    const { gl } = this;
    const data = values instanceof Float32Array ? values : new Float32Array(values);
    this.count = data.length / this.stride;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  }

  begin(matrix) {
    this.gl.useProgram(this.program);
    this.gl.uniformMatrix4fv(this.view, false, matrix);
    this.gl.bindVertexArray(this.array);
  }
}

/** Boxes: at (3), size (3), yaw, colour (4). */
export class Boxes extends Batch {
  constructor(gl) {
    super(gl, BOXES, [3, 3, 1, 4], { first: 2, divisor: 1 });
    this.eye = gl.getUniformLocation(this.program, "eye");
    const corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, faces(), gl.STATIC_DRAW);
    this.attach(corners, [3, 3], 0, 0);
  }

  draw(matrix, eye) {
    if (!this.count) return;
    this.begin(matrix);
    this.gl.uniform3fv(this.eye, eye);
    this.gl.drawArraysInstanced(this.gl.TRIANGLES, 0, 18, this.count);
  }
}

/** Level rings: at (3), radius, colour (4). */
export class Rings extends Batch {
  constructor(gl) {
    super(gl, RINGS, [3, 1, 4], { first: 1, divisor: 1 });
    this.corners = Float32Array.from({ length: 48 }, (_, i) => (i % 2 ? Math.sin : Math.cos)((Math.floor(i / 2) * Math.PI) / 12));
    const around = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, around);
    gl.bufferData(gl.ARRAY_BUFFER, this.corners, gl.STATIC_DRAW);
    this.attach(around, [2], 0, 0);
  }

  /** Draw the first rings, at most so many. */
  draw(matrix, most) {
    if (!this.count) return;
    this.begin(matrix);
    this.gl.drawArraysInstanced(this.gl.LINE_LOOP, 0, this.corners.length / 2, Math.min(this.count, most));
  }
}

/** Dots: at (3), colour (4), width in metres. */
export class Dots extends Batch {
  constructor(gl) {
    super(gl, DOTS, [3, 4, 1]);
    this.scale = gl.getUniformLocation(this.program, "scale");
  }

  draw(matrix, scale) {
    if (!this.count) return;
    this.begin(matrix);
    this.gl.uniform1f(this.scale, scale);
    this.gl.drawArrays(this.gl.POINTS, 0, this.count);
  }
}

/** Lines: two ends each, at (3), colour (4). */
export class Lines extends Batch {
  constructor(gl) {
    super(gl, LINES, [3, 4]);
  }

  draw(matrix) {
    if (!this.count) return;
    this.begin(matrix);
    this.gl.drawArrays(this.gl.LINES, 0, this.count);
  }
}

/** Return a canvas's WebGL 2, with smooth edges where a graphics card draws: a processor would take several times as
 * long. */
export function context(canvas) {
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) throw new Error("this browser has no WebGL 2");
  const renderer = probe.getExtension("WEBGL_debug_renderer_info");
  const name = String(probe.getParameter(renderer ? renderer.UNMASKED_RENDERER_WEBGL : probe.RENDERER));
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  return canvas.getContext("webgl2", { alpha: false, antialias: !/swiftshader|llvmpipe|software/i.test(name) });
}
