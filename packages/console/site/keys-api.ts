import type { Actlog } from '@actlog/client';
import type { Scope } from '@actlog/protocol';

/** A key of the tenant, as the reference server returns it; never its secret. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly kind: 'live' | 'test';
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** Null for a key that does not expire. */
  readonly expiresAt: string | null;
  /** Person or key that created it here; null for one that an operator created. */
  readonly createdBy?: string | null;
  /** Patterns of the agents that it may act as; null for any agent. */
  readonly agents: readonly string[] | null;
  /** `true` if several agents share it, so that revoking one does not stop the others. */
  readonly shared: boolean;
  /** `true` if its requests need a token that verifies their agent. */
  readonly requiresIdentity?: boolean;
  /** `true` for the key that the user signed in with. */
  readonly current: boolean;
}

/** A newly created key; the only response with its secret. */
export interface CreatedApiKey {
  readonly key: ApiKey;
  readonly apiKey: string;
}

/** Properties of a new key. */
export interface ApiKeyCreate {
  readonly name: string;
  readonly kind: ApiKey['kind'];
  readonly scopes: readonly Scope[];
  /** Patterns of the agents that it may act as; null for any agent. */
  readonly agents: readonly string[] | null;
  readonly shared: boolean;
  readonly requiresIdentity: boolean;
  /** Undefined for a key that does not expire. */
  readonly expiresInDays: number | undefined;
}

/**
 * Keys of the tenant. The specification says that they are rotated in the console but defines no endpoint, so these
 * endpoints are private to the reference server and its page.
 */
export class KeysApi {
  readonly #client: Actlog;

  constructor(client: Actlog) {
    this.#client = client;
  }

  /** Returns the newest keys; `hasMore` if there are older ones. */
  list(signal: AbortSignal): PromiseLike<{ readonly items: readonly ApiKey[]; readonly hasMore: boolean }> {
    return this.#client.request('GET', '/console/api/keys', { signal });
  }

  create(body: ApiKeyCreate): PromiseLike<CreatedApiKey> {
    return this.#client.request('POST', '/console/api/keys', { body });
  }

  /** Creates a key that replaces another one, which expires after an overlap of 0 to 7 days. */
  rotate(id: string, overlapDays: number): PromiseLike<CreatedApiKey> {
    return this.#client.request('POST', `/console/api/keys/${encodeURIComponent(id)}/rotate`, {
      body: { overlapDays },
    });
  }

  /** Revokes a key immediately. */
  revoke(id: string): PromiseLike<unknown> {
    return this.#client.request('POST', `/console/api/keys/${encodeURIComponent(id)}/revoke`, { body: {} });
  }
}

/** A usual set of scopes, with a name and what it is for. */
interface KeyRole {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly about: string;
}

/** Usual sets of scopes by id, the least powerful first. */
export const keyRoles = {
  agent: {
    name: 'Agent',
    scopes: ['ingest'],
    about: 'Records events and checks actions. It cannot read, change or approve anything.',
  },
  reader: {
    name: 'Reader',
    scopes: ['read'],
    about: 'Reads everything that is recorded. It cannot change or approve anything.',
  },
  approver: {
    name: 'Approver',
    scopes: ['read', 'decide'],
    about: 'Reads everything, and approves or denies held actions.',
  },
  admin: {
    name: 'Administrator',
    scopes: ['ingest', 'read', 'manage', 'decide'],
    about: 'Does everything, also with policies, agents, webhooks, keys and the audit log.',
  },
} as const satisfies Readonly<Record<string, KeyRole>>;

/** Returns the name of the role with exactly these scopes, or `undefined` if there is none. */
export function roleName(scopes: readonly Scope[]): string | undefined {
  const roles: readonly KeyRole[] = Object.values(keyRoles);
  return roles.find(
    (role) => role.scopes.length === scopes.length && role.scopes.every((scope) => scopes.includes(scope)),
  )?.name;
}
