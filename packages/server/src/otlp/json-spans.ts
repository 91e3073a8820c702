import { isUtf8 } from 'node:buffer';
import { inspectJson, parsedBytes } from '../http/json-shape.ts';
import { validationError } from '../lib/api-error.ts';
import type { Turn } from '../tenant-turns.ts';
import { maxTextBytes } from './body-limits.ts';
import { type DecodingMemory, type EncodedSpan, notJson, tooLong } from './encoded-span.ts';
import { fieldsOf, listOf } from './request-shape.ts';

/** Maximum nesting of a JSON body. Each level of a structured attribute takes four; protobuf allows about as much. */
const maxJsonDepth = 128;

/** Names of the lists around a span, outermost first, and the depth of a span in them. */
const lists = ['resourceSpans', 'scopeSpans', 'spans'];
const spanDepth = 2 * lists.length;

/** Bytes after which other work gets a turn. */
const sliceBytes = 256 * 1024;

const [quote, backslash, colon, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\:[]{}');
const longText = Buffer.from(JSON.stringify(tooLong));

/** A part of the body, and the texts in it that are too long to be read. */
interface Slice {
  readonly from: number;
  readonly to: number;
  readonly longTexts: readonly Omit<Slice, 'longTexts'>[];
}

/**
 * Yields the spans of a request in JSON. The body is parsed without them, and each of them when it is decoded.
 *
 * @throws ApiError `VALIDATION_ERROR` for a body that is not JSON or has another shape, and the errors of the memory
 */
export async function* jsonSpans(
  bytes: Buffer,
  memory: DecodingMemory,
  turn: Turn,
): AsyncGenerator<EncodedSpan> {
  if (!isUtf8(bytes)) throw notJson('is not UTF-8');
  const { frame, spans } = await cutSpans(bytes, turn);
  memory.holdSpans(spans.length);
  // The bytes of the body are held already.
  memory.hold(parsedBytes(frame) - frame.length);
  const path = lists[0] ?? '';
  for (const resourceSpans of listOf(fieldsOf(parsed(frame), '').resourceSpans, path)) {
    const { resource, scopeSpans } = fieldsOf(resourceSpans, path);
    for (const ofScope of listOf(scopeSpans, `${path}.scopeSpans`)) {
      const { scope, spans: places } = fieldsOf(ofScope, `${path}.scopeSpans`);
      for (const place of listOf(places, `${path}.scopeSpans.spans`)) {
        const slice = Array.isArray(place) ? spans[place[0]] : undefined;
        const decode = () => (slice ? decoded(bytes, slice, memory) : place);
        yield { resource, scope, decode };
      }
    }
  }
}

/** Returns the body with a list of its number instead of each span, and the places of the spans. */
async function cutSpans(bytes: Buffer, turn: Turn): Promise<{ frame: Buffer; spans: readonly Slice[] }> {
  const spans: Slice[] = [];
  const kept: Buffer[] = [];
  const names: string[] = [];
  let longTexts: Omit<Slice, 'longTexts'>[] = [];
  let depth = 0;
  let began = 0;
  let copied = 0;
  let turnAt = sliceBytes;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) {
      const to = endOfText(bytes, index);
      const isShallow = depth < spanDepth;
      if (isShallow && nextByte(bytes, to) === colon)
        names[depth] = bytes.toString('utf8', index + 1, to - 1);
      else if (!isShallow && to - index > maxTextBytes && nextByte(bytes, to) !== colon) {
        longTexts.push({ from: index, to });
      }
      index = to - 1;
    } else if (byte === openBrace || byte === openBracket) {
      if (depth === spanDepth && lists.every((name, level) => names[2 * level + 1] === name))
        began = index + 1;
      depth += 1;
      if (depth < spanDepth) names[depth] = '';
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === spanDepth && began > 0) {
        kept.push(bytes.subarray(copied, began - 1), Buffer.from(`[${spans.length}]`));
        spans.push({ from: began - 1, to: index + 1, longTexts });
        copied = index + 1;
        began = 0;
      }
      if (depth <= spanDepth) longTexts = [];
    }
    if (index < turnAt) continue;
    turnAt = index + sliceBytes;
    await turn();
  }
  kept.push(bytes.subarray(copied));
  return { frame: Buffer.concat(kept), spans };
}

/** Returns the index after a text; the length of the body if the text does not end. */
function endOfText(bytes: Buffer, from: number): number {
  const next = bytes.indexOf(0x22, from + 1);
  // An image has no escapes, and searching for its end is much faster than looking at each byte.
  if (next - from > maxTextBytes && !bytes.subarray(from, next).includes(0x5c)) return next + 1;
  for (let index = from + 1; index < bytes.length; index += 1) {
    if (bytes[index] === quote) return index + 1;
    if (bytes[index] === backslash) index += 1;
  }
  return bytes.length;
}

/** Returns the first byte that is not white space. */
function nextByte(bytes: Buffer, from: number): number | undefined {
  let index = from;
  while (bytes[index] === 0x20 || bytes[index] === 0x0a || bytes[index] === 0x0d || bytes[index] === 0x09) {
    index += 1;
  }
  return bytes[index];
}

function decoded(bytes: Buffer, { from, to, longTexts }: Slice, memory: DecodingMemory): unknown {
  const parts: Buffer[] = [];
  let copied = from;
  for (const text of longTexts) {
    parts.push(bytes.subarray(copied, text.from), longText);
    copied = text.to;
  }
  parts.push(bytes.subarray(copied, to));
  const json = longTexts.length > 0 ? Buffer.concat(parts) : bytes.subarray(from, to);
  memory.need(parsedBytes(json));
  return parsed(json, spanDepth);
}

function parsed(json: Buffer, depth = 0): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    throw notJson('is not JSON');
  }
  const { problem } = inspectJson(value, maxJsonDepth - depth);
  if (problem !== undefined) throw validationError('', 'invalid_json', `has a body that ${problem}`);
  return value;
}
