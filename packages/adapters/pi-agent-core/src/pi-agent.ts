/** A tool of pi, in all of its versions and under both names of its package. */
export interface PiTool {
  readonly name: string;
  readonly execute: (
    toolCallId: string,
    params: never,
    signal?: AbortSignal,
    onUpdate?: never,
  ) => Promise<unknown>;
}

/** The part of pi's `Agent` that the adapter uses, in all of its versions and under both names of its package. */
export interface PiAgent {
  readonly state: {
    readonly tools: readonly PiTool[];
    readonly messages: readonly unknown[];
    readonly systemPrompt: string;
    readonly isStreaming: boolean;
  };
  /** Session that the application gave the agent. */
  readonly sessionId?: string | undefined;
  /** Signal of the current run. */
  readonly signal: AbortSignal | undefined;
  prompt(input: never): Promise<void>;
  continue(): Promise<void>;
  subscribe(listener: (event: { readonly type: string }) => void): () => void;
}

/** The events of an agent that the adapter hears. */
export type PiEvent =
  | { readonly type: 'turn_start' }
  | {
      readonly type: 'tool_execution_start';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: unknown;
    }
  | {
      readonly type: 'tool_execution_end';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly result: unknown;
      readonly isError: boolean;
      /** Time for which the tool ran; missing in older versions, and if it did not run. */
      readonly durationMs?: number;
    };

/** Returns `true` for an agent of pi. */
export function isPiAgent(value: unknown): value is PiAgent {
  const { state, prompt, subscribe } = (value ?? {}) as Partial<PiAgent>;
  return Array.isArray(state?.tools) && typeof prompt === 'function' && typeof subscribe === 'function';
}
