import type { Actlog } from '@actlog/client';
import type { Scope } from '@actlog/protocol';

/** A key of the tenant, as the reference server shows it; never its secret. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly kind: 'live' | 'test';
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** Null for a key that does not end. */
  readonly expiresAt: string | null;
  /** Whether it is the one that the person signed in with. */
  readonly current: boolean;
}

/** A key that was just made: the one time that it is shown. */
export interface CreatedApiKey {
  readonly key: ApiKey;
  readonly apiKey: string;
}

/** What a key is made of. */
export interface ApiKeyCreate {
  readonly name: string;
  readonly kind: ApiKey['kind'];
  readonly scopes: readonly Scope[];
  /** Undefined for a key that does not end. */
  readonly expiresInDays: number | undefined;
}

/**
 * The keys of the tenant. The specification says that they are rotated in the console and names no endpoint for it, so
 * this is between the reference server and its page.
 */
export class KeysApi {
  readonly #client: Actlog;

  constructor(client: Actlog) {
    this.#client = client;
  }

  async list(signal: AbortSignal): Promise<readonly ApiKey[]> {
    const { items } = await this.#client.request<{ items: ApiKey[] }>('GET', '/console/api/keys', { signal });
    return items;
  }

  create(body: ApiKeyCreate): PromiseLike<CreatedApiKey> {
    return this.#client.request('POST', '/console/api/keys', { body });
  }

  /** Makes a key that takes the place of another, which ends after the overlap of 0 to 7 days. */
  rotate(id: string, overlapDays: number): PromiseLike<CreatedApiKey> {
    return this.#client.request('POST', `/console/api/keys/${encodeURIComponent(id)}/rotate`, {
      body: { overlapDays },
    });
  }

  /** Ends a key at once. */
  revoke(id: string): PromiseLike<unknown> {
    return this.#client.request('POST', `/console/api/keys/${encodeURIComponent(id)}/revoke`, { body: {} });
  }
}
