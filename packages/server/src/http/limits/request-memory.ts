import type { ServerResponse } from 'node:http';
import { ApiError } from '../../lib/api-error.ts';
import { keepNewest } from '../../lib/keep-newest.ts';

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

/** Largest response that is not counted, in bytes. Each connection has at most one. */
const uncountedBytes = 16 * 1024;

/** Expected size of the first response of a kind, in bytes. */
const firstExpectedBytes = 64 * 1024;

/** Maximum number of kinds whose sizes are remembered. */
const maxSizes = 10_000;

const refusal = 'Too many responses are waiting to be read. Read them, then send this request again.';

/** Limits the bytes of responses from before they are rendered until they are written, in total and per tenant. */
export class ResponseMemory {
  readonly #total: RequestMemory;
  readonly #maxTenantBytes: number;
  readonly #tenants = new Map<number, RequestMemory>();
  readonly #sizes = new Map<string, number>();

  /** @param maxBytes - limit for all tenants together; one tenant gets at most half of it */
  constructor(maxBytes: number) {
    this.#total = new RequestMemory(maxBytes, refusal);
    this.#maxTenantBytes = maxBytes / 2;
  }

  /**
   * Reserves memory for a response that is not yet read from the database, by the recent size of its kind, until it is
   * written.
   *
   * @throws ApiError `OVERLOADED` when there is no room for it.
   */
  reserve(tenantId: number, kind: string, response: ServerResponse): ResponseRoom {
    const key = keyOf(tenantId, kind);
    const lastBytes = this.#sizes.get(key);
    const expectedBytes = lastBytes ?? firstExpectedBytes;
    const room = this.#roomFor(tenantId, response);
    room.resize(expectedBytes);
    return {
      isLarge: expectedBytes > uncountedBytes,
      resize: (bytes) => {
        this.#remember(key, bytes, lastBytes);
        room.resize(bytes);
      },
    };
  }

  /**
   * Rejects a request whose response is rendered after its effect, if its kind recently had large responses. Requests
   * of other kinds are not rejected because of unread responses.
   *
   * @throws ApiError `OVERLOADED` when waiting responses leave no room for another one of the tenant.
   */
  requireRoom(tenantId: number, kind: string): void {
    if ((this.#sizes.get(keyOf(tenantId, kind)) ?? 0) <= uncountedBytes) return;
    const isFull = this.#total.isFull || this.#tenants.get(tenantId)?.isFull === true;
    if (isFull) throw overloaded();
  }

  /** Counts a response whose effect has taken place, so that it must be sent whether or not there is room. */
  force(tenantId: number, kind: string, bytes: number, response: ServerResponse): void {
    const key = keyOf(tenantId, kind);
    const lastBytes = this.#sizes.get(key);
    if (bytes <= uncountedBytes && lastBytes === undefined) return;
    this.#remember(key, bytes, lastBytes);
    if (bytes > uncountedBytes) this.#roomFor(tenantId, response).force(bytes);
  }

  /** Records a size. A large one decays slowly, so that small responses in between do not hide it. */
  #remember(key: string, bytes: number, lastBytes = 0): void {
    const size = Math.max(bytes, Math.floor(lastBytes * (7 / 8)));
    keepNewest(this.#sizes, key, size, maxSizes);
  }

  #roomFor(tenantId: number, response: ServerResponse): TenantRoom {
    let tenant = this.#tenants.get(tenantId);
    if (!tenant) {
      tenant = new RequestMemory(this.#maxTenantBytes, refusal);
      this.#tenants.set(tenantId, tenant);
    }
    const used = tenant;
    const room = new TenantRoom(this.#total.reserve(0), used.reserve(0));
    // A closed connection emits no event that would release the memory.
    if (response.destroyed) room.release();
    // Prepended, to release the memory before the next request of the connection starts.
    response.prependOnceListener('close', () => {
      room.release();
      if (used.reservedBytes === 0 && this.#tenants.get(tenantId) === used) this.#tenants.delete(tenantId);
    });
    return room;
  }
}

function keyOf(tenantId: number, kind: string): string {
  return `${tenantId} ${kind}`;
}

/** Memory reserved for one response. */
export interface ResponseRoom {
  /** `true` if the response is expected to take noticeable time to render. */
  readonly isLarge: boolean;
  /**
   * Corrects the size to that of the rendered response. @throws ApiError `OVERLOADED` when there is no room for more.
   */
  resize(bytes: number): void;
}

/** Memory reserved in the total and in a tenant's part. */
class TenantRoom {
  readonly #total: ReservedMemory;
  readonly #tenant: ReservedMemory;
  #isReleased = false;

  constructor(total: ReservedMemory, tenant: ReservedMemory) {
    this.#total = total;
    this.#tenant = tenant;
  }

  resize(bytes: number): void {
    const counted = this.#isReleased || bytes <= uncountedBytes ? 0 : bytes;
    const before = this.#total.bytes;
    if (!this.#total.tryResize(counted)) throw overloaded();
    if (this.#tenant.tryResize(counted)) return;
    this.#total.force(before);
    throw overloaded();
  }

  force(bytes: number): void {
    if (this.#isReleased) return;
    this.#total.force(bytes);
    this.#tenant.force(bytes);
  }

  release(): void {
    this.force(0);
    this.#isReleased = true;
  }
}

/**
 * Returns the error for a response without room. It closes the connection, whose peer may be one that does not read.
 */
function overloaded(): ApiError {
  return new ApiError('OVERLOADED', refusal, { retryAfterSeconds: 1, headers: { connection: 'close' } });
}
