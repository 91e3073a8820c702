/** Options of the guard. */
export interface GuardOptions {
  /**
   * `off` checks nothing. `observe` checks without waiting and lets every call run: counters and the diagnostics
   * channel `guarded` report what `enforce` would have done. `enforce` checks before a call runs. Default:
   * `ACTLOG_GUARD`, else `off`.
   */
  readonly mode?: 'off' | 'observe' | 'enforce' | undefined;
  /**
   * Behavior of `enforce` if no valid response arrives. Never applies to a call that is known to need approval.
   * Required with `enforce`; default: `ACTLOG_GUARD_ON_UNAVAILABLE`.
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
   * Environment that the agent runs in, such as `production`, for policies to match: at most 100 characters on one
   * line. Default: `ACTLOG_ENVIRONMENT`.
   */
  readonly environment?: string | undefined;
}
