import type { RiskJudgment, RiskJudgmentDraft, SessionHandling, SessionNote } from '@actlog/protocol';
import { allRules } from '@actlog/risk';
import * as z from 'zod';
import { validated } from '../http/request-input.ts';
import { validationError } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull, time } from '../lib/iso-time.ts';
import type { HandledSessionRow, RiskJudgmentRow, SessionNoteRow } from '../storage/stores/judgment-store.ts';

/** Most characters of an id or a name in a scope, and of a reason. */
const maxIdLength = 200;
const maxReasonLength = 1000;

/** Days of the past that a judgment also applies to, unless it says otherwise, and at most. */
const defaultPastDays = 30;
const maxPastDays = 90;

const part = z.string().min(1).max(maxIdLength).nullish();

/** Reason of a person, with more than white space. */
export const reason: z.ZodString = z
  .string()
  .trim()
  .min(1, 'must say why: what does the next reader have to know?')
  .max(maxReasonLength);

const draftBody = z.strictObject({
  kind: z.enum(['expected', 'attack']),
  scope: z.strictObject({ sessionId: part, agentId: part, toolName: part, ruleId: part }),
  reason,
  expiresAt: time.optional(),
  pastDays: z.number().min(0).max(maxPastDays).default(defaultPastDays),
});

const ruleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id));

/** A checked draft, with all parts of its scope. */
interface CheckedDraft extends Pick<RiskJudgmentDraft, 'kind' | 'reason'> {
  readonly scope: Readonly<Record<'sessionId' | 'agentId' | 'toolName' | 'ruleId', string | null>>;
  readonly expiresMs: number | null;
  readonly pastDays: number;
}

/**
 * Returns the judgment that a body describes.
 *
 * @throws ApiError `VALIDATION_ERROR` for a scope without a part, an expectation without a rule, an unknown rule, or an
 *   end in the past.
 */
export function judgmentDraft(body: unknown, nowMs: number): CheckedDraft {
  const { kind, scope: given, reason: why, expiresAt, pastDays } = validated('body', draftBody, body);
  const { sessionId = null, agentId = null, toolName = null, ruleId = null } = given;
  const scope = { sessionId, agentId, toolName, ruleId };
  if (Object.values(scope).every((value) => value === null)) {
    throw validationError('scope', 'empty_scope', 'must name a session, an agent, a tool or a rule');
  }
  if (ruleId !== null && !ruleIds.has(ruleId)) {
    throw validationError(
      'scope.ruleId',
      'unknown_rule',
      'is no rule of this engine; `actlog rules` lists them',
    );
  }
  if (kind === 'expected' && ruleId === null && sessionId === null) {
    const message =
      'is required for `expected`, unless it is about one session: without a rule it would hide other acts';
    throw validationError('scope.ruleId', 'rule_required', message);
  }
  const expiresMs = expiresAt === undefined ? null : Date.parse(expiresAt);
  if (expiresMs !== null && expiresMs <= nowMs) {
    throw validationError('expiresAt', 'in_the_past', 'must be in the future');
  }
  return { kind, scope, reason: why, expiresMs, pastDays };
}

/** Returns a judgment as the API returns it. */
export function judgmentView(row: RiskJudgmentRow, nowMs: number): RiskJudgment {
  return {
    id: row.id,
    kind: row.kind,
    scope: { sessionId: row.session_id, agentId: row.agent_id, toolName: row.tool_name, ruleId: row.rule_id },
    reason: row.reason,
    status: row.ended_ms !== null ? 'ended' : row.until_ms <= nowMs ? 'expired' : 'active',
    createdBy: row.created_by,
    createdByPrincipal: row.created_principal,
    createdAt: isoTime(row.created_ms),
    appliesFrom: row.session_id === null ? isoTime(row.from_ms) : null,
    expiresAt: isoTimeOrNull(row.expires_ms),
    endedAt: isoTimeOrNull(row.ended_ms),
    endedBy: row.ended_by,
    endedByPrincipal: row.ended_principal,
    isUndone: row.from_ms >= row.until_ms,
  };
}

/** Returns a note about a session as the API returns it. */
export function noteView(row: SessionNoteRow): SessionNote {
  return {
    id: row.id,
    kind: row.kind,
    text: row.text,
    writtenAt: isoTime(row.written_ms),
    writtenBy: row.written_by,
    writtenByPrincipal: row.written_principal,
  };
}

/** Returns the handling of a session as the API returns it. */
export function handlingView(row: HandledSessionRow): SessionHandling {
  return {
    handledAt: isoTime(row.handled_ms),
    handledBy: row.handled_by,
    handledByPrincipal: row.handled_principal,
    reason: row.reason,
    score: row.score,
  };
}
