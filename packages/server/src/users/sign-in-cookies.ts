import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';

/** Name of a cookie, without the prefix. */
export type CookieName = 'actlog-sign-in' | 'actlog-sign-in-attempt';

/** Options of a cookie. */
export interface CookieOptions {
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
export class SignInCookies {
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
