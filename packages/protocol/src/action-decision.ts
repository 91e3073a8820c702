import type { ErrorDetail } from './schemas/error-envelope.ts';
import type { Decide, PendingAction } from './schemas/pending-action.ts';

/** Maximum number of decisions in one request of `POST /server/v1/pending-actions/decide`. */
export const maxDecisionsAtOnce = 100;

/** A decision about one held action of several. */
export type ActionDecision = Decide & {
  /** Id of the held action. */
  readonly id: string;
};

/** Outcome of a decision: either the action, or the error that a request about it alone would have got. */
export interface ActionDecisionResult {
  /** Id of the held action. */
  readonly id: string;
  /**
   * The action after the decision, without its shown arguments and their origins; `pending` while it needs further
   * approvers. Null if the decision was refused.
   */
  readonly action: PendingAction | null;
  /** Null if the decision was made. */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly ErrorDetail[];
  } | null;
}

/** Response of `POST /server/v1/pending-actions/decide` of the actlog server. */
export interface ActionDecisionResults {
  /** One result for each decision, in the same order. */
  readonly results: readonly ActionDecisionResult[];
}
