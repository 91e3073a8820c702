import { ApiError } from '../../lib/api-error.ts';

/** Limits the memory of requests of one kind until they are responded to. */
export class RequestMemory {
  readonly #maxBytes: number;
  readonly #refusal: string;
  readonly #headers: Readonly<Record<string, string>>;
  #reservedBytes = 0;

  /** `refusal` is the error message for a request without room, and `headers` are further headers of that response. */
  constructor(maxBytes: number, refusal: string, headers: Readonly<Record<string, string>> = {}) {
    this.#maxBytes = maxBytes;
    this.#refusal = refusal;
    this.#headers = headers;
  }

  /** Bytes currently reserved. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** Limit for all requests together, which a single request may exceed. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  /** `true` if nothing more can be reserved. */
  get isFull(): boolean {
    return this.#reservedBytes > 0 && this.#reservedBytes >= this.#maxBytes;
  }

  /** Reserves bytes for a request. @throws ApiError `OVERLOADED` when there is no room. */
  reserve(bytes: number): ReservedMemory {
    const reserved = new ReservedMemory(this);
    reserved.resize(bytes);
    return reserved;
  }

  /** Like `reserve`, but returns `undefined` when there is no room. */
  tryReserve(bytes: number): ReservedMemory | undefined {
    return this.#hasRoom(0, bytes) ? this.reserve(bytes) : undefined;
  }

  /**
   * Changes a reservation. A single request always has room, whatever its size.
   *
   * @throws ApiError `OVERLOADED` when there is no room; the reservation is then unchanged.
   */
  change(fromBytes: number, toBytes: number): void {
    if (!this.tryChange(fromBytes, toBytes)) {
      throw new ApiError('OVERLOADED', this.#refusal, { retryAfterSeconds: 1, headers: this.#headers });
    }
  }

  /** Like `change`, but returns `false` when there is no room. */
  tryChange(fromBytes: number, toBytes: number): boolean {
    const hasRoom = this.#hasRoom(fromBytes, toBytes);
    if (hasRoom) this.forceChange(fromBytes, toBytes);
    return hasRoom;
  }

  /** Like `change`, but exceeds the limit when there is no room. For memory that is already in use. */
  forceChange(fromBytes: number, toBytes: number): void {
    this.#reservedBytes += toBytes - fromBytes;
  }

  #hasRoom(fromBytes: number, toBytes: number): boolean {
    const otherBytes = this.#reservedBytes - fromBytes;
    return toBytes <= fromBytes || otherBytes === 0 || otherBytes + toBytes <= this.#maxBytes;
  }
}

/** Memory reserved for one request. */
export class ReservedMemory {
  readonly #memory: RequestMemory;
  #bytes = 0;

  constructor(memory: RequestMemory) {
    this.#memory = memory;
  }

  /** Bytes reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Changes the number of bytes. @throws ApiError `OVERLOADED` when there is no room for more. */
  resize(bytes: number): void {
    this.#memory.change(this.#bytes, bytes);
    this.#bytes = bytes;
  }

  /** Like `resize`, but returns `false`, and changes nothing, when there is no room for more. */
  tryResize(bytes: number): boolean {
    const hasRoom = this.#memory.tryChange(this.#bytes, bytes);
    if (hasRoom) this.#bytes = bytes;
    return hasRoom;
  }

  /** Like `resize`, but exceeds the limit when there is no room. For memory that is already in use. */
  force(bytes: number): void {
    this.#memory.forceChange(this.#bytes, bytes);
    this.#bytes = bytes;
  }

  /** Releases the memory. Further calls have no effect. */
  release(): void {
    this.resize(0);
  }
}
