import { type Actlog, type ItemSequence, ResponseShapeError } from '@actlog/client';
import type {
  ActionDecision,
  ActionDecisionResult,
  ActionDecisionResults,
  ApprovalGrant,
  AuditAction,
  AuditEntry,
  AuditTargetKind,
  BacktestResult,
  CheckResult,
  PolicyCheck,
  PolicyCreate,
  PolicyDecision,
  PolicyEffect,
} from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import type { BodySink } from '../response/api-response.ts';
import { defaultLimit, serverList, timeText } from './server-list.ts';

/** Filters of {@link listDecisions}. A decision must pass all of them. */
export interface DecisionFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly toolName?: string | undefined;
  /** Held actions that wait are `require_approval`; those that have ended have their outcome. */
  readonly decision?: PolicyEffect | undefined;
  /** `true` for dry runs only, `false` for checks with effects only. Default: both. */
  readonly dryRun?: boolean | undefined;
  /** `true` for actions that are or were held only, `false` for the others only. Default: both. */
  readonly held?: boolean | undefined;
  /** Earliest time of a check (inclusive): a date, or ISO 8601. */
  readonly since?: Date | string | undefined;
  /** Time before which the action was checked (exclusive): a date, or ISO 8601. */
  readonly until?: Date | string | undefined;
  /** Decisions in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the decisions of the policies, newest first: `GET /server/v1/decisions`. Pages are requested as they are
 * needed. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listDecisions } from '@actlog/client/server';
 *
 * const since = new Date(Date.now() - 86_400_000);
 * for await (const { agentId, toolName, decision } of listDecisions(client, { since, decision: 'deny' })) {
 *   console.log(agentId, toolName, decision);
 * }
 * ```
 */
export function listDecisions(
  client: Actlog,
  filters: DecisionFilters = {},
  options: RequestOptions = {},
): ItemSequence<PolicyDecision> {
  const { since, until, limit = defaultLimit, ...rest } = filters;
  const query = { ...rest, limit, since: timeText(since), until: timeText(until) };
  return serverList(client, { path: '/server/v1/decisions', query }, options);
}

/** Filters of {@link listAuditEntries}. An entry must pass all of them. */
export interface AuditFilters {
  /** Id of the key that made the change, such as `key_0198c1d2e3f47a5b`. */
  readonly actor?: string | undefined;
  /** Kind of change, such as `policy.updated`. */
  readonly action?: AuditAction | undefined;
  /** Kind of thing that was changed, such as `policy`. */
  readonly targetKind?: AuditTargetKind | undefined;
  /** Id of the thing that was changed. */
  readonly target?: string | undefined;
  /** Earliest time of a change (inclusive): a date, or ISO 8601. */
  readonly since?: Date | string | undefined;
  /** Time before which a change was made (exclusive): a date, or ISO 8601. */
  readonly until?: Date | string | undefined;
  /** Entries in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the entries of the audit log, newest first: `GET /server/v1/audit`. Pages are requested as they are needed.
 * Needs a key with all scopes.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listAuditEntries } from '@actlog/client/server';
 *
 * for await (const { at, actor, action, target } of listAuditEntries(client, { targetKind: 'policy' })) {
 *   console.log(at, actor.name ?? actor.kind, action, target.name);
 * }
 * ```
 */
export function listAuditEntries(
  client: Actlog,
  filters: AuditFilters = {},
  options: RequestOptions = {},
): ItemSequence<AuditEntry> {
  const { since, until, limit = defaultLimit, ...rest } = filters;
  const query = { ...rest, limit, since: timeText(since), until: timeText(until) };
  return serverList(client, { path: '/server/v1/audit', query }, options);
}

/** Policies to try, and the decisions to try them on. */
export interface BacktestDraft {
  /** The draft, as for `client.policies.create`. */
  readonly policies: readonly PolicyCreate[];
  /**
   * `merge` tries them together with the active policies, and instead of those with the same names; `replace` tries
   * them alone. Default: `merge`.
   */
  readonly mode?: 'merge' | 'replace' | undefined;
  /** Time of the earliest decision (inclusive): a date, or ISO 8601. Default: 30 days ago. */
  readonly since?: Date | string | undefined;
  /** Time before which the decisions were made (exclusive): a date, or ISO 8601. Default: now. */
  readonly until?: Date | string | undefined;
  /**
   * Counts dry runs with an `actionId`, which are the calls of observing guards, in rates and in the history, as if they
   * had been enforced. Default: false.
   */
  readonly countDryRuns?: boolean | undefined;
}

/** Options of {@link backtestPolicies}. */
export interface BacktestOptions extends RequestOptions {
  /** Called about once a second with the number of decisions that have been compared. */
  readonly onProgress?: ((progress: { readonly decisions: number }) => void) | undefined;
}

/** One line of the response of `POST /server/v1/backtests`. */
interface Line {
  readonly progress?: { readonly decisions: number };
  readonly result?: BacktestResult;
}

/**
 * Tries policies on the kept decisions of the past: `POST /server/v1/backtests`. It changes nothing. Needs a key with
 * the scope `manage`. `timeoutMs` limits the time without progress, not the whole run.
 *
 * @throws ValidationError When a policy of the draft could not be created.
 * @throws ResponseShapeError When the server ended the run early.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { backtestPolicies } from '@actlog/client/server';
 *
 * const policies = [{ name: 'refunds', effect: 'require_approval', match: { tools: ['refund'] } } as const];
 * const { changed, changes } = await backtestPolicies(client, { policies });
 * console.log(changed, changes);
 * ```
 */
export async function backtestPolicies(
  client: Actlog,
  { since, until, ...draft }: BacktestDraft,
  { onProgress, ...options }: BacktestOptions = {},
): Promise<BacktestResult> {
  let result: BacktestResult | undefined;
  const onLine = (text: string) => {
    const line = JSON.parse(text) as Line;
    if (line.progress) onProgress?.(line.progress);
    result ??= line.result;
  };
  await client.request('POST', '/server/v1/backtests', {
    ...options,
    body: { ...draft, since: timeText(since), until: timeText(until) },
    openSink: () => new LineSink(onLine),
  });
  if (!result) throw new ResponseShapeError('The backtest ended without a result.');
  return result;
}

/** Sink that passes on each line of a response as it arrives. */
class LineSink implements BodySink {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  write(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.#onLine(line);
  }
}

/** Policies to try, and the action to try them on. */
export interface PolicyTrial {
  /** The draft, as for `client.policies.create`. */
  readonly policies: readonly PolicyCreate[];
  /**
   * `merge` tries them together with the active policies, and instead of those with the same names; `replace` tries
   * them alone. Default: `merge`.
   */
  readonly mode?: 'merge' | 'replace' | undefined;
  /** The action, as for `client.policies.check`. */
  readonly check: PolicyCheck;
}

/**
 * Checks an action as if policies were active that are not saved: `POST /server/v1/trials`. Nothing is held, counted or
 * kept. Of many matched policies, the first are listed, and `moreMatched` counts the others. Policies of the draft have the ids `draft_0`, `draft_1` and so on. Needs a key with the scope `manage`.
 *
 * @throws ValidationError When a policy of the draft could not be created.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { tryPolicies } from '@actlog/client/server';
 *
 * const policies = [{ name: 'refunds', effect: 'deny', match: { tools: ['refund'] } } as const];
 * const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
 * const { decision, decidedBy } = await tryPolicies(client, { policies, check: { agentId: 'billing', action } });
 * console.log(decision, decidedBy);
 * ```
 */
export function tryPolicies(
  client: Actlog,
  trial: PolicyTrial,
  options: RequestOptions = {},
): Promise<CheckResult> {
  return client.request('POST', '/server/v1/trials', { ...options, body: trial });
}

/** Tools that an agent could be offered. */
export interface DeniedToolsQuestion {
  readonly agentId: string;
  readonly framework?: string | undefined;
  readonly environment?: string | undefined;
  /** Names of the tools, as in checks; at most 1,000 in a request. */
  readonly tools: readonly string[];
}

/** Maximum number of tools in one request. */
const maxDeniedTools = 1000;

/**
 * Returns the tools that policies deny an agent whatever the arguments, the time and the earlier calls are: `POST
 * /server/v1/denied-tools`. A program that offers tools to the agent can leave them out. Needs a key with the scope
 * `ingest`.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { findDeniedTools } from '@actlog/client/server';
 *
 * const tools = ['read_file', 'delete_file'];
 * const denied = await findDeniedTools(client, { agentId: 'support', tools });
 * console.log(tools.filter((tool) => !denied.includes(tool)));
 * ```
 */
export async function findDeniedTools(
  client: Actlog,
  { tools, ...names }: DeniedToolsQuestion,
  options: RequestOptions = {},
): Promise<readonly string[]> {
  const denied: string[] = [];
  for (let start = 0; start < tools.length; start += maxDeniedTools) {
    const body = { ...names, tools: tools.slice(start, start + maxDeniedTools) };
    const response = await client.request<{ readonly denied: readonly string[] }>(
      'POST',
      '/server/v1/denied-tools',
      { ...options, body },
    );
    denied.push(...response.denied);
  }
  return denied;
}

/** Filters of {@link listGrants}. A grant must pass all of them. */
export interface GrantFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** `true` for grants that are neither expired nor revoked, `false` for the others. Default: both. */
  readonly valid?: boolean | undefined;
  /** Grants in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the grants of approvers for later actions, newest first: `GET /server/v1/grants`. Pages are requested as they
 * are needed. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listGrants } from '@actlog/client/server';
 *
 * for await (const { id, toolName, sessionId, expiresAt } of listGrants(client, { valid: true })) {
 *   console.log(id, toolName, sessionId, expiresAt);
 * }
 * ```
 */
export function listGrants(
  client: Actlog,
  filters: GrantFilters = {},
  options: RequestOptions = {},
): ItemSequence<ApprovalGrant> {
  const query = { limit: defaultLimit, ...filters };
  return serverList(client, { path: '/server/v1/grants', query }, options);
}

/**
 * Revokes a grant: `DELETE /server/v1/grants/:id`. Later actions need an approval again; actions that ran stay as they
 * are. Revoking it again returns the same. Needs a key with the scope `decide`.
 *
 * @throws NotFoundError When there is no such grant, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { revokeGrant } from '@actlog/client/server';
 *
 * await revokeGrant(client, 'grt_0198c1d2e3f47a5b8c6d7e8f90a1b2c3');
 * ```
 */
export async function revokeGrant(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<ApprovalGrant> {
  return client.request('DELETE', `/server/v1/grants/${encodeURIComponent(id)}`, options);
}

/**
 * Decides up to 100 held actions in one request: `POST /server/v1/pending-actions/decide`. Returns one result for each
 * decision, in the same order: a decision that is refused does not affect the others. Needs a key with the scope
 * `decide`.
 *
 * @throws ValidationError When there are no decisions, more than 100, or two about one action.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { decideActions } from '@actlog/client/server';
 *
 * const held = await client.guardian.pendingActions.list({ agentId: 'billing', limit: 100 });
 * const decisions = held.items.map(({ id }) => ({ id, decision: 'approve' as const }));
 * for (const { id, action, error } of await decideActions(client, decisions)) {
 *   console.log(id, action?.status ?? error?.message);
 * }
 * ```
 */
export async function decideActions(
  client: Actlog,
  decisions: readonly ActionDecision[],
  options: RequestOptions = {},
): Promise<readonly ActionDecisionResult[]> {
  const path = '/server/v1/pending-actions/decide';
  const { results } = await client.request<ActionDecisionResults>('POST', path, {
    ...options,
    body: { decisions },
  });
  return results;
}
