import type { ToolOutcome } from '@actlog/recorder';
import type { ModelResponse } from '@openai/agents';

/** An item of the model's output. */
export type ModelItem = ModelResponse['output'][number];

/** A call reconstructed from the items of a run. */
export interface EndedCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly outcome: ToolOutcome;
}
