import { isUtf8 } from 'node:buffer';
import { hash, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { validationError } from '../lib/api-error.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { storageOutage } from '../storage/outage.ts';
import type { Storage } from '../storage/storage.ts';
import { savePerson } from '../storage/stores/people-store.ts';
import { tenantNamed } from '../storage/stores/tenant-store.ts';
import { type Caller, type Role, roles, scopesOfRole } from '../tenants/caller.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { keyCacheMs } from '../tenants/key-ring.ts';
import { singleLineName } from '../tenants/single-line-name.ts';
import { type SignInSettings, signsInByProxy } from './sign-in-settings.ts';
import { csrfToken, type NewSignIn, personRow, requireOwnOrigin, SignIns } from './sign-ins.ts';

/** The person that a request comes from. */
export type RequestUser =
  | { readonly type: 'caller'; readonly caller: Caller }
  /** A trusted proxy names a person whose groups give no role. */
  | { readonly type: 'no role'; readonly name: string }
  | { readonly type: 'none' };

/** Time for which a person whom a proxy names is not stored again, in milliseconds, and maximum people remembered. */
const rememberedForMs = 3_600_000;
const maxRemembered = 10_000;

const looksLikeEmail = /^[^\s@]+@[^\s@]+$/;

/** People who use the server: by the cookie of a sign-in, or named by a trusted proxy. */
export class Users {
  readonly cookies: SignInCookies;
  readonly signIns: SignIns;
  readonly roles: RoleMapping;
  readonly tenant: UserTenant;
  readonly #storage: Storage;
  readonly #secret: DeploymentSecret;
  /** People whom a proxy names, as they were stored last. */
  readonly #remembered = new Map<string, { readonly groups: string; readonly atMs: number }>();
  /** The proxy in front of the server; undefined without one. */
  readonly proxy: TrustedProxy | undefined;
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
    this.#storage = storage;
    this.#secret = secret;
    const { principalHeader } = settings;
    this.proxy = principalHeader === undefined ? undefined : new TrustedProxy(settings, principalHeader);
    this.#signsInByProxy = signsInByProxy(settings);
    this.#signsInByCookie = settings.oidcIssuer !== undefined;
    this.#origin = settings.publicUrl === undefined ? '' : new URL(settings.publicUrl).origin;
  }

  /** Returns the person that a screened request comes from. */
  async find(request: FastifyRequest): Promise<RequestUser> {
    const person = this.#signsInByProxy ? this.proxy?.personOf(request) : undefined;
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
    const id = userId('proxy', name);
    await this.#remember({ tenantId, userId: id, name, groups });
    return { type: 'caller', caller: this.#proxyCaller(tenantId, id, name, role, groups) };
  }

  /** Stores a person whom a proxy names, at most once an hour unless their groups change. */
  async #remember(person: Pick<NewSignIn, 'tenantId' | 'userId' | 'name' | 'groups'>): Promise<void> {
    const nowMs = Date.now();
    const groups = JSON.stringify(person.groups);
    const known = this.#remembered.get(person.userId);
    if (known?.groups === groups && nowMs - known.atMs < rememberedForMs) return;
    keepNewest(this.#remembered, person.userId, { groups, atMs: nowMs }, maxRemembered);
    // The proxy vouches for the name, which is an address where the header has one.
    const email = looksLikeEmail.test(person.name) ? person.name : undefined;
    try {
      await this.#storage.write(person.tenantId, ({ db }) =>
        savePerson(db, personRow({ ...person, email }, nowMs)),
      );
    } catch (error) {
      this.#remembered.delete(person.userId);
      // A read-only database can still be read.
      if (storageOutage(error) === undefined) throw error;
    }
  }

  #proxyCaller(tenantId: number, id: string, name: string, role: Role, groups: readonly string[]): Caller {
    return {
      tenantId,
      id,
      keyId: undefined,
      keyName: undefined,
      agents: undefined,
      isShared: true,
      requiresIdentity: false,
      scopes: new Set(scopesOfRole[role]),
      user: { name, role, groups, csrfToken: csrfToken(this.#secret, id), signIn: undefined },
    };
  }
}

/** Roles of the groups of a company. */
class RoleMapping {
  readonly #byGroup: ReadonlyMap<string, Role>;
  readonly #defaultRole: Role | undefined;

  /** @param defaultRole - role of people without a mapped group; `none` for no access */
  constructor(byGroup: Readonly<Record<string, Role>>, defaultRole: Role | 'none') {
    this.#byGroup = new Map(Object.entries(byGroup));
    this.#defaultRole = defaultRole === 'none' ? undefined : defaultRole;
  }

  /** Returns the highest role of a person's groups, else the default role; `undefined` for no access. */
  roleOf(groups: readonly string[]): Role | undefined {
    const held = new Set(groups.map((group) => this.#byGroup.get(group)));
    return roles.findLast((role) => held.has(role)) ?? this.#defaultRole;
  }
}

/** The tenant of the people who sign in. It may be deleted, and created again with another number. */
class UserTenant {
  readonly #storage: Storage;
  readonly #name: string;
  #found: { readonly id: number | undefined; readonly readMs: number } | undefined;

  constructor(storage: Storage, name: string) {
    this.#storage = storage;
    this.#name = name;
  }

  /** Returns the number of the tenant, up to a second late; `undefined` if it was deleted. */
  async id(): Promise<number | undefined> {
    if (this.#found && Math.abs(Date.now() - this.#found.readMs) < keyCacheMs) return this.#found.id;
    const readMs = Date.now();
    const tenant = await this.#storage.readAcross('administer', (db) => tenantNamed(db, this.#name));
    this.#found = { id: tenant?.id, readMs };
    return tenant?.id;
  }
}

/** Name of a cookie, without the prefix. */
type CookieName = 'actlog-sign-in' | 'actlog-sign-in-attempt';

/** Options of a cookie. */
interface CookieOptions {
  /** Time for which the browser keeps it, in milliseconds; 0 deletes it. */
  readonly maxAgeMs: number;
  /**
   * `strict` for a cookie that only requests of the console need; `lax` for one that must survive the way back from the
   * provider, which is a navigation from another site.
   */
  readonly sameSite: 'strict' | 'lax';
}

/**
 * Cookies of people who sign in. No script can read them. On https, the prefix `__Host-` makes browsers accept them only
 * from this host, over https and for no other domain. On http, which is allowed on loopback addresses only, browsers
 * refuse the prefix and `Secure`.
 */
class SignInCookies {
  readonly #isSecure: boolean;

  /** @param publicUrl - address of the server for browsers */
  constructor(publicUrl: string | undefined) {
    this.#isSecure = publicUrl === undefined || publicUrl.startsWith('https:');
  }

  /** Returns the value of a cookie, or `undefined` if the request has none. */
  read({ headers }: FastifyRequest, name: CookieName): string | undefined {
    if (headers.cookie === undefined) return undefined;
    return parseCookie(headers.cookie)[this.#nameOf(name)] || undefined;
  }

  /** Returns the value of `Set-Cookie` for a cookie. */
  set(name: CookieName, value: string, { maxAgeMs, sameSite }: CookieOptions): string {
    return stringifySetCookie({
      name: this.#nameOf(name),
      value,
      httpOnly: true,
      secure: this.#isSecure,
      sameSite,
      path: '/',
      maxAge: Math.floor(maxAgeMs / 1000),
    });
  }

  /** Returns the value of `Set-Cookie` that deletes a cookie. */
  clear(name: CookieName): string {
    return this.set(name, '', { maxAgeMs: 0, sameSite: 'strict' });
  }

  #nameOf(name: CookieName): string {
    return this.#isSecure ? `__Host-${name}` : name;
  }
}

/** Length of the digest in an id: 128 bits, in hex. */
const digestLength = 32;

/**
 * Returns the permanent id of a person. It stays the same when the person's name changes, and no two issuers share one.
 *
 * @param issuer - the provider that names the person
 * @param subject - identifier of the person at the provider
 */
export function userId(issuer: string, subject: string): string {
  return `usr_${hash('sha256', JSON.stringify([issuer, subject])).slice(0, digestLength)}`;
}

/** Header with the secret of a trusted proxy. */
const proxySecretHeader = 'x-actlog-proxy-secret';

/** Settings of the proxy in front of the server. */
interface TrustedProxySettings {
  readonly groupsHeader?: string | undefined;
  /** CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly proxySecret?: string | undefined;
}

/** A person as a trusted proxy names them. */
interface ProxyPerson {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The proxies whose headers name the person who sends a request. */
class TrustedProxy {
  readonly #principalHeader: string;
  readonly #groupsHeader: string | undefined;
  readonly #ranges: readonly ReturnType<typeof ipaddr.parseCIDR>[];
  readonly #digest: Buffer | undefined;

  /** @param principalHeader - name of the header with the name of the person */
  constructor({ groupsHeader, trustedProxies, proxySecret }: TrustedProxySettings, principalHeader: string) {
    this.#principalHeader = principalHeader;
    this.#groupsHeader = groupsHeader;
    this.#ranges = trustedProxies.map((range) => ipaddr.parseCIDR(range));
    this.#digest = proxySecret === undefined ? undefined : digestOf(proxySecret);
  }

  /**
   * Removes the headers of a proxy from the requests of all others, so that every later reader can trust them, and
   * decodes the headers that it keeps. The secret of the proxy is removed from all requests.
   *
   * @throws ApiError `VALIDATION_ERROR` when such a header of a trusted request occurs twice: one of them may be from
   *   the client, and the proxy did not remove it.
   */
  screen({ raw }: FastifyRequest): void {
    const names = [this.#principalHeader, this.#groupsHeader].filter((name) => name !== undefined);
    const isTrusted =
      this.#isTrustedPeer(raw.socket.remoteAddress) || this.#isSecret(raw.headers[proxySecretHeader]);
    delete raw.headers[proxySecretHeader];
    if (!isTrusted) {
      for (const name of names) delete raw.headers[name];
      return;
    }
    const repeated = names.find((name) => occurrences(raw.rawHeaders, name) > 1);
    if (repeated !== undefined) {
      throw validationError(
        `headers.${repeated}`,
        'repeated',
        'occurs more than once; the proxy must remove the header of its clients',
      );
    }
    for (const name of names) {
      const value = raw.headers[name];
      if (typeof value === 'string') raw.headers[name] = decoded(value);
    }
  }

  /** Returns the person that the headers of a screened request name, or `undefined` for none. */
  personOf({ headers }: FastifyRequest): ProxyPerson | undefined {
    const name = headers[this.#principalHeader]?.toString().trim();
    if (!name) return undefined;
    const groups = this.#groupsHeader === undefined ? '' : (headers[this.#groupsHeader]?.toString() ?? '');
    return { name, groups: groups.split(',').map((group) => group.trim()) };
  }

  #isTrustedPeer(address: string | undefined): boolean {
    if (address === undefined || !ipaddr.isValid(address)) return false;
    const peer = ipaddr.process(address);
    return this.#ranges.some(
      ([network, bits]) => peer.kind() === network.kind() && peer.match(network, bits),
    );
  }

  #isSecret(given: string | string[] | undefined): boolean {
    if (this.#digest === undefined || typeof given !== 'string') return false;
    return timingSafeEqual(digestOf(given), this.#digest);
  }
}

/** Returns the value of a header as UTF-8, which proxies send; Node reads each byte as a character. */
function decoded(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns how often a header occurs. */
function occurrences(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}
