// How much is drawn: less while the view moves and its frames take long, all of it as soon as it rests.

// Boxes, rings, names and pixels per CSS pixel (a share of the screen's own), from all to little. Where a processor
// draws, rings cost the most: each is two dozen lines.
const LEVELS = [
  { boxes: 4000, rings: 500, names: 70, sharpness: 1 },
  { boxes: 2000, rings: 80, names: 40, sharpness: 0.7 },
  { boxes: 800, rings: 1, names: 20, sharpness: 0.5 },
  { boxes: 300, rings: 1, names: 8, sharpness: 0.35 },
];
const SLOW_MS = 42;
const FAST_MS = 20;
const RESTS_AFTER_MS = 300;
// Frames that must agree before the level changes.
const AGREE = 3;

export class Detail {
  /** onRest is called when a view that was drawn with less detail has come to rest. */
  constructor(onRest) {
    this.onRest = onRest;
    this.level = this.slow = this.fast = 0;
  }

  /** Return what to draw in this frame. moves: nothing but the view has changed; waitedMs: since it was asked for, which
   * is long where frames are. */
  frame(moves, waitedMs) {
    if (!moves) return LEVELS[0];
    this.note(waitedMs);
    if (this.level) {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.onRest(), RESTS_AFTER_MS);
    }
    return LEVELS[this.level];
  }

  note(waitedMs) {
    // A frame that takes three times too long says as much as three that take a little too long.
    this.slow = waitedMs > SLOW_MS ? this.slow + Math.floor(waitedMs / SLOW_MS) : 0;
    this.fast = waitedMs < FAST_MS ? this.fast + 1 : 0;
    if (this.slow >= AGREE && this.level < LEVELS.length - 1) this.change(1);
    else if (this.fast >= 10 * AGREE && this.level > 0) this.change(-1);
  }

  change(by) {
    this.level += by;
    this.slow = this.fast = 0;
  }
}
