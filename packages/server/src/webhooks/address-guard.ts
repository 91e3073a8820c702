import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Time for which the result of a lookup is used again, in milliseconds. */
const keptMs = 5000;
/** Maximum number of names whose results are kept. */
const maxNames = 1000;

/** Name that never resolves (RFC 6761, section 6.4). */
const neverResolves = /(^|\.)invalid\.?$/i;

/** Result of a lookup, in the form of the callback. */
type Result = readonly [error: NodeJS.ErrnoException | null, addresses: LookupAddress[]];

/**
 * Resolves names by the system, all messages to one host together: the system resolves only four names at a time, for
 * the whole process.
 */
export class HostLookup {
  readonly #system: LookupFunction;
  readonly #kept = new Map<string, { readonly result: Promise<Result>; endsAt: number }>();

  constructor(system: LookupFunction = systemLookup as LookupFunction) {
    this.#system = system;
  }

  /** Returns all addresses of a name. */
  readonly all: LookupFunction = (hostname, _options, callback) => {
    void this.#resolve(hostname.toLowerCase()).then(([error, addresses]) => callback(error, addresses));
  };

  #resolve(hostname: string): Promise<Result> {
    const kept = this.#kept.get(hostname);
    if (kept && kept.endsAt > performance.now()) return kept.result;
    const result = neverResolves.test(hostname) ? Promise.resolve(notFound(hostname)) : this.#ask(hostname);
    const entry = { result, endsAt: Number.POSITIVE_INFINITY };
    this.#kept.delete(hostname);
    this.#kept.set(hostname, entry);
    void result.then(() => {
      entry.endsAt = performance.now() + keptMs;
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxNames && oldest !== undefined) this.#kept.delete(oldest);
    return result;
  }

  #ask(hostname: string): Promise<Result> {
    return new Promise((resolve) => {
      this.#system(hostname, { all: true }, (error, found) => {
        resolve([error, Array.isArray(found) ? found : []]);
      });
    });
  }
}

function notFound(hostname: string): Result {
  return [Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND', hostname }), []];
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Error thrown for an address that webhooks must not reach. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';

  constructor() {
    super('is not a public address; the operator of the service can allow ranges');
  }
}

/** Error thrown for a port that webhooks must not use. */
export class ForbiddenPortError extends Error {
  override readonly name = 'ForbiddenPortError';

  constructor(port: number, allowed: readonly number[]) {
    super(
      `uses port ${port}; webhooks go to ${portList(allowed)} only, unless the operator of the service allows others`,
    );
  }
}

/** Ports that webhooks may use: a list, or `any`. */
export type AllowedPorts = readonly number[] | 'any';

/** Ports of HTTPS and HTTP. */
export const webPorts: readonly number[] = [443, 80];

function portList(ports: readonly number[]): string {
  return ports.length === 1 ? `port ${ports[0]}` : `the ports ${ports.join(' and ')}`;
}

/** Returns the port of a URL. */
export function portOf({
  port,
  protocol,
}: {
  readonly port: string | null;
  readonly protocol: string;
}): number {
  return port ? Number(port) : protocol === 'http:' ? 80 : 443;
}

/** The part of IPv6 that is allocated for global unicast (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublicUnicast(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}

/**
 * Decides which addresses and ports webhooks may reach: public unicast on web ports, and what the operator allows. It
 * checks at creation and again at each connection, because a name can resolve to another address by then.
 */
export class AddressGuard {
  readonly #allowed: readonly Range[];
  readonly #ports: AllowedPorts;
  readonly #resolve: LookupFunction;

  /** @param allowedRanges - CIDR, such as `10.1.0.0/16`. @throws Error for an invalid range. */
  constructor(
    allowedRanges: readonly string[],
    allowedPorts: AllowedPorts = webPorts,
    resolve: LookupFunction = new HostLookup().all,
  ) {
    this.#ports = allowedPorts;
    this.#allowed = allowedRanges.map((range) => ipaddr.parseCIDR(range));
    this.#resolve = resolve;
  }

  /** `true` if messages may go to an IP address. */
  permits(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    // IPv4-mapped IPv6 is checked as the IPv4 address that it reaches.
    const parsed = ipaddr.process(address);
    const isAllowed = this.#allowed.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    );
    return isAllowed || isPublicUnicast(parsed);
  }

  /** Checks a port. @throws ForbiddenPortError */
  requirePort(port: number): void {
    if (this.#ports !== 'any' && !this.#ports.includes(port)) throw new ForbiddenPortError(port, this.#ports);
  }

  /**
   * Resolves a name for a connection, and fails if any of its addresses is forbidden. A name with both public and
   * private addresses is suspicious.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : (found ?? []);
      const [first] = addresses;
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '', 0);
      if (!addresses.every(({ address }) => this.permits(address))) {
        return callback(new ForbiddenAddressError(), '', 0);
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };

  /**
   * Checks a URL before it is stored. A name that cannot be resolved passes, because it is checked again at each
   * connection.
   *
   * @throws ForbiddenPortError for a forbidden port; ForbiddenAddressError for a forbidden address.
   */
  async inspect(url: URL): Promise<void> {
    this.requirePort(portOf(url));
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    if (isIP(host)) {
      if (!this.permits(host)) throw new ForbiddenAddressError();
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, 3000);
      this.lookup(host, { all: true }, (error) => {
        clearTimeout(timer);
        if (error instanceof ForbiddenAddressError) reject(error);
        else resolve();
      });
    });
  }
}
