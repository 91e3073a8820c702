/** What is kept of an action that its agent named. */
export interface NamedAction {
  /** What a decision is bound to: the tool and its arguments. */
  readonly digest: string;
  /** The pending action that it became, if it did. */
  readonly pendingActionId: string | null;
  /** Whether it was counted by the rates of policies. */
  readonly isCounted: boolean;
}
