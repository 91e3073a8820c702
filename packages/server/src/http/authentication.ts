import type { Socket } from 'node:net';
import { headers, type Scope } from '@actlog/protocol';
import type { FastifyRequest } from 'fastify';
import { type Caller, type KeyRing, keysKeptForMs } from '../keys/key-ring.ts';
import { allScopes } from '../keys/provisioning.ts';
import { ApiError } from './api-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; set before anything else of a request is looked at. */
    caller: Caller | undefined;
  }
}

const bearer = /^bearer +([^\s]+)$/i;

/** The last header of a connection that named a caller. */
interface Remembered {
  readonly header: string;
  readonly caller: Caller;
  readonly atMs: number;
  readonly generation: number;
}

/** Where a connection keeps it: with thousands of them, a map would have left the processor's cache each time. */
const remembered = Symbol('remembered caller');

type Connection = Socket & { [remembered]?: Remembered };

/** Tells who calls, by the API key of the request. */
export class Authentication {
  readonly #keys: KeyRing;

  constructor(keys: KeyRing) {
    this.#keys = keys;
  }

  /**
   * The caller, if the last request of the same connection came with the same header a moment ago. A connection
   * only ever compares with what it has sent itself, so the comparison tells nobody anything.
   */
  remembered(request: FastifyRequest): Caller | undefined {
    const last = (request.raw.socket as Connection)[remembered];
    if (last === undefined || last.header !== request.headers.authorization) return undefined;
    const isFresh =
      Math.abs(Date.now() - last.atMs) < keysKeptForMs && last.generation === this.#keys.generation;
    return isFresh ? last.caller : undefined;
  }

  /** The caller of a request. @throws ApiError `AUTHENTICATION_FAILED`. */
  async caller(request: FastifyRequest): Promise<Caller> {
    const header = request.headers[headers.authorization] ?? '';
    const { generation } = this.#keys;
    const [, key] = bearer.exec(header) ?? [];
    const caller = key === undefined ? undefined : await this.#keys.authenticate(key);
    if (!caller) throw authenticationFailed();
    (request.raw.socket as Connection)[remembered] = { header, caller, atMs: Date.now(), generation };
    return caller;
  }
}

/** A key that is missing, wrong or past its end: all answer alike. */
export function authenticationFailed(): ApiError {
  return new ApiError('AUTHENTICATION_FAILED', 'The API key is invalid or missing.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** @throws ApiError `PERMISSION_DENIED` when the caller's key lacks the scope. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  throw new ApiError(
    'PERMISSION_DENIED',
    `The API key lacks the scope "${scope}". Use a key that has it, or ask who manages the keys.`,
  );
}

/** @throws ApiError `PERMISSION_DENIED` when the caller's key lacks any scope. */
export function requireEveryScope(caller: Caller): void {
  const missing = allScopes.filter((scope) => !caller.scopes.has(scope));
  if (missing.length === 0) return;
  const named = missing.map((scope) => `"${scope}"`).join(', ');
  throw new ApiError(
    'PERMISSION_DENIED',
    `The API key lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${named}, and this takes every scope. ` +
      'Use a key that has them all, or ask who manages the keys.',
  );
}
