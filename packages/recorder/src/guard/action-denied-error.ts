const brand = Symbol.for('@actlog/recorder/ActionDeniedError');

/** Reason why a call did not run. */
export type DeniedBecause =
  /** A policy or a person denied it. */
  | 'denied'
  /** It needed approval and got none in time: within the guard's `holdTimeoutMs`, or within its policy's time limit. */
  | 'approval-timed-out'
  /** The check failed, and the guard is configured to deny in that case. */
  | 'unavailable';

/** Details of an {@link ActionDeniedError}. */
export interface ActionDenial {
  readonly toolName: string;
  readonly because: DeniedBecause;
  /** Last decision of the service; undefined if there was no valid response. */
  readonly decision?: 'deny' | 'require_approval' | undefined;
  /** Source of the denial, if known. */
  readonly deniedBy?: 'policy' | 'person' | undefined;
  /** Policy that denied or held the call, if the service named one. */
  readonly policyId?: string | undefined;
  /** Name of that policy, if the service named it. */
  readonly policyName?: string | undefined;
  /** Pending action that was not approved in time. */
  readonly pendingActionId?: string | undefined;
  /** Message of the policy, or comment of the person who denied the call. */
  readonly reason?: string | undefined;
}

/**
 * Error thrown when the guard denies a call. The message is written for the model that requested the call: it says that
 * the tool did not run, why, and that repeating the call is pointless. Not thrown for calls aborted by the caller,
 * which reject with the signal's reason.
 */
export class ActionDeniedError extends Error implements ActionDenial {
  override readonly name = 'ActionDeniedError';
  /** Stable code. */
  readonly code = 'ACTION_DENIED';
  /** HTTP status recorded in the event. */
  readonly status = 403;
  /** Tells runtimes that run failed steps again, such as Vercel's workflow, that another attempt is pointless. */
  readonly fatal = true;
  readonly toolName: string;
  readonly because: DeniedBecause;
  readonly decision: 'deny' | 'require_approval' | undefined;
  readonly deniedBy: 'policy' | 'person' | undefined;
  readonly policyId: string | undefined;
  readonly policyName: string | undefined;
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
    this.policyName = denial.policyName;
    this.pendingActionId = denial.pendingActionId;
    this.reason = denial.reason;
  }

  /** Returns `true` for such an error, also from another copy of this package. */
  static isInstance(value: unknown): value is ActionDeniedError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/** Returns the name and the id of the policy that denied or held a call; an empty text if neither is known. */
export function policyOf({ policyId, policyName }: Pick<ActionDenial, 'policyId' | 'policyName'>): string {
  if (policyName === undefined) return policyId === undefined ? '' : `policy ${policyId}`;
  const name = `policy ${JSON.stringify(policyName)}`;
  return policyId === undefined ? name : `${name} (${policyId})`;
}

function messageFor(denial: ActionDenial): string {
  const { toolName, because, deniedBy, reason } = denial;
  const policy = policyOf(denial);
  const under = policy && ` under ${policy}`;
  const tool = `The call of the tool ${JSON.stringify(toolName)} was not run:`;
  if (because === 'approval-timed-out') {
    return `${tool} it needs a person's approval${under}, and none was given in time. Continue without it, or ask the user.`;
  }
  if (because === 'unavailable') {
    return `${tool} the policy check failed, and calls are denied in that case. Do not retry now; tell the user.`;
  }
  const who =
    deniedBy === 'person' ? `a person denied it${under}.` : `it was denied${policy && ` by ${policy}`}.`;
  const words = reason ? ` ${reason.trim().replace(/\.?$/, '.')}` : '';
  return `${tool} ${who}${words} Do not repeat the same call; choose another way or tell the user.`;
}
