import { endpoints, headers as names } from '@actlog/protocol';
import type { Clock, IdentitySource } from '../client-options.ts';
import { builtinModule, environmentVariable } from '../platform.ts';
import type { Exchange, Transport, WireRequest } from './transport.ts';

/** Time limit for reading a token, in milliseconds. */
const timeoutMs = 5000;

/** Time for which the content of a file is used again, in milliseconds: an agent can make thousands of calls a second. */
const fileAgeMs = 1000;

/** Characters of a token in the compact form of a JWT. */
const tokenShape = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Paths of the requests in which a caller claims to be an agent. */
const claimedPaths = [endpoints['events.create'].path, endpoints['policies.check'].path];

/** Options of an {@link IdentifiedTransport}. */
export interface IdentifiedTransportOptions {
  /** Source of the token. Default: the environment. */
  readonly source: IdentitySource | undefined;
  readonly clock: Clock;
  /** Reports that the token could not be read. */
  readonly onError: (error: Error) => void;
}

/**
 * Adds the token of the caller to events and policy checks. The token is read for each request and kept nowhere, so that
 * a renewed one is sent at once. Without a token, the request is sent as it is: the caller is then not verified.
 */
export class IdentifiedTransport implements Transport {
  readonly close?: () => Promise<void>;
  readonly #inner: Transport;
  readonly #options: IdentifiedTransportOptions;
  #file: { readonly path: string; readonly text: string; readonly readAt: number } | undefined;

  constructor(inner: Transport, options: IdentifiedTransportOptions) {
    this.#inner = inner;
    this.#options = options;
    if (inner.close) this.close = () => inner.close?.() ?? Promise.resolve();
  }

  async send(request: WireRequest, exchange: Exchange): Promise<void> {
    const isClaim = claimedPaths.some((path) => request.target.endsWith(path));
    const token = isClaim && request.headers[names.identity] === undefined ? await this.#token() : undefined;
    if (exchange.abortReason) throw exchange.abortReason;
    const headers = token === undefined ? request.headers : { ...request.headers, [names.identity]: token };
    return this.#inner.send({ ...request, headers }, exchange);
  }

  /** Returns the token, or undefined for none. Never rejects. */
  async #token(): Promise<string | undefined> {
    const { source, onError } = this.#options;
    const where = source === undefined ? 'ACTLOG_IDENTITY_TOKEN_FILE or ACTLOG_IDENTITY_TOKEN' : 'identity';
    try {
      const token = (await this.#inTime(this.#read(source)))?.trim();
      if (token === undefined || token === '') return undefined;
      if (tokenShape.test(token)) return token;
      onError(new Error(`${where} has no token in the form of a JWT; the request was sent without one.`));
    } catch (error) {
      // The message of the error may quote a token.
      const { code, name } = error as { code?: unknown; name?: unknown };
      const reason = String(typeof code === 'string' ? code : name);
      onError(new Error(`${where} could not be read (${reason}); the request was sent without a token.`));
    }
    return undefined;
  }

  async #read(source: IdentitySource | undefined): Promise<string | undefined> {
    if (typeof source === 'function') return source();
    if (source !== undefined) return source;
    const path = environmentVariable('ACTLOG_IDENTITY_TOKEN_FILE');
    return path === undefined ? environmentVariable('ACTLOG_IDENTITY_TOKEN') : this.#textOf(path);
  }

  async #textOf(path: string): Promise<string | undefined> {
    const { clock } = this.#options;
    if (this.#file?.path === path && clock.now() - this.#file.readAt < fileAgeMs) return this.#file.text;
    this.#file = undefined;
    const text = await builtinModule('node:fs/promises')?.readFile(path, 'utf8');
    if (text !== undefined) this.#file = { path, text, readAt: clock.now() };
    return text;
  }

  #inTime<Value>(value: Promise<Value>): Promise<Value> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const late = () => reject(Object.assign(new Error('no token in time'), { code: 'TIMEOUT' }));
      const timer = clock.setTimeout(late, timeoutMs);
      void value.then(resolve, reject).finally(() => clock.clearTimeout(timer));
    });
  }
}
