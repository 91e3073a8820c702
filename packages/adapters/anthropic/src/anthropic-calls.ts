import { ActionDeniedError, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls } from '@actlog/recorder/adapter';
import { isInvalidInput } from './invalid-input.ts';
import type { ActlogOptions } from './options.ts';
import { version } from './version.ts';

/** What passes the Anthropic SDK's calls to the recorder. */
export function anthropicCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    { framework: 'anthropic', sdk: `@actlog/anthropic/${version}`, statusOf, thrownByTool },
    options,
  );
}

function statusOf(outcome: ToolOutcome): number | undefined {
  return !outcome.ok && isInvalidInput(outcome.error) ? responseStatuses.invalidArguments : undefined;
}

/** A denial of a hook further in comes as the error that tells the model of it. */
function thrownByTool(error: unknown): unknown {
  const cause = (error as { cause?: unknown } | null | undefined)?.cause;
  return ActionDeniedError.isInstance(cause) ? cause : error;
}
