// Other recorders, over LangChain's callbacks where they have any, each as its own documentation sets it up. Their queues
// are large enough for what is measured, so that cost is compared with all of them delivering.
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { tool } from '@langchain/core/tools';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import * as z from 'zod';
import { leastRecorder } from '../recorder/least-recorder.ts';
import { langfuseProcessor, langsmithClient, otlpExporter, registerProvider } from './senders.mjs';

export { agentops } from './agentops.mjs';

/** Creates a tool that does nothing, the same for every recorder. */
export function createTool() {
  return tool(async () => 'ok', { name: 'search', description: 'search', schema: z.any() });
}

class EmptyHandler extends BaseCallbackHandler {
  name = 'empty';
  awaitHandlers = true;
  handleToolStart() {}
  handleToolEnd() {}
}

/** The floor of the hook: a handler that records nothing. */
export async function empty() {
  return { callbacks: [new EmptyHandler()], flush: async () => {} };
}

/** The floor of recording by it: a handler that does what no recorder can save, with what it is told of a call. */
export async function least() {
  const record = leastRecorder(true);
  class LeastHandler extends EmptyHandler {
    name = 'least';
    #inputs = new Map();
    #ended = 0;

    handleToolStart(_tool, input, runId) {
      this.#inputs.set(runId, input);
    }

    handleToolEnd(_output, runId) {
      record(this.#ended, JSON.parse(this.#inputs.get(runId)));
      this.#inputs.delete(runId);
      this.#ended += 1;
    }
  }
  return { callbacks: [new LeastHandler()], flush: async () => {} };
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
