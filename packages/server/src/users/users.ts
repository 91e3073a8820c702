import type { FastifyRequest } from 'fastify';
import type { Caller } from '../keys/caller.ts';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { type Role, scopesOfRole } from '../keys/roles.ts';
import { singleLineName } from '../keys/single-line-name.ts';
import { type SignInSettings, signsInByProxy } from '../sign-in-settings.ts';
import type { Storage } from '../storage/storage.ts';
import { csrfToken, requireOwnOrigin } from './csrf.ts';
import { RoleMapping } from './role-mapping.ts';
import { SignInCookies } from './sign-in-cookies.ts';
import { SignIns } from './sign-ins.ts';
import { TrustedProxy } from './trusted-proxy.ts';
import { userId } from './user-id.ts';
import { UserTenant } from './user-tenant.ts';

/** The person that a request comes from. */
export type RequestUser =
  | { readonly type: 'caller'; readonly caller: Caller }
  /** A trusted proxy names a person whose groups give no role. */
  | { readonly type: 'no role'; readonly name: string }
  | { readonly type: 'none' };

/** People who use the server: by the cookie of a sign-in, or named by a trusted proxy. */
export class Users {
  readonly cookies: SignInCookies;
  readonly signIns: SignIns;
  readonly roles: RoleMapping;
  readonly tenant: UserTenant;
  readonly #secret: DeploymentSecret;
  readonly #proxy: TrustedProxy;
  readonly #signsInByProxy: boolean;
  readonly #signsInByCookie: boolean;
  readonly #origin: string;

  constructor(
    settings: SignInSettings & { readonly tenant: string },
    storage: Storage,
    secret: DeploymentSecret,
  ) {
    this.cookies = new SignInCookies(settings.publicUrl);
    this.signIns = new SignIns(storage, secret, {
      idleMs: settings.signInIdleMinutes * 60_000,
      maxMs: settings.signInMaxMinutes * 60_000,
    });
    this.roles = new RoleMapping(settings.roles, settings.defaultRole);
    this.tenant = new UserTenant(storage, settings.tenant);
    this.#secret = secret;
    this.#proxy = new TrustedProxy(settings);
    this.#signsInByProxy = signsInByProxy(settings);
    this.#signsInByCookie = settings.oidcIssuer !== undefined;
    this.#origin = settings.publicUrl === undefined ? '' : new URL(settings.publicUrl).origin;
  }

  /**
   * Removes the headers that only a trusted proxy may set from the requests of all others.
   *
   * @throws ApiError `VALIDATION_ERROR` for a repeated header.
   */
  screen(request: FastifyRequest): void {
    this.#proxy.screen(request);
  }

  /** Returns the person that a screened request comes from. */
  async find(request: FastifyRequest): Promise<RequestUser> {
    const person = this.#signsInByProxy ? this.#proxy.personOf(request) : undefined;
    // Never the cookie of a request that the proxy signs in: the person may have changed.
    if (person) return this.#proxyUser(person.name, person.groups);
    const secret = this.#signsInByCookie ? this.cookies.read(request, 'actlog-sign-in') : undefined;
    const caller = secret === undefined ? undefined : await this.signIns.find(secret);
    return caller ? { type: 'caller', caller } : { type: 'none' };
  }

  /**
   * Returns the caller of a request without a key, or `undefined` if no person is signed in.
   *
   * @throws ApiError `PERMISSION_DENIED` for a request that changes something and was not sent by the console.
   */
  async caller(request: FastifyRequest): Promise<Caller | undefined> {
    const found = await this.find(request);
    if (found.type !== 'caller') return undefined;
    requireOwnOrigin(request, this.#origin, found.caller.user?.csrfToken ?? '');
    return found.caller;
  }

  /** `true` if a person is still signed in; a proxy names its people with each request. */
  async isCurrent({ user }: Caller): Promise<boolean> {
    return user?.signIn === undefined || this.signIns.isCurrent(user.signIn.digest);
  }

  async #proxyUser(name: string, groups: readonly string[]): Promise<RequestUser> {
    const role = this.roles.roleOf(groups);
    if (role === undefined || !singleLineName.safeParse(name).success) return { type: 'no role', name };
    const tenantId = await this.tenant.id();
    if (tenantId === undefined) return { type: 'none' };
    return { type: 'caller', caller: this.#proxyCaller(tenantId, name, role) };
  }

  #proxyCaller(tenantId: number, name: string, role: Role): Caller {
    const id = userId('proxy', name);
    return {
      tenantId,
      id,
      keyId: undefined,
      keyName: undefined,
      agents: undefined,
      isShared: true,
      scopes: new Set(scopesOfRole[role]),
      user: { name, role, csrfToken: csrfToken(this.#secret, id), signIn: undefined },
    };
  }
}
