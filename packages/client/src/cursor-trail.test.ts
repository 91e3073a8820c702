import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CursorTrail, repeatedCursor } from './cursor-trail.ts';

/** How many pages are read until the trail says that the list would never end. */
function pagesUntilFound(tail: number, loop: number): number {
  let trail = new CursorTrail();
  for (let page = 0; ; page += 1) {
    const cursor = page < tail ? `t${page}` : `l${(page - tail) % loop}`;
    const next = trail.step(cursor, 1);
    if (next === repeatedCursor) return page;
    trail = next as CursorTrail;
  }
}

it('finds every loop within a few turns of it', () => {
  fc.assert(
    fc.property(fc.nat(3_000), fc.integer({ min: 1, max: 3_000 }), (tail, loop) => {
      expect(pagesUntilFound(tail, loop)).toBeLessThanOrEqual(4 * (tail + loop) + 4);
    }),
  );
});

it('takes any number of cursors that differ', () => {
  let trail = new CursorTrail();
  for (let page = 0; page < 100_000; page += 1) trail = trail.step(String(page), 1) as CursorTrail;
  expect(trail.step('new', 1)).toBeInstanceOf(CursorTrail);
});
