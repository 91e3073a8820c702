import { type DecisionPayload, decisionEvent } from '@actlog/policy';
import { v4 } from 'uuid';
import type { Tenant } from '../tenant/tenant.ts';

/** Records a decision in the session of its action, where the risk engine reads it. */
export function recordDecision(
  tenant: Tenant,
  { agentId, sessionId }: { readonly agentId: string; readonly sessionId?: string | null | undefined },
  payload: DecisionPayload,
  nowMs: number,
): void {
  if (sessionId == null) return;
  tenant.record(decisionEvent(v4(), { agentId, sessionId }, payload, nowMs), nowMs);
}
