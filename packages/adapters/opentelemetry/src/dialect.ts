import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** What a span tells of a tool call. */
export interface ToolSpan {
  readonly toolName: string;
  readonly callId?: string | undefined;
  /** Undefined where the span does not show them. */
  readonly arguments?: unknown;
  /** What the tool returned, as the span shows it. */
  readonly result?: string | undefined;
  /** Name of the error that the call ended with, where the status of the span does not tell. */
  readonly errorName?: string | undefined;
}

/** How one family of emitters writes a tool call into a span. */
export interface Dialect {
  /** Whether a span is of this family, tool call or not. */
  speaks(span: ReadableSpan): boolean;
  /** The tool call of a span of this family; undefined where it is none. */
  read(span: ReadableSpan): ToolSpan | undefined;
}
