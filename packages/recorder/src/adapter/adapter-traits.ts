import type { ToolOutcome } from '@actlog/tool-call';
import type { AdapterIdentity } from '../adapter-recorder.ts';
import type { OptionTerms } from './adapter-option-checks.ts';
import type { HookedCall } from './hooked-call.ts';

/** Properties of an adapter and its framework. */
export interface AdapterTraits extends AdapterIdentity, OptionTerms {
  /**
   * Returns the status of a call from the framework's outcome: `null` if the call has not finished, `undefined` to use
   * the recorder's own table. Default: the table.
   */
  readonly statusOf?: ((outcome: ToolOutcome, call: HookedCall) => number | null | undefined) | undefined;
  /**
   * Returns the real outcome of a call if the hook cannot see it; `undefined` if another call ran in its place, so that
   * it is not recorded and `responseStatus` is not called. Default: the outcome from the hook.
   */
  readonly outcomeOf?: ((told: ToolOutcome, call: HookedCall) => ToolOutcome | undefined) | undefined;
  /** Unwraps the error thrown by the tool from the framework's wrappers. Default: the error itself. */
  readonly thrownByTool?: ((error: unknown) => unknown) | undefined;
  /**
   * Returns what the model sees of a result, for argument origins, where the framework wraps it. Default: the result
   * itself.
   */
  readonly resultOf?: ((result: unknown) => unknown) | undefined;
  /**
   * `true` if the framework's hook can wait for a person's decision and notices an abort meanwhile. Otherwise a call
   * that needs approval is denied at once. Default true.
   */
  readonly canHold?: boolean | undefined;
  /**
   * Tools with which the framework itself ends a run or returns a typed result, for example for structured output. They
   * have no effect outside the run, so they are neither recorded nor guarded unless `include` lists the exact name.
   * Default: none.
   */
  readonly internalTools?: readonly string[] | undefined;
}
