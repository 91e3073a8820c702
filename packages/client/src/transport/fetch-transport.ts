import type { Fetch } from '../client-options.ts';
import type { ResponseHead } from '../response/api-response.ts';
import type { Exchange, Transport, WireRequest } from './transport.ts';

/** Transport that sends through `fetch`, from the platform or the caller. */
export class FetchTransport implements Transport {
  /** The `fetch` function in use. */
  readonly fetch: Fetch;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  async send(request: WireRequest, exchange: Exchange): Promise<void> {
    const controller = new AbortController();
    const aborted = new Promise<never>((_resolve, reject) => {
      exchange.onAbort = (reason) => {
        controller.abort(reason);
        reject(reason); // do not wait for a fetch that ignores its signal
      };
    });
    aborted.catch(() => {});
    await Promise.race([this.#exchange(request, exchange, controller.signal), aborted]);
  }

  async #exchange(request: WireRequest, exchange: Exchange, signal: AbortSignal): Promise<void> {
    const { method, headers, body } = request;
    // The platform's `fetch` throws when it is called as a method, so use a local variable.
    const { fetch } = this;
    exchange.maybeSent = true; // fetch does not report this; the error may
    exchange.inferSentFromError = true;
    const response = await fetch(request.origin + request.target, {
      method,
      headers: { ...headers },
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const reader = response.body?.getReader();
    const cancel = () => reader?.cancel().catch(() => {});
    // A fetch that ignores its signal does not end its body either.
    signal.onabort = cancel;
    try {
      const sink = exchange.receive(new FetchedHead(response));
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
        exchange.onChunk?.();
        await sink.write(chunk.value);
      }
    } catch (error) {
      cancel();
      throw error;
    }
  }
}

/** Head of a response received through `fetch`. */
class FetchedHead implements ResponseHead {
  readonly status: number;
  readonly #headers: Headers;

  constructor(response: Response) {
    this.status = response.status;
    this.#headers = response.headers;
  }

  header(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  toHeaders(): Headers {
    return new Headers(this.#headers);
  }
}
