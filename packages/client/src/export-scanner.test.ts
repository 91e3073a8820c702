import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExportScanner } from './export-scanner.ts';

/** Feeds a text in pieces of such lengths, and gives what was found. */
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
  it('finds the events of any document, however it is cut into pieces', () => {
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

  it('calls no proper beginning of a document whole', () => {
    const text = '{"session":{"a":"}"},"events":[{"x":[1,2]},"]"],"eventCount":2}';
    expect(scan(text).whole).toBe(true);
    for (let length = 0; length < text.length; length += 1)
      expect(scan(text.slice(0, length)).whole).toBe(false);
  });

  it.each([
    ['two arrays of events', '{"events":[],"events":[]}'],
    ['something behind it', '{"events":[]}{'],
    ['text behind it', '{"events":[]}x'],
    ['an array around it', '[{"events":[]}]'],
    ['a wrong bracket', '{"events":[1}}'],
  ])('does not call whole a document with %s', (_what, text) => {
    expect(scan(text).whole).toBe(false);
  });

  it.each([
    ['no events', '{"session":{"events":[1]}}'],
    ['events that are no array', '{"events":{"a":[1]}}'],
    ['events under another name', '{"log":[{"events":[]}],"eventCount":1}'],
  ])('calls whole a document with %s, and counts none', (_what, text) => {
    expect(scan(text)).toMatchObject({ whole: true, eventCount: undefined, events: '' });
    for (let length = 0; length < text.length; length += 1)
      expect(scan(text.slice(0, length)).whole).toBe(false);
  });

  it('takes a field that is null for one that is missing, and the text for a text', () => {
    const nothing = { declaredEventCount: undefined, declaredSha256: undefined };
    expect(scan('{"eventCount":null,"events":[{}],"contentSha256": null }')).toMatchObject(nothing);
    expect(scan('{"contentSha256":"ab","events":[],"contentSha256":null}')).toMatchObject(nothing);
    expect(scan('{"events":[],"contentSha256":"null"}')).toMatchObject({ declaredSha256: 'null' });
  });

  it('keeps no more of a field than it needs', () => {
    const found = scan(`{"contentSha256":"${'a'.repeat(100_000)}","events":[]}`);
    expect(found.declaredSha256).toHaveLength(200);
  });
});
