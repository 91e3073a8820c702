import type { GuardOptions, Recorder, ResponseStatusMapping } from '@actlog/recorder';

/** Which tools are meant: by name, by pattern, or by your own rule. */
export type ToolFilter = readonly (string | RegExp)[] | ((toolName: string) => boolean);

/** A session id, or what gives one when a call happens; `undefined` leaves it to the adapter. */
export type SessionSource = string | (() => string | undefined);

/** Settings of the adapter. All are optional. */
export interface ActlogOptions {
  /** Where events go. Default: the recorder of this process, set up from the environment. */
  readonly recorder?: Recorder | undefined;
  /** Asks before a call runs. Goes to the recorder of this process; with a `recorder` of your own, set it there. */
  readonly guard?: GuardOptions | undefined;
  /** The agent. Default: the agent's `name` where `createAgent` gave one, else the recorder's. */
  readonly agentId?: string | undefined;
  /** The session. Default: the thread id, else the run id, else one for each conversation. */
  readonly sessionId?: SessionSource | undefined;
  /** Gives a tool another name on the record, such as one with its server in front. */
  readonly toolName?: ((toolName: string) => string) | undefined;
  /** Gives the status of calls; LangChain's own outcomes and the recorder's table answer for the rest. */
  readonly responseStatus?: ResponseStatusMapping | undefined;
  /** Only these tools are recorded and guarded. Default: all. */
  readonly include?: ToolFilter | undefined;
  /** These tools are neither recorded nor guarded. */
  readonly exclude?: ToolFilter | undefined;
  /**
   * What the middleware does with an error that a tool throws: `message` tells the model, as LangChain does where
   * there is no middleware; `throw` lets it pass to middleware further out, and ends the run where there is none.
   * Default `message`.
   */
  readonly onToolError?: 'message' | 'throw' | undefined;
}
