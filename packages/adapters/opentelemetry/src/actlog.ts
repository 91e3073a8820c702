import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ActlogOptions } from './options.ts';
import { ToolSpanProcessor } from './tool-span-processor.ts';

/**
 * Records every tool call that an instrumented agent makes a span of:
 *
 * ```ts
 * const sdk = new NodeSDK({ spanProcessors: [actlog()] });
 * ```
 *
 * It records only: a span ends when the tool has run. Where a framework has an adapter of its own and that sees the
 * same call, the call is recorded once, by the framework's adapter.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export function actlog(options: ActlogOptions = {}): SpanProcessor {
  return new ToolSpanProcessor(options);
}
