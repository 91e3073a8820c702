// AgentOps only records calls of the OpenAI Agents SDK, in programs that load it with `require`. So such an agent calls
// the tool, with a model that only requests this call.
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

const require = createRequire(import.meta.url);

/**
 * Time for deliveries before the shutdown, in milliseconds: AgentOps offers no flush, and pending requests
 * fail.
 */
const deliveryMs = 10_000;

/** A model that requests one call with the arguments from `argumentsOf`. */
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
  process.chdir(import.meta.dirname); // it looks for the framework in the current folder
  const { agentops } = require('agentops');
  // It requests a token from the service first. Without the token, nothing is recorded.
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
