import { expect, test } from 'vitest';
import { withCallId } from './hooked-calls.ts';

const tool = {};
const inner = { wrapper: {}, wrapped: tool };
const outer = { wrapper: {}, wrapped: inner.wrapper };
const idOf = (callId: string) => callId;

test('gives all wrappers of a call the same id, and each call its own', async () => {
  const both = () => withCallId(outer, async (id) => [id, withCallId(inner, idOf)]);
  const [first, second] = await Promise.all([both(), both()]);
  expect(first[0]).toBe(first[1]);
  expect(second[0]).toBe(second[1]);
  expect(first[0]).not.toBe(second[0]);
});

test('gives a tool that calls itself separate calls', () => {
  withCallId(outer, (id) => {
    withCallId(inner, () => {
      expect(withCallId(outer, idOf)).not.toBe(id);
      expect(withCallId(inner, idOf)).not.toBe(id);
    });
  });
});
