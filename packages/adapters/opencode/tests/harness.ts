import type { AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { version } from '../src/actlog.ts';
import { actlog } from '../src/index.ts';
import { Host, type HostTool } from './host.ts';

function hostTool({ name, run }: SuiteTool): HostTool {
  return async ({ text }, signal) => {
    if (typeof text === 'string') return run({ text }, signal);
    throw new Error(`The ${name} tool was called with invalid arguments: text: expected a string.`);
  };
}

async function ending({ tools, turns, sessionId, userText = 'go', ...rest }: Scenario): Promise<Ending> {
  const { systemText, adapter, isInstalledTwice, signal, ownHook } = rest;
  const host = new Host(Object.fromEntries(tools.map((tool) => [tool.name, hostTool(tool)])));
  const installed = adapter ? (isInstalledTwice ? [adapter, adapter] : [adapter]) : [];
  for (const options of installed) host.plugins.push(await actlog({ client: host.client }, options));
  if (ownHook) host.plugins.push({ 'tool.execute.before': async ({ tool }) => ownHook(tool) });
  host.start({ id: sessionId, ...(systemText !== undefined && { system: systemText }) });
  signal?.addEventListener('abort', () => host.abort(sessionId));
  const calls = turns.map((turn) => turn.map(({ toolName, arguments: args }) => ({ tool: toolName, args })));
  return { toolResults: await host.prompt(sessionId, userText, calls), finalText: 'done' };
}

/** The hooks of the plugin, called as opencode calls them. */
export const opencodeHarness: AdapterHarness = {
  framework: 'opencode',
  sdk: `@actlog/opencode/${version}`,
  hook: '`"plugin": ["@actlog/opencode"]`',
  // Events have no errors, only texts; an abort has no reason; and the hooks run before and after a tool, not around it.
  abilities: {
    ...fullAbilities,
    thrown: 500,
    timedOut: 499,
    runsTools: false,
    origins: { user: true, system: true, results: true },
  },
  run: ending,
};
