import type { EndpointName } from '@actlog/protocol';
import type { Capability } from './requirement.ts';

/** Names of bodies: those of endpoints, and of the policy that makes the action of `policies.check` be held. */
export type BodyName = EndpointName | 'policies.hold';

/** The bodies that a deployment asks for; see {@link ContractOptions.bodies}. */
export type Bodies = Readonly<Partial<Record<BodyName, unknown>>>;

/** Where waits come from; replace it in tests. */
export interface ContractClock {
  /** Resolves after so many milliseconds, or rejects when `signal` ends. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** What a run is told. */
export interface ContractOptions {
  /** Address of the deployment, without `/v1`. */
  readonly baseURL: string | URL;
  /** A key of a tenant; with every scope, where the deployment has scopes. */
  readonly apiKey: string;
  /** A key of another tenant. Without it nothing is told about tenants and keys being kept apart. */
  readonly secondTenantKey?: string | undefined;
  /** A key that was rotated away and has ended. Without it nothing is told about that. */
  readonly retiredKey?: string | undefined;
  /** Choices that the deployment claims to have made. Default: none, so that only the specification counts. */
  readonly capabilities?: readonly Capability[] | undefined;
  /** Sends only requests that change nothing. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Ids of requirements, or their beginnings, such as `LST` or `EVT-04`. Default: all. */
  readonly only?: readonly string[] | undefined;
  /**
   * The bodies that the deployment asks for, by endpoint; the specification fixes that of `events.create` only. In
   * their texts `{name}`, `{agentId}`, `{sessionId}` and `{prefix}` are filled in. Default: those of the reference profile.
   */
  readonly bodies?: Bodies | undefined;
  /** Requests to send at once until one is answered with 429. Default 0: the rate limit is not provoked. */
  readonly burst?: number | undefined;
  /** Milliseconds that one answer may take, its body included. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that what was taken may need until it can be read. Default 10,000. */
  readonly settleMs?: number | undefined;
  /** Longest `Retry-After` to wait for, in milliseconds; a longer one ends the request. Default 60,000. */
  readonly maxRetryAfterMs?: number | undefined;
  /** Pages of a list that are looked through at most. Default 50. */
  readonly maxPages?: number | undefined;
  /** Allows http to another machine, over which the API key travels unencrypted. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** A `fetch` to send with. Default: the platform's. */
  readonly fetch?: typeof fetch | undefined;
  /** Ends the run: what was made is cleaned up, and the checks that are left are told as skipped. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each check that has ended. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Where waits come from. For tests; default: the platform's timers. */
  readonly clock?: ContractClock | undefined;
}

/** Options with their defaults filled in. */
export interface Settings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly secondTenantKey: string | undefined;
  readonly retiredKey: string | undefined;
  readonly capabilities: ReadonlySet<Capability>;
  readonly readOnly: boolean;
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
