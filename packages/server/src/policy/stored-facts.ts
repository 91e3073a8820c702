import { hash } from 'node:crypto';
import {
  type ApprovalGrant,
  type ApprovedAction,
  actionMismatch,
  agentRevoked,
  approvalSubject,
  type ChangedAction,
  type CheckedAction,
  checkedAction,
  coveringGrant,
  denialIdentity,
  denyingPolicy,
  exceededRates,
  type FiredPolicy,
  firedPolicies,
  type HeldAction,
  type IdentifiedCheck,
  isApprovedChange,
  isUsedUp,
  type KnownAction,
  keyStopped,
  type PolicyVersion,
  policiesOfChanged,
  policyDecision,
  type RateWindow,
  rateWindows,
  revokedAbove,
  scheduledPolicies,
  verdictOn,
  withPrompt,
} from '@actlog/policy';
import { type PolicyCheck, parseJsonWithBigInts } from '@actlog/protocol';
import { v5 } from 'uuid';
import { approvalGrant } from '../guardian/approval-grants.ts';
import { type RecordingParts, recordDecision } from '../guardian/decide-action.ts';
import { heldAction } from '../guardian/pending-action-view.ts';
import { refusalError } from '../lib/api-error.ts';
import { countedActions, findCheckedAction } from '../storage/policies/policy-count-store.ts';
import { validGrantsOf } from '../storage/stores/approval-grant-store.ts';
import { findEvents } from '../storage/stores/event-log.ts';
import { readCheckState } from '../storage/stores/key-store.ts';
import {
  findPendingAction,
  findSameAction,
  type PendingActionRow,
} from '../storage/stores/pending-action-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { type KeyHolder, type StoppingAgent, stoppingAgent } from '../tenants/key-ring.ts';
import { CheckHistory, type Matches } from './matching.ts';
import type { PolicySet } from './policy-set.ts';

/** Reads what a check depends on: the facts about one action that the database has. */
export class StoredFacts {
  readonly #caller: KeyHolder;
  readonly #tenantId: number;
  readonly #body: IdentifiedCheck;
  readonly #action: CheckedAction;
  readonly #nowMs: number;
  readonly #matches: Matches;
  #knownDigest: string | undefined;
  /** Revoked agent that stops the action; see `readState`. */
  #stopping: StoppingAgent | undefined;
  /** Policies that held the requested action, for a check of changed arguments. */
  #heldFor: readonly PolicyVersion[] | undefined;

  /** @param matches - matches of the same action, also from earlier rounds */
  constructor(caller: KeyHolder, body: IdentifiedCheck, nowMs: number, matches: Matches) {
    this.#caller = caller;
    this.#tenantId = caller.tenantId;
    this.#body = body;
    this.#nowMs = nowMs;
    this.#matches = matches;
    this.#action = checkedAction(body);
  }

  /**
   * Digest of the action: of the requested one, if an approver changed its arguments. Computed only when it is needed,
   * because displayed arguments can be large.
   */
  get digest(): string {
    this.#knownDigest ??= actionDigest(this.#body);
    return this.#knownDigest;
  }

  /** Digest of the checked arguments, also if an approver changed them. */
  get checkedDigest(): string {
    return actionDigest(this.#body);
  }

  /**
   * Reads the held action of a check of changed arguments. Call it before all other reads.
   *
   * @throws ApiError `ACTION_MISMATCH` if no approval is for exactly these arguments.
   */
  async readChanged(db: Database): Promise<void> {
    const { agentId, actionId, action } = this.#body;
    if (action.changedFrom === undefined) return;
    const checked =
      actionId === undefined ? undefined : await findCheckedAction(db, this.#tenantId, agentId, actionId);
    const row = await this.held(db, checked?.pending_action_id);
    if (!row || !isApprovedChange(this.#body, changedAction(row, this.#nowMs), actionDigest)) {
      throw refusalError(actionMismatch);
    }
    this.#knownDigest = row.action_digest;
    this.#heldFor = row.policies === null ? [] : (JSON.parse(row.policies) as PolicyVersion[]);
  }

  /** Reads whether a revoked agent stops the action. Returns the version of the tenant's policies in the same snapshot. */
  async readState(db: Database): Promise<number> {
    const { agentId, parentAgentIds: above = [] } = this.#body;
    const { keyId, isShared } = this.#caller;
    const ofKey = isShared ? undefined : keyId;
    const state = await readCheckState(db, this.#tenantId, [agentId, ...above], ofKey);
    this.#stopping = stoppingAgent(this.#caller, agentId, above, state.revokedAgents);
    return state.settingsVersion;
  }

  /** Lock for racing checks that name, or would hold, the same action. Rates have other locks. */
  get lockName(): string {
    const { agentId, actionId, sessionId } = this.#body;
    const action = actionId === undefined ? `same ${sessionId} ${this.digest}` : `named ${actionId}`;
    return `action ${agentId} ${action}`;
  }

  /** Returns the history for one transaction. It is read when the policies are matched. */
  history(set: PolicySet): CheckHistory {
    const { readers } = this.#matches.of(set, this.#action);
    return new CheckHistory(this.#tenantId, this.#body, this.#nowMs, set, readers);
  }

  /** Returns the matching policies in order of precedence, after `readState`. Those with a rate fire only if the rate is exceeded. */
  async matching(db: Database, set: PolicySet, history: CheckHistory): Promise<readonly FiredPolicy[]> {
    const { fired, readers } = this.#matches.of(set, this.#action);
    const unscheduled = readers.length === 0 ? fired : await this.#withReaders(db, set, history);
    const scheduled = scheduledPolicies(unscheduled, this.#nowMs);
    const applying = this.#heldFor ? policiesOfChanged(scheduled, this.#heldFor) : scheduled;
    const matching = withPrompt(applying, this.#body);
    const stopping = this.#stopping;
    if (!stopping) return matching;
    const stops = {
      agent: () => agentRevoked,
      above: () => revokedAbove(stopping.agentId),
      other: () => keyStopped(stopping.agentId),
    };
    return [stops[stopping.is](), ...matching];
  }

  async #withReaders(db: Database, set: PolicySet, history: CheckHistory): Promise<readonly FiredPolicy[]> {
    const { fired } = this.#matches.of(set, this.#action);
    const byId = new Map(fired.map((one) => [one.policy.id, one]));
    const reading = await history.matching(db, this.#action);
    return set.policies.flatMap(({ id }) => byId.get(id) ?? reading.get(id) ?? []);
  }

  /** Returns the windows of the rates that count the action. */
  windows(matching: readonly FiredPolicy[]): RateWindow[] {
    return rateWindows(matching, this.#action, this.#nowMs);
  }

  /** Returns the policies that fire. A rate counts an action once. */
  async fired(
    db: Database,
    matching: readonly FiredPolicy[],
    windows: readonly RateWindow[],
    known: KnownAction | undefined,
  ): Promise<readonly FiredPolicy[]> {
    const counted = await countedActions(db, this.#tenantId, windows);
    return firedPolicies(matching, exceededRates(windows, counted, known?.isCounted === true));
  }

  /**
   * Returns the action as its first check left it.
   *
   * @throws ApiError `ACTION_MISMATCH` if its `actionId` stands for another action.
   */
  async known(db: Database): Promise<KnownAction | undefined> {
    const { agentId, actionId } = this.#body;
    if (actionId === undefined) return undefined;
    const row = await findCheckedAction(db, this.#tenantId, agentId, actionId);
    if (!row) return undefined;
    if (row.action_digest !== this.digest) throw refusalError(actionMismatch);
    return { heldId: row.pending_action_id, isCounted: row.counted === 1, grantId: row.grant_id };
  }

  /** Returns a held action while it decides the check. */
  async held(db: Database, id: string | null | undefined): Promise<PendingActionRow | undefined> {
    if (id == null) return undefined;
    return findDecidingAction(db, this.#tenantId, id, this.#body.actionId, this.#nowMs);
  }

  /**
   * Returns an equal action without an `actionId` that already waits: same agent, session, tool, arguments and displayed
   * arguments. Otherwise each repeated check would need another decision of an approver.
   */
  async equalHeld(
    db: Database,
    fired: readonly FiredPolicy[],
    requestedBy: string,
  ): Promise<HeldAction | undefined> {
    const { agentId, sessionId, actionId } = this.#body;
    if (actionId !== undefined || verdictOn(fired).decision !== 'require_approval') return undefined;
    const action = {
      tenant_id: this.#tenantId,
      agent_id: agentId,
      session_id: sessionId ?? null,
      action_digest: this.digest,
      requested_by: requestedBy,
    };
    const row = await findSameAction(db, action, this.#nowMs);
    return row && heldAction(row, this.#nowMs);
  }

  /** Returns the grant of an approver that allows the action, if policies would hold it. */
  async grant(
    db: Database,
    fired: readonly FiredPolicy[],
    known: KnownAction | undefined,
  ): Promise<ApprovalGrant | undefined> {
    const { sessionId } = this.#body;
    if (sessionId === undefined || verdictOn(fired).decision !== 'require_approval') return undefined;
    const rows = await validGrantsOf(db, this.#tenantId, sessionId, this.#nowMs);
    return coveringGrant(rows.map(approvalGrant), {
      check: this.#body,
      subject: () => this.digest,
      fired,
      usedGrantId: known?.grantId ?? null,
      nowMs: this.#nowMs,
    });
  }
}

/** Returns the digest of an action that an approval is bound to: everything that the approver sees, and the session. */
function actionDigest(action: ApprovedAction): string {
  return hash('sha256', approvalSubject(action));
}

function changedAction(row: PendingActionRow, nowMs: number): ChangedAction {
  const { arguments: shown } = parseJsonWithBigInts(row.action) as PolicyCheck['action'];
  return { ...heldAction(row, nowMs), shown, subject: row.action_digest };
}

/**
 * Returns the held action that decides a check. A used-up single-use approval decides nothing: the action is then
 * checked, and held, as if it had never been held.
 */
async function findDecidingAction(
  db: Database,
  tenantId: number,
  id: string,
  actionId: string | undefined,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  const row = await findPendingAction(db, tenantId, id);
  if (!row || row.used_ms === null) return row;
  return isUsedUp({ actionId: row.used_by, usedMs: row.used_ms }, actionId, nowMs) ? undefined : row;
}

/** Parts that {@link RecordedDenials} uses. */
export interface DenialParts extends RecordingParts {
  readonly secret: DeploymentSecret;
}

/**
 * Denials of one action in the action's session. Each policy is recorded once per action with an id, however often the
 * action is checked, even if it was held or allowed before.
 */
export class RecordedDenials {
  readonly #parts: DenialParts;
  readonly #tenantId: number;
  readonly #body: IdentifiedCheck;

  constructor(parts: DenialParts, tenantId: number, body: IdentifiedCheck) {
    this.#parts = parts;
    this.#tenantId = tenantId;
    this.#body = body;
  }

  /** Records that a policy denies the action. Returns `true` if that was not recorded before. */
  add(write: Write, { policy }: FiredPolicy, heldId: string | null, nowMs: number): Promise<boolean> {
    const payload = policyDecision(this.#body, 'deny', policy, heldId);
    const eventId = this.#eventId(policy.id, heldId);
    return recordDecision(this.#parts, write, this.#tenantId, this.#body, payload, nowMs, eventId);
  }

  /** `true` if there is no denial to record: no policy denies, the denial is recorded, or there is no session. */
  async isComplete(db: Database, fired: readonly FiredPolicy[], heldId: string | null): Promise<boolean> {
    const denying = denyingPolicy(fired);
    if (!denying || this.#body.sessionId === undefined) return true;
    const id = this.#eventId(denying.policy.id, heldId);
    return id !== undefined && (await findEvents(db, this.#tenantId, [id])).has(id);
  }

  /** Returns the event id for a denial, the same for each repeat; `undefined` if the action has no id. */
  #eventId(policyId: string, heldId: string | null): string | undefined {
    const identity = denialIdentity(this.#body, policyId, heldId);
    return identity && v5(JSON.stringify([this.#tenantId, ...identity]), this.#parts.secret.eventIdKey);
  }
}
