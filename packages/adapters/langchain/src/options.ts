import type { AdapterOptions } from '@actlog/recorder/adapter';

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {
  /**
   * Handling of errors thrown by tools: `message` reports them to the model, as LangChain does without middleware;
   * `throw` passes them to outer middleware, and ends the run if there is none. Default `message`.
   */
  readonly onToolError?: 'message' | 'throw' | undefined;
}
