// Other recorders, with LangChain's callbacks if they support them, each set up as its documentation shows. Their queues
// are large enough for the measurement, so all of them deliver everything.
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

/** Minimum cost of the hook: a handler that records nothing. */
export async function empty() {
  return { callbacks: [new EmptyHandler()], flush: async () => {} };
}

/** Minimum cost of recording with it: a handler that does only the work that every recorder must do. */
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
