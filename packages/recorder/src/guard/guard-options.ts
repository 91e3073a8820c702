/** Settings of the guard. */
export interface GuardOptions {
  /**
   * `off` asks nothing. `observe` asks without waiting and lets every call run: counters and the diagnostics channel
   * `guarded` tell what `enforce` would have done. `enforce` asks before a call runs. Default: `ACTLOG_GUARD`, else
   * `off`.
   */
  readonly mode?: 'off' | 'observe' | 'enforce' | undefined;
  /**
   * What happens in `enforce` when no answer comes, or none that can be understood. A call that is known to need
   * approval is never let run by this. Required with `enforce`; from `ACTLOG_GUARD_ON_UNAVAILABLE` when that is set.
   */
  readonly onUnavailable?: 'allow' | 'deny' | undefined;
  /**
   * Most milliseconds for the first answer, its retries included. Where the process stood still for half of them or
   * more, as while a tool holds up the event loop, the question is asked again. Default 5,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Most milliseconds that a call waits for a person's approval; what came by then is heard within a second more.
   * Default 300,000.
   */
  readonly holdTimeoutMs?: number | undefined;
  /**
   * Chooses what of the arguments the service may see, for conditions of policies; default: nothing. Where it throws or
   * gives no JSON object, or the service refuses a question for what is shown, the question goes without, and an `allow`
   * then counts as no answer.
   */
  readonly showArguments?: ((args: unknown, toolName: string) => Record<string, unknown>) | undefined;
  /**
   * Where the agent runs, such as `production`, for policies to match: at most 100 characters on one line. Default:
   * `ACTLOG_ENVIRONMENT`.
   */
  readonly environment?: string | undefined;
}
