import { AdapterCalls, toolContent } from '@actlog/recorder/adapter';
import { isInterruption } from '@actlog/tool-call/spans';
import type { ActlogOptions } from './options.ts';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function otelCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'opentelemetry',
      sdk: `@actlog/opentelemetry/${version}`,
      form: 'spanProcessors: [actlog({ agentId })]',
      resultOf: toolContent,
      statusOf: (outcome) => (!outcome.ok && isInterruption(outcome.error) ? null : undefined),
    },
    options,
  );
}
