/** Grant of an approver: later actions of one agent in one session run without another approval. */
export interface ApprovalGrant {
  readonly id: string;
  /**
   * `active` while it allows actions. `policy_changed` if a policy that held the approved action was changed or archived
   * since.
   */
  readonly status: 'active' | 'used_up' | 'policy_changed' | 'expired' | 'revoked';
  readonly agentId: string;
  readonly sessionId: string;
  /** Person or system on whose behalf the agent acted; the grant is only for the same. Null for none. */
  readonly principal: string | null;
  /** `action` for the same action as the approved one, `tool` for any call of the same tool. */
  readonly for: 'action' | 'tool';
  readonly toolName: string;
  /** Policies that held the approved action, at the versions that held it. The grant covers no other policy. */
  readonly policies: readonly { readonly id: string; readonly version: number | null }[];
  /** Id of the approved action. */
  readonly pendingActionId: string;
  /** Id of the last approver: an API key (`key_…`), or a person who is signed in (`usr_…`). */
  readonly grantedBy: string;
  /** The last approver, where the deployment knows the person; null otherwise. */
  readonly grantedByPrincipal: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Number of actions that it lets run; null if not limited. */
  readonly maxUses: number | null;
  /** Number of actions that it has let run. */
  readonly uses: number;
  /** Null while it is not revoked. */
  readonly revokedAt: string | null;
  /** Id of the key or the person that revoked it; null while it is not revoked. */
  readonly revokedBy: string | null;
  /** The person who revoked it, where the deployment knows who it was; null otherwise. */
  readonly revokedByPrincipal: string | null;
}

/** Response of `GET /server/v1/grants` of the actlog server. */
export interface ApprovalGrantPage {
  readonly items: readonly ApprovalGrant[];
  readonly nextCursor: string | null;
}
