import type { ToolOutcome } from '@actlog/recorder';
import type { ModelResponse } from '@openai/agents';

/** One thing that the model answered. */
export type ModelItem = ModelResponse['output'][number];

/** A call as it is read from the items of a run. */
export interface EndedCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly outcome: ToolOutcome;
}
