import {
  type Actlog,
  ActlogError,
  APIError,
  AuthenticationError,
  PermissionDeniedError,
  RateLimitError,
} from '@actlog/client';
import { getForwarding } from '@actlog/client/server';
import type { Forwarding } from '@actlog/protocol';
import {
  type Check,
  type Facts,
  found,
  known,
  type Outcome,
  ok,
  readKeyIdentity,
  skipped,
} from '../check.ts';

/** Time before the end of a key from which on it is reported, in milliseconds. */
const soonMs = 7 * 86_400_000;

/** Check that the service accepts the key. It is sent only here and later, after the service was identified. */
export const key: Check = {
  id: 'key',
  title: 'Key accepted',
  requires: ['service', 'api-key'],
  async run(facts) {
    const client = known(facts.client);
    const refusal = await listOneSession(client, facts);
    if (refusal) return refusal;
    const identity = await readKeyIdentity(client);
    if (!identity) return ok('by the service');
    facts.identity = identity;
    const { name, tenant, keyId, expiresAt } = identity;
    if (expiresAt !== undefined && Date.parse(expiresAt) - Date.now() < soonMs) {
      return found('key-expires-soon', { time: expiresAt, keyId });
    }
    return ok(`"${name}" of the tenant "${tenant}"`);
  },
};

/** Returns the reason for which the service refuses the key, and records if it may read. */
async function listOneSession(client: Actlog, facts: Facts): Promise<Outcome | undefined> {
  try {
    await client.sessions.list({ limit: 1 });
    facts.canRead = true;
    return undefined;
  } catch (error) {
    if (error instanceof AuthenticationError) return found('key-rejected', {});
    if (error instanceof RateLimitError) {
      return found('key-throttled', { seconds: Math.ceil((error.retryAfterMs ?? 1000) / 1000) });
    }
    if (error instanceof PermissionDeniedError) {
      facts.canRead = false;
      return undefined;
    }
    if (error instanceof APIError) return found('service-unavailable', { status: error.status });
    throw error;
  }
}

/** Check that an agent can use the key: it needs the scope `ingest`. */
export const permissions: Check = {
  id: 'permissions',
  title: 'Permissions',
  requires: ['key'],
  async run({ client, identity, canRead }) {
    const scopes = identity?.scopes ?? (await tryScopes(known(client), canRead));
    if (!scopes.includes('ingest')) return found('key-without-ingest', {});
    return ok(scopes.join(', '));
  },
};

/** Finds out about `ingest` by a check that leaves nothing behind. `manage` and `decide` cannot be tried by reading. */
async function tryScopes(client: Actlog, canRead = false): Promise<string[]> {
  const read = canRead ? ['read'] : [];
  const action = { toolName: 'actlog-doctor', argumentsHash: 'none' };
  try {
    await client.policies.check({ agentId: 'actlog-doctor', action }, { dryRun: true });
    return ['ingest', ...read];
  } catch (error) {
    if (error instanceof PermissionDeniedError) return read;
    throw error;
  }
}

/** Share of a quota from which on it is reported. */
const nearly = 0.8;
/** Quotas without which nothing is recorded. */
const recording: readonly string[] = ['eventsPerMonth', 'checksPerMonth', 'sessions', 'agents'];

/** Check of the quotas of the tenant, where the service shows them. */
export const quota: Check = {
  id: 'quota',
  title: 'Quota, retention',
  requires: ['key'],
  async run({ client }) {
    const limits = await readTenantLimits(known(client));
    if (!limits) return skipped('the service does not show them to this key');
    const problems = Object.entries(limits.quotas).flatMap(([name, { used, max }]) => {
      if (max === null || used < max * nearly) return [];
      // A quota of 0 on policies or webhooks is intentional.
      if (max === 0 && !recording.includes(name)) return [];
      const code = used >= max ? 'quota-used-up' : 'quota-nearly-used-up';
      return [found(code, { quota: name, used, max })];
    });
    return problems.length > 0 ? problems : ok(`no quota is nearly used up; ${retentionOf(limits)}`);
  },
};

/** Time from which on a destination is reported as behind, in seconds. */
const behindSeconds = 3600;

/** Check that records reach the history and the systems that they are forwarded to, where the service shows it. */
export const forwarding: Check = {
  id: 'forwarding',
  title: 'Forwarding',
  requires: ['key'],
  async run({ client }) {
    const states = await readForwarding(known(client));
    if (states === 'denied') return ok('shown to administrators only');
    if (!states) return skipped('the service does not show it');
    if (states.length === 0) return ok('no destination');
    const problems = states.flatMap(({ name: forward, lagRecords, lagSeconds, failures, lastError }) => {
      if (failures > 0)
        return [found('forwarding-fails', { forward, entries: lagRecords, error: `${lastError}` })];
      if (lagSeconds < behindSeconds) return [];
      return [
        found('forwarding-behind', { forward, entries: lagRecords, minutes: Math.round(lagSeconds / 60) }),
      ];
    });
    const behind = states.map(({ name, lagRecords }) => `${name}: ${lagRecords} entries behind`);
    return problems.length > 0 ? problems : ok(behind.join(', '));
  },
};

async function readForwarding(client: Actlog): Promise<Forwarding['items'] | 'denied' | undefined> {
  try {
    const { items } = await getForwarding(client);
    return Array.isArray(items) ? items : undefined;
  } catch (error) {
    if (error instanceof PermissionDeniedError) return 'denied';
    if (error instanceof ActlogError) return undefined;
    throw error;
  }
}

function retentionOf({ retentionDays }: TenantLimits): string {
  return typeof retentionDays === 'number'
    ? `sessions are kept for ${retentionDays} days`
    : 'sessions are kept without a limit';
}

/** Use of a quota of the tenant; `max` is `null` for no limit. */
interface QuotaUse {
  readonly used: number;
  readonly max: number | null;
}

/** Number of spans of an instrumentation that were not understood, for one reason. */
interface UnreadSpans {
  readonly scope: string;
  readonly reason: string;
  readonly count: number;
}

/** Limits of the tenant, as the reference server shows them. */
interface TenantLimits {
  /** Days for which sessions are kept; `null` for no limit. */
  readonly retentionDays: number | null;
  readonly quotas: Readonly<Record<string, QuotaUse>>;
  /** Spans that were not understood since the server started; undefined where it does not count them. */
  readonly unreadSpans: readonly UnreadSpans[] | undefined;
}

/** Returns the limits of the client's tenant; undefined if the deployment does not show them to its key. */
export async function readTenantLimits(client: Actlog): Promise<TenantLimits | undefined> {
  try {
    const limits = await client.request<Partial<TenantLimits> | undefined>('GET', '/console/api/limits');
    // A deployment that returns a page for every unknown path also returns one here.
    const { retentionDays = null, quotas, unreadSpans } = typeof limits === 'object' ? limits : {};
    return typeof quotas === 'object' ? { retentionDays, quotas, unreadSpans } : undefined;
  } catch (error) {
    if (error instanceof ActlogError) return undefined;
    throw error;
  }
}
