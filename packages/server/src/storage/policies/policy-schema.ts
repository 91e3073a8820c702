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

/** A version of a policy, which never changes. */
export interface PolicyVersionTable {
  tenant_id: number;
  policy_id: string;
  version: number;
  status: PolicyTable['status'];
  definition: string;
  /** Time from which it was in force, or archived. */
  from_ms: number;
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
  /** Grant that allowed the action; `null` for none. */
  grant_id: string | null;
  /** 1 if rate conditions have counted the action. */
  counted: 0 | 1;
  created_ms: number;
}

/** History of a session that conditions of policies read. */
export interface CallHistoryTable {
  tenant_id: number;
  session_id: string;
  /** Time of the last call, or up to an hour before. */
  updated_ms: number;
  /** Summary of bounded size, as JSON. */
  summary: string;
}

/** Newest calls of a history. They are deleted with it. */
export interface SessionCallTable {
  tenant_id: number;
  session_id: string;
  number: number;
  /** The call, as JSON. */
  call: string;
}

/** Decision about a checked action. A held action has one, which changes with its end. */
export interface PolicyDecisionTable {
  tenant_id: number;
  /** Sorts by the time of the check. */
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
  /** Of a held action: `require_approval` while it waits, then its outcome. */
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
  /** Grant that allowed the action; `null` for none. */
  grant_id: string | null;
  /** Person or system on whose behalf the agent acted; `null` for none. */
  principal: string | null;
  /** Name of the agent's subagent that acts; `null` for none. */
  subagent: string | null;
  /** Agents that the agent runs inside, nearest first, as JSON; `null` for none. */
  parent_agents: string | null;
  /** Verified identity of the caller, as JSON; `null` for none. */
  identity: string | null;
  /** W3C `traceparent` of the call; `null` for none. */
  traceparent: string | null;
  /** Status of the held action; `null` for an action that was not held, and for a dry run. */
  held_status: PendingActionTable['status'] | null;
  /** Hash of the arguments that the agent ran, if the approver changed them; `null` otherwise. */
  executed_hash: string | null;
  /** Time at which the held action ended; `null` while it waits, and for an action that was not held. */
  ended_ms: number | null;
}

/** An action that is or was held for approval. */
export interface PendingActionTable {
  tenant_id: number;
  id: string;
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn';
  agent_id: string;
  session_id: string | null;
  policy_id: string;
  /** Name of the policy when it held the action. */
  policy_name: string;
  action_digest: string;
  /** The action as the caller showed it, as JSON. */
  action: string;
  reason: string;
  created_ms: number;
  expires_ms: number;
  on_timeout: 'deny' | 'allow';
  comment: string | null;
  decided_by: string | null;
  /** Name of the person who decided, where the server knows it. */
  decided_principal: Generated<string | null>;
  decided_ms: number | null;
  /** 1 when an approval lets one check's action run. */
  single_use: Generated<0 | 1>;
  /** `actionId` of the check that used a single-use approval; null for a check without one. */
  used_by: string | null;
  /** Time of that check; `null` while the approval is unused. */
  used_ms: number | null;
  /** Number of approvers who must approve. */
  required_approvers: Generated<number>;
  /** 1 when the requester cannot approve. */
  not_requester: Generated<0 | 1>;
  /** 1 when nobody can approve unless the principal is verified. */
  verified_principal: Generated<0 | 1>;
  /** Ids of the keys that may approve, as JSON; `null` for every key with the scope. */
  approver_keys: string | null;
  /** Groups whose people may approve, as JSON; `null` for any. */
  approver_groups: string | null;
  /** Approvals so far as JSON, in the form of the wire; `null` for none. */
  approvals: string | null;
  /** Id of the key that sent the check; `null` for an action held by an earlier release. */
  requested_by: string | null;
  /** Person or system on whose behalf the agent acts; `null` for none. */
  principal: string | null;
  /** Name of the agent's subagent that acts; `null` for none. */
  subagent: string | null;
  /** Agents that the agent runs inside, nearest first, as JSON; `null` for none. */
  parent_agents: string | null;
  /** Verified identity of the caller, as JSON; `null` for none. */
  identity: string | null;
  /** W3C `traceparent` of the call; `null` for none. */
  traceparent: string | null;
  /** Policies that hold the action with their versions, as JSON; `null` for an action held by an earlier release. */
  policies: string | null;
  /** Grant that the approval created; `null` for none. */
  grant_id: string | null;
  /** Arguments that an approver may change, as JSON; `null` for none. */
  editable: string | null;
  /** Changed arguments by path, as JSON, which the approvals are for; `null` for the requested ones. */
  changes: string | null;
  /** Hash of the changed arguments that the agent ran; `null` if it has not run them, or none were changed. */
  executed_hash: string | null;
}

/** A grant of an approver for later actions of one agent in one session. */
export interface ApprovalGrantTable {
  tenant_id: number;
  id: string;
  session_id: string;
  agent_id: string;
  principal: string | null;
  /** `action` for the same action, `tool` for any call of the same tool. */
  granted_for: 'action' | 'tool';
  tool_name: string;
  /** Digest of the approved action. */
  action_digest: string;
  /** Policies that held the approved action with their versions, as JSON. */
  policies: string;
  /** The approved action. */
  pending_action_id: string;
  /** Key of the last approver. */
  granted_by: string;
  /** Name of the person who granted it, where the server knows it. */
  granted_principal: Generated<string | null>;
  created_ms: number;
  expires_ms: number;
  /** Number of actions that it lets run; `null` if not limited. */
  max_uses: number | null;
  /** Number of actions that it has let run. */
  uses: number;
  revoked_ms: number | null;
  /** Key that revoked it; `null` while it is not revoked. */
  revoked_by: string | null;
  /** Name of the person who revoked it, where the server knows it. */
  revoked_principal: Generated<string | null>;
}
