import { endpoints, headers, jsonFlaw, limits, parseJsonWithBigInts } from '@actlog/protocol';
import { ApiError, invalid } from './api-error.ts';

/** JSON, and JSON Merge Patch (RFC 7396), which PATCH accepts. */
const mediaTypes = new Set(['application/json', 'application/merge-patch+json']);

/** Key that becomes a prototype when a library copies objects; it is removed. */
const protoKey = '__proto__';

/** Body of a request. */
export interface RequestBody {
  /** Parsed body; undefined if there was none. */
  readonly value: unknown;
  /** `true` if `__proto__` keys were removed. */
  readonly protoKeysRemoved: boolean;
}

/**
 * Reads a body like the reference server.
 *
 * @throws ApiError for another media type, more than 256 KiB, invalid JSON, or nesting deeper than 32 levels.
 */
export async function readBody(request: Request): Promise<RequestBody> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const [mediaType = ''] = (request.headers.get(headers.contentType) ?? '').toLowerCase().split(';');
  if (bytes.length > 0 && !mediaTypes.has(mediaType.trim())) {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be JSON; send Content-Type: application/json.',
    );
  }
  if (bytes.length > limits.maxBodyBytes) {
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB; send less at once.');
  }
  if (bytes.length === 0) return { value: undefined, protoKeysRemoved: false };
  const value = parsed(bytes, new URL(request.url).pathname);
  return { value, protoKeysRemoved: cleaned(value) };
}

function parsed(bytes: Uint8Array, path: string): unknown {
  let text: string;
  let value: unknown;
  try {
    // JSON has no byte order mark (RFC 8259, section 8.1), so one is kept and makes the text invalid.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw invalid('', 'invalid_json', 'must be JSON');
  }
  const isCheck = path.endsWith(endpoints['policies.check'].path);
  const flaw = path.endsWith(endpoints['events.create'].path) ? undefined : jsonFlaw(text);
  if (flaw && (isCheck || flaw.code === 'duplicate_key')) throw invalid(flaw.path, flaw.code, flaw.message);
  return isCheck ? parseJsonWithBigInts(text) : value;
}

/** Removes `__proto__` keys level by level; returns `true` if there were any. */
function cleaned(value: unknown): boolean {
  let isCleaned = false;
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (level.some((one) => typeof one === 'number' && !Number.isFinite(one))) {
      throw invalid('', 'invalid_json', 'contains a number that is too large');
    }
    const objects = level.filter((one): one is object => typeof one === 'object' && one !== null);
    if (objects.length > 0 && depth >= limits.maxJsonDepth) {
      throw invalid('', 'invalid_json', `is nested deeper than ${limits.maxJsonDepth} levels`);
    }
    for (const one of objects) {
      if (Object.hasOwn(one, protoKey)) isCleaned = Reflect.deleteProperty(one, protoKey);
    }
    level = objects.flatMap((one) => Object.values(one));
  }
  return isCleaned;
}
