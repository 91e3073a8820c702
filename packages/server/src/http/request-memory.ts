import { ApiError } from './api-error.ts';

/** Bounds the memory that requests of one kind take until they are answered. */
export class RequestMemory {
  readonly #maxBytes: number;
  readonly #refusal: string;
  #heldBytes = 0;

  /** `refusal` is what a request is told that has no room. */
  constructor(maxBytes: number, refusal: string) {
    this.#maxBytes = maxBytes;
    this.#refusal = refusal;
  }

  /** @throws ApiError `OVERLOADED` when a request of this size has no room; one always has where there is no other. */
  requireRoom(bytes: number): void {
    if (this.#heldBytes === 0 || this.#heldBytes + bytes <= this.#maxBytes) return;
    throw new ApiError('OVERLOADED', this.#refusal, { retryAfterSeconds: 1 });
  }

  /** Does `work` while a request takes so many bytes. @throws ApiError `OVERLOADED` when it has no room. */
  async hold<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    this.requireRoom(bytes);
    this.#heldBytes += bytes;
    try {
      return await work();
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}
