import { type EndpointName, endpoints, headers as names, parseLargeIntegers } from '@actlog/protocol';
import { ContractError, type Settings } from '../contract-options.ts';
import { fail } from '../outcome.ts';
import { version } from '../version.ts';
import { type ApiResponse, repeated } from './api-response.ts';

/** Request data besides method and path. */
export interface Sent {
  /** Value of `:id` in the path of an endpoint. */
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Raw body, instead of `body`. */
  readonly rawBody?: string;
  /** Headers to add or replace; null omits a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The tenant's key by default; null omits the Authorization header. */
  readonly key?: string | null;
  /** `true` to return a 429 instead of waiting and retrying. */
  readonly once?: boolean;
}

/** Maximum size of a response in bytes. */
const maxResponseBytes = 32 * 1024 * 1024;

/** Consecutive requests without a response after which the deployment's availability is tested. */
const toleratedSilences = 3;

/** Consecutive requests to one endpoint without a response after which it is no longer called. */
const toleratedByEndpoint = 2;

/**
 * Sends requests and records every response. Redirects are not followed, because the key would be sent along.
 */
export class Probe {
  readonly #settings: Settings;
  /** All responses of the run, including those that were retried. */
  readonly responses: ApiResponse[] = [];
  #silences = 0;
  readonly #silencesOf = new Map<string, number>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Sends a request to an endpoint of the table. */
  call(name: EndpointName, sent: Sent = {}): Promise<ApiResponse> {
    const { method, path } = endpoints[name];
    return this.#send(method, path.replace(':id', encodeURIComponent(sent.id ?? '')), sent, name);
  }

  /** Sends a request and retries 429, 502, 503 and 504, as the specification requires of clients. */
  send(method: string, path: string, sent: Sent = {}): Promise<ApiResponse> {
    return this.#send(method, path, sent, undefined);
  }

  async #send(
    method: string,
    path: string,
    sent: Sent,
    endpoint: EndpointName | undefined,
  ): Promise<ApiResponse> {
    const exchange = () => this.#exchange(method, path + queryText(sent.query), sent, endpoint);
    return sent.once ? exchange() : repeated(this.#settings, exchange);
  }

  async #exchange(
    method: string,
    path: string,
    sent: Sent,
    name: EndpointName | undefined,
  ): Promise<ApiResponse> {
    const { baseURL, timeoutMs, signal } = this.#settings;
    signal.throwIfAborted();
    const endpoint = `${method} ${name ? endpoints[name].path : path.split('?', 1)[0]}`;
    const silences = this.#silencesOf.get(endpoint) ?? 0;
    if (silences >= toleratedByEndpoint) {
      return fail(`${endpoint} did not respond ${silences} times in a row and is no longer called`);
    }
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const received = await this.#receive(method, path, sent, timeout);
      const response: ApiResponse = {
        ...received,
        ...(name && { endpoint: name }),
        requestBody: sent.body,
        isOwn: sent.key === undefined,
      };
      this.responses.push(response);
      this.#silences = 0;
      this.#silencesOf.delete(endpoint);
      return response;
    } catch (error) {
      signal.throwIfAborted();
      this.#silences += 1;
      this.#silencesOf.set(endpoint, silences + 1);
      const reason = timeout.aborted ? `no complete response within ${timeoutMs} ms` : reasonOf(error);
      if (this.responses.length === 0 || (this.#silences >= toleratedSilences && !(await this.#isThere()))) {
        throw new ContractError('UNREACHABLE', `${baseURL} did not respond: ${reason}.`);
      }
      return fail(`${method} ${path} received no response: ${reason}`);
    }
  }

  /** `true` if the deployment still responds to the first request of the run. */
  async #isThere(): Promise<boolean> {
    const { method, path } = endpoints['sessions.list'];
    try {
      const timeout = AbortSignal.timeout(this.#settings.timeoutMs);
      await this.#receive(method, path + queryText({ limit: 1 }), {}, timeout);
      this.#silences = 0;
      return true;
    } catch {
      return false;
    }
  }

  async #receive(method: string, path: string, sent: Sent, timeout: AbortSignal): Promise<ApiResponse> {
    const { baseURL, signal, fetch } = this.#settings;
    const body = sent.rawBody ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const response = await fetch(baseURL + path, {
      method,
      headers: this.#headers(sent, body !== undefined),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body }),
    });
    const received = await readText(response);
    const hasByteOrderMark = received.startsWith('\ufeff');
    const text = hasByteOrderMark ? received.slice(1) : received;
    const { status, headers } = response;
    return { method, path, status, headers, text, json: parsed(text), hasByteOrderMark };
  }

  #headers({ key = this.#settings.apiKey, headers = {} }: Sent, hasBody: boolean): Record<string, string> {
    const all: Record<string, string | null> = {
      [names.authorization]: key === null ? null : `Bearer ${key}`,
      [names.contentType]: hasBody ? 'application/json' : null,
      [names.sdk]: `@actlog/contract/${version}`,
      accept: 'application/json',
      ...headers,
    };
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
    );
  }
}

function queryText(query: Sent['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxResponseBytes) throw new Error(`the response is larger than ${maxResponseBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    // A whole number that a double cannot hold may be an identifier.
    return parseLargeIntegers(text, String);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error
    ? `${message} (${(cause as NodeJS.ErrnoException).code ?? cause.message})`
    : message;
}
