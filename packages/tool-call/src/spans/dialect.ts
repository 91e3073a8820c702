import type { GenAiSpan } from './genai-span.ts';
import type { ShownArguments } from './tool-arguments.ts';

/** A tool call as described by a span. */
export interface ToolSpan extends ShownArguments {
  readonly toolName: string;
  readonly callId?: string | undefined;
  /** Result of the tool, as contained in the span. */
  readonly result?: string | undefined;
  /** Name of the call's error, if the span's status does not indicate it. */
  readonly errorName?: string | undefined;
}

/** Span format of one family of emitters. */
export interface Dialect {
  /** Returns `true` if a span is of this family, tool call or not. */
  speaks(span: GenAiSpan): boolean;
  /** Returns the tool call of a span of this family; undefined for other spans. */
  read(span: GenAiSpan): ToolSpan | undefined;
}
