import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CursorTrail, repeatedCursor } from './list.ts';

/** Returns the number of pages read until the trail detects the cycle. */
function pagesUntilFound(tail: number, loop: number): number {
  let trail = new CursorTrail();
  for (let page = 0; ; page += 1) {
    const cursor = page < tail ? `t${page}` : `l${(page - tail) % loop}`;
    const next = trail.step(cursor, 1);
    if (next === repeatedCursor) return page;
    trail = next as CursorTrail;
  }
}

it('finds every cycle within a few rounds', () => {
  fc.assert(
    fc.property(fc.nat(3_000), fc.integer({ min: 1, max: 3_000 }), (tail, loop) => {
      expect(pagesUntilFound(tail, loop)).toBeLessThanOrEqual(4 * (tail + loop) + 4);
    }),
  );
});

it('accepts any number of distinct cursors', () => {
  let trail = new CursorTrail();
  for (let page = 0; page < 100_000; page += 1) trail = trail.step(String(page), 1) as CursorTrail;
  expect(trail.step('new', 1)).toBeInstanceOf(CursorTrail);
});
