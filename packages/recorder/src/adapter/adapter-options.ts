import type { ResponseStatusMapping } from '@actlog/tool-call';
import type { GuardOptions } from '../guard/guard-options.ts';
import type { OriginsOptions } from '../origins/origins-options.ts';
import type { Recorder } from '../recorder.ts';

/** Selects tools by name, by pattern or with a function. */
export type ToolFilter = readonly (string | RegExp)[] | ((toolName: string) => boolean);

/**
 * A session id, or a function that returns it for each call. With `undefined` or an empty string, the adapter chooses.
 */
export type SessionSource = string | (() => string | undefined);

/**
 * Options of every adapter. All are optional. If a function throws or returns an invalid value, the error is reported
 * to the recorder's `onError` and the function is ignored: the agent is unaffected.
 */
export interface AdapterOptions {
  /** Recorder of the events. Default: the shared recorder of this process, configured from the environment. */
  readonly recorder?: Recorder | undefined;
  /**
   * Guard that checks calls before they run. Missing options are taken from the recorder's guard. Default: the
   * recorder's guard.
   */
  readonly guard?: GuardOptions | undefined;
  /**
   * Finds out where the arguments of calls through this adapter came from, as the recorder's option `origins` does.
   * Default: as the recorder does.
   */
  readonly origins?: boolean | OriginsOptions | undefined;
  /** Id of the agent. Default: the framework's name of the agent if it has one, else the recorder's. */
  readonly agentId?: string | undefined;
  /** Id of the session. Default: the framework's thread, session or run id. */
  readonly sessionId?: SessionSource | undefined;
  /**
   * Renames a tool in events and for policies, for example to prefix its server. `include` and `exclude` use the name
   * that the model sees.
   */
  readonly toolName?: ((toolName: string) => string) | undefined;
  /** Returns the status of calls. For `undefined`, the framework's own outcomes and the recorder's table apply. */
  readonly responseStatus?: ResponseStatusMapping | undefined;
  /** Records and guards only these tools. Default: all. */
  readonly include?: ToolFilter | undefined;
  /** Tools that are neither recorded nor guarded. */
  readonly exclude?: ToolFilter | undefined;
}
