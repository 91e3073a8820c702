import type { CheckResponse } from '@actlog/policy';
import { type PolicyCheck, stringifyExactJson } from '@actlog/protocol';
import { parentsJson } from '../guardian/hold-action.ts';
import { newIdentifierAt } from '../lib/identifier.ts';
import type { PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';
import type { PolicySet } from './policy-set.ts';

/** Maximum length of shown arguments that are kept with a decision, in UTF-16 code units. */
const maxArgumentsLength = 4096;

/** A check with its decision. */
export interface DecidedCheck {
  readonly tenantId: number;
  readonly check: PolicyCheck;
  readonly response: CheckResponse;
  /** Policies of the tenant at the time of the decision. */
  readonly set: PolicySet;
  readonly isDryRun: boolean;
  /** Time from the arrival of the check to its decision, in milliseconds. */
  readonly durationMs: number;
}

/** Returns a decision as it is stored. */
export function decisionRow({
  tenantId,
  check,
  response,
  set,
  isDryRun,
  durationMs,
}: DecidedCheck): PolicyDecisionRow {
  const { toolName, argumentsHash, arguments: shown, origins } = check.action;
  const decidedMs = Date.now();
  return {
    tenant_id: tenantId,
    id: newIdentifierAt('dec', decidedMs),
    decided_ms: decidedMs,
    agent_id: check.agentId,
    session_id: check.sessionId ?? null,
    action_id: check.actionId ?? null,
    tool_name: toolName,
    arguments_hash: argumentsHash,
    framework: check.framework ?? null,
    environment: check.environment ?? null,
    decision: response.decision,
    decided_by: response.decidedBy,
    pending_action_id: response.pendingActionId,
    dry_run: isDryRun ? 1 : 0,
    duration_us: Math.max(0, Math.round(durationMs * 1000)),
    matched: matchedJson(response, set),
    arguments: shown === undefined ? null : smallJson(shown),
    origins: origins === undefined ? null : JSON.stringify(origins),
    grant_id: response.grantId,
    principal: check.principal ?? null,
    subagent: check.subagent ?? null,
    parent_agents: parentsJson(check.parentAgentIds),
    held_status: null,
    ended_ms: null,
  };
}

function matchedJson({ matched }: CheckResponse, { policies }: PolicySet): string | null {
  if (matched.length === 0) return null;
  return JSON.stringify(
    matched.map(({ policyId, policyName, effect, mode }) => {
      const policy = policies.find(({ id }) => id === policyId);
      // The built-in policy about revoked agents has no version.
      return {
        policyId,
        policyName,
        version: policy?.version ?? null,
        effect,
        mode,
        priority: policy?.definition.priority ?? 0,
      };
    }),
  );
}

/** Returns arguments as JSON; an empty text if they are too large. */
function smallJson(shown: object): string {
  const json = stringifyExactJson(shown) as string;
  return json.length <= maxArgumentsLength ? json : '';
}
