import { keyPrefixes, type Scope } from '@actlog/protocol';
import { Tenant } from '../tenant/tenant.ts';
import { ApiError } from './api-error.ts';

/** A key that the mock takes. */
export interface MockKey {
  /** The key, which starts with `al_live_` or `al_test_`. */
  readonly apiKey: string;
  /** The tenant that it belongs to. Default: the one of the mock's first key. */
  readonly tenant?: string | undefined;
  /** What it may do. Default: everything. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** Who calls. */
export interface Caller {
  readonly tenant: Tenant;
  /** Names the key without telling it. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

const everything: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];
const prefixes = Object.values(keyPrefixes);
const firstTenant = 'default';

/** The keys of a mock, and the tenants behind them. */
export class KeyRing {
  readonly #callers = new Map<string, Caller>();
  /** The tenant of the first key. */
  readonly main: Tenant;

  /**
   * @throws TypeError for a key that does not start as keys of the service do, or that is there twice, and for a scope
   * that there is not.
   */
  constructor(keys: readonly [MockKey, ...MockKey[]]) {
    const tenants = new Map<string, Tenant>();
    for (const [index, { apiKey, tenant: name = firstTenant, scopes = everything }] of keys.entries()) {
      const field = index === 0 ? 'apiKey' : `otherKeys[${index - 1}].apiKey`;
      if (!prefixes.some((prefix) => apiKey.startsWith(prefix) && /^[\x21-\x7e]+$/.test(apiKey))) {
        throw new TypeError(`${field} must start with ${prefixes.join(' or ')}, and have no white space.`);
      }
      if (this.#callers.has(apiKey))
        throw new TypeError(`${field} is the same as another key; leave one out.`);
      const unknown = scopes.find((scope) => !everything.includes(scope));
      if (unknown !== undefined) {
        throw new TypeError(
          `otherKeys[${index - 1}].scopes must be of ${everything.join(', ')}, and has ${unknown}.`,
        );
      }
      const tenant = tenants.get(name) ?? new Tenant();
      tenants.set(name, tenant);
      this.#callers.set(apiKey, { tenant, keyId: `key_mock${index}`, scopes });
    }
    this.main = this.#callerOf(keys[0].apiKey).tenant;
  }

  /** Every tenant, once. */
  get tenants(): ReadonlySet<Tenant> {
    return new Set([...this.#callers.values()].map(({ tenant }) => tenant));
  }

  /** The caller that an Authorization header names. @throws ApiError `AUTHENTICATION_FAILED`. */
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

/** @throws ApiError `PERMISSION_DENIED` where the caller's key lacks the scope. */
export function requireScope({ scopes }: Caller, scope: Scope): void {
  if (!scopes.includes(scope)) {
    throw new ApiError('PERMISSION_DENIED', `The API key lacks the scope "${scope}".`);
  }
}
