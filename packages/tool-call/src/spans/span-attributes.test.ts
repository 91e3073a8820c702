import { expect, test } from 'vitest';
import { jsonOf } from './genai-span.ts';

test.each([
  ['{"a":1}', { a: 1 }],
  ['\n [1]', [1]],
  ['"text"', 'text'],
  ['-1.5', -1.5],
  ['42', 42],
  [' true ', true],
  ['false', false],
  ['null\n', null],
])('parses the JSON %j', (text, value) => {
  expect(jsonOf(text)).toEqual(value);
});

test.each(['', 'turn 1', 'nullable', 'true or false', '{"a":', '[1', '12 degrees', 'Infinity'])(
  'returns undefined for %j, which is not JSON',
  (text) => {
    expect(jsonOf(text)).toBeUndefined();
  },
);
