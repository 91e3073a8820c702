import type { EndpointName } from '@actlog/protocol';
import type { Capability } from './requirement.ts';

/** Names of bodies: endpoints, and the policy that causes the action of `policies.check` to be held. */
export type BodyName = EndpointName | 'policies.hold';

/** Request bodies that a deployment requires; see {@link ContractOptions.bodies}. */
export type Bodies = Readonly<Partial<Record<BodyName, unknown>>>;

/** Clock for delays; replace it in tests. */
export interface ContractClock {
  /** Resolves after `delayMs`, or rejects when `signal` aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Options of a run. */
export interface ContractOptions {
  /** URL of the deployment, without `/v1`. */
  readonly baseURL: string | URL;
  /** Key of a tenant, with every scope if the deployment has scopes. */
  readonly apiKey: string;
  /** Key of another tenant. Without it, tenant isolation is not checked. */
  readonly secondTenantKey?: string | undefined;
  /** Rotated key that has expired. Without it, expiry is not checked. */
  readonly retiredKey?: string | undefined;
  /**
   * Profiles that the deployment claims to implement. Default: none, so only the specification is checked.
   */
  readonly capabilities?: readonly Capability[] | undefined;
  /** `true` to only send requests that change nothing. Default: false. */
  readonly readOnly?: boolean | undefined;
  /**
   * `true` if the key may not use every endpoint. Otherwise an endpoint of which nothing could be checked fails the run,
   * because a service that refuses all requests would conform. Default: false.
   */
  readonly limitedKey?: boolean | undefined;
  /** `true` to also fail the run for a MUST that is skipped or only partly checked. Default: false. */
  readonly strict?: boolean | undefined;
  /** Ids of requirements, or their prefixes, such as `LST` or `EVT-04`. Default: all. */
  readonly only?: readonly string[] | undefined;
  /**
   * Request bodies that the deployment requires, by endpoint; the specification only fixes the body of `events.create`.
   * `{name}`, `{agentId}`, `{sessionId}` and `{prefix}` are replaced in their strings. Default: the reference
   * profile's.
   */
  readonly bodies?: Bodies | undefined;
  /**
   * Number of concurrent requests to send until one returns 429. Default: 0, the rate limit is not tested.
   */
  readonly burst?: number | undefined;
  /** Time limit of one response including its body, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Time that the whole run may wait in vain for accepted data to appear, in milliseconds. Waiting that ends with
   * success does not count. Default: 10,000.
   */
  readonly settleMs?: number | undefined;
  /** Longest `Retry-After` to wait for, in milliseconds; a longer one ends the request. Default: 60,000. */
  readonly maxRetryAfterMs?: number | undefined;
  /** Maximum number of pages to read of a list. Default: 50. */
  readonly maxPages?: number | undefined;
  /** Allows http to another machine, over which the API key is sent unencrypted. Default: false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Custom `fetch` function. Default: the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Stops the run: created records are cleaned up, and the remaining checks are reported as skipped. */
  readonly signal?: AbortSignal | undefined;
  /** Callback after each finished check. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Clock for delays, for tests. Default: the platform's timers. */
  readonly clock?: ContractClock | undefined;
}

/** Options with defaults applied. */
export interface Settings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly secondTenantKey: string | undefined;
  readonly retiredKey: string | undefined;
  readonly capabilities: ReadonlySet<Capability>;
  readonly readOnly: boolean;
  readonly limitedKey: boolean;
  readonly strict: boolean;
  readonly only: readonly string[];
  readonly bodies: Bodies;
  readonly burst: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  readonly maxRetryAfterMs: number;
  readonly maxPages: number;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly clock: ContractClock;
}

/**
 * Reason why a run could not be made at all.
 *
 * - `USAGE`: an option is invalid; the message names it and the reason.
 * - `UNREACHABLE`: the deployment did not respond.
 * - `KEY_REFUSED`: the deployment rejected the API key, so nothing could be checked.
 */
export type ContractErrorCode = 'USAGE' | 'UNREACHABLE' | 'KEY_REFUSED';

/**
 * Error thrown when a run cannot be made. Violations of the contract are never thrown; they are in the
 * report.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly code: ContractErrorCode;

  constructor(code: ContractErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
