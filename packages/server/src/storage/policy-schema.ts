/** One policy. */
export interface PolicyTable {
  tenant_id: number;
  id: string;
  status: 'active' | 'archived';
  /** What a caller writes, as JSON: name, effect, match and the rest. */
  definition: string;
  created_ms: number;
  updated_ms: number;
  archived_ms: number | null;
  version: number;
}

/** Actions that a rate condition has counted, by slice of its window. */
export interface PolicyCountTable {
  tenant_id: number;
  policy_id: string;
  /** The agent or the session that is counted, or empty for the whole tenant. */
  subject: string;
  /** When the slice begins. */
  slice_ms: number;
  actions: number;
}

/** An action that a check named, when the check left something behind. */
export interface CheckedActionTable {
  tenant_id: number;
  agent_id: string;
  action_id: string;
  /** SHA-256 over the tool and the hash of its arguments, in hex. */
  action_digest: string;
  pending_action_id: string | null;
  /** Whether rate conditions have counted it. */
  counted: 0 | 1;
  created_ms: number;
}

/** An action that waits, or waited, for a person. */
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
}
