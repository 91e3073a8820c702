import { isUtf8 } from 'node:buffer';
import { limits } from '@actlog/protocol';
import type { FastifyInstance } from 'fastify';
import { validationError } from './api-error.ts';
import { inspectJson } from './json-shape.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the body held `__proto__` keys, which were taken out. */
    protoKeysRemoved: boolean;
    /** Bytes of memory that the parsed body takes at most. */
    bodyMemoryBytes: number;
  }
}

/** JSON, and JSON Merge Patch (RFC 7396), which PATCH may name. */
const mediaTypes = ['application/json', 'application/merge-patch+json'];

/** Bytes of memory that one character and one value take at most: an empty object takes many times its text. */
const characterBytes = 2;
const valueBytes = 96;

/** Parses the body as it arrives; everything but JSON is refused by Fastify with 415. */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest('protoKeysRemoved', false);
  app.decorateRequest('bodyMemoryBytes', 0);
  app.addContentTypeParser(
    mediaTypes,
    { parseAs: 'buffer', bodyLimit: limits.maxBodyBytes },
    (request, bytes: Buffer, done) => {
      try {
        if (bytes.length === 0) return done(null, undefined);
        const body = parseJson(bytes);
        const { problem, protoKeysRemoved, values } = inspectJson(body);
        if (problem !== undefined) throw validationError('', 'invalid_json', problem);
        request.protoKeysRemoved = protoKeysRemoved;
        request.bodyMemoryBytes = bytes.length * characterBytes + values * valueBytes;
        done(null, body);
      } catch (error) {
        done(error as Error, undefined);
      }
    },
  );
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw validationError('', 'invalid_json', 'must be UTF-8');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // The parser's own message quotes the body, which must not come back in an answer or a log.
    const place = /position (\d+)/.exec((error as Error).message)?.[1];
    throw validationError('', 'invalid_json', `must be JSON${place ? `; it breaks at byte ${place}` : ''}`);
  }
}
