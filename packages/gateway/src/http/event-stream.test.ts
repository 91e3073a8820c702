import { expect, test } from 'vitest';
import { EventStreamSplitter, eventBytes } from './client-response.ts';

test.each(['\n', '\r\n', '\r'])('splits a stream with line endings %j without changing a byte', (eol) => {
  const blocks = [
    `: comment${eol}${eol}`,
    `id: 1${eol}data: {"a":"ä"}${eol}${eol}`,
    `id: 2${eol}retry: 500${eol}data:${eol}${eol}`,
    `event: message${eol}data: {"b":${eol}data: 1}${eol}${eol}`,
  ];
  const stream = Buffer.from(`${blocks.join('')}data: cut off`);
  for (let size = 1; size <= stream.length; size += 1) {
    const splitter = new EventStreamSplitter();
    const found = [];
    for (let start = 0; start < stream.length; start += size) {
      found.push(...splitter.push(stream.subarray(start, start + size)));
    }
    expect(found.map(({ raw }) => raw.toString())).toEqual(blocks);
    expect(found.map(({ data }) => data)).toEqual([undefined, '{"a":"ä"}', undefined, '{"b":\n1}']);
    expect(found.map(({ id }) => id)).toEqual([undefined, '1', '2', undefined]);
    expect(found.map(({ retryMs }) => retryMs)).toEqual([undefined, undefined, 500, undefined]);
    expect(splitter.end().toString()).toBe('data: cut off');
  }
});

test.each(['\n\r\n', '\r\n\n', '\r\r\n'])('ends an event at the mixed line endings %j', (end) => {
  const splitter = new EventStreamSplitter();
  const stream = Buffer.from([1, 2].map((number) => `data: ${number}${end}`).join(''));
  const found = [...stream].flatMap((byte) => splitter.push(Buffer.of(byte)));
  expect(found.flatMap(({ data }) => data ?? [])).toEqual(['1', '2']);
  expect(Buffer.concat([...found.map(({ raw }) => raw), splitter.end()])).toEqual(stream);
});

test('writes a message on several lines as one event', () => {
  expect(eventBytes(Buffer.from('{"a":\r\n1}\n')).toString()).toBe(
    'event: message\ndata: {"a":\ndata: 1}\n\n',
  );
});
