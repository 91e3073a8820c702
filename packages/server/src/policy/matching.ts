import {
  AgentTools,
  CallHistory,
  type CheckedAction,
  type FiredPolicy,
  type HistoryFacts,
  keptArguments,
  matchPolicy,
  needsHistory,
  type WatchedCall,
} from '@actlog/policy';
import type { PolicyCheck } from '@actlog/protocol';
import { readsUntrusted } from '@actlog/risk';
import { callerGone, type TenantTurns, type Turn } from '../lib/tenant-turns.ts';
import {
  findAgentTools,
  findCallEnds,
  findCallHistory,
  saveAgentTools,
  saveCallHistory,
  sessionBegin,
} from '../storage/stores/call-history-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { CompiledPolicy, PolicySet } from './policy-set.ts';

/** Duration after which an evaluation yields, in milliseconds. A single policy can exceed it by a few. */
const sliceMs = 1;

/** Error thrown inside a transaction when evaluating policies there would take too long. */
class UnfinishedMatchingError extends Error {
  override readonly name = 'UnfinishedMatchingError';
}

/** Resumable evaluation of one policy set for one action. */
class Matching {
  readonly set: PolicySet;
  readonly fired: FiredPolicy[] = [];
  readonly readers: CompiledPolicy[] = [];
  readonly #action: CheckedAction;
  #next = 0;

  constructor(set: PolicySet, action: CheckedAction) {
    this.set = set;
    this.#action = action;
  }

  /** Evaluates policies for one slice of time. Returns `true` when all are evaluated. */
  advance(): boolean {
    const { policies } = this.set;
    const endMs = performance.now() + sliceMs;
    while (this.#next < policies.length) {
      const policy = policies[this.#next] as CompiledPolicy;
      this.#next += 1;
      if (needsHistory(policy.rule, this.#action)) {
        this.readers.push(policy);
      } else {
        const why = matchPolicy(policy.rule, this.#action);
        if (why !== undefined) this.fired.push({ policy, why });
      }
      if (performance.now() >= endMs && this.#next < policies.length) return false;
    }
    return true;
  }
}

/** Result of evaluating a policy set for an action, as far as that needs no history. */
export interface MatchedSet {
  /** Policies that match, in order of precedence. */
  readonly fired: readonly FiredPolicy[];
  /** Policies whose names match and whose condition reads the history. */
  readonly readers: readonly CompiledPolicy[];
}

/**
 * The policies that match one action. A set is evaluated once, because a check often needs a read and then a write, and
 * a waiting check runs repeatedly. Small sets are evaluated inside the transaction. Large ones are evaluated in slices
 * outside, because a transaction on SQLite blocks the requests of all tenants.
 */
export class Matches {
  #matching: Matching | undefined;
  #isKept = false;

  /** Begins another round, in which changed policies are evaluated again. */
  begin(): void {
    this.#isKept = false;
  }

  /**
   * Returns the matching policies of a set, and those that need the history. The action must be the same in all calls.
   *
   * @throws UnfinishedMatchingError when evaluation exceeds a slice: leave the transaction, call `finish`, and start the
   *   transaction again.
   */
  of(set: PolicySet, action: CheckedAction): MatchedSet {
    if (!this.#isKept && this.#matching?.set !== set) this.#matching = new Matching(set, action);
    const matching = this.#matching as Matching;
    if (!matching.advance()) throw new UnfinishedMatchingError();
    return matching;
  }

  /**
   * Evaluates the remaining policies in slices. The result is valid until the next round: the policies were read after
   * the request arrived, so a change made meanwhile counts as made after the check.
   *
   * @throws ApiError `OVERLOADED` when `disconnected` aborts.
   */
  async finish(turn: Turn, disconnected: AbortSignal): Promise<void> {
    do {
      await turn();
      if (disconnected.aborted) throw callerGone();
    } while (this.#matching?.advance() === false);
    this.#isKept = true;
  }
}

/**
 * Runs one round of a check in the tenant's turn. If evaluating the policies takes too long for a transaction, they are
 * evaluated outside, and the round is run again with the result.
 *
 * @param disconnected - returns a signal that aborts when the caller disconnects
 */
export function matchInTurns<Result>(
  tenantTurns: TenantTurns,
  tenantId: number,
  matches: Matches,
  disconnected: () => AbortSignal,
  round: () => Promise<Result>,
): Promise<Result> {
  const work = async (turn: Turn) => {
    matches.begin();
    try {
      return await round();
    } catch (error) {
      if (!(error instanceof UnfinishedMatchingError)) throw error;
    }
    await matches.finish(turn, disconnected());
    return round();
  };
  return tenantTurns.run(tenantId, work, disconnected);
}

/** Maximum number of events that one check looks up to tell how earlier calls ended. */
const maxLookedUp = 50;

const dayMs = 24 * 3_600_000;

/** History of one check in one transaction: read for the conditions that need it, and updated with the call. */
export class CheckHistory {
  readonly #tenantId: number;
  readonly #body: PolicyCheck;
  readonly #nowMs: number;
  readonly #readers: readonly CompiledPolicy[];
  readonly #watched: WatchedCall | undefined;
  #session: CallHistory | undefined;
  /** Age of the stored history; undefined for a new one. */
  #updatedMs: number | undefined;
  #agent: AgentTools | undefined;

  /** @param readers - policies whose names match the action, and whose condition reads the history */
  constructor(
    tenantId: number,
    body: PolicyCheck,
    nowMs: number,
    { watched }: PolicySet,
    readers: readonly CompiledPolicy[],
  ) {
    const { toolName } = body.action;
    this.#tenantId = tenantId;
    this.#body = body;
    this.#nowMs = nowMs;
    this.#readers = readers;
    this.#watched = watched.ofTool(toolName, () => readsUntrusted(toolName));
  }

  /** `true` if a policy reads calls like this one, so that its check must be written. */
  get isWatched(): boolean {
    return this.#watched !== undefined;
  }

  /** Names to lock before reading, so that of racing checks each sees the calls that the one before allowed. */
  get lockNames(): string[] {
    const { agentId, sessionId } = this.#body;
    if (this.#readers.length === 0 && !this.isWatched) return [];
    const ofSession = sessionId === undefined ? [] : [`history session ${sessionId}`];
    return this.#concernsAgent ? [...ofSession, `history agent ${agentId}`] : ofSession;
  }

  /** Returns the matching policies among those that read the history, by id. */
  async matching(db: Database, action: CheckedAction): Promise<ReadonlyMap<string, FiredPolicy>> {
    const matching = new Map<string, FiredPolicy>();
    if (this.#readers.length === 0) return matching;
    const facts: HistoryFacts = {
      session: await this.#readSession(db),
      agent: await this.#readAgent(db),
      nowMs: this.#nowMs,
      actionId: this.#body.actionId,
    };
    await this.#readEnds(db, facts.session);
    for (const policy of this.#readers) {
      const why = matchPolicy(policy.rule, action, { ...facts, policySinceMs: Number(policy.updated_ms) });
      if (why !== undefined) matching.set(policy.id, { policy, why });
    }
    return matching;
  }

  /** Adds the call to the history of its session and its agent. */
  async record(db: Database, isAllowed: boolean): Promise<void> {
    if (!this.#watched) return;
    const { agentId, sessionId } = this.#body;
    const session = await this.#readSession(db);
    if (session && sessionId !== undefined && (await this.#add(db, session, isAllowed))) {
      const key = { tenantId: this.#tenantId, sessionId };
      const times = { nowMs: this.#nowMs, updatedMs: this.#updatedMs };
      await saveCallHistory(db, { ...key, ...times, history: session });
    }
    if (!isAllowed || !this.#watched.ofAgent) return;
    const agent = await this.#readAgent(db);
    if (!agent.add(this.#body.action.toolName)) return;
    await saveAgentTools(db, { tenant_id: this.#tenantId, agent_id: agentId, tools: agent.serialize() });
  }

  get #concernsAgent(): boolean {
    return (
      this.#watched?.ofAgent === true ||
      this.#readers.some(({ rule }) => (rule.condition?.history?.agentTools.length ?? 0) > 0)
    );
  }

  async #add(db: Database, session: CallHistory, isAllowed: boolean): Promise<boolean> {
    const { agentId, actionId, action } = this.#body;
    const { inSession, isUntrusted, argumentNames } = this.#watched as WatchedCall;
    const isNoted = isUntrusted && isAllowed && session.addUntrusted(agentId, actionId);
    if (!inSession) return isNoted;
    await this.#end(db, session, session.foldingIds());
    const call = {
      agentId,
      actionId,
      toolName: action.toolName,
      argumentsHash: action.argumentsHash,
      atMs: this.#nowMs,
      outcome: isAllowed ? ('running' as const) : ('denied' as const),
      endedMs: 0,
      arguments: keptArguments(action.arguments, argumentNames),
    };
    return session.add(call, argumentNames) || isNoted;
  }

  async #readSession(db: Database): Promise<CallHistory | undefined> {
    const { sessionId } = this.#body;
    if (sessionId === undefined || this.#session) return this.#session;
    const stored = await findCallHistory(db, this.#tenantId, sessionId);
    this.#updatedMs = stored?.updatedMs;
    this.#session = stored ? CallHistory.parse(stored) : await this.#newSession(db, sessionId);
    return this.#session;
  }

  /** Returns the empty history of a session. Calls of a session that is past retention may have been deleted. */
  async #newSession(db: Database, sessionId: string): Promise<CallHistory> {
    const { begunMs = this.#nowMs, retentionDays } = await sessionBegin(db, this.#tenantId, sessionId);
    const history = new CallHistory(begunMs);
    if (retentionDays !== null && begunMs < this.#nowMs - retentionDays * dayMs) history.forget(this.#nowMs);
    return history;
  }

  async #readAgent(db: Database): Promise<AgentTools> {
    if (!this.#agent) {
      const stored = this.#concernsAgent
        ? await findAgentTools(db, this.#tenantId, this.#body.agentId)
        : undefined;
      this.#agent = stored === undefined ? new AgentTools() : AgentTools.parse(stored);
    }
    return this.#agent;
  }

  /** Looks up how running calls ended, if a condition reads that. */
  async #readEnds(db: Database, session: CallHistory | undefined): Promise<void> {
    if (!session || !this.#readers.some(({ rule }) => rule.condition?.history?.readsOutcomes)) return;
    await this.#end(db, session, session.runningIds().slice(0, maxLookedUp));
  }

  async #end(db: Database, session: CallHistory, actionIds: readonly string[]): Promise<void> {
    if (actionIds.length === 0) return;
    const { sessionId } = this.#body;
    const ids = actionIds.map((id) => id.toLowerCase());
    const ends = [...(await findCallEnds(db, this.#tenantId, ids))].filter(
      ([, end]) => end.sessionId === sessionId,
    );
    session.end(new Map(ends));
  }
}
