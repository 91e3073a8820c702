import { type LogRecord, recordKinds, recordTime } from '@actlog/log';
import { stringifyExactJson } from '@actlog/protocol';
import { flag } from '@actlog/protocol/schemas';
import * as z from 'zod';
import type { LogKeys, LogTenant } from '../evidence/log-keys.ts';
import {
  type ProvenRecord,
  readFeed,
  readLogPage,
  readProven,
  readReceipt,
  recordBefore,
} from '../evidence/log-reader.ts';
import type { LogSequencer } from '../evidence/log-sequencer.ts';
import type { LogWitnesses, SignedHead } from '../evidence/log-witnesses.ts';
import { requireEveryScope, requireScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { lowestIdentifierOf } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull, timeMs } from '../lib/iso-time.ts';
import { type EntryRanges, firstIndexFrom, logHead } from '../storage/log/tenant-log.ts';
import { policyVersions } from '../storage/policies/policy-store.ts';
import { listLegalHolds } from '../storage/retention/legal-holds.ts';
import { retentionClasses, retentionPolicy } from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import { legalHoldView } from '../tenants/legal-holds.ts';
import { allScopes } from '../tenants/provisioning.ts';

/** Parts of the server that the routes of the log use. */
export interface LogParts {
  readonly storage: Storage;
  readonly witnesses: LogWitnesses;
  readonly sequencer: LogSequencer;
}

const feedQuery = z.strictObject({
  /** Index of the last record that the caller has; omitted for all records. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  /** Maximum number of records; by default all until now. */
  limit: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  /** Seconds to wait for a record if there is none yet, up to 25. */
  waitSeconds: z.coerce.number().min(0).max(25).optional(),
  /** `true` to add a receipt to each record, all for one checkpoint. */
  receipts: flag.optional(),
});

/**
 * Route `GET /server/v1/feed`: what was recorded, in the order of the log, as lines of JSON. Entries of the audit log are
 * only for callers with every scope.
 */
export function feedRoute({ storage, witnesses, sequencer }: LogParts): ServerRoute<typeof feedQuery> {
  return {
    method: 'GET',
    path: '/feed',
    success: 200,
    query: feedQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId, scopes }, query, disconnected }) {
      const { after = -1, limit = Number.MAX_SAFE_INTEGER, waitSeconds = 0, receipts = false } = query;
      const signal = disconnected();
      const size = () => storage.read(tenantId, async (db) => (await logHead(db, tenantId)).size);
      if (waitSeconds > 0) {
        await sequencer.waitFor(tenantId, {
          isReached: async () => (await size()) > after + 1,
          waitMs: waitSeconds * 1000,
          signal,
        });
      }
      const head = receipts
        ? await storage.read(tenantId, async (db) => witnesses.published(db, await tenantOf(db, tenantId)))
        : undefined;
      const leftOut = new Set(allScopes.every((scope) => scopes.has(scope)) ? [] : (['audit'] as const));
      return readFeed({ storage, tenantId, after, limit, leftOut, head, signal });
    },
  };
}

const receiptQuery = z.strictObject({
  /** Kind of the record. */
  kind: z.enum(recordKinds).default('event'),
});

/** Route `GET /server/v1/receipts/:id`: a record with the proof that the log has it. */
export function receiptRoute({ storage, witnesses }: LogParts): ServerRoute<typeof receiptQuery> {
  return {
    method: 'GET',
    path: '/receipts/:id',
    success: 200,
    query: receiptQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller, id, query: { kind } }) {
      if (kind === 'audit') requireEveryScope(caller);
      const { tenantId } = caller;
      const receipt = await storage.read(tenantId, async (db) =>
        readReceipt(db, tenantId, { kind, id }, await witnesses.published(db, await tenantOf(db, tenantId))),
      );
      if (!receipt) throw notFound('receipt');
      return receipt;
    },
  };
}

async function tenantOf(db: Database, id: number): Promise<LogTenant> {
  return db.selectFrom('tenants').select(['id', 'name']).where('id', '=', id).executeTakeFirstOrThrow();
}

/** Parts of {@link evidenceRoute}. */
export interface EvidenceParts {
  readonly storage: Storage;
  readonly witnesses: LogWitnesses;
  readonly logKeys: LogKeys;
}

const evidenceQuery = z.strictObject({
  /** Begin of the period (inclusive). */
  since: timeMs,
  /** End of the period (exclusive). */
  until: timeMs,
  /** Only records about this agent. */
  agentId: z.string().min(1).optional(),
  /** Only records of this session. */
  sessionId: z.string().min(1).optional(),
});

/** Consecutive entries without a record of the period after which it has ended. Records are logged in about a second. */
const entriesAfterEnd = 4096;

/** Time by which clocks of servers of one database may differ, in milliseconds. */
const skewMs = 60_000;

/** Maximum legal holds of a page that is read at once. */
const holdsAtOnce = 500;

/** Period of evidence, with its entries of the log. */
interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly agentId: string | undefined;
  readonly sessionId: string | undefined;
  readonly first: number;
  readonly last: number;
  /** Index of the record before the period, and of the one after it. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/**
 * Route `GET /server/v1/evidence`: what proves a period to an outsider, as lines of JSON: the checkpoint, each record with
 * its receipt, and the policies, legal holds and retention that were in force. All receipts are for one checkpoint. Only
 * for callers with every scope, because entries of the audit log are part of it.
 */
export function evidenceRoute(parts: EvidenceParts): ServerRoute<typeof evidenceQuery> {
  const { storage, witnesses, logKeys } = parts;
  return {
    method: 'GET',
    path: '/evidence',
    success: 200,
    query: evidenceQuery,
    check: requireEveryScope,
    async handle({ caller: { tenantId }, query, disconnected }) {
      const { since: sinceMs, until: untilMs, agentId, sessionId } = query;
      if (sinceMs >= untilMs) throw validationError('until', 'invalid_range', 'must be after "since"');
      const signal = disconnected();
      const { tenant, head } = await storage.read(tenantId, async (db) => {
        const found = await tenantOf(db, tenantId);
        return { tenant: found, head: await witnesses.published(db, found) };
      });
      const found = await findPeriod(storage, tenantId, head, { sinceMs, untilMs, signal });
      const period: Period = { sinceMs, untilMs, agentId, sessionId, ...found };
      const start = {
        type: 'head',
        tenant: tenant.name,
        origin: logKeys.origin(tenant),
        keys: logKeys.verifierKeys(tenant).map(({ text }) => text),
        checkpoint: head.checkpoint,
        size: head.size,
        first: period.first,
        last: period.last,
      };
      return lines(storage, tenantId, head, period, start, signal);
    },
  };
}

async function* lines(
  storage: Storage,
  tenantId: number,
  head: SignedHead,
  period: Period,
  start: object,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield line(start);
  const read = <Result>(work: (db: Database) => Promise<Result>) => storage.read(tenantId, work);
  for (const part of ['before', 'after'] as const) {
    const index = period[part];
    if (index === undefined) continue;
    const { records } = await read((db) => readProven(db, tenantId, index - 1, head));
    // The database may have changed since; without the record, the archive shows that it is missing.
    for (const record of records) if (record.index === index) yield recordLine(part, record);
  }
  const sent = new Set<number>();
  for (let after = period.first - 1; after < period.last && !signal.aborted; ) {
    const from = after;
    const { records, last } = await read((db) => readProven(db, tenantId, from, head));
    if (last === undefined) break;
    for (const record of records) {
      if (record.index > period.last || !matches(period, record)) continue;
      if (record.kind === 'deletion' || record.kind === 'audit') sent.add(record.index);
      yield recordLine('period', record);
    }
    after = last;
  }
  for await (const record of supporting(read, tenantId, head, period)) {
    if (signal.aborted) return;
    if (sent.has(record.index)) continue;
    sent.add(record.index);
    yield recordLine('support', record);
  }
  for (const policy of await read((db) => policiesInForce(db, tenantId, period))) {
    yield line({ type: 'policy', ...policy });
  }
  for (const hold of await read((db) => holdsInForce(db, tenantId, period))) {
    yield line({ type: 'legalHold', ...hold });
  }
  const { days, floors } = await read((db) => retentionPolicy(db, tenantId));
  for (const name of retentionClasses) {
    yield line({ type: 'retention', class: name, days: days[name], floorDays: floors[name] });
  }
  // Without this line, the stream was cut.
  yield line({ type: 'end' });
}

function line(value: object): string {
  return `${stringifyExactJson(value)}\n`;
}

function recordLine(part: 'period' | 'before' | 'after' | 'support', record: ProvenRecord): string {
  return line({ type: 'record', part, ...record });
}

/** `true` if a record is about the agent and the session of a filter. Deletions are about any. */
function matches({ agentId, sessionId }: Period, { kind, row }: Pick<LogRecord, 'kind' | 'row'>): boolean {
  if (kind === 'deletion') return true;
  const { agentId: agent, sessionId: session, parentAgentIds, target } = row as Record<string, unknown>;
  if (kind === 'audit') {
    const { id } = target as { readonly id: unknown };
    return (agentId === undefined || id === agentId) && (sessionId === undefined || id === sessionId);
  }
  const isOfAgent =
    agentId === undefined ||
    agent === agentId ||
    (Array.isArray(parentAgentIds) && parentAgentIds.includes(agentId));
  return isOfAgent && (sessionId === undefined || session === sessionId);
}

/**
 * Returns the entries of a period, and the records next to it. The log has no times, so records in its order show where the
 * period begins and ends. Entries of deleted records between them are within the period.
 */
async function findPeriod(
  storage: Storage,
  tenantId: number,
  { size }: SignedHead,
  { sinceMs, untilMs, signal }: { sinceMs: number; untilMs: number; signal: AbortSignal },
): Promise<Pick<Period, 'first' | 'last' | 'before' | 'after'>> {
  const from = await storage.read(tenantId, (db) => firstIndexFrom(db, tenantId, sinceMs - skewMs));
  const until = await storage.read(tenantId, (db) => firstIndexFrom(db, tenantId, untilMs));
  const begin = Math.min(from ?? size, size);
  let before = await storage.read(tenantId, (db) => recordBefore(db, tenantId, begin));
  let after: number | undefined;
  let lastWithin: number | undefined;
  // First the records before the period, then those about its end; what is in between needs no look.
  let place = begin - 1;
  scan: while (!signal.aborted) {
    const page = await storage.read(tenantId, (db) => readLogPage(db, tenantId, place));
    for (const { index, record } of page.records) {
      if (index >= size) break scan;
      const time = recordTime(record) ?? sinceMs;
      if (time >= sinceMs && time < untilMs) {
        lastWithin = index;
        after = undefined;
      } else if (time >= untilMs) after ??= index;
      else if (lastWithin === undefined && after === undefined) before = index;
      if (after !== undefined && index - after >= entriesAfterEnd) break scan;
    }
    if (page.last === undefined || page.last >= size - 1) break;
    place = page.last;
    // Everything before this entry was appended before the end, and so it is within the period.
    if (lastWithin !== undefined && after === undefined) place = Math.max(place, (until ?? size) - 2);
  }
  const first = before === undefined ? 0 : before + 1;
  return { first, last: Math.max(first - 1, (after ?? size) - 1), before, after };
}

/** Yields records of other times that explain the period: deletions of its records, and changes that were in force. */
async function* supporting(
  read: <Result>(work: (db: Database) => Promise<Result>) => Promise<Result>,
  tenantId: number,
  head: SignedHead,
  period: Period,
): AsyncGenerator<ProvenRecord> {
  const proven = (kind: 'deletion' | 'audit', id: string) =>
    read((db) => readReceipt(db, tenantId, { kind, id }, head));
  let afterId = lowestIdentifierOf('del', Math.max(0, period.sinceMs - skewMs));
  for (;;) {
    const from = afterId;
    const deletions = await read((db) =>
      db
        .selectFrom('log_deletions')
        .select(['id', 'record'])
        .where('tenant_id', '=', tenantId)
        .where('id', '>', from)
        .orderBy('id')
        .limit(500)
        .execute(),
    );
    for (const { id, record } of deletions) {
      afterId = id;
      const { entries } = JSON.parse(record) as { readonly entries: EntryRanges };
      if (!entries.some(([first, last]) => first <= period.last && last >= period.first)) continue;
      const found = await proven('deletion', id);
      if (found) yield found;
    }
    if (deletions.length === 0) break;
  }
  for (const id of await read((db) => explainingEntries(db, tenantId, period))) {
    const found = await proven('audit', id);
    if (found) yield found;
  }
}

/** Returns entries of the audit log with the policies, the retention and the legal holds in force, as far as they exist. */
async function explainingEntries(db: Database, tenantId: number, period: Period): Promise<string[]> {
  const ids: string[] = [];
  const holds = await holdsInForce(db, tenantId, period);
  const versions = new Map<string, Set<number>>();
  for (const { id, version } of await policiesInForce(db, tenantId, period)) {
    versions.set(id, (versions.get(id) ?? new Set()).add(version));
  }
  const ofTarget = (id: string) =>
    db
      .selectFrom('audit_log')
      .select(['id', 'changes'])
      .where('tenant_id', '=', tenantId)
      .where('target_id', '=', id)
      .orderBy('id')
      .execute();
  for (const [id, wanted] of versions) {
    for (const row of await ofTarget(id)) {
      const changes = JSON.parse(row.changes) as readonly {
        readonly field: string;
        readonly after?: unknown;
      }[];
      if (changes.some(({ field, after }) => field === 'version' && wanted.has(after as number)))
        ids.push(row.id);
    }
  }
  for (const { id } of holds) for (const row of await ofTarget(id)) ids.push(row.id);
  const retention = await db
    .selectFrom('audit_log')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('target_kind', '=', 'tenant')
    .where('action', '=', 'tenant.retention_changed')
    .orderBy('id')
    .execute();
  return [...ids, ...retention.map(({ id }) => id)];
}

/** Returns the versions of policies that applied at some time of a period. */
async function policiesInForce(db: Database, tenantId: number, { sinceMs, untilMs }: Period) {
  const found = [];
  for (const [id, versions] of Map.groupBy(await policyVersions(db, tenantId), (row) => row.policy_id)) {
    for (const [at, { version, status, definition, from_ms: from }] of versions.entries()) {
      const until = versions[at + 1]?.from_ms;
      if (status !== 'active' || from >= untilMs || (until !== undefined && until <= sinceMs)) continue;
      found.push({
        id,
        version,
        from: isoTime(from),
        until: isoTimeOrNull(until ?? null),
        definition: JSON.parse(definition) as object,
      });
    }
  }
  return found;
}

/** Returns the legal holds that were in force at some time of a period. */
async function holdsInForce(db: Database, tenantId: number, { sinceMs, untilMs }: Period) {
  const found = [];
  let afterId: string | undefined;
  for (;;) {
    const rows = await listLegalHolds(db, tenantId, { afterId, limit: holdsAtOnce });
    for (const row of rows.slice(0, holdsAtOnce)) {
      afterId = row.id;
      if (row.created_ms >= untilMs || (row.released_ms !== null && row.released_ms <= sinceMs)) continue;
      found.push(legalHoldView(row));
    }
    if (rows.length <= holdsAtOnce) return found;
  }
}
