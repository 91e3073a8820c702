// Other recorders, over LangChain's callbacks where they have any, each as its own documentation sets it up. Their queues
// are large enough for what is measured, so that cost is compared with all of them delivering.
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { tool } from '@langchain/core/tools';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import * as z from 'zod';
import { langfuseProcessor, langsmithClient, otlpExporter, registerProvider } from './senders.mjs';

export { agentops } from './agentops.mjs';

/** A tool that does nothing, for every recorder the same. */
export function createTool() {
  return tool(async () => 'ok', { name: 'search', description: 'search', schema: z.any() });
}

/** The floor of the hook: a handler that records nothing. */
export async function empty() {
  class EmptyHandler extends BaseCallbackHandler {
    name = 'empty';
    awaitHandlers = true;
    handleToolStart() {}
    handleToolEnd() {}
  }
  return { callbacks: [new EmptyHandler()], flush: async () => {} };
}

export async function langsmith(url) {
  const client = await langsmithClient(url);
  return {
    callbacks: [new LangChainTracer({ client, projectName: 'benchmark' })],
    flush: () => client.awaitPendingTraceBatches(),
  };
}

export async function langfuse(url) {
  const { CallbackHandler } = await import('@langfuse/langchain');
  const processor = await langfuseProcessor(url);
  await registerProvider(processor);
  return { callbacks: [new CallbackHandler()], flush: () => processor.forceFlush() };
}

export async function openinference(url) {
  const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
  const { LangChainInstrumentation } = await import('@arizeai/openinference-instrumentation-langchain');
  const callbackManager = await import('@langchain/core/callbacks/manager');
  const processor = new BatchSpanProcessor(await otlpExporter(url));
  const instrumentation = new LangChainInstrumentation({ tracerProvider: await registerProvider(processor) });
  instrumentation.manuallyInstrument(callbackManager);
  return { flush: () => processor.forceFlush() };
}
