/** Stored data of an action with an actionId. */
export interface NamedAction {
  /** Data that a decision is bound to: the session, the tool, its arguments and the shown arguments. */
  readonly digest: string;
  /** Id of the pending action; null if the action was not held. */
  readonly pendingActionId: string | null;
  /** `true` if rates of policies have counted it. */
  readonly isCounted: boolean;
}
