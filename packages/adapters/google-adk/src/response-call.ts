import type { ToolOutcome } from '@actlog/recorder';
import type { LlmResponse } from '@google/adk';

/** A part of a response of the model. */
export type Part = NonNullable<NonNullable<LlmResponse['content']>['parts']>[number];

/** A call that is only visible in the model's response. */
export interface ResponseCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly callId?: string | undefined;
  readonly outcome: ToolOutcome;
  /** Object in the response that identifies the call. */
  readonly source: object;
}

/** Creates the outcome of a failed call whose error is unknown. */
export function failed(status: number, message: string): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
