import { randomInt } from 'node:crypto';
import type { RiskLevel } from '@actlog/protocol';
import { keepNewest } from '../../lib/keep-newest.ts';
import {
  type ActivityCounts,
  type ActivityKind,
  type ActivitySpan,
  type ActivityTable,
  activityCounts,
  activityKey,
} from '../tables.ts';
import { bulkWrite, type Database, isPostgres } from '../transaction.ts';
import type { CallOutcome } from './event-log.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Buckets of one length. */
interface ActivityBuckets {
  readonly span: ActivitySpan;
  /** Length of a bucket in milliseconds. Buckets begin at its multiples, so days are UTC days. */
  readonly lengthMs: number;
  /** Time for which a bucket is kept, in milliseconds. Older events and sessions are not counted in such buckets. */
  readonly keptMs: number;
  /** `true` if agents and tools are counted too. */
  readonly hasNames: boolean;
}

/** All lengths of buckets. Their ages bound the number of rows, whatever times events have. */
export const activityBuckets: readonly ActivityBuckets[] = [
  { span: '5m', lengthMs: 5 * minuteMs, keptMs: 2 * dayMs, hasNames: false },
  { span: 'hour', lengthMs: hourMs, keptMs: 32 * dayMs, hasNames: true },
  { span: 'day', lengthMs: dayMs, keptMs: 400 * dayMs, hasNames: true },
];

/** Returns the buckets of a span. */
export function bucketsOf(span: ActivitySpan): ActivityBuckets {
  return activityBuckets.find((buckets) => buckets.span === span) as ActivityBuckets;
}

/** Returns the start of the bucket that contains a time, in Unix milliseconds. */
export function bucketOf({ lengthMs }: ActivityBuckets, timeMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs;
}

/** Returns the start of the oldest bucket that is still counted, in Unix milliseconds. */
export function oldestBucket(buckets: ActivityBuckets, nowMs: number): number {
  return bucketOf(buckets, nowMs - buckets.keptMs);
}

/** A change of one row, without the tenant and the slot. */
type ActivityRowChange = Pick<ActivityTable, 'span' | 'kind' | 'bucket_ms' | 'name'> & {
  readonly counts: Partial<ActivityCounts>;
};

/** A session by the columns that it is counted by. */
export interface CountedSession {
  readonly startedMs: number;
  /** Level of its score; `null` before it is scored. */
  readonly level: RiskLevel | null;
}

/** A tool call by what it is counted by. */
export interface CountedCall {
  readonly agentId: string;
  readonly toolName: string;
  readonly outcome: CallOutcome;
}

type CountsByName = Map<string, Partial<ActivityCounts>>;

/** The shortest buckets with counts. The counts of longer ones follow from them. */
const shortest = bucketsOf('5m');
const shortestNamed = bucketsOf('hour');

/** Changes of counts that one transaction collects, so that it writes each bucket once. */
export class ActivityChange {
  /** Counts by the start of the shortest bucket, and by name. */
  readonly #counts: Readonly<Record<ActivityKind, Map<number, CountsByName>>> = {
    all: new Map(),
    agent: new Map(),
    tool: new Map(),
  };

  /** Adds to the counts of the whole tenant at a time. */
  add(timeMs: number, counts: Partial<ActivityCounts>): void {
    addCounts(this.#sumOf('all', bucketOf(shortest, timeMs), ''), counts);
  }

  /** Counts an event that is not a tool call. */
  addEvent(timeMs: number): void {
    const sum = this.#sumOf('all', bucketOf(shortest, timeMs), '');
    sum.events = (sum.events ?? 0) + 1;
  }

  /** Counts a tool call, for the tenant, the agent and the tool. Written out, because every event passes it. */
  addCall(timeMs: number, { agentId, toolName, outcome }: CountedCall): void {
    const bucketMs = bucketOf(shortestNamed, timeMs);
    const all = this.#sumOf('all', bucketOf(shortest, timeMs), '');
    all.events = (all.events ?? 0) + 1;
    for (const sum of [
      all,
      this.#sumOf('agent', bucketMs, agentId),
      this.#sumOf('tool', bucketMs, toolName),
    ]) {
      sum.calls = (sum.calls ?? 0) + 1;
      if (outcome === 'error') sum.errors = (sum.errors ?? 0) + 1;
      else if (outcome === 'denied') sum.denials = (sum.denials ?? 0) + 1;
    }
  }

  /** Counts a session that is new, or whose start or level has changed. */
  moveSession(from: CountedSession | undefined, to: CountedSession): void {
    if (from?.startedMs === to.startedMs && from.level === to.level) return;
    if (from) this.add(from.startedMs, countsOf(from, -1));
    this.add(to.startedMs, countsOf(to, 1));
  }

  /**
   * Returns the changed rows in a fixed order, so that two transactions cannot deadlock.
   *
   * @param nowMs - determines which buckets are still counted
   */
  rows(nowMs: number): ActivityRowChange[] {
    const rows = new Map<string, ActivityRowChange>();
    for (const buckets of activityBuckets) {
      const oldestMs = oldestBucket(buckets, nowMs);
      for (const kind of buckets.hasNames ? (['agent', 'all', 'tool'] as const) : (['all'] as const)) {
        for (const [timeMs, byName] of this.#counts[kind]) {
          const bucketMs = bucketOf(buckets, timeMs);
          if (bucketMs < oldestMs) continue;
          for (const [name, counts] of byName) {
            const key = `${buckets.span} ${kind} ${bucketMs} ${name}`;
            const row = rows.get(key);
            if (row) addCounts(row.counts, counts);
            else
              rows.set(key, { span: buckets.span, kind, bucket_ms: bucketMs, name, counts: { ...counts } });
          }
        }
      }
    }
    const changed = [...rows].filter(([, { counts }]) => Object.values(counts).some((count) => count !== 0));
    return changed.sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
  }

  /** Returns the counts of a bucket, to be added to. */
  #sumOf(kind: ActivityKind, bucketMs: number, name: string): Partial<ActivityCounts> {
    let byName = this.#counts[kind].get(bucketMs);
    if (!byName) {
      byName = new Map();
      this.#counts[kind].set(bucketMs, byName);
    }
    let sum = byName.get(name);
    if (!sum) {
      sum = {};
      byName.set(name, sum);
    }
    return sum;
  }
}

/** Adds counts to a sum. */
function addCounts(sum: Partial<ActivityCounts>, counts: Partial<ActivityCounts>): void {
  for (const [column, count] of Object.entries(counts) as [keyof ActivityCounts, number][]) {
    sum[column] = (sum[column] ?? 0) + count;
  }
}

function countsOf({ level }: CountedSession, count: 1 | -1): Partial<ActivityCounts> {
  return { sessions: count, ...(level !== null && { [`sessions_${level}`]: count }) };
}

/**
 * Kind of transaction that counts. Each has separate rows on PostgreSQL, so that none waits for the commit of
 * another: group commits and scoring have one transaction at a time in a process, requests have many.
 */
export type ActivityWriter = 'events' | 'decisions' | 'scores' | 'requests';

/** Number of rows over which a bucket's counts are spread on PostgreSQL, for each kind of transaction. */
const slots = 64;
const ownSlot = randomInt(slots);

/** Number of slots of requests. */
const requestSlots = 8;

const none = Object.fromEntries(activityCounts.map((column) => [column, 0])) as unknown as ActivityCounts;

/** Counts of agents and tools; their other counts are 0. */
const namedCounts = ['calls', 'errors', 'denials'] as const satisfies readonly (keyof ActivityCounts)[];

function upsertOf(columns: readonly (keyof ActivityCounts)[]) {
  return bulkWrite('activity', [...activityKey, ...columns], (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(activityKey)
        .doUpdateSet((eb) =>
          Object.fromEntries(
            columns.map((column) => [column, eb(`activity.${column}`, '+', eb.ref(`excluded.${column}`))]),
          ),
        ),
    ),
  );
}

const addRows = upsertOf(activityCounts);
const addNamedRows = upsertOf(namedCounts);

/**
 * Adds what a transaction has stored to a tenant's counts: one upsert for each bucket.
 *
 * @param nowMs - determines which buckets are still counted
 * @param names - limits the names of agents and tools in a bucket; needed if the change has any
 */
export async function addActivity(
  db: Database,
  tenantId: number,
  change: ActivityChange,
  writer: ActivityWriter,
  nowMs: number,
  names?: ActivityNames,
): Promise<void> {
  const slot = isPostgres(db) ? slotOf(writer) : 0;
  const changed = change.rows(nowMs);
  const rows = names ? await names.limit(db, tenantId, slot, changed) : changed;
  const all = rows.map(({ counts, ...row }) => ({ ...none, ...counts, ...row, tenant_id: tenantId, slot }));
  if (isPostgres(db)) {
    await addRows(db, all);
    return;
  }
  // SQLite runs the statement for each row, so fewer parameters cost less; on PostgreSQL another statement would cost
  // another round trip.
  const whole = all.filter(({ kind }) => kind === 'all');
  const named = all.filter(({ kind }) => kind !== 'all');
  await addRows(db, whole);
  await addNamedRows(db, named);
}

function slotOf(writer: ActivityWriter): number {
  switch (writer) {
    case 'events':
      return ownSlot;
    case 'decisions':
      return slots + ownSlot;
    case 'scores':
      return 2 * slots + ownSlot;
    case 'requests':
      return 3 * slots + randomInt(requestSlots);
  }
}

/** Maximum agents and maximum tools with separate counts in a bucket. Further ones are counted together. */
export const maxActivityNames = 40;

/** Maximum buckets whose names are cached. A dropped one is read again. */
const maxCachedBuckets = 256;

/** Names of the agents and tools of a bucket. */
interface BucketNames {
  readonly agent: Set<string>;
  readonly tool: Set<string>;
}

type Bucket = Pick<ActivityTable, 'span' | 'bucket_ms'>;

/**
 * Limit of the names in a bucket, so that a caller who makes up names cannot grow the table. It keeps the names of
 * recent buckets, so that most transactions read none; a name of a rolled-back transaction only takes its place.
 */
export class ActivityNames {
  readonly #cached = new Map<string, BucketNames>();

  /** Returns the changes of rows, with names beyond the limit combined under the empty name. */
  async limit(
    db: Database,
    tenantId: number,
    slot: number,
    rows: readonly ActivityRowChange[],
  ): Promise<ActivityRowChange[]> {
    const limited: ActivityRowChange[] = [];
    const others = new Map<string, ActivityRowChange>();
    for (const row of rows) {
      if (row.kind === 'all' || (await this.#admits(db, tenantId, slot, row, row.kind))) {
        limited.push(row);
        continue;
      }
      const key = `${row.span} ${row.kind} ${row.bucket_ms}`;
      const other = others.get(key);
      if (other) addCounts(other.counts, row.counts);
      else others.set(key, { ...row, name: '', counts: { ...row.counts } });
    }
    return others.size === 0 ? limited : [...others.values(), ...limited];
  }

  async #admits(
    db: Database,
    tenantId: number,
    slot: number,
    { span, bucket_ms, name }: ActivityRowChange,
    kind: keyof BucketNames,
  ): Promise<boolean> {
    const names = (await this.#namesOf(db, tenantId, slot, { span, bucket_ms }))[kind];
    if (names.has(name)) return true;
    if (names.size >= maxActivityNames) return false;
    names.add(name);
    return true;
  }

  async #namesOf(db: Database, tenantId: number, slot: number, bucket: Bucket): Promise<BucketNames> {
    const key = `${tenantId} ${slot} ${bucket.span} ${bucket.bucket_ms}`;
    const cached = this.#cached.get(key);
    if (cached) return cached;
    const names: BucketNames = { agent: new Set(), tool: new Set() };
    const rows = await db
      .selectFrom('activity')
      .select(['kind', 'name'])
      .where('tenant_id', '=', tenantId)
      .where('span', '=', bucket.span)
      .where('kind', 'in', ['agent', 'tool'])
      .where('bucket_ms', '=', bucket.bucket_ms)
      .where('slot', '=', slot)
      .where('name', '<>', '')
      .execute();
    for (const { kind, name } of rows) if (kind !== 'all') names[kind].add(name);
    keepNewest(this.#cached, key, names, maxCachedBuckets);
    return names;
  }
}
