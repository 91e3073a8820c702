import type { Actlog, ItemSequence } from '@actlog/client';
import type {
  RiskJudgment,
  RiskJudgmentChange,
  RiskJudgmentDraft,
  RiskJudgmentEffect,
  RiskJudgmentKind,
  SessionReview,
} from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';

/** Filters of {@link listJudgments}. A judgment must pass all of them. */
export interface JudgmentFilters {
  readonly kind?: RiskJudgmentKind | undefined;
  /** Only judgments about this session alone. */
  readonly sessionId?: string | undefined;
  /** Only judgments about this agent. */
  readonly agentId?: string | undefined;
  /** `true` for judgments that apply to new events, `false` for the others. Default: both. */
  readonly active?: boolean | undefined;
  /** Judgments in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the judgments of people about what raises the risk of sessions, newest first: `GET /server/v1/judgments`. Pages
 * are requested as they are needed. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listJudgments } from '@actlog/client/server';
 *
 * for await (const { id, kind, scope, reason } of listJudgments(client, { active: true })) {
 *   console.log(id, kind, scope.ruleId, reason);
 * }
 * ```
 */
export function listJudgments(
  client: Actlog,
  filters: JudgmentFilters = {},
  options: RequestOptions = {},
): ItemSequence<RiskJudgment> {
  const query = { limit: defaultLimit, ...filters };
  return serverList(client, { path: '/server/v1/judgments', query }, options);
}

/**
 * Returns how a judgment would change the scores of past sessions, without saving it:
 * `POST /server/v1/judgments/preview`. Needs a key with the scope `manage`.
 *
 * @throws ValidationError When the scope is empty, or an expectation has no rule.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { createJudgment, previewJudgment } from '@actlog/client/server';
 *
 * const judgment = {
 *   kind: 'expected',
 *   scope: { agentId: 'newsletter', toolName: 'send_email', ruleId: 'goal.foreign-arguments' },
 *   reason: 'Sends the weekly mail to the addresses in the list.',
 * } as const;
 * const { examined, lowered, levels } = await previewJudgment(client, judgment);
 * console.log(`${lowered} of ${examined} past sessions score lower`, levels);
 * await createJudgment(client, judgment);
 * ```
 */
export function previewJudgment(
  client: Actlog,
  judgment: RiskJudgmentDraft,
  options: RequestOptions = {},
): Promise<RiskJudgmentEffect> {
  return client.request('POST', '/server/v1/judgments/preview', { ...options, body: judgment });
}

/**
 * Saves a judgment, and scores the past sessions within its reach again: `POST /server/v1/judgments`. Needs a key with the
 * scope `manage`.
 *
 * @throws ValidationError When the scope is empty, or an expectation has no rule.
 * @throws NotFoundError When it names a session that there is not, or the service is not the actlog server.
 * @throws RateLimitError When the quota does not allow another one.
 */
export function createJudgment(
  client: Actlog,
  judgment: RiskJudgmentDraft,
  options: RequestOptions = {},
): Promise<RiskJudgmentChange> {
  return client.request('POST', '/server/v1/judgments', { ...options, body: judgment });
}

/** Options of {@link endJudgment}. */
export interface JudgmentEnd {
  /**
   * `true` if past sessions are scored without it, too. Default: false, except for a judgment about one session, which is
   * always taken back.
   */
  readonly undo?: boolean | undefined;
}

/**
 * Ends a judgment: `POST /server/v1/judgments/:id/end`. New events are scored without it. Ending it again returns the same.
 * Needs a key with the scope `manage`.
 *
 * @throws NotFoundError When there is no such judgment, or the service is not the actlog server.
 */
export function endJudgment(
  client: Actlog,
  id: string,
  { undo }: JudgmentEnd = {},
  options: RequestOptions = {},
): Promise<RiskJudgmentChange> {
  const path = `/server/v1/judgments/${encodeURIComponent(id)}/end` as const;
  return client.request('POST', path, { ...options, body: { undo } });
}

function pathOf(sessionId: string, rest: 'review' | 'handle' | 'reopen' | 'comments' | 'assign') {
  return `/server/v1/sessions/${encodeURIComponent(sessionId)}/${rest}` as const;
}

/**
 * Returns what people found out about the risk of a session: `GET /server/v1/sessions/:id/review`. Needs a key with the
 * scope `read`.
 *
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 */
export function getSessionReview(
  client: Actlog,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('GET', pathOf(sessionId, 'review'), options);
}

/**
 * Marks a session as handled: `POST /server/v1/sessions/:id/handle`. It leaves the riskiest sessions until its score rises.
 * Needs a key with the scope `decide`.
 *
 * @param reason - what was found out, 1 to 1,000 characters
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { getOverview, handleSession } from '@actlog/client/server';
 *
 * const { riskiestSessions } = await getOverview(client);
 * for (const { id } of riskiestSessions) await handleSession(client, id, 'Part of the exercise of Monday.');
 * ```
 */
export function handleSession(
  client: Actlog,
  sessionId: string,
  reason: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('POST', pathOf(sessionId, 'handle'), { ...options, body: { reason } });
}

/**
 * Opens a handled session again: `POST /server/v1/sessions/:id/reopen`. Needs a key with the scope `decide`.
 *
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 */
export function reopenSession(
  client: Actlog,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('POST', pathOf(sessionId, 'reopen'), options);
}

/**
 * Adds a comment to a session: `POST /server/v1/sessions/:id/comments`. Comments cannot be changed. Needs a key with the
 * scope `decide`.
 *
 * @param text - 1 to 1,000 characters
 * @throws ValidationError When the session has 500 notes already.
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 */
export function commentOnSession(
  client: Actlog,
  sessionId: string,
  text: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('POST', pathOf(sessionId, 'comments'), { ...options, body: { text } });
}

/**
 * Assigns a session to a person, who looks at it: `POST /server/v1/sessions/:id/assign`. Needs a key with the scope
 * `decide`.
 *
 * @param assignee - name of the person, 1 to 200 characters, or null for nobody
 * @throws ValidationError When the session has 500 notes already.
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 */
export function assignSession(
  client: Actlog,
  sessionId: string,
  assignee: string | null,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('POST', pathOf(sessionId, 'assign'), { ...options, body: { assignee } });
}
