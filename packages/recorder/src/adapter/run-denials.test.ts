import { expect, test } from 'vitest';
import { maxDenialsInARow, maxSameDenials, RunDenials } from './run-denials.ts';

test('ends a run at the fifth denial of the same call, whatever ran in between', () => {
  const denials = new RunDenials();
  const call = { toolName: 'delete', arguments: { id: 1 } };
  const counted = Array.from({ length: maxSameDenials }, () => {
    denials.letThrough('delete');
    return denials.count(call);
  });
  expect(counted).toEqual([false, false, false, false, true]);
});

test('ends a run after fifty consecutive denials of one tool', () => {
  const denials = new RunDenials();
  const counted = Array.from({ length: maxDenialsInARow }, (_, id) =>
    denials.count({ toolName: 'delete', arguments: { id } }),
  );
  expect(counted.indexOf(true)).toBe(maxDenialsInARow - 1);
});

test('restarts the count of a tool when a call is allowed', () => {
  const denials = new RunDenials();
  const deny = (toolName: string, id: number) => denials.count({ toolName, arguments: { id } });
  for (let id = 1; id < maxDenialsInARow; id += 1) expect(deny('delete', id)).toBe(false);
  for (let id = 1; id < maxDenialsInARow; id += 1) expect(deny('move', id)).toBe(false);
  denials.letThrough('delete');
  expect(deny('delete', 0)).toBe(false);
  expect(deny('move', 0)).toBe(true);
});

test('treats arguments that are not JSON-serializable as one call', () => {
  const denials = new RunDenials();
  const counted = Array.from({ length: maxSameDenials }, (_, id) => {
    const circular: Record<string, unknown> = { id };
    circular.parent = circular;
    return denials.count({ toolName: 'delete', arguments: circular });
  });
  expect(counted.at(-1)).toBe(true);
});
