import { keyPrefixes, type Scope } from '@actlog/protocol';
import { Tenant } from '../tenant/tenant.ts';
import { ApiError } from './api-error.ts';

/** An API key that the mock accepts. */
export interface MockKey {
  /** The key; starts with `al_live_` or `al_test_`. */
  readonly apiKey: string;
  /** Tenant of the key. Default: the tenant of the mock's first key. */
  readonly tenant?: string | undefined;
  /** Scopes of the key. Default: all. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** Caller of a request. */
export interface Caller {
  readonly tenant: Tenant;
  /** Identifies the key without revealing it. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

const everything: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];
const prefixes = Object.values(keyPrefixes);
const firstTenant = 'default';

/** Keys of a mock and their tenants. */
export class KeyRing {
  readonly #callers = new Map<string, Caller>();
  /** The tenant of the first key. */
  readonly main: Tenant;

  /**
   * @throws TypeError for a key with another prefix, a duplicate key, or an unknown scope.
   */
  constructor(keys: readonly [MockKey, ...MockKey[]]) {
    const tenants = new Map<string, Tenant>();
    for (const [index, { apiKey, tenant: name = firstTenant, scopes = everything }] of keys.entries()) {
      const field = index === 0 ? 'apiKey' : `otherKeys[${index - 1}].apiKey`;
      if (!prefixes.some((prefix) => apiKey.startsWith(prefix) && /^[\x21-\x7e]+$/.test(apiKey))) {
        throw new TypeError(
          `${field} must start with ${prefixes.join(' or ')} and must not contain white space.`,
        );
      }
      if (this.#callers.has(apiKey))
        throw new TypeError(`${field} is a duplicate of another key; remove one.`);
      const unknown = scopes.find((scope) => !everything.includes(scope));
      if (unknown !== undefined) {
        throw new TypeError(
          `otherKeys[${index - 1}].scopes must contain only ${everything.join(', ')}, got ${unknown}.`,
        );
      }
      const tenant = tenants.get(name) ?? new Tenant();
      tenants.set(name, tenant);
      this.#callers.set(apiKey, { tenant, keyId: `key_mock${index}`, scopes });
    }
    this.main = this.#callerOf(keys[0].apiKey).tenant;
  }

  /** All tenants. */
  get tenants(): ReadonlySet<Tenant> {
    return new Set([...this.#callers.values()].map(({ tenant }) => tenant));
  }

  /** Returns the caller of an Authorization header. @throws ApiError `AUTHENTICATION_FAILED`. */
  authenticate(header: string | null): Caller {
    return this.#callerOf(/^bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? '');
  }

  #callerOf(apiKey: string): Caller {
    const caller = this.#callers.get(apiKey);
    if (caller) return caller;
    throw new ApiError('AUTHENTICATION_FAILED', 'The API key is invalid or missing.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}

/** @throws ApiError `PERMISSION_DENIED` if the caller's key lacks the scope. */
export function requireScope({ scopes }: Caller, scope: Scope): void {
  if (!scopes.includes(scope)) {
    throw new ApiError('PERMISSION_DENIED', `The API key lacks the scope "${scope}".`);
  }
}
