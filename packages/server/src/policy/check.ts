import {
  type CheckDecision,
  type CheckFacts,
  type CheckResponse,
  checkResponse,
  decideCheck,
  decideWaitingCheck,
  type FiredPolicy,
  type IdentifiedCheck,
  type KnownAction,
  lastingPolicies,
  promptPolicyId,
  type RateWindow,
  verdictOn,
} from '@actlog/policy';
import type { EndParts } from '../guardian/decide-action.ts';
import { expireAction, holdLock } from '../guardian/hold-action.ts';
import { heldAction } from '../guardian/pending-action-view.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { lockNames } from '../storage/locks.ts';
import { isOverdue, lengthenHold, type PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { ExceededQuota } from '../storage/stores/quota-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { Caller } from '../tenants/caller.ts';
import type { KeyHolder } from '../tenants/key-ring.ts';
import { QuotaError, type QuotaGate } from '../tenants/quotas.ts';
import { CheckEffects, type EffectParts } from './check-effects.ts';
import { type DecisionLog, decisionRow } from './decision-log.ts';
import type { CheckHistory, Matches } from './matching.ts';
import type { PolicySet, PolicySets } from './policy-set.ts';
import { RecordedDenials, StoredFacts } from './stored-facts.ts';

/** Parts that {@link Check} uses. */
export interface CheckParts extends EndParts, EffectParts {
  /** Keeps the decision of every check. */
  readonly decisionLog: DecisionLog;
  readonly policySets: PolicySets;
  readonly quotaGate: QuotaGate;
}

/** A check of an action against the policies of a tenant: reads what the decision needs, and writes its effects. */
export class Check {
  readonly #parts: CheckParts;
  readonly #tenantId: number;
  readonly #callerId: string;
  readonly #body: IdentifiedCheck;
  readonly #nowMs: number;
  readonly #heldId: string | undefined;
  readonly #denials: RecordedDenials;
  readonly #stored: StoredFacts;
  readonly #startedMs = performance.now();
  #set: PolicySet | undefined;

  /**
   * @param matches - matches of the same action, also from earlier rounds
   * @param heldId - held action of an earlier round; the action is then already counted
   */
  constructor(
    parts: CheckParts,
    caller: KeyHolder & Pick<Caller, 'id'>,
    body: IdentifiedCheck,
    nowMs: number,
    matches: Matches,
    heldId?: string,
  ) {
    this.#parts = parts;
    const { tenantId, id } = caller;
    this.#tenantId = tenantId;
    this.#callerId = id;
    this.#body = body;
    this.#nowMs = nowMs;
    this.#heldId = heldId;
    this.#stored = new StoredFacts(caller, body, nowMs, matches);
    this.#denials = new RecordedDenials(parts, tenantId, body);
  }

  /** Policies that the last response is based on. @throws Error before a response. */
  get policySet(): PolicySet {
    if (!this.#set) throw new Error('The policies have not been read.');
    return this.#set;
  }

  /**
   * Returns the response, or `undefined` if a write is needed: to count, hold or end the action, or to notify webhooks.
   */
  async respondByReading(db: Database): Promise<CheckResponse | undefined> {
    // Each such check lengthens the hold.
    if (this.#body.holdSeconds !== undefined) return undefined;
    await this.#stored.readChanged(db);
    const set = await this.#readPolicies(db);
    const history = this.#stored.history(set);
    if (history.isWatched) return undefined;
    const matching = await this.#stored.matching(db, set, history);
    if (this.#heldId !== undefined) {
      const row = await this.#stored.held(db, this.#heldId);
      if (!row || isOverdue(row, this.#nowMs)) return undefined;
      const fired = lastingPolicies(matching);
      const isDenialRecorded = await this.#denials.isComplete(db, fired, row.id);
      return withoutEffects(
        decideWaitingCheck({
          check: this.#body,
          fired,
          held: heldAction(row, this.#nowMs),
          isDenialRecorded,
        }),
      );
    }
    if (matching.some(({ policy }) => policy.definition.rate !== null)) return undefined;
    if (matching.length > 0 && set.wanted.has('policy.matched')) return undefined;
    const known = await this.#stored.known(db);
    // A first denial counts as usage.
    if (!known && verdictOn(matching).decision === 'deny') return undefined;
    const row = await this.#stored.held(db, known?.heldId);
    if (row && isOverdue(row, this.#nowMs)) return undefined;
    return withoutEffects(
      decideCheck({
        ...this.#facts(matching, [], known),
        held: row && heldAction(row, this.#nowMs),
        grant: row ? undefined : await this.#stored.grant(db, matching, known),
        isDenialRecorded: await this.#denials.isComplete(db, matching, row?.id ?? null),
      }),
    );
  }

  /**
   * Returns the response without any effect: nothing is counted, held, recorded or sent.
   *
   * @param draft - policies instead of the active ones
   */
  async respondDry(db: Database, draft?: PolicySet): Promise<CheckResponse> {
    if (draft) await this.#stored.readState(db);
    else await this.#stored.readChanged(db);
    const set = draft ?? (await this.#readPolicies(db));
    this.#set = set;
    const known = await this.#stored.known(db);
    const matching = await this.#stored.matching(db, set, this.#stored.history(set));
    const fired = await this.#stored.fired(db, matching, this.#stored.windows(matching), known);
    const row = await this.#stored.held(db, known?.heldId);
    const grant = row ? undefined : await this.#stored.grant(db, fired, known);
    const isRequested = this.#body.action.changedFrom === undefined;
    return checkResponse(fired, row && heldAction(row, this.#nowMs), grant, isRequested);
  }

  /** Returns the response, and writes its effects. */
  async respondByWriting(write: Write): Promise<CheckResponse> {
    const { db } = write;
    await this.#stored.readChanged(db);
    const set = await this.#readPolicies(db);
    const history = this.#stored.history(set);
    // Before all other locks, because the history determines the policies that match.
    if (history.lockNames.length > 0) {
      await lockNames(db, this.#tenantId, history.lockNames);
      // An agent may have been revoked during the wait.
      await this.#stored.readState(db);
    }
    const matching = await this.#stored.matching(db, set, history);
    const decided = await this.#respondToWaiting(write, matching, history);
    // Otherwise the held action was deleted or its approval used up, and the action is checked as a new one.
    if (decided) return decided;
    const windows = this.#stored.windows(matching);
    const locks = windows.map(({ policyId, subject }) => `rate ${policyId} ${subject}`);
    if (matching.some(mayHold)) locks.push(holdLock);
    await lockNames(db, this.#tenantId, [this.#stored.lockName, ...locks]);
    const known = await this.#stored.known(db);
    const fired = await this.#stored.fired(db, matching, windows, known);
    const facts = {
      ...this.#facts(fired, windows, known),
      isWatched: history.isWatched,
      newHeldId: newIdentifier('pac'),
    };
    // A named action was admitted by its first check.
    if (!known) {
      const full = await this.#parts.quotaGate.admitCheck(db, this.#tenantId, this.#body, this.#nowMs);
      if (full) return this.#unrecordedResponse(full, facts);
    }
    const effects = this.#effects(windows, history);
    for (;;) {
      const row = await this.#heldOrEnded(write, known?.heldId);
      const decision = decideCheck({
        ...facts,
        held: row && heldAction(row, this.#nowMs),
        grant: row ? undefined : await this.#stored.grant(db, fired, known),
        equalHeld: row ? undefined : await this.#stored.equalHeld(db, fired, this.#callerId),
      });
      if (!(await effects.useApproval(db, decision))) continue;
      await effects.write(write, decision, fired);
      return decision.response;
    }
  }

  /** Returns the response to a check that waits for the end of its held action, if that still decides it. */
  async #respondToWaiting(
    write: Write,
    matching: readonly FiredPolicy[],
    history: CheckHistory,
  ): Promise<CheckResponse | undefined> {
    const fired = lastingPolicies(matching);
    const { isWatched } = history;
    const effects = this.#effects([], history);
    for (;;) {
      const row = await this.#heldOrEnded(write, this.#heldId);
      if (!row) return undefined;
      const held = heldAction(row, this.#nowMs);
      const decision = decideWaitingCheck({
        check: this.#body,
        fired,
        held,
        isWatched,
        isDenialRecorded: false,
      });
      if (!(await effects.useApproval(write.db, decision))) continue;
      await effects.write(write, decision, fired);
      return decision.response;
    }
  }

  async #readPolicies(db: Database): Promise<PolicySet> {
    const version = await this.#stored.readState(db);
    this.#set = await this.#parts.policySets.of(db, this.#tenantId, version);
    return this.#set;
  }

  #facts(fired: readonly FiredPolicy[], windows: readonly RateWindow[], known: KnownAction | undefined) {
    return {
      check: this.#body,
      fired,
      isRated: windows.length > 0,
      known,
      held: undefined,
      grant: undefined,
      equalHeld: undefined,
      isDenialRecorded: false,
      // A read applies no effect, so it needs no id.
      newHeldId: '',
      keyId: this.#callerId,
      nowMs: this.#nowMs,
    } satisfies CheckFacts;
  }

  #effects(windows: readonly RateWindow[], history: CheckHistory): CheckEffects {
    return new CheckEffects(this.#parts, {
      tenantId: this.#tenantId,
      body: this.#body,
      nowMs: this.#nowMs,
      windows,
      history,
      denials: this.#denials,
      digest: () => this.#stored.digest,
      checkedDigest: () => this.#stored.checkedDigest,
      kept: (response) =>
        decisionRow({
          tenantId: this.#tenantId,
          check: this.#body,
          response,
          set: this.policySet,
          isDryRun: false,
          durationMs: performance.now() - this.#startedMs,
        }),
    });
  }

  /**
   * Returns the response of a check that cannot be recorded because of a quota. A denial remains a denial. An action
   * that would have to be counted or held is rejected, because the response would otherwise let it run.
   */
  #unrecordedResponse(full: ExceededQuota, { fired, isRated, isWatched }: CheckFacts): CheckResponse {
    const { decision } = verdictOn(fired);
    const isCounted = isRated || isWatched === true;
    if (decision === 'require_approval' || (isCounted && decision !== 'deny')) {
      throw new QuotaError(full, this.#nowMs);
    }
    this.#parts.metrics.quotaRefusal(full.quota);
    return checkResponse(fired, undefined, undefined, true);
  }

  /** Lengthens the hold of the agent's prompt, which lasts for as long as the agent checks it. */
  async #lengthened({ db }: Write, row: PendingActionRow): Promise<PendingActionRow> {
    const { holdSeconds } = this.#body;
    if (holdSeconds === undefined || row.policy_id !== promptPolicyId || row.status !== 'pending') return row;
    const expiresMs = Math.max(row.expires_ms, this.#nowMs + holdSeconds * 1000);
    return (await lengthenHold(db, row, expiresMs)) ? { ...row, expires_ms: expiresMs } : row;
  }

  /**
   * Returns the held action, after ending it if it is past its expiry. A decision made in time may be committed only
   * now, and then takes precedence over the expiry.
   */
  async #heldOrEnded(write: Write, id: string | null | undefined): Promise<PendingActionRow | undefined> {
    const row = await this.#stored.held(write.db, id);
    if (!row || !isOverdue(row, this.#nowMs)) return row && this.#lengthened(write, row);
    return (await expireAction(this.#parts, write, row, this.#nowMs)) ?? this.#stored.held(write.db, id);
  }
}

function withoutEffects({ response, effects }: CheckDecision): CheckResponse | undefined {
  return effects.length === 0 ? response : undefined;
}

function mayHold({ policy: { definition } }: FiredPolicy): boolean {
  return definition.effect === 'require_approval' && definition.mode === 'enforce';
}
