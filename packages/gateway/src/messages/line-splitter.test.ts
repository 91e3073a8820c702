import { expect, test } from 'vitest';
import { LineSplitter } from '../stdio/child-server.ts';

test('returns the same lines however the bytes are split', () => {
  const text = Buffer.from('{"a":"ä😀"}\n\n{"b":1}\r\nrest ä');
  for (let size = 1; size <= text.length; size += 1) {
    const splitter = new LineSplitter();
    const lines: string[] = [];
    for (let start = 0; start < text.length; start += size) {
      lines.push(...splitter.push(text.subarray(start, start + size)).map(String));
    }
    expect([...lines, String(splitter.end())]).toEqual(['{"a":"ä😀"}\n', '\n', '{"b":1}\r\n', 'rest ä']);
  }
  expect(new LineSplitter().end()).toBeUndefined();
});
