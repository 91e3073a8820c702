import { isUtf8 } from 'node:buffer';
import { limits } from '@actlog/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { validationError } from './api-error.ts';
import { inspectJson, parsedBytes } from './json-shape.ts';
import type { HeldMemory, RequestMemory } from './request-memory.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, unless keys were taken out of it. */
    bodyJson: string | undefined;
    /** Whether the body held `__proto__` keys, which were taken out. */
    protoKeysRemoved: boolean;
    /** What the body takes, from the request's head to its answer. Undefined where none is wanted. */
    bodyMemory: HeldMemory | undefined;
  }
}

/** JSON, and JSON Merge Patch (RFC 7396), which PATCH may name. */
const mediaTypes = ['application/json', 'application/merge-patch+json'];

/**
 * Parses bodies that memory is held for, as they arrive; those of unknown paths are not looked at. Everything but JSON
 * is refused by Fastify with 415.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest('bodyJson', undefined);
  app.decorateRequest('protoKeysRemoved', false);
  app.decorateRequest('bodyMemory', undefined);
  app.addContentTypeParser(
    mediaTypes,
    { parseAs: 'buffer', bodyLimit: limits.maxBodyBytes },
    (request, bytes: Buffer, done) => {
      try {
        if (bytes.length === 0 || !request.bodyMemory) return done(null, undefined);
        // Who is refused is not parsed: what the parser makes takes memory until it is collected.
        request.bodyMemory.resize(parsedBytes(bytes));
        const text = textOf(bytes);
        const body = parseJson(text);
        const { problem, protoKeysRemoved } = inspectJson(body);
        if (problem !== undefined) throw validationError('', 'invalid_json', problem);
        request.protoKeysRemoved = protoKeysRemoved;
        if (!protoKeysRemoved) request.bodyJson = text;
        done(null, body);
      } catch (error) {
        done(error as Error, undefined);
      }
    },
  );
}

/**
 * Holds memory for the body that a request's head announces, until `releaseBody`.
 *
 * @throws ApiError `OVERLOADED` when it has no room: nothing of it is read.
 */
export function holdBody(request: FastifyRequest, memory: RequestMemory): void {
  // Of one whose connection is gone neither a body nor an error comes any more.
  if (request.raw.destroyed) return;
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const bytes = encoding === undefined ? Number(length ?? 0) : limits.maxBodyBytes;
  // One beyond the bound is refused for that.
  if (bytes > 0 && bytes <= limits.maxBodyBytes) request.bodyMemory = memory.hold(bytes);
}

/** Lets go of a request's body, which a connection may refer to for long after the answer. */
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
    // The parser's own message quotes the body, which must not come back in an answer or a log.
    const place = /position (\d+)/.exec((error as Error).message)?.[1];
    throw validationError('', 'invalid_json', `must be JSON${place ? `; it breaks at byte ${place}` : ''}`);
  }
}
