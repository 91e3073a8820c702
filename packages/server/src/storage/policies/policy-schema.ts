import type { Generated } from 'kysely';

/** One policy. */
export interface PolicyTable {
  tenant_id: number;
  id: string;
  status: 'active' | 'archived';
  /** Fields that a caller writes, as JSON: name, effect, match and the rest. */
  definition: string;
  created_ms: number;
  updated_ms: number;
  archived_ms: number | null;
  version: number;
}

/** Actions counted by a rate condition, per slice of its window. */
export interface PolicyCountTable {
  tenant_id: number;
  policy_id: string;
  /** The agent or the session, or empty for the whole tenant. */
  subject: string;
  /** Start of the slice. */
  slice_ms: number;
  actions: number;
}

/** An action that a check named by `actionId` and that must be remembered, because it was held or counted. */
export interface CheckedActionTable {
  tenant_id: number;
  agent_id: string;
  action_id: string;
  /** SHA-256 over the tool and the hash of its arguments, in hex. */
  action_digest: string;
  pending_action_id: string | null;
  /** 1 if rate conditions have counted the action. */
  counted: 0 | 1;
  created_ms: number;
}

/** Calls of a session that conditions of policies read. */
export interface CallHistoryTable {
  tenant_id: number;
  session_id: string;
  updated_ms: number;
  /** Summary of bounded size, as JSON. */
  state: string;
}

/** Response of the service to one check of an action. */
export interface PolicyDecisionTable {
  tenant_id: number;
  /** Sorts by the time of the decision. */
  id: string;
  decided_ms: number;
  agent_id: string;
  session_id: string | null;
  /** `actionId` of the check. */
  action_id: string | null;
  tool_name: string;
  arguments_hash: string;
  framework: string | null;
  environment: string | null;
  decision: 'allow' | 'deny' | 'require_approval';
  /** Policy that decided, or key of the approver; `null` if no policy decided. */
  decided_by: string | null;
  pending_action_id: string | null;
  /** 1 for a check without effects. */
  dry_run: 0 | 1;
  /** Time from the arrival of the check to its decision, without the wait for an approver, in microseconds. */
  duration_us: number;
  /** Matched policies with their versions, in order of precedence, as JSON; `null` for none. */
  matched: string | null;
  /** Shown arguments as JSON; `null` for none, and an empty text if they were too large to keep. */
  arguments: string | null;
  /** Origins of the arguments as JSON; `null` for none. */
  origins: string | null;
}

/** An action that is or was held for approval. */
export interface PendingActionTable {
  tenant_id: number;
  id: string;
  status: 'pending' | 'approved' | 'denied' | 'expired';
  agent_id: string;
  session_id: string | null;
  policy_id: string;
  action_digest: string;
  /** The action as the caller showed it, as JSON. */
  action: string;
  reason: string;
  created_ms: number;
  expires_ms: number;
  on_timeout: 'deny' | 'allow';
  comment: string | null;
  decided_by: string | null;
  decided_ms: number | null;
  /** 1 when an approval lets one check's action run. */
  single_use: Generated<0 | 1>;
  /** `actionId` of the check that used a single-use approval; null for a check without one. */
  used_by: string | null;
  /** Time of that check; `null` while the approval is unused. */
  used_ms: number | null;
}
