import { parseRetryAfter } from '@actlog/client';
import { type EndpointName, endpoints, headers as names } from '@actlog/protocol';
import { ContractError } from '../contract-error.ts';
import type { Settings } from '../contract-options.ts';
import { fail } from '../outcome.ts';
import { version } from '../version.ts';
import type { Answer } from './answer.ts';

/** What a request carries beside its method and path. */
export interface Sent {
  /** Value of `:id` in the path of an endpoint. */
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly rawBody?: string;
  /** Added to, or put in place of, the usual ones; null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The tenant's key by default; null leaves the Authorization header out. */
  readonly key?: string | null;
  /** Gives 429 back instead of waiting and sending again. */
  readonly once?: boolean;
}

/** Bytes of an answer that are read at most. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** How often a request is sent again after 429, 502, 503 or 504. */
const maxRepeats = 5;

/** Requests in a row without an answer, after which it is asked whether there is a deployment still. */
const toleratedSilences = 3;

/** Requests in a row to one endpoint without an answer, after which it is not asked any more. */
const toleratedByEndpoint = 2;

/** Sends requests as they are, and remembers every answer. It follows no redirect, because the key would go along. */
export class Probe {
  readonly #settings: Settings;
  /** Every answer of the run, those that were repeated included. */
  readonly answers: Answer[] = [];
  #silences = 0;
  readonly #silencesOf = new Map<string, number>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Sends a request to an endpoint of the table. */
  call(name: EndpointName, sent: Sent = {}): Promise<Answer> {
    const { method, path } = endpoints[name];
    return this.#send(
      method,
      path.replace(':id', encodeURIComponent(sent.id ?? '')),
      sent,
      `${method} ${path}`,
    );
  }

  /** Sends a request, and again after 429, 502, 503 and 504, as the specification tells clients to. */
  send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    return this.#send(method, path, sent, `${method} ${path}`);
  }

  async #send(method: string, path: string, sent: Sent, endpoint: string): Promise<Answer> {
    const { maxRetryAfterMs, clock, signal } = this.#settings;
    for (let repeat = 0; ; repeat += 1) {
      const answer = await this.#exchange(method, path + queryText(sent.query), sent, endpoint);
      const isLimited = answer.status === 429;
      const isDown = [502, 503, 504].includes(answer.status);
      if ((!isLimited && !isDown) || sent.once || repeat >= maxRepeats) return answer;
      const asked = parseRetryAfter(answer.headers.get(names.retryAfter), Date.now());
      const waitMs = asked ?? Math.random() * 200 * 2 ** repeat;
      if (waitMs > maxRetryAfterMs) return answer;
      await clock.sleep(waitMs, signal);
    }
  }

  async #exchange(method: string, path: string, sent: Sent, endpoint: string): Promise<Answer> {
    const { baseURL, timeoutMs, signal } = this.#settings;
    signal.throwIfAborted();
    const silences = this.#silencesOf.get(endpoint) ?? 0;
    if (silences >= toleratedByEndpoint) {
      return fail(`${endpoint} gave no answer ${silences} times in a row, and was not asked again`);
    }
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await this.#answer(method, path, sent, timeout);
      this.answers.push(answer);
      this.#silences = 0;
      this.#silencesOf.delete(endpoint);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      this.#silences += 1;
      this.#silencesOf.set(endpoint, silences + 1);
      const reason = timeout.aborted ? `no whole answer within ${timeoutMs} ms` : reasonOf(error);
      if (this.answers.length === 0 || (this.#silences >= toleratedSilences && !(await this.#isThere()))) {
        throw new ContractError('UNREACHABLE', `${baseURL} gave no answer: ${reason}.`);
      }
      return fail(`${method} ${path} got no answer: ${reason}`);
    }
  }

  /** Whether the deployment answers what it was asked first: then it is not gone, whatever else keeps silent. */
  async #isThere(): Promise<boolean> {
    const { method, path } = endpoints['sessions.list'];
    try {
      const timeout = AbortSignal.timeout(this.#settings.timeoutMs);
      await this.#answer(method, path + queryText({ limit: 1 }), {}, timeout);
      this.#silences = 0;
      return true;
    } catch {
      return false;
    }
  }

  async #answer(method: string, path: string, sent: Sent, timeout: AbortSignal): Promise<Answer> {
    const { baseURL, signal, fetch } = this.#settings;
    const body = sent.rawBody ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const response = await fetch(baseURL + path, {
      method,
      headers: this.#headers(sent, body !== undefined),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body }),
    });
    const text = await readText(response);
    const { status, headers } = response;
    return { method, path, status, headers, text, json: parsed(text) };
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
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
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
