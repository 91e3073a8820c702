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

  /** Holds so many bytes for a request. @throws ApiError `OVERLOADED` when it has no room. */
  hold(bytes: number): HeldMemory {
    const held = new HeldMemory(this);
    held.resize(bytes);
    return held;
  }

  /** As `hold`, for what can be done without: undefined when it has no room. */
  tryHold(bytes: number): HeldMemory | undefined {
    return this.#hasRoom(0, bytes) ? this.hold(bytes) : undefined;
  }

  /**
   * Gives a request that holds `fromBytes` so many instead. One always has room where there is no other.
   *
   * @throws ApiError `OVERLOADED` when it has no room; it holds what it held then.
   */
  change(fromBytes: number, toBytes: number): void {
    if (!this.#hasRoom(fromBytes, toBytes)) {
      throw new ApiError('OVERLOADED', this.#refusal, { retryAfterSeconds: 1 });
    }
    this.#heldBytes += toBytes - fromBytes;
  }

  #hasRoom(fromBytes: number, toBytes: number): boolean {
    const otherBytes = this.#heldBytes - fromBytes;
    return toBytes <= fromBytes || otherBytes === 0 || otherBytes + toBytes <= this.#maxBytes;
  }
}

/** What one request holds. */
export class HeldMemory {
  readonly #memory: RequestMemory;
  #bytes = 0;

  constructor(memory: RequestMemory) {
    this.#memory = memory;
  }

  /** Bytes that it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Holds so many bytes from now on. @throws ApiError `OVERLOADED` when there is no room for more. */
  resize(bytes: number): void {
    this.#memory.change(this.#bytes, bytes);
    this.#bytes = bytes;
  }

  /** Lets go of what it holds, if it still does. */
  release(): void {
    this.resize(0);
  }
}
