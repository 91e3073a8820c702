import { ApiError, invalid } from './api-error.ts';

/** Milliseconds that an answer is kept for a repeat (reference profile). */
const keptForMs = 24 * 3_600_000;

interface Kept {
  readonly request: string;
  readonly answer: Promise<unknown>;
  readonly untilMs: number;
}

/** The answers that a tenant was given under an `Idempotency-Key`. */
export class IdempotentAnswers {
  readonly #kept = new Map<string, Kept>();

  /**
   * The first answer under a key, or that of `make`, which is kept unless it fails.
   *
   * @throws ApiError `IDEMPOTENCY_KEY_REUSED` where the first request was another one.
   */
  async once(endpoint: string, key: string, request: string, make: () => Promise<unknown>): Promise<unknown> {
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw invalid('idempotency-key', 'invalid_format', 'must have 1 to 255 visible ASCII characters');
    }
    const name = `${endpoint} ${key}`;
    const kept = this.#kept.get(name);
    if (kept && kept.untilMs > Date.now()) {
      if (kept.request === request) return kept.answer;
      throw new ApiError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request; give every request its own.',
      );
    }
    const answer = make();
    this.#kept.set(name, { request, answer, untilMs: Date.now() + keptForMs });
    answer.catch(() => this.#kept.delete(name));
    return answer;
  }
}
