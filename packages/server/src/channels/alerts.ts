import { type RiskLevel, wholeScore } from '@actlog/protocol';
import { readLogPage } from '../evidence/log-reader.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime } from '../lib/iso-time.ts';
import { isAtLeast } from '../lib/risk-levels.ts';
import { lockRows } from '../storage/locks.ts';
import { logHead } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import {
  agentUsedTool,
  listAlertRules,
  lockAlert,
  type StoredAlertRule,
  saveAlert,
  tenantsWithAlertRules,
} from '../storage/stores/alert-store.ts';
import { activeChannels } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, insertDeliveries } from '../storage/stores/delivery-store.ts';
import { type RaisedSession, raisedSessions, recordSentLevels } from '../storage/stores/forward-store.ts';
import type { Database } from '../storage/transaction.ts';
import { newDelivery } from '../webhooks/webhook-outbox.ts';
import { line } from './card.ts';
import type { StoredMessage } from './channel.ts';
import { afterQuietHours, matchesCall, type Routing, rulesOf } from './routing.ts';

/** Name of the position in the logs; no forwarder can have it. */
const positionName = '_alerts';

/** Maximum pages of the log of a tenant in one pass, so that other tenants have their turn. */
const maxPages = 50;

/** Maximum sessions with raised risk in one transaction. */
const maxRaised = 100;

/** Something that happened, which rules may be about. */
interface Occurrence {
  readonly kind: 'risk' | 'denied' | 'error' | 'call';
  readonly agentId: string;
  /** Empty for raised risk. */
  readonly toolName: string;
  readonly sessionId: string | null;
  /** Time at which the server received it. */
  readonly atMs: number;
  readonly level?: RiskLevel;
  readonly score?: number;
}

/** Parts of {@link AlertWatch}. */
export interface AlertParts {
  readonly storage: Storage;
  readonly routing: Routing;
  /** Called after a commit with messages. */
  readonly onQueued: () => void;
}

/**
 * Looks for the causes of alerts in the log of each tenant. A page of the log, what the rules find in it, the messages and the
 * new position are one transaction, so each occurrence counts once, however many processes there are and whenever one
 * ends.
 */
export class AlertWatch {
  readonly #parts: AlertParts;

  constructor(parts: AlertParts) {
    this.#parts = parts;
  }

  /** Looks at what was recorded since the last pass of any process. */
  async pass(signal: AbortSignal): Promise<void> {
    const { storage } = this.#parts;
    const tenants = await storage.readAcross('sweep', (db) => tenantsWithAlertRules(db));
    for (const tenantId of tenants) {
      for (let page = 0; page < maxPages && !signal.aborted; page += 1) {
        if (!(await this.#readPage(tenantId))) break;
      }
    }
  }

  /** Evaluates one page. Returns `true` if there can be more. */
  async #readPage(tenantId: number): Promise<boolean> {
    const { storage, onQueued } = this.#parts;
    return storage.write(tenantId, async ({ db, afterCommit }) => {
      const position = await lockPosition(db, tenantId);
      if (position === undefined) return false;
      const rules = await listAlertRules(db, tenantId);
      const page = await readLogPage(db, tenantId, position);
      const raised = await raisedSessions(db, tenantId, positionName, maxRaised);
      if (page.last === undefined && raised.length === 0) return false;
      const occurrences = [
        ...page.records.flatMap(({ record }) => occurrencesIn(record)),
        ...raised.map(riskOf),
      ];
      const nowMs = Date.now();
      const rows: DeliveryRow[] = [];
      for (const occurrence of occurrences) {
        for (const rule of rules.filter((one) => concerns(one, occurrence))) {
          rows.push(...(await this.#count(db, rule, occurrence, nowMs)));
        }
      }
      await recordSentLevels(db, tenantId, positionName, raised);
      if (page.last !== undefined) await movePosition(db, tenantId, page.last);
      await insertDeliveries(db, rows);
      if (rows.length > 0) afterCommit(onQueued);
      return true;
    });
  }

  /** Counts an occurrence. Returns the messages if the rule alerts. */
  async #count(
    db: Database,
    rule: StoredAlertRule,
    occurrence: Occurrence,
    nowMs: number,
  ): Promise<DeliveryRow[]> {
    const { tenant_id: tenantId, id, definition } = rule;
    const cause = causeOf(occurrence);
    const known = await lockAlert(db, tenantId, id, cause);
    if (definition.kind === 'new_tool' && (known || (await usedBefore(db, tenantId, occurrence)))) return [];
    const windowMs = definition.windowMinutes * 60_000;
    const within = known
      ? (JSON.parse(known.times) as number[]).filter((time) => time > nowMs - windowMs)
      : [];
    // More than the rule needs would only cost room.
    const times = [...within, nowMs].slice(-definition.count);
    const occurrences = (known?.occurrences ?? 0) + 1;
    const isMuted = rule.muted_until_ms !== null && rule.muted_until_ms > nowMs;
    const isRecent = known?.sent_ms != null && known.sent_ms > nowMs - windowMs;
    const alerts = times.length >= definition.count && !isMuted && !isRecent;
    const reported = occurrences - (known?.sent_occurrences ?? 0);
    await saveAlert(db, {
      tenant_id: tenantId,
      rule_id: id,
      cause,
      occurrences,
      times: JSON.stringify(times),
      example: JSON.stringify({ sessionId: occurrence.sessionId }),
      first_ms: known?.first_ms ?? nowMs,
      last_ms: nowMs,
      sent_ms: alerts ? nowMs : (known?.sent_ms ?? null),
      sent_occurrences: alerts ? occurrences : (known?.sent_occurrences ?? 0),
    });
    return alerts ? this.#messages(db, rule, occurrence, reported, nowMs) : [];
  }

  async #messages(
    db: Database,
    { tenant_id: tenantId, definition }: StoredAlertRule,
    occurrence: Occurrence,
    count: number,
    nowMs: number,
  ): Promise<DeliveryRow[]> {
    const message: StoredMessage = {
      type: 'alert',
      timestamp: isoTime(nowMs),
      data: {
        sessionId: occurrence.sessionId,
        title: `${line(definition.name)}: ${headlineOf(occurrence, definition.kind === 'new_tool')}`,
        lines: [
          ...(count > 1 ? [`${count} times since the last message.`] : []),
          ...(occurrence.toolName === '' ? [] : [`Tool: ${line(occurrence.toolName)}`]),
          `Agent: ${line(occurrence.agentId)}`,
          ...(occurrence.sessionId === null ? [] : [`Session: ${line(occurrence.sessionId)}`]),
        ],
        place:
          occurrence.sessionId === null
            ? `#/agents/${encodeURIComponent(occurrence.agentId)}`
            : `#/sessions/${encodeURIComponent(occurrence.sessionId)}`,
      },
    };
    const sent = { id: newIdentifier('msg'), type: 'alert', body: JSON.stringify(message) };
    const rows: DeliveryRow[] = [];
    for (const channel of await activeChannels(db, tenantId)) {
      if (channel.kind === 'webhook') continue;
      const routed = { ...channel, rules: rulesOf(channel) };
      const isNamed = definition.channels.length === 0 || definition.channels.includes(channel.id);
      if (!isNamed || !routed.rules.events.includes('alert')) continue;
      if (!matchesCall(routed.rules, [occurrence.agentId], occurrence.toolName)) continue;
      const dueMs = afterQuietHours(routed.rules, false, nowMs);
      for (const recipient of await this.#parts.routing.recipients(db, routed, [], nowMs)) {
        const row = newDelivery({ tenantId, id: channel.id }, sent, nowMs);
        rows.push({ ...row, next_attempt_ms: dueMs, recipient });
      }
    }
    return rows;
  }
}

/**
 * Begins to look at the log of a tenant from its end, and counts the risk of sessions until now as known: a new rule is about
 * what happens from then on.
 */
export async function beginWatch(db: Database, tenantId: number): Promise<void> {
  const { size } = await logHead(db, tenantId);
  const { numInsertedOrUpdatedRows: added = 0n } = await db
    .insertInto('forward_positions')
    .values({
      tenant_id: tenantId,
      name: positionName,
      position: size - 1,
      leased_until_ms: 0,
      lease: null,
      next_attempt_ms: 0,
      failures: 0,
      last_success_ms: null,
      last_error: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (added === 0n) return;
  for (;;) {
    const raised = await raisedSessions(db, tenantId, positionName, maxRaised);
    if (raised.length === 0) return;
    await recordSentLevels(db, tenantId, positionName, raised);
  }
}

/** Locks the position of a tenant and returns it; `undefined` if no rule was ever added. */
async function lockPosition(db: Database, tenantId: number): Promise<number | undefined> {
  const query = db
    .selectFrom('forward_positions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('name', '=', positionName);
  const row = await lockRows(db, query).executeTakeFirst();
  return row && Number(row.position);
}

async function movePosition(db: Database, tenantId: number, position: number): Promise<void> {
  await db
    .updateTable('forward_positions')
    .set({ position })
    .where('tenant_id', '=', tenantId)
    .where('name', '=', positionName)
    .execute();
}

/** Fields of records that occurrences are read from. */
interface RecordRow {
  readonly agentId?: unknown;
  readonly sessionId?: unknown;
  readonly category?: unknown;
  readonly payload?: {
    readonly toolName?: unknown;
    readonly responseStatus?: unknown;
    readonly decision?: unknown;
  } | null;
  readonly toolName?: unknown;
  readonly decision?: unknown;
  readonly isDryRun?: unknown;
  readonly receivedAt?: unknown;
  readonly checkedAt?: unknown;
}

/** Returns what a record says that rules may be about. Events can have anything in their payload. */
function occurrencesIn({ kind, row }: { readonly kind: string; readonly row: unknown }): Occurrence[] {
  const { agentId, sessionId, category, payload, toolName, decision, isDryRun, ...times } = row as RecordRow;
  const atMs = Date.parse(String(times.receivedAt ?? times.checkedAt));
  if (typeof agentId !== 'string') return [];
  const session = typeof sessionId === 'string' ? sessionId : null;
  // A denial in a session is an event of it, too.
  if (kind === 'decision') {
    const isDenied = decision === 'deny' && isDryRun !== true && session === null;
    return isDenied ? [{ kind: 'denied', agentId, toolName: String(toolName), sessionId: null, atMs }] : [];
  }
  if (kind !== 'event' || typeof payload?.toolName !== 'string') return [];
  const call = { agentId, toolName: payload.toolName, sessionId: session, atMs };
  if (category === 'guardian_decision') {
    const isDenied = payload.decision === 'deny' || payload.decision === 'denied';
    return isDenied ? [{ kind: 'denied', ...call }] : [];
  }
  if (category !== 'tool_api') return [];
  const status = Number(payload.responseStatus);
  const hasFailed = status >= 400 && status !== 403;
  return [{ kind: 'call', ...call }, ...(hasFailed ? [{ kind: 'error' as const, ...call }] : [])];
}

function riskOf({ sessionId, agentId, level, score }: RaisedSession): Occurrence {
  return { kind: 'risk', agentId, toolName: '', sessionId, level, score, atMs: Date.now() };
}

/** `true` if a rule is about an occurrence. */
function concerns({ definition, created_ms: createdMs }: StoredAlertRule, occurrence: Occurrence): boolean {
  // The log can be behind by a moment when a rule is added.
  if (occurrence.atMs < createdMs) return false;
  const { kind, level, agents, tools } = definition;
  if (occurrence.kind !== (kind === 'new_tool' ? 'call' : kind)) return false;
  if (occurrence.level !== undefined && !isAtLeast(occurrence.level, level)) return false;
  const ofTools = occurrence.kind === 'risk' ? [] : tools;
  return matchesCall({ agents, tools: ofTools }, [occurrence.agentId], occurrence.toolName);
}

/** Returns what occurrences have in common that are one cause: the session at its level, or the tool of the agent. */
function causeOf({ kind, sessionId, level, agentId, toolName }: Occurrence): string {
  return JSON.stringify(kind === 'risk' ? [sessionId, level] : [agentId, toolName]);
}

function headlineOf({ kind, agentId, toolName, level, score = 0 }: Occurrence, isNewTool: boolean): string {
  const call = `${line(toolName)} of ${line(agentId)}`;
  if (isNewTool) return `first call of ${call}`;
  if (kind === 'risk')
    return `a session of ${line(agentId)} has a risk of ${wholeScore(score)} of 100 (${level})`;
  return kind === 'denied' ? `denied: ${call}` : `failed: ${call}`;
}

function usedBefore(
  db: Database,
  tenantId: number,
  { agentId, toolName, sessionId }: Occurrence,
): Promise<boolean> {
  return agentUsedTool(db, tenantId, { agentId, toolName, beforeSessionId: sessionId ?? '' });
}
