import { isUtf8 } from 'node:buffer';
import { schemaRefusal } from '@actlog/policy';
import { jsonFlaw, limits, parseJsonWithBigInts } from '@actlog/protocol';
import { contract } from '@actlog/protocol/schemas';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { refusalError, validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { Caller } from '../tenants/caller.ts';
import type { RequestMemory, ReservedMemory } from './limits/request-memory.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON of the body, unless keys were removed from it. */
    bodyJson: string | undefined;
    /** `true` if `__proto__` keys were removed from the body. */
    protoKeysRemoved: boolean;
    /** Memory reserved for the body until the response; `undefined` for a request without one. */
    bodyMemory: ReservedMemory | undefined;
  }

  interface FastifyContextConfig {
    /** `true` if the body has arguments of a call, of which no digit may get lost. */
    readsArguments?: boolean;
    /** `true` if the body is stored as it was sent, also one that has a name twice. */
    keepsJson?: boolean;
  }
}

/** Size from which a body is parsed in its tenant's turn, in bytes. Parsing it takes at least 0.1 ms. */
const largeBodyBytes = 16 * 1024;

/** Maximum length of the path in an error; the names of arguments can have any length. */
const maxPathLength = 300;

/** JSON, and JSON Merge Patch (RFC 7396), which a PATCH may use. */
const mediaTypes = ['application/json', 'application/merge-patch+json'];

/**
 * Adds the parser for bodies that memory is reserved for. Bodies for unknown paths are not parsed. Fastify rejects
 * other media types with 415.
 */
export function parseJsonBodies(app: FastifyInstance, tenantTurns: TenantTurns): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest('bodyJson', undefined);
  app.decorateRequest('protoKeysRemoved', false);
  app.decorateRequest('bodyMemory', undefined);
  app.addContentTypeParser(
    mediaTypes,
    { parseAs: 'buffer', bodyLimit: limits.maxBodyBytes },
    (request, bytes: Buffer, done) => {
      const parse = () => {
        let body: unknown;
        try {
          body = parsedBody(request, bytes);
        } catch (error) {
          return done(error as Error, undefined);
        }
        done(null, body);
      };
      const { caller } = request;
      if (caller) tenantTurns.note(caller.tenantId);
      if (!caller || bytes.length < largeBodyBytes) return parse();
      tenantTurns.run(caller.tenantId, async () => parse()).catch((error: Error) => done(error, undefined));
    },
  );
}

function parsedBody(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0 || !request.bodyMemory) return undefined;
  // Reserved before parsing, because the parser's objects stay in memory until they are collected.
  request.bodyMemory.resize(parsedBytes(bytes));
  const text = textOf(bytes);
  const { readsArguments, keepsJson } = request.routeOptions.config;
  let body = parseJson(text);
  const { problem, protoKeysRemoved } = inspectJson(body);
  if (problem !== undefined) throw validationError('', 'invalid_json', problem);
  const flaw = keepsJson ? undefined : jsonFlaw(text);
  // Other bodies have no number of more digits than their schemas permit.
  if (flaw && (readsArguments || flaw.code === 'duplicate_key')) {
    throw validationError(flaw.path.slice(0, maxPathLength), flaw.code, flaw.message);
  }
  if (readsArguments) {
    body = parseJsonWithBigInts(text);
    if (protoKeysRemoved) inspectJson(body);
  }
  request.protoKeysRemoved = protoKeysRemoved;
  if (!protoKeysRemoved) request.bodyJson = text;
  return body;
}

/**
 * Reserves memory for the body that the request's headers announce, until `releaseBody`.
 *
 * @param maxBytes - limit of the route's bodies
 * @throws ApiError `OVERLOADED` when there is no memory left; the body is not read.
 */
export function reserveBody(
  request: FastifyRequest,
  memory: RequestMemory,
  maxBytes: number = limits.maxBodyBytes,
): void {
  // A closed connection sends neither a body nor an event that would release the memory.
  if (request.raw.destroyed) return;
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const bytes = encoding === undefined ? Number(length ?? 0) : maxBytes;
  // Larger bodies are rejected by the body limit.
  if (bytes > 0 && bytes <= maxBytes) request.bodyMemory = memory.reserve(bytes);
}

/** Releases a request's body, which the connection may reference long after the response. */
export function releaseBody(request: FastifyRequest): void {
  request.bodyMemory?.release();
  request.bodyMemory = undefined;
  request.body = undefined;
  request.bodyJson = undefined;
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw validationError('', 'invalid_json', 'must be UTF-8, and not compressed');
  return bytes.toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of the parser quotes the body, which must not appear in a response or a log.
    const place = /position (\d+)/.exec((error as Error).message)?.[1];
    throw validationError(
      '',
      'invalid_json',
      `must be JSON${place ? `; syntax error at byte ${place}` : ''}`,
    );
  }
}

/** Result of inspecting a parsed JSON body. */
interface JsonShape {
  /** `true` if keys named `__proto__` were removed. */
  readonly protoKeysRemoved: boolean;
  /** Reason for rejecting the body, phrased to follow its path; `undefined` if it is acceptable. */
  readonly problem: string | undefined;
}

const protoKey = '__proto__';

/**
 * Upper bound for the memory of one character, in the JSON and in the parsed body, and of one value. An empty object
 * takes many times the bytes of its JSON.
 */
const characterBytes = 4;
const valueBytes = 96;

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');

/** Returns an upper bound for the memory of a JSON body, as JSON and parsed, without parsing it. */
export function parsedBytes(text: Buffer): number {
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const byte = text[index];
    if (byte === quote) inString = !inString;
    else if (inString) index += byte === backslash ? 1 : 0;
    else if (byte === comma || byte === bracket || byte === brace) values += 1;
  }
  return text.length * characterBytes + values * valueBytes;
}

/**
 * Inspects a parsed body without recursion. Rejects nesting beyond the limit and numbers beyond the range of a double.
 * Removes `__proto__` keys, which would become prototypes where a library copies objects key by key. A body with such
 * keys is evidence of an attack, so it is accepted without them.
 */
export function inspectJson(body: unknown, maxDepth: number = limits.maxJsonDepth): JsonShape {
  let protoKeysRemoved = false;
  let isTooLarge = isInfinite(body);
  let level: object[] = isNested(body) ? [body] : [];
  for (let depth = 0; level.length > 0 && !isTooLarge; depth += 1) {
    if (depth >= maxDepth) return { protoKeysRemoved, problem: `is nested deeper than ${maxDepth} levels` };
    const next: object[] = [];
    // A body can contain a hundred thousand numbers; only containers are visited again.
    const visit = (value: unknown): void => {
      if (isNested(value)) next.push(value);
      else if (isInfinite(value)) isTooLarge = true;
    };
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const item of value) visit(item);
        continue;
      }
      if (Object.hasOwn(value, protoKey)) {
        Reflect.deleteProperty(value, protoKey);
        protoKeysRemoved = true;
      }
      for (const key in value) visit((value as Record<string, unknown>)[key]);
    }
    level = next;
  }
  if (isTooLarge) return { protoKeysRemoved, problem: 'contains a number that is too large' };
  return { protoKeysRemoved, problem: undefined };
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

/**
 * Validates one part of a request against its schema.
 *
 * @param part - `params`, `query` or `body`; paths of findings start with it, except for the body
 * @throws ApiError `VALIDATION_ERROR` with a finding for each broken rule, without values of the request.
 */
export function validated<Schema extends z.ZodType>(
  part: 'params' | 'query' | 'body',
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusalError(schemaRefusal(part, result.error.issues));
}

/** Returns {@link validated} for a path or a query, with a shortcut for an empty one that may only be empty. */
export function validator<Schema extends z.ZodObject>(
  part: 'params' | 'query',
  schema: Schema,
): (value: unknown) => z.output<Schema> {
  const takesNothing = Object.keys(schema.shape).length === 0;
  return (value) =>
    takesNothing && isEmpty(value as object) ? (value as z.output<Schema>) : validated(part, schema, value);
}

/** Validator of the path of a session, the same as in `/v1`. */
export const sessionPath = validator('params', contract['sessions.get'].params);

function isEmpty(value: object): boolean {
  for (const _key in value) return false;
  return true;
}

/** Fields of a log line that identify a caller. */
interface CallerFields {
  readonly tenantId: number;
  readonly keyId?: string;
  readonly userId?: string;
}

/** Returns the fields of a log line for a caller: ids only, never a name, which is personal data. */
export function callerFields({ tenantId, id, keyId }: Caller): CallerFields {
  return keyId === undefined ? { tenantId, userId: id } : { tenantId, keyId };
}

/** `true` if a client has the representation with this tag already (RFC 9110, section 13.1.2). */
export function isUnchanged(etag: string | undefined, ifNoneMatch = ''): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return etag !== undefined && (tags.includes(etag) || tags.includes('*'));
}

/** Returns the encodings that `Accept-Encoding` names, except with weight 0 (RFC 9110, section 12.5.3). */
export function acceptedEncodings(header: string): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (!parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))) accepted.add(name);
  }
  return accepted;
}
