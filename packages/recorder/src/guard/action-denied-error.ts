const brand = Symbol.for('@actlog/recorder/ActionDeniedError');

/** Why a call did not run. */
export type DeniedBecause =
  /** A policy denied it, or a person did. */
  | 'denied'
  /** It needed approval, and none came in time: in the guard's `holdTimeoutMs`, or in the time that its policy gives. */
  | 'approval-timed-out'
  /** The check could not be made, and the guard is set to deny then. */
  | 'unavailable';

/** What an {@link ActionDeniedError} tells. */
export interface ActionDenial {
  readonly toolName: string;
  readonly because: DeniedBecause;
  /** What the service answered last; undefined when it gave no answer that could be understood. */
  readonly decision?: 'deny' | 'require_approval' | undefined;
  /** Who denied it, where somebody did. */
  readonly deniedBy?: 'policy' | 'person' | undefined;
  /** The policy that denied the call or had it held, when one was named. */
  readonly policyId?: string | undefined;
  /** The pending action that nobody approved in time. */
  readonly pendingActionId?: string | undefined;
  /** The policy's own words, or what the person said who denied it. */
  readonly reason?: string | undefined;
}

/**
 * A guarded call was not run. Its message is written for the model that asked for the call: it says that the tool did
 * not run, why, and that asking the same again is of no use. It is not thrown for calls that the caller aborted:
 * those reject with the signal's reason.
 */
export class ActionDeniedError extends Error implements ActionDenial {
  override readonly name = 'ActionDeniedError';
  /** Stable, for those who compare codes. */
  readonly code = 'ACTION_DENIED';
  /** HTTP status that the event carries. */
  readonly status = 403;
  readonly toolName: string;
  readonly because: DeniedBecause;
  readonly decision: 'deny' | 'require_approval' | undefined;
  readonly deniedBy: 'policy' | 'person' | undefined;
  readonly policyId: string | undefined;
  readonly pendingActionId: string | undefined;
  readonly reason: string | undefined;

  constructor(denial: ActionDenial, options?: ErrorOptions) {
    super(messageFor(denial), options);
    Object.defineProperty(this, brand, { value: true });
    this.toolName = denial.toolName;
    this.because = denial.because;
    this.decision = denial.decision;
    this.deniedBy = denial.deniedBy;
    this.policyId = denial.policyId;
    this.pendingActionId = denial.pendingActionId;
    this.reason = denial.reason;
  }

  /** Whether a value is such an error, from whichever copy of this package. */
  static isInstance(value: unknown): value is ActionDeniedError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

function messageFor({ toolName, because, deniedBy, policyId, reason }: ActionDenial): string {
  const tool = `The call of the tool ${JSON.stringify(toolName)} was not run:`;
  if (because === 'approval-timed-out') {
    return `${tool} it needs the approval of a person, and none was given in time. Go on without it, or ask the user.`;
  }
  if (because === 'unavailable') {
    return `${tool} the policy check could not be made, and calls are denied then. Do not try again now; tell the user.`;
  }
  const policy = policyId ? ` by policy ${policyId}` : '';
  const who = deniedBy === 'person' ? 'a person denied it.' : `it was denied${policy}.`;
  const words = reason ? ` ${reason.trim().replace(/\.?$/, '.')}` : '';
  return `${tool} ${who}${words} Do not repeat the same call; choose another way or tell the user.`;
}
