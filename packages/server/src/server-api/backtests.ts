import { Backtest, type CallEnd } from '@actlog/policy';
import { type PolicyDecision, parseJsonForOutput, parseJsonWithBigInts } from '@actlog/protocol';
import { policyCreate } from '@actlog/protocol/schemas';
import { readsUntrusted } from '@actlog/risk';
import * as z from 'zod';
import { exactArguments, parentsOf } from '../guardian/pending-action-view.ts';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { ApiError } from '../lib/api-error.ts';
import { lowestIdentifierOf } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull, time } from '../lib/iso-time.ts';
import type { TenantTurns, Turn } from '../lib/tenant-turns.ts';
import { maxActivePolicies } from '../policy/policy-set.ts';
import type { EventReader } from '../storage/event-reader.ts';
import { nextPolicyDecisions, type PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';
import { type DraftParts, draftPolicies } from './trials.ts';

/** Decisions that are read at a time. */
const decisionsAtOnce = 500;

/** Time after which a backtest lets other requests run, in milliseconds. */
const sliceMs = 2;

/** Time between two lines about the progress, in milliseconds. */
const progressEveryMs = 1000;

const defaultSpanMs = 30 * 24 * 3_600_000;

type Body = z.output<typeof backtestBody>;

/** Parts of {@link backtestsRoute}. */
export interface BacktestParts extends DraftParts {
  readonly events: EventReader;
  /** Shares the event loop between the backtests and checks of tenants. */
  readonly tenantTurns: TenantTurns;
}

/**
 * Route `POST /server/v1/backtests`: tries policies on the kept decisions. The response is NDJSON: lines with the
 * progress, such as `{"progress":{"decisions":12000}}`, and at the end a line with the result. A tenant can run one
 * backtest at a time.
 */
export function backtestsRoute(parts: BacktestParts): ServerRoute {
  /** Running backtests by tenant. */
  const running = new Map<number, Backtest>();
  return {
    method: 'POST',
    path: '/backtests',
    success: 200,
    check: (caller) => requireScope(caller, 'manage'),
    async handle(call) {
      const { tenantId } = call.caller;
      const body = validated('body', backtestBody, call.body);
      const backtest = new Backtest(await draftPolicies(parts, tenantId, body), {
        readsUntrusted,
        countDryRuns: body.countDryRuns,
      });
      if (running.has(tenantId)) {
        throw new ApiError(
          'OVERLOADED',
          'A backtest of this tenant is running. Start another when it has ended.',
          {
            retryAfterSeconds: 5,
          },
        );
      }
      const left = call.disconnected();
      const end = () => {
        if (running.get(tenantId) === backtest) running.delete(tenantId);
      };
      running.set(tenantId, backtest);
      // The lines of a caller who left before the first one are never iterated, so they would not end it.
      if (left.aborted) end();
      else left.addEventListener('abort', end, { once: true });
      return linesOf(parts, call, body, backtest, end);
    },
  };
}

async function* linesOf(
  parts: BacktestParts,
  call: ServerCall,
  body: Body,
  backtest: Backtest,
  onEnd: () => void,
): AsyncGenerator<string> {
  const { tenantId } = call.caller;
  // The bound is exclusive, and the newest decision may be of this millisecond.
  const untilMs = body.until === undefined ? Date.now() + 1 : Date.parse(body.until);
  const sinceMs = body.since === undefined ? untilMs - defaultSpanMs : Date.parse(body.since);
  let afterId: string | undefined = lowestIdentifierOf('dec', sinceMs);
  let decisions = 0;
  let shownAt = performance.now();
  try {
    while (afterId !== undefined && !call.disconnected().aborted) {
      const from: string = afterId;
      const read = await parts.tenantTurns.run(tenantId, async (turn) => {
        await turn();
        const { rows, hasMore } = await parts.storage.read(tenantId, (db) =>
          nextPolicyDecisions(db, { tenantId, afterId: from, untilMs, limit: decisionsAtOnce }),
        );
        const ends = backtest.readsOutcomes ? await endsOf(parts, tenantId, rows) : undefined;
        const decisions = rows.map((row) => ({
          ...decisionView(row, parseJsonWithBigInts),
          ended: ends && (ends.get(row.id) ?? null),
        }));
        await addAll(backtest, decisions, turn);
        return { count: rows.length, lastId: hasMore ? rows.at(-1)?.id : undefined };
      });
      decisions += read.count;
      afterId = read.lastId;
      if (performance.now() - shownAt < progressEveryMs) continue;
      shownAt = performance.now();
      yield `${JSON.stringify({ progress: { decisions } })}\n`;
    }
    yield `${JSON.stringify({ result: backtest.result() })}\n`;
  } finally {
    onEnd();
  }
}

/** Returns how the calls of decisions ended, by the id of the decision. */
async function endsOf(
  parts: BacktestParts,
  tenantId: number,
  rows: readonly PolicyDecisionRow[],
): Promise<ReadonlyMap<string, CallEnd>> {
  const ids = rows.flatMap(({ action_id: id }) => id?.toLowerCase() ?? []);
  const events = await parts.events.callEnds(tenantId, ids);
  return new Map(
    rows.flatMap(({ id, action_id: actionId, session_id: sessionId }) => {
      const end = events.get(actionId?.toLowerCase() ?? '');
      return end && end.sessionId === sessionId ? [[id, end] as const] : [];
    }),
  );
}

async function addAll(
  backtest: Backtest,
  decisions: readonly Parameters<Backtest['add']>[0][],
  turn: Turn,
): Promise<void> {
  let endMs = performance.now() + sliceMs;
  for (const decision of decisions) {
    backtest.add(decision);
    if (performance.now() < endMs) continue;
    await turn();
    endMs = performance.now() + sliceMs;
  }
}

/** The fields of {@link backtestBody}; inferring them would repeat the schema of a policy. */
type BacktestShape = {
  readonly policies: z.ZodArray<typeof policyCreate>;
  readonly mode: z.ZodDefault<z.ZodEnum<{ readonly merge: 'merge'; readonly replace: 'replace' }>>;
  readonly since: z.ZodOptional<z.ZodISODateTime>;
  readonly until: z.ZodOptional<z.ZodISODateTime>;
  readonly countDryRuns: z.ZodDefault<z.ZodBoolean>;
};

/** Body of `POST /server/v1/backtests`. */
const backtestBody: z.ZodObject<BacktestShape, z.core.$strict> = z.strictObject({
  /** Policies to try, as for `POST /v1/policies`. */
  policies: z.array(policyCreate).min(1).max(maxActivePolicies),
  /**
   * `merge` tries them together with the active policies, and instead of those with the same names; `replace` tries
   * them alone.
   */
  mode: z.enum(['merge', 'replace']).default('merge'),
  /** Time of the earliest decision (inclusive). Default: 30 days ago. */
  since: time.optional(),
  /** Time before which the decisions were made (exclusive). Default: now. */
  until: time.optional(),
  /**
   * Counts dry runs with an `actionId`, which are the calls of observing guards, in rates and in the history, as if they
   * had been enforced.
   */
  countDryRuns: z.boolean().default(false),
});

/**
 * Returns a decision as the API returns it.
 *
 * @param parse - reads the arguments: by default for output only, or `parseJsonWithBigInts` to compute with them
 */
export function decisionView(
  row: PolicyDecisionRow,
  parse: (json: string) => unknown = parseJsonForOutput,
): PolicyDecision {
  const shown = row.arguments === '' || row.arguments === null ? null : row.arguments;
  return {
    id: row.id,
    decidedAt: isoTime(row.decided_ms),
    agentId: row.agent_id,
    sessionId: row.session_id,
    actionId: row.action_id,
    toolName: row.tool_name,
    argumentsHash: row.arguments_hash,
    framework: row.framework,
    environment: row.environment,
    decision: row.decision,
    decidedBy: row.decided_by,
    matched: parsed(row.matched) ?? [],
    pendingActionId: row.pending_action_id,
    heldStatus: row.held_status,
    endedAt: isoTimeOrNull(row.ended_ms),
    grantId: row.grant_id,
    executedHash: row.executed_hash,
    principal: row.principal,
    subagent: row.subagent,
    parentAgentIds: parentsOf(row.parent_agents),
    identity: parsed(row.identity),
    traceparent: row.traceparent,
    dryRun: row.dry_run === 1,
    durationMs: row.duration_us / 1000,
    arguments: shown === null ? null : (parse(shown) as Record<string, unknown>),
    ...exactArguments(shown),
    argumentsOmitted: row.arguments === '',
    origins: parsed(row.origins),
  };
}

function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
}
