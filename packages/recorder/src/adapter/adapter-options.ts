import type { GuardOptions } from '../guard/guard-options.ts';
import type { Recorder } from '../recorder.ts';
import type { ResponseStatusMapping } from '../response-status.ts';

/** Which tools are meant: by name, by pattern, or by your own rule. */
export type ToolFilter = readonly (string | RegExp)[] | ((toolName: string) => boolean);

/** A session id, or what gives one when a call happens; `undefined` or an empty text leaves it to the adapter. */
export type SessionSource = string | (() => string | undefined);

/**
 * The settings that every adapter takes. All are optional. A function that throws, or that returns what cannot be
 * used, is told to the recorder's `onError` and counts as not given: the agent does not feel it.
 */
export interface AdapterOptions {
  /** Where events go. Default: the recorder of this process, set up from the environment. */
  readonly recorder?: Recorder | undefined;
  /** Asks before a call runs. What it leaves out is as in the recorder's guard. Default: the recorder's guard. */
  readonly guard?: GuardOptions | undefined;
  /** The agent. Default: the framework's name of the agent where it has one, else the recorder's. */
  readonly agentId?: string | undefined;
  /** The session. Default: the framework's thread, session or run id. */
  readonly sessionId?: SessionSource | undefined;
  /**
   * Gives a tool another name on the record and for policies, such as one with its server in front. `include` and
   * `exclude` go by the name that the model knows.
   */
  readonly toolName?: ((toolName: string) => string) | undefined;
  /** Gives the status of calls; the framework's own outcomes and the recorder's table answer for the rest. */
  readonly responseStatus?: ResponseStatusMapping | undefined;
  /** Only these tools are recorded and guarded. Default: all. */
  readonly include?: ToolFilter | undefined;
  /** These tools are neither recorded nor guarded. */
  readonly exclude?: ToolFilter | undefined;
}
