import type { CallTool } from './measured-calls.ts';

/** Something to measure: how it calls a tool, and how it is made to deliver. */
export interface Subject {
  readonly call: CallTool;
  readonly flush: () => Promise<unknown>;
}
