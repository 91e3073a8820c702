import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** An address that webhooks are not sent to. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';

  constructor() {
    super('is not a public address; the operator of the service can allow ranges');
  }
}

/** All of IPv6 that is given out for global unicast (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublicUnicast(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}

/**
 * Decides which addresses webhooks may reach: public unicast, and the ranges that the operator allows. It is asked
 * at creation and again for the very address of each connection, because a name can point elsewhere by then.
 */
export class AddressGuard {
  readonly #allowed: readonly Range[];
  readonly #resolve: LookupFunction;

  /** `allowedRanges` are CIDR, such as `10.1.0.0/16`. @throws Error for one that is not. */
  constructor(allowedRanges: readonly string[], resolve: LookupFunction = systemLookup as LookupFunction) {
    this.#allowed = allowedRanges.map((range) => ipaddr.parseCIDR(range));
    this.#resolve = resolve;
  }

  /** Whether messages may go to an address, given as text. */
  permits(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    // IPv4 within IPv6 is judged as the IPv4 address that it reaches.
    const parsed = ipaddr.process(address);
    const isAllowed = this.#allowed.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    );
    return isAllowed || isPublicUnicast(parsed);
  }

  /**
   * Looks a name up for a connection, and fails when any of its addresses is forbidden: a name that mixes public
   * and private addresses is up to nothing good.
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
   * Looks at an address before it is kept. A name that cannot be resolved now passes, since it is looked at again
   * at every connection.
   *
   * @throws ForbiddenAddressError when it leads to a forbidden address.
   */
  async inspect(url: URL): Promise<void> {
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
