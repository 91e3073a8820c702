import { timers } from '../timers.ts';
import { type Answer, maxAnswerBytes, type Transport } from './answer.ts';
import { acceptedStatus } from './verdict.ts';

/** Where and how events are posted. */
export interface FetchTransportOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The address of `POST /v1/events`. */
  readonly url: URL;
  /** Most milliseconds until the whole answer is there. */
  readonly timeoutMs: number;
}

/** Posts events by `fetch`, for runtimes without undici and for users who brought their own. */
export class FetchTransport implements Transport {
  readonly #options: FetchTransportOptions;
  readonly #inFlight = new Set<AbortController>();

  constructor(options: FetchTransportOptions) {
    this.#options = options;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (answer: Answer) => void): void {
    this.#post(body, headers).then(done, (error: Error) => done({ error }));
  }

  abort(): void {
    for (const controller of [...this.#inFlight]) controller.abort();
  }

  async #post(body: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { fetch, url, timeoutMs } = this.#options;
    const controller = new AbortController();
    const timer = timers.setTimeout(() => controller.abort(timedOut()), timeoutMs);
    this.#inFlight.add(controller);
    try {
      const response = await fetch(url.href, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: controller.signal,
      });
      if (response.status === acceptedStatus) {
        // The status says it all; a body that breaks off takes nothing back.
        await response.body?.cancel().catch(() => {});
        return { status: response.status };
      }
      const text = (await response.text().catch(() => '')).slice(0, maxAnswerBytes);
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after') ?? undefined,
        body: text,
      };
    } finally {
      timers.clearTimeout(timer);
      this.#inFlight.delete(controller);
    }
  }
}

function timedOut(): DOMException {
  return new DOMException('The service gave no whole answer in time.', 'TimeoutError');
}
