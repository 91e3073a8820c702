import { type Actlog, ActlogError } from '@actlog/client';
import type { Scope } from '@actlog/protocol';
import type { SpoolSurvey } from '../spool/spool-survey.ts';
import { type FindingCode, type FindingValues, findings } from './findings/findings.ts';
import type { InstalledPackages } from './installed-packages.ts';
import type { Variables } from './variables.ts';

/** Status of a check: `skipped` if a check that it depends on failed, or if it does not apply. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** Result of a check. */
export interface Outcome {
  readonly status: CheckStatus;
  /** Code of the problem. */
  readonly code?: FindingCode;
  /** State that was found, or the problem, as a sentence. */
  readonly detail: string;
  /** Action that solves the problem. */
  readonly fix?: string;
}

/** One line of `actlog doctor`. */
export interface Check {
  readonly id: string;
  /** Name of what is checked. */
  readonly title: string;
  /** Ids of checks without which this one makes no sense. */
  readonly requires?: readonly string[];
  /** Checks, and adds what it learned to the facts. May return several problems. */
  run(facts: Facts): Outcome | readonly Outcome[] | Promise<Outcome | readonly Outcome[]>;
}

/** Returns the outcome of a check that found no problem. */
export function ok(detail: string): Outcome {
  return { status: 'ok', detail };
}

/** Returns the outcome of a check that does not apply. */
export function skipped(detail: string): Outcome {
  return { status: 'skipped', detail };
}

/** Returns the outcome of a check that found a problem. */
export function found<Code extends FindingCode>(code: Code, values: FindingValues<Code>): Outcome {
  const { status, problem, fix } = findings[code];
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (_, name: string) => String((values as Record<string, unknown>)[name]));
  return { status, code, detail: fill(problem), fix: fill(fix) };
}

/** Options of `actlog doctor`, with their defaults. */
interface DoctorOptions {
  /** Folder of the project. */
  readonly dir: string;
  /** Time limit of each step that uses the network, in milliseconds. */
  readonly timeoutMs: number;
  /** Limit of the journal of one process, in bytes, as the recorder's `maxSpoolBytes`. */
  readonly maxSpoolBytes: number;
  readonly allowInsecureHttp: boolean;
}

/** Times of a request, and the `Date` of its response, in Unix milliseconds. */
export interface ServiceTime {
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly dateMs: number;
}

/** Facts that the checks share. Each check reads the facts of earlier checks. */
export interface Facts {
  readonly options: DoctorOptions;
  readonly variables: Variables;
  /** Address of the service, once it is known to be valid. */
  baseURL?: URL;
  /** API key, once it is known to be well-formed. */
  apiKey?: string;
  /** Proxy in front of the service; undefined for a direct connection. */
  proxy?: URL;
  /** Client with the key and the address, without retries. */
  client?: Actlog;
  serviceTime?: ServiceTime;
  /** Name, tenant and scopes of the key, where the service shows them. */
  identity?: KeyIdentity;
  /** `false` if the service refused to list sessions with this key. */
  canRead?: boolean;
  spool?: SpoolSurvey;
  packages?: InstalledPackages;
}

/** Owner of the API key, as the reference server shows it. */
interface KeyIdentity {
  readonly keyId: string;
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly Scope[];
  /** Time from which the key is refused, ISO 8601; undefined for never, or where it is not shown. */
  readonly expiresAt: string | undefined;
  /** Version of the server. */
  readonly serverVersion: string | undefined;
}

/**
 * Returns the identity of the client's key; undefined if the deployment does not show it. The specification has no
 * endpoint for that, so this is the one of the reference server's console.
 */
export async function readKeyIdentity(client: Actlog): Promise<KeyIdentity | undefined> {
  let identity: Partial<Record<keyof KeyIdentity, unknown>> | undefined;
  try {
    identity = await client.request<typeof identity>('GET', '/console/api/identity');
  } catch (error) {
    if (error instanceof ActlogError) return undefined;
    throw error;
  }
  // A deployment that returns a page for every unknown path also returns one here.
  if (typeof identity !== 'object' || !Array.isArray(identity?.scopes)) return undefined;
  const { keyId, name, tenant, scopes, expiresAt, serverVersion } = identity;
  return {
    keyId: String(keyId),
    name: String(name),
    tenant: String(tenant),
    scopes: scopes as readonly Scope[],
    expiresAt: textOr(expiresAt),
    serverVersion: textOr(serverVersion),
  };
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns a fact of a check that this one requires. @throws Error when the check did not set it */
export function known<Value>(fact: Value | undefined): Value {
  if (fact === undefined) throw new Error('A check ran before one that it requires.');
  return fact;
}
