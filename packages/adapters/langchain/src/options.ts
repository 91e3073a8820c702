import type { AdapterOptions } from '@actlog/recorder/adapter';

/** Settings of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {
  /**
   * What the middleware does with an error that a tool throws: `message` tells the model, as LangChain does where
   * there is no middleware; `throw` lets it pass to middleware further out, and ends the run where there is none.
   * Default `message`.
   */
  readonly onToolError?: 'message' | 'throw' | undefined;
}
