import {
  type CheckDecision,
  type CheckEffect,
  type CheckResponse,
  changedDecision,
  type FiredPolicy,
  grantedDecision,
  type IdentifiedCheck,
  type KnownAction,
  policyDecision,
  type RateWindow,
  verdictOn,
} from '@actlog/policy';
import { recordDecision } from '../guardian/decide-action.ts';
import { type HoldParts, holdAction } from '../guardian/hold-action.ts';
import { isoTime } from '../lib/iso-time.ts';
import { countActions, saveCheckedAction } from '../storage/policies/policy-count-store.ts';
import type { PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';
import { bindGrant, useGrant } from '../storage/stores/approval-grant-store.ts';
import { markApprovalUsed, markChangedRun } from '../storage/stores/pending-action-store.ts';
import { addUsage } from '../storage/stores/quota-store.ts';
import type { Usage } from '../storage/stores/quota-table.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { DecisionLog } from './decision-log.ts';
import type { CheckHistory } from './matching.ts';
import type { DenialParts, RecordedDenials } from './stored-facts.ts';

/** Maximum bytes of the policies listed in a webhook message, which keeps it below 20 kB. */
const maxReportedBytes = 16 * 1024;

/** Maximum number of policies listed in a webhook message. */
const maxReportedPolicies = 100;

/** Parts that {@link CheckEffects} uses. */
export interface EffectParts extends DenialParts, HoldParts {
  readonly decisionLog: DecisionLog;
}

/** The check whose effects are written. */
export interface EffectsContext {
  readonly tenantId: number;
  readonly body: IdentifiedCheck;
  readonly nowMs: number;
  /** Windows of the rates that count the action. */
  readonly windows: readonly RateWindow[];
  readonly history: CheckHistory;
  readonly denials: RecordedDenials;
  /** Returns the decision with a response as it is kept. */
  readonly kept: (response: CheckResponse) => PolicyDecisionRow;
  /** Returns the digest of the action. */
  readonly digest: () => string;
  /** Returns the digest of the checked arguments, also if an approver changed them. */
  readonly checkedDigest: () => string;
}

/** Writes the effects of a check's decision, in the transaction that the decision was made in. */
export class CheckEffects {
  readonly #parts: EffectParts;
  readonly #context: EffectsContext;

  constructor(parts: EffectParts, context: EffectsContext) {
    this.#parts = parts;
    this.#context = context;
  }

  /** Marks the approval or grant that the decision uses. Returns `false` if it has ended meanwhile: decide again. */
  async useApproval(db: Database, { effects }: CheckDecision): Promise<boolean> {
    const { tenantId, body, nowMs } = this.#context;
    for (const effect of effects) {
      if (effect.type === 'use_approval') {
        const held = { tenant_id: tenantId, id: effect.heldId };
        return markApprovalUsed(db, held, body.actionId, nowMs);
      }
      if (effect.type === 'use_grant') return useGrant(db, tenantId, effect.grant.id, nowMs);
    }
    return true;
  }

  /** Writes all effects but the use itself of an approval or grant, counts usage and notifies webhooks. */
  async write(write: Write, decision: CheckDecision, fired: readonly FiredPolicy[]): Promise<void> {
    const { tenantId, nowMs } = this.#context;
    let heldUsage: Partial<Usage> = {};
    let newDenial: FiredPolicy | undefined;
    for (const effect of decision.effects) {
      if (effect.type === 'hold') heldUsage = await this.#hold(write, effect, decision);
      else if (effect.type === 'run_changed') await this.#runChanged(write, effect);
      else if (effect.type === 'use_grant') await this.#recordGrant(write, effect);
      else if (effect.type === 'count') await this.#count(write.db);
      else if (effect.type === 'record_call') {
        await this.#context.history.record(write.db, effect.isAllowed);
      } else if (effect.type === 'record_denial') newDenial = await this.#recordDenial(write, effect);
      else if (effect.type === 'remember') await this.#remember(write.db, effect.action);
    }
    await addUsage(write.db, tenantId, { checks: decision.isFirst ? 1 : 0, ...heldUsage }, nowMs);
    if (decision.isFirst) await this.#notifyWebhooks(write, fired);
    else if (newDenial) await this.#notifyWebhooks(write, [newDenial]);
  }

  async #hold(
    write: Write,
    { action, policy }: CheckEffect & { type: 'hold' },
    { response }: CheckDecision,
  ): Promise<Partial<Usage>> {
    const { tenantId, body, nowMs, digest, kept } = this.#context;
    const usage = await holdAction(this.#parts, write, tenantId, body, digest(), action);
    const keptUsage = await this.#parts.decisionLog.keepHeld(write, kept(response));
    const payload = policyDecision(body, 'require_approval', policy, action.id);
    await recordDecision(this.#parts, write, tenantId, body, payload, nowMs);
    return { ...usage, ...keptUsage };
  }

  async #recordGrant(write: Write, { grant, policy }: CheckEffect & { type: 'use_grant' }): Promise<void> {
    const { tenantId, body, nowMs } = this.#context;
    const payload = grantedDecision(body, policy, grant);
    await recordDecision(this.#parts, write, tenantId, body, payload, nowMs);
  }

  async #runChanged(write: Write, { held }: CheckEffect & { type: 'run_changed' }): Promise<void> {
    const { tenantId, body, nowMs, checkedDigest } = this.#context;
    const { argumentsHash } = body.action;
    if (!(await markChangedRun(write.db, { tenant_id: tenantId, id: held.id }, argumentsHash))) return;
    await bindGrant(write.db, tenantId, held.id, checkedDigest());
    await this.#parts.decisionLog.runChanged(write, tenantId, held.id, argumentsHash);
    await recordDecision(this.#parts, write, tenantId, body, changedDecision(body, held), nowMs);
  }

  async #count(db: Database): Promise<void> {
    await countActions(db, this.#context.tenantId, this.#context.windows);
  }

  /** Returns the denial if it was not recorded before. */
  async #recordDenial(
    write: Write,
    { denying, heldId }: CheckEffect & { type: 'record_denial' },
  ): Promise<FiredPolicy | undefined> {
    const isNew = await this.#context.denials.add(write, denying, heldId, this.#context.nowMs);
    return isNew ? denying : undefined;
  }

  async #remember(db: Database, { heldId, isCounted, grantId }: KnownAction): Promise<void> {
    const { tenantId, body, nowMs, digest } = this.#context;
    await saveCheckedAction(db, {
      tenant_id: tenantId,
      agent_id: body.agentId,
      action_id: body.actionId as string,
      action_digest: digest(),
      pending_action_id: heldId,
      grant_id: grantId,
      counted: isCounted ? 1 : 0,
      created_ms: nowMs,
    });
  }

  /** Queues one message for all policies, so that a check is one delivery per webhook however many match. */
  async #notifyWebhooks(write: Write, fired: readonly FiredPolicy[]): Promise<void> {
    if (fired.length === 0) return;
    const { tenantId, body, nowMs } = this.#context;
    const policies = reportedPolicies(fired);
    await this.#parts.outbox.queue(write, tenantId, {
      type: 'policy.matched',
      timestamp: isoTime(nowMs),
      data: {
        agentId: body.agentId,
        sessionId: body.sessionId ?? null,
        toolName: body.action.toolName,
        decision: verdictOn(fired).decision,
        policies,
        morePolicies: fired.length - policies.length,
      },
    });
  }
}

/** Returns the first policies as a webhook message lists them, at least one. */
function reportedPolicies(fired: readonly FiredPolicy[]) {
  const all = fired.slice(0, maxReportedPolicies).map(({ policy: { id, definition } }) => ({
    policyId: id,
    policyName: definition.name,
    effect: definition.effect,
    mode: definition.mode,
  }));
  let bytes = 0;
  const end = all.findIndex((policy, index) => {
    bytes += Buffer.byteLength(JSON.stringify(policy)) + 1;
    return index > 0 && bytes > maxReportedBytes;
  });
  return end === -1 ? all : all.slice(0, end);
}
