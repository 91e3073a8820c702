import { timers } from '../lib/timers.ts';
import { maxErrorBodyBytes, type SendResult, type Transport } from './send-result.ts';
import { acceptedStatus } from './verdict.ts';

/** Options of a `FetchTransport`. */
export interface FetchTransportOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Address of `POST /v1/events`. */
  readonly url: URL;
  /** Maximum time until the complete response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Posts events through `fetch`, for runtimes without undici and for users who pass their own. */
export class FetchTransport implements Transport {
  readonly #options: FetchTransportOptions;
  readonly #inFlight = new Set<AbortController>();

  constructor(options: FetchTransportOptions) {
    this.#options = options;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void {
    this.#post(body, headers).then(done, (error: Error) => done({ error }));
  }

  abort(): void {
    for (const controller of [...this.#inFlight]) controller.abort();
  }

  async #post(body: string, headers: Readonly<Record<string, string>>): Promise<SendResult> {
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
        // The status is sufficient, even if the body breaks off.
        await response.body?.cancel().catch(() => {});
        return { status: response.status };
      }
      const text = (await response.text().catch(() => '')).slice(0, maxErrorBodyBytes);
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
  return new DOMException('The service sent no complete response in time.', 'TimeoutError');
}
