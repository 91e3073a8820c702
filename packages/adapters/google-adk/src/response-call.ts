import type { ToolOutcome } from '@actlog/recorder';
import type { LlmResponse } from '@google/adk';

/** A part of what the model answered. */
export type Part = NonNullable<NonNullable<LlmResponse['content']>['parts']>[number];

/** A call that only the model's response tells of. */
export interface ResponseCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly callId?: string | undefined;
  readonly outcome: ToolOutcome;
  /** What tells of it in the response. */
  readonly source: object;
}

/** How a call ended that is known to have failed, and how, but not with what error. */
export function failed(status: number, message: string): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
