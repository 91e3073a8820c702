import type { AdapterIdentity } from '../adapter-recorder.ts';
import type { ToolOutcome } from '../response-status.ts';
import type { HookedCall } from './hooked-call.ts';

/** What an adapter says of itself and of its framework. */
export interface AdapterTraits extends AdapterIdentity {
  /**
   * The status of what the framework made of a call: `null` for what was no finished call, `undefined` where the
   * recorder's own table knows best. Default: the table.
   */
  readonly statusOf?: ((outcome: ToolOutcome, call: HookedCall) => number | null | undefined) | undefined;
  /**
   * How a call ended, where the hook cannot tell: `undefined` for one in whose place another ran, which is not recorded
   * and which the user's `responseStatus` is not asked about. Default: as the hook told.
   */
  readonly outcomeOf?: ((told: ToolOutcome, call: HookedCall) => ToolOutcome | undefined) | undefined;
  /** What the tool threw, out of the wrappers that the framework puts around it. Default: the error as it is. */
  readonly thrownByTool?: ((error: unknown) => unknown) | undefined;
  /**
   * Whether the framework's hook can wait for a person, and hears of an abort meanwhile. Where it cannot, a call that
   * needs approval is denied at once. Default true.
   */
  readonly canHold?: boolean | undefined;
}
