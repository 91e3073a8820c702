import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExportScanner } from './export-scanner.ts';

/** Scans a text in chunks of the given lengths and returns the findings. */
function scan(text: string, pieceLengths: readonly number[] = [Infinity]) {
  const bytes = new TextEncoder().encode(text);
  const parts: Uint8Array[] = [];
  const scanner = new ExportScanner((part) => parts.push(part.slice()));
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const length = pieceLengths[piece % pieceLengths.length] ?? 1;
    scanner.feed(bytes.subarray(at, Math.min(at + length, bytes.length)));
    at += length;
  }
  return { ...scanner.end(), events: Buffer.concat(parts).toString() };
}

describe('ExportScanner', () => {
  it('finds the events of any document, for any split into chunks', () => {
    const document = fc.record({
      session: fc.jsonValue(),
      'odd "name\\': fc.jsonValue(),
      events: fc.array(fc.jsonValue()),
      risk: fc.jsonValue(),
    });
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(document, lengths, fc.constantFrom(0, 2), (value, pieceLengths, indent) => {
        const events = JSON.stringify(value.events, null, indent);
        const others = Object.entries(value).filter(([name]) => name !== 'events');
        const start = others
          .map(([name, other]) => `${JSON.stringify(name)}:${JSON.stringify(other)},`)
          .join('\n');
        const end = `"eventCount": ${value.events.length} , "contentSha256":"ab12" }`;
        expect(scan(`{${start}"events" : ${events} ,${end}`, pieceLengths)).toEqual({
          whole: true,
          eventCount: value.events.length,
          declaredEventCount: value.events.length,
          declaredSha256: 'ab12',
          events,
        });
      }),
    );
  });

  it('reports every proper prefix of a document as incomplete', () => {
    const text = '{"session":{"a":"}"},"events":[{"x":[1,2]},"]"],"eventCount":2}';
    expect(scan(text).whole).toBe(true);
    for (let length = 0; length < text.length; length += 1)
      expect(scan(text.slice(0, length)).whole).toBe(false);
  });

  it.each([
    ['two arrays of events', '{"events":[],"events":[]}'],
    ['JSON after it', '{"events":[]}{'],
    ['text after it', '{"events":[]}x'],
    ['an array around it', '[{"events":[]}]'],
    ['a wrong bracket', '{"events":[1}}'],
  ])('reports a document with %s as incomplete', (_what, text) => {
    expect(scan(text).whole).toBe(false);
  });

  it.each([
    ['no events', '{"session":{"events":[1]}}'],
    ['events that are not an array', '{"events":{"a":[1]}}'],
    ['events under another name', '{"log":[{"events":[]}],"eventCount":1}'],
  ])('reports a document with %s as complete, without a count', (_what, text) => {
    expect(scan(text)).toMatchObject({ whole: true, eventCount: undefined, events: '' });
    for (let length = 0; length < text.length; length += 1)
      expect(scan(text.slice(0, length)).whole).toBe(false);
  });

  it('treats a null field as missing, but not the string', () => {
    const nothing = { declaredEventCount: undefined, declaredSha256: undefined };
    expect(scan('{"eventCount":null,"events":[{}],"contentSha256": null }')).toMatchObject(nothing);
    expect(scan('{"contentSha256":"ab","events":[],"contentSha256":null}')).toMatchObject(nothing);
    expect(scan('{"events":[],"contentSha256":"null"}')).toMatchObject({ declaredSha256: 'null' });
  });

  it('limits the kept length of a field', () => {
    const found = scan(`{"contentSha256":"${'a'.repeat(100_000)}","events":[]}`);
    expect(found.declaredSha256).toHaveLength(200);
  });
});
