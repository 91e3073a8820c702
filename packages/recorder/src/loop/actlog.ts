import { AdapterCalls } from '../adapter/adapter-calls.ts';
import { refuseOptionsOfFunctions } from '../adapter/adapter-option-checks.ts';
import type { AdapterOptions } from '../adapter/adapter-options.ts';
import { toolContent } from '../adapter/tool-content.ts';
import { version } from '../version.ts';
import { callRunner, type RunCalls } from './call-runner.ts';
import type { LoopFunctions, RunTool } from './run-call.ts';

/**
 * Runs the tool calls of a hand-written loop, recorded, and guarded if the recorder's guard is on:
 *
 * ```ts
 * const runCalls = actlog({ get_weather: ({ city }: { city: string }) => weatherIn(city) });
 *
 * while (true) {
 *   const { message } = await ollama.chat({ model, messages, tools });
 *   const results = await runCalls(message, { messages });
 *   messages.push(message, ...results);
 *   if (results.length === 0) break;
 * }
 * ```
 *
 * Reads the outputs of Amazon Bedrock's Converse API, Mistral, Cohere, Ollama, Gemini and APIs like OpenAI's Chat
 * Completions, and returns results in the same format; for any other provider, a list of `{ name, arguments }`.
 *
 * @param functions - functions by the names of their tools, or one function for all tools
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog(functions: LoopFunctions | RunTool, options?: AdapterOptions): RunCalls {
  const form = 'actlog(functions, { guard })';
  refuseOptionsOfFunctions(functions, options, form);
  const identity = { framework: 'loop', sdk: `@actlog/recorder/loop/${version}`, form };
  return callRunner(new AdapterCalls({ ...identity, resultOf: toolContent }, options), functions);
}
