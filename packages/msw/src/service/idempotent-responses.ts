import { ApiError, invalid } from './api-error.ts';

/** Time for which a response is kept for repeats, in milliseconds (reference profile). */
const keptForMs = 24 * 3_600_000;

interface Kept {
  readonly request: string;
  readonly response: Promise<unknown>;
  readonly untilMs: number;
}

/** Responses by `Idempotency-Key` of a tenant. */
export class IdempotentResponses {
  readonly #kept = new Map<string, Kept>();

  /**
   * Returns the first response for a key, or that of `make`, which is kept unless it fails.
   *
   * @throws ApiError `IDEMPOTENCY_KEY_REUSED` if the first request was different.
   */
  async once(endpoint: string, key: string, request: string, make: () => Promise<unknown>): Promise<unknown> {
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw invalid('idempotency-key', 'invalid_format', 'must have 1 to 255 visible ASCII characters');
    }
    const name = `${endpoint} ${key}`;
    const kept = this.#kept.get(name);
    if (kept && kept.untilMs > Date.now()) {
      if (kept.request === request) return kept.response;
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; use a new key for each request.',
      );
    }
    const response = make();
    this.#kept.set(name, { request, response, untilMs: Date.now() + keptForMs });
    response.catch(() => this.#kept.delete(name));
    return response;
  }
}
