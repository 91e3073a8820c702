import { Buffer } from 'node:buffer';
import { getResponse, isPassthroughResponse } from 'msw';
import type { Dispatcher } from 'undici';
import { isRefusedConnection } from '../faults/faults.ts';
import { errors } from './undici.js';

/** Source of handlers, such as `setupServer()` of `msw/node`. */
export interface HandlerSource {
  /** Returns the current handlers, starting with `server.use()`. */
  listHandlers(): readonly object[];
}

type Handlers = Parameters<typeof getResponse>[0];

/** One undici request that handlers respond to, without a connection or a timer. */
export class MockExchange implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller = new AbortController();
  #resume: PromiseWithResolvers<void> | undefined;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }

  get reason(): Error | null {
    return this.aborted ? this.#controller.signal.reason : null;
  }

  get paused(): boolean {
    return this.#resume !== undefined;
  }

  get rawHeaders(): null {
    return null;
  }

  get rawTrailers(): null {
    return null;
  }

  abort(reason: Error): void {
    this.#controller.abort(reason);
    this.resume();
  }

  pause(): void {
    this.#resume ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resume?.resolve();
    this.#resume = undefined;
  }

  /** Handles the request. Failures go to undici's handler, as with real requests. */
  async run(options: Dispatcher.DispatchOptions, source: HandlerSource): Promise<void> {
    const handlers = source.listHandlers() as Handlers;
    try {
      const request = requestOf(options, this.#controller.signal);
      await undefined; // handlers must not be called before `dispatch` has returned
      this.#handler.onRequestStart?.(this, {});
      await this.#handle(request, handlers);
    } catch (error) {
      this.#handler.onResponseError?.(this, this.reason ?? (error as Error));
    }
  }

  async #handle(request: Request, handlers: Handlers): Promise<void> {
    this.#controller.signal.throwIfAborted();
    const response = await Promise.race([getResponse(handlers, request), this.#aborted()]);
    this.#controller.signal.throwIfAborted();
    if (!response || isPassthroughResponse(response)) {
      const { method, url } = request;
      throw new errors.InvalidArgumentError(
        `No handler matches ${method} ${url.split('?', 1)[0]}; add one, or remove its passthrough().`,
      );
    }
    if (response.type === 'error') throw connectionError(response);
    this.#handler.onResponseStart?.(this, response.status, headersOf(response), response.statusText);
    for await (const chunk of response.body ?? []) {
      await this.#resume?.promise;
      this.#controller.signal.throwIfAborted();
      this.#handler.onResponseData?.(this, Buffer.from(chunk));
    }
    await this.#resume?.promise;
    this.#controller.signal.throwIfAborted();
    this.#handler.onResponseEnd?.(this, {});
  }

  /** Rejects on abort, for handlers that ignore the signal. */
  #aborted(): Promise<undefined> {
    const { signal } = this.#controller;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
  }
}

/** Creates undici's error for a refused or a broken connection. */
function connectionError(response: Response): Error {
  return isRefusedConnection(response)
    ? Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    : new errors.SocketError('other side closed');
}

/** Returns the URL of a dispatch; null if it has none. */
export function urlOf({ origin = '', path, query = {} }: Dispatcher.DispatchOptions): URL | null {
  const url = URL.parse(String(origin).replace(/\/$/, '') + path);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) url?.searchParams.append(name, String(one));
  }
  return url;
}

function requestOf(options: Dispatcher.DispatchOptions, signal: AbortSignal): Request {
  const { method, body = null } = options;
  const url = urlOf(options);
  if (!url) throw new errors.InvalidArgumentError('The request has no origin; set `origin`.');
  const hasBody = body !== null && method !== 'GET' && method !== 'HEAD';
  return new Request(url, {
    method,
    headers: entriesOf(options.headers),
    signal,
    ...(hasBody && { body: body as RequestInit['body'] & object, duplex: 'half' }),
  });
}

/** Returns header entries from an object, a flat list of names and values, or pairs. */
function entriesOf(headers: Dispatcher.DispatchOptions['headers']): [string, string][] {
  if (!headers) return [];
  if (Array.isArray(headers) && typeof headers[0] === 'string') {
    return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, String(headers[index + 1])]] : []));
  }
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return (pairs as [string, string | string[] | undefined][]).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}

function headersOf({ headers }: Response): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) };
}
