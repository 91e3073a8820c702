import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

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
