import type { ServerResponse } from 'node:http';
import { ApiError } from '../../lib/api-error.ts';
import { keepNewest } from '../../lib/keep-newest.ts';
import { RequestMemory, type ReservedMemory } from './request-memory.ts';

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
