import { expect, test } from 'vitest';
import { decodeLine, encodeEvent, encodeSettled } from './segment.ts';

const body = '{"toolName":"naïve 🔎 \\t\\n"}';

test('decodes an encoded line', () => {
  expect(decodeLine(encodeEvent('["langchain",null,null]', body).trimEnd())).toEqual({
    kind: 'event',
    originKey: '["langchain",null,null]',
    body,
  });
  expect(decodeLine(encodeSettled([0, 331, 662]).trim())).toEqual({
    kind: 'settled',
    offsets: [0, 331, 662],
  });
});

test('rejects a line that is truncated or changed anywhere', () => {
  const line = encodeEvent('[]', body).trimEnd();
  for (let length = 0; length < line.length; length += 1) {
    expect(decodeLine(line.slice(0, length))).toBeUndefined();
    const changed = `${line.slice(0, length)}~${line.slice(length + 1)}`;
    if (changed !== line) expect(decodeLine(changed)).toBeUndefined();
  }
});
