// AgentOps sees the calls of the OpenAI Agents SDK only, in programs that load it with `require`: in others it records
// nothing. So the tool is called by such an agent, with a model that asks for the call and nothing after it.
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

const require = createRequire(import.meta.url);

/**
 * Time for deliveries before the shutdown, in milliseconds: AgentOps offers no flush, and pending requests
 * fail.
 */
const deliveryMs = 10_000;

/** A model that asks for one call with what `argumentsOf` gives. */
function modelFor(usage, argumentsOf) {
  return {
    async getResponse() {
      const call = {
        type: 'function_call',
        callId: 'call',
        name: 'search',
        status: 'completed',
        arguments: JSON.stringify(argumentsOf()),
      };
      return { usage, responseId: 'response', output: [call] };
    },
    async *getStreamedResponse() {},
  };
}

export async function agentops(url) {
  process.chdir(import.meta.dirname); // where it looks for the framework
  const { agentops } = require('agentops');
  // It asks the service for a token first. An agent that goes on without it records nothing.
  await agentops.init({ apiKey: 'benchmark', apiEndpoint: url, otlpEndpoint: url }).catch(() => {});
  const { Agent, getGlobalTraceProvider, run, tool, Usage } = require('@openai/agents');
  let current = {};
  const search = tool({
    name: 'search',
    description: 'search',
    strict: false,
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
    execute: async () => 'ok',
  });
  const agent = new Agent({
    name: 'benchmark',
    model: modelFor(new Usage(), () => current),
    tools: [search],
    toolUseBehavior: 'stop_on_first_tool',
  });
  return {
    async call(args) {
      current = args;
      await run(agent, 'search');
    },
    async flush() {
      await getGlobalTraceProvider().forceFlush();
      await delay(deliveryMs);
      await agentops.shutdown().catch(() => {});
    },
  };
}
