import type { ResponseHead } from '../response/response-head.ts';

/** Head of a response received through undici. */
export class ParsedHead implements ResponseHead {
  readonly status: number;
  readonly #headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(status: number, headers: Readonly<Record<string, string | string[] | undefined>>) {
    this.status = status;
    this.#headers = headers;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  toHeaders(): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.#headers)) {
      for (const single of Array.isArray(value) ? value : [value ?? '']) headers.append(name, single);
    }
    return headers;
  }
}
