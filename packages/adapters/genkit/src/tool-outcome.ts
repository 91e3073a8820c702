import { defaultResponseStatus, type ToolOutcome } from '@actlog/recorder';
import { toolContent } from '@actlog/recorder/adapter';
import type { ToolResponsePart } from 'genkit';

/**
 * Returns the status of a tool's error: `null` for a tool that interrupted the generation and may run again, the HTTP
 * code of Genkit's own errors, or `undefined` for the recorder's own table.
 */
export function toolOutcomeStatus(outcome: ToolOutcome): number | null | undefined {
  if (outcome.ok) return defaultResponseStatus({ ok: true, result: outputOf(outcome.result) });
  if (!(outcome.error instanceof Error)) return undefined;
  if (isInterrupt(outcome.error)) return null;
  const { code, status } = outcome.error as { code?: unknown; status?: unknown };
  // Their `status` is a name, such as INVALID_ARGUMENT, and `code` its HTTP status.
  const isOfGenkit = typeof status === 'string' && typeof code === 'number';
  return isOfGenkit && code >= 400 && code <= 599 ? code : undefined;
}

/** Returns what the tool returned, without Genkit's part of a message around it. */
function outputOf(result: unknown): unknown {
  const { toolResponse } = (result ?? {}) as Partial<ToolResponsePart>;
  return toolResponse ? toolResponse.output : result;
}

/** Returns `true` for the error with which a tool interrupts the generation. */
export function isInterrupt(error: unknown): boolean {
  return error instanceof Error && error.name === 'ToolInterruptError';
}

/** Returns what the model sees of a tool's response: its output, and the texts of its parts. */
export function shownResult(result: unknown): unknown {
  const { toolResponse } = (result ?? {}) as Partial<ToolResponsePart>;
  if (!toolResponse) return result;
  const { output, content } = toolResponse as { readonly output?: unknown; readonly content?: unknown };
  if (!Array.isArray(content)) return toolContent(output);
  return [toolContent(output), ...content.map((part: { readonly text?: unknown } | null) => part?.text)];
}
