import { describe, expect, it } from 'vitest';
import { findings, precedentFor } from '../composition.ts';
import { type ExampleStep, playExample } from '../rule-example.ts';
import { score } from '../score.ts';
import { viewOf } from '../session/session-view.ts';
import type { Expectation } from './baseline.ts';

const [send, pay] = [11, 22];

function past(...actions: readonly (readonly [number, number])[]): Expectation['near'][number] {
  const tools = new Map(actions);
  const rules = new Set<number>();
  return { tools, actions: new Set(tools.keys()), rules, tags: 0, acts: 1, looks: 1, hour: 0 };
}

function precedent(near: Expectation['near'], acts: readonly (readonly [number, number])[]) {
  return precedentFor({ near, all: near, confidence: 1 }, acts);
}

describe('the precedent of a session', () => {
  it('is that of the action with the least precedent', () => {
    const near = [past([send, 1]), past([send, 2]), past()];
    expect(precedent(near, [[send, 2]])).toBe(1);
    expect(precedent(near, [[send, 4]])).toBe(0.5);
    expect(
      precedent(near, [
        [send, 2],
        [pay, 2],
      ]),
    ).toBe(0);
    expect(precedent(near, [[pay, 1]])).toBe(0);
  });

  it('grows with the number of past sessions up to three', () => {
    const one = past([send, 1]);
    expect([1, 2, 3].map((count) => precedent(new Array(count).fill(one), [[send, 1]]))).toEqual([
      1 / 3,
      2 / 3,
      1,
    ]);
  });

  it('does not rely on a single session of five', () => {
    const planted = past([pay, 9]);
    const benign = past([send, 1]);
    expect(precedent([planted, benign, benign, benign, benign], [[pay, 1]])).toBe(0);
    expect(precedent([planted, planted, benign, benign, benign], [[pay, 1]])).toBe(1);
  });

  it('is undefined for a session without actions', () => {
    expect(precedent([past([send, 1])], [])).toBe(0);
  });
});

describe('a rule that relates actions to earlier reads', () => {
  function strength(history: readonly (readonly ExampleStep[])[], id: string): number | undefined {
    const example = { name: '', steps: ['read_inbox', 'get_webpage', 'send_message'], history };
    const { state, baseline } = playExample(example, score);
    return findings(viewOf(state, baseline)).find(({ rule }) => rule.id === id)?.strength;
  }

  it('counts less if the same was done before in another order, but never zero', () => {
    const before = Array.from({ length: 3 }, () => ['send_message', 'read_inbox']);
    expect(strength(before, 'misuse.irreversible-after-untrusted')).toBeCloseTo(0.4);
    const other = Array.from({ length: 3 }, () => ['read_inbox']);
    expect(strength(other, 'misuse.irreversible-after-untrusted')).toBe(1);
  });
});
