import type { ResponseHead } from '../response/response-head.ts';

/** Head of a response received through `fetch`. */
export class FetchedHead implements ResponseHead {
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
