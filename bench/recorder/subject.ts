import type { CallTool } from './measured-calls.ts';

/** A measured subject: a tool call and a way to deliver. */
export interface Subject {
  readonly call: CallTool;
  readonly flush: () => Promise<unknown>;
}
