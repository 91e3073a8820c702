import { isUtf8 } from 'node:buffer';
import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { validationError } from '../lib/api-error.ts';

/** Header with the secret of a trusted proxy. */
export const proxySecretHeader = 'x-actlog-proxy-secret';

/** Settings of the proxy in front of the server. */
export interface TrustedProxySettings {
  readonly principalHeader?: string | undefined;
  readonly groupsHeader?: string | undefined;
  /** CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly proxySecret?: string | undefined;
}

/** A person as a trusted proxy names them. */
export interface ProxyPerson {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The proxies whose headers name the person who sends a request. */
export class TrustedProxy {
  readonly #principalHeader: string | undefined;
  readonly #groupsHeader: string | undefined;
  readonly #ranges: readonly ReturnType<typeof ipaddr.parseCIDR>[];
  readonly #digest: Buffer | undefined;

  constructor({ principalHeader, groupsHeader, trustedProxies, proxySecret }: TrustedProxySettings) {
    this.#principalHeader = principalHeader;
    this.#groupsHeader = groupsHeader;
    this.#ranges = trustedProxies.map((range) => ipaddr.parseCIDR(range));
    this.#digest = proxySecret === undefined ? undefined : digestOf(proxySecret);
  }

  /**
   * Removes the headers of a proxy from the requests of all others, so that every later reader can trust them, and decodes
   * those that it keeps. The proxy's
   * secret is removed from all requests.
   *
   * @throws ApiError `VALIDATION_ERROR` when such a header of a trusted request occurs twice: one of them may be the
   *   client's own, which the proxy did not remove.
   */
  screen({ raw }: FastifyRequest): void {
    if (this.#principalHeader === undefined) return;
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
    if (this.#principalHeader === undefined) return undefined;
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
