// Which places are the nearest to the eye, fast enough to be asked in every frame.

/** Return the squared distance to the eye of places (x, y, z in a row), beyond which `most` of them are not passed. */
export function nearestWithin(places, eye, most) {
  const count = places.length / 3;
  const squared = new Float32Array(count);
  for (let i = 0, at = 0; i < count; i += 1, at += 3) {
    const [x, y, z] = [places[at] - eye[0], places[at + 1] - eye[1], places[at + 2] - eye[2]];
    squared[i] = x * x + y * y + z * z;
  }
  const limit = count > most ? squared.slice().sort()[most] : Infinity;
  return { squared, limit };
}

/** Return the numbers of the `most` places that are nearest to the eye and within `reach`, the nearest first. */
export function nearest(places, eye, most, reach) {
  const { squared, limit } = nearestWithin(places, eye, most);
  const near = [];
  for (let i = 0; i < squared.length; i += 1) if (squared[i] < limit && squared[i] < reach * reach) near.push(i);
  return near.sort((a, b) => squared[a] - squared[b]);
}
