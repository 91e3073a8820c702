import { refuseGuard } from '@actlog/recorder/adapter';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ActlogOptions } from './options.ts';
import { ToolSpanProcessor } from './tool-span-processor.ts';

/**
 * Records every tool call for which an instrumented agent creates a span:
 *
 * ```ts
 * const sdk = new NodeSDK({ spanProcessors: [actlog()] });
 * ```
 *
 * It only records, because a span ends after the tool has run. If a framework's own adapter sees the same call, that
 * adapter records it, once.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog(options: ActlogOptions = {}): SpanProcessor {
  refuseGuard(options, "such as actlog of the framework's own adapter");
  return new ToolSpanProcessor(options);
}
