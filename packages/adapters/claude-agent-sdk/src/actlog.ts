import { type AdapterOptions, refuseOptions, type WithoutOptions } from '@actlog/recorder/adapter';
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { refuseBareMode } from './bare-mode.ts';
import { claudeCalls } from './claude-calls.ts';
import { HookedCalls } from './hooked-calls.ts';
import { isInstalled, recordHooks } from './hooks.ts';
import { OpenCalls } from './open-calls.ts';
import { withGuard } from './permissions.ts';
import { withCalls } from './sdk-servers.ts';
import { systemTextsOf } from './shown-texts.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * for await (const message of query({ prompt, options: actlog({ model, allowedTools }) })) console.log(message);
 * ```
 *
 * It adds hooks beside your own and never allows a call: your permissions and prompts still decide about all calls that
 * the guard lets through.
 *
 * @param options - options of the query
 * @param settings - options of the adapter
 * @returns the same options with the hooks added; adding them twice has no effect
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 * @throws TypeError when the options start a bare Claude Code, which calls no hooks
 */
export function actlog<Given extends Options>(
  options?: Given & WithoutOptions<'sessionId'>,
  settings: AdapterOptions = {},
): Given {
  const given: Given = options ?? ({} as Given);
  // The session's own id is an option of the query, too.
  const isOfQuery = (value: unknown, name: string) => name === 'sessionId' && typeof value === 'string';
  refuseOptions(given, 'options: actlog({ model }, { guard })', isOfQuery);
  refuseBareMode(given);
  const calls = claudeCalls(settings);
  if (isInstalled(given.hooks, calls.recorder)) return given;
  const open = new OpenCalls(given.abortController?.signal);
  const hooked = new HookedCalls(calls, open, calls.tracesOrigins ? systemTextsOf(given) : []);
  const { canUseTool, mcpServers } = given;
  return {
    ...given,
    hooks: recordHooks(given.hooks, hooked, calls.recorder),
    ...(canUseTool && { canUseTool: withGuard(canUseTool, hooked) }),
    ...(mcpServers && { mcpServers: withCalls(mcpServers, open) }),
  };
}
