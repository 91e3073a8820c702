/** Decision of a service, as `readDecision` maps it. */
export interface GuardDecision {
  /** `allow` runs the call, `deny` does not, `require_approval` holds it and repeats the check. */
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** Reason for the model that requested the call, such as the message of the policy. */
  readonly reason?: string | undefined;
  /** Policy that decided. */
  readonly policyId?: string | number | undefined;
  /** Name of the policy, for the model and its user. */
  readonly policyName?: string | undefined;
  /** Pending action of a held call. */
  readonly pendingActionId?: string | number | undefined;
  /** Source of a denial. Default: `policy`. */
  readonly deniedBy?: 'policy' | 'person' | undefined;
  /** `true` if the call was denied because nobody decided in time. Default false. */
  readonly isTimedOut?: boolean | undefined;
}

/** Maps the body of a response of `POST /v1/policies/check` to a decision; undefined if it has none. */
export type ReadDecision = (body: Readonly<Record<string, unknown>>) => GuardDecision | undefined;

/** Options of the guard. */
export interface GuardOptions {
  /**
   * `off` checks nothing. `observe` checks without waiting and lets every call run: counters and the diagnostics
   * channel `guarded` report what `enforce` would have done. `enforce` checks before a call runs. Default:
   * `ACTLOG_GUARD`, else `off`.
   */
  readonly mode?: 'off' | 'observe' | 'enforce' | undefined;
  /**
   * Behavior of `enforce` if the service does not respond, or responds with an error. Never applies to a call that is
   * known to need approval, nor to a response whose decision cannot be read: such calls do not run. Required with
   * `enforce`; default: `ACTLOG_GUARD_ON_UNAVAILABLE`.
   */
  readonly onUnavailable?: 'allow' | 'deny' | undefined;
  /**
   * Time limit of the first check, with its retries, in milliseconds. If the event loop was stalled for half of it or
   * more, for example by a tool, the check is repeated. Default 5,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum wait for a person's approval, in milliseconds; decisions made by then are noticed within another second.
   * Default 300,000.
   */
  readonly holdTimeoutMs?: number | undefined;
  /**
   * Selects the parts of the arguments that are sent to the service, for policy conditions. Default: none. If it throws
   * or returns something other than a JSON object, or if the service rejects the check because of the arguments, the
   * check is sent without them, and an `allow` then counts as no response.
   */
  readonly showArguments?: ((args: unknown, toolName: string) => Record<string, unknown>) | undefined;
  /**
   * Maps the responses of a service that words its decisions in its own way, because the specification does not fix
   * them. If it throws or returns no decision, the call does not run. Default: the fields of the reference profile.
   */
  readonly readDecision?: ReadDecision | undefined;
  /**
   * Environment that the agent runs in, such as `production`, for policies to match: at most 100 characters on one
   * line. Default: `ACTLOG_ENVIRONMENT`.
   */
  readonly environment?: string | undefined;
  /**
   * Person or system on whose behalf the agent acts, for conditions and approvers: at most 200 characters on one line. A
   * function names that of a call, and returns undefined for none; if it throws or returns anything else, the call
   * counts as not checked, and `onUnavailable` decides. Default: none is sent.
   */
  readonly principal?: string | ((call: PrincipalCall) => string | undefined) | undefined;
}

/** Call whose principal is needed. */
export interface PrincipalCall {
  readonly agentId: string;
  readonly sessionId: string;
  readonly toolName: string;
}
