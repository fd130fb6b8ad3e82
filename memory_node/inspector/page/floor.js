// The ground of each floor: a slab under what lies on it, with a grid of whole metres.

const MARGIN_M = 0.6;
const CEILING_M = 2.8;
const SUNK_M = 0.3;
const SLAB_M = 0.02;
// A grid of more lines is drawn in coarser steps.
const MOST_LINES = 80;
const STEPS_M = [1, 2, 5, 10, 20, 50, 100];

/** Return slabs as {low, high, height}, low and high being corners [x, y] in whole metres. */
export function slabs({ floors, areas, objects }) {
  const levels = floors.length ? floors : [{ id: null, height: lowest(objects) }];
  return levels.flatMap(({ id, height }) => {
    const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
    const hold = (at, reach) => {
      for (const k of [0, 1]) {
        low[k] = Math.min(low[k], at[k] - reach);
        high[k] = Math.max(high[k], at[k] + reach);
      }
    };
    for (const area of areas) if (id === null || area.floor_id === id) hold(area.at, MARGIN_M);
    for (const { at, size } of objects) {
      const foot = at[2] - size[2] / 2 - height;
      if (foot > -SUNK_M && foot < CEILING_M) hold(at, Math.max(size[0], size[1]) / 2);
    }
    return low[0] <= high[0] ? [{ low: low.map(Math.floor), high: high.map(Math.ceil), height }] : [];
  });
}

/** Return the slabs as rows for Boxes. */
export function slabBoxes(found, [red, green, blue]) {
  return new Float32Array(
    found.flatMap(({ low, high, height }) => [
      (low[0] + high[0]) / 2, (low[1] + high[1]) / 2, height - SLAB_M / 2,
      high[0] - low[0], high[1] - low[1], SLAB_M, 0, red, green, blue, 1,
    ]),
  );
}

/** Hand the grid's lines to add(from, to). */
export function grid(found, add) {
  for (const { low, high, height } of found) {
    const longest = Math.max(high[0] - low[0], high[1] - low[1]);
    const step = STEPS_M.find((metres) => longest / metres <= MOST_LINES) ?? longest;
    const level = height + 0.004;
    for (let x = Math.ceil(low[0] / step) * step; x <= high[0]; x += step) add([x, low[1], level], [x, high[1], level]);
    for (let y = Math.ceil(low[1] / step) * step; y <= high[1]; y += step) add([low[0], y, level], [high[0], y, level]);
  }
}

/** Return where the ground is of a scene without floors: at 0, unless everything lies far from it. */
function lowest(objects) {
  const least = objects.reduce((low, { at, size }) => Math.min(low, at[2] - size[2] / 2), Infinity);
  return Number.isFinite(least) && Math.abs(least) > SUNK_M ? least : 0;
}
