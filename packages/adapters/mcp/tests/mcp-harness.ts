import type { AdapterHarness, Scenario } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import type { AdapterOptions } from '@actlog/recorder/adapter';
import { version } from '../src/hooks.ts';
import { actlog } from '../src/index.ts';
import { type ConnectedClient, playTurns } from './scripted-host.ts';

/** Side of the connection that the adapter is on. */
export type Side = 'client' | 'server';

/** Starts a server with the tools of a scenario, and a client of it; `adapt` is called with both. */
export type Connect = (
  scenario: Scenario,
  adapt: <Target extends Parameters<typeof actlog>[0]>(side: Side, target: Target) => Target,
) => Promise<ConnectedClient>;

/** Creates the harness of one side with one kind of connection. */
export function mcpHarness(adapterSide: Side, connect: Connect): AdapterHarness {
  return {
    hook: adapterSide === 'client' ? '`actlog(client)`' : '`actlog(server)`',
    framework: 'mcp',
    sdk: `@actlog/mcp/${version}`,
    abilities: {
      ...fullAbilities,
      thrown: adapterSide === 'server' ? 502 : 500, // a client only receives the message
      timedOut: adapterSide === 'server' ? 499 : 408, // a server only receives that the call is canceled
      streams: false,
      maxDenials: 'caller',
      changes: 'noticed',
    },
    async run(scenario) {
      const { adapter, isInstalledTwice } = scenario;
      const adapt = <Target extends Parameters<typeof actlog>[0]>(side: Side, target: Target): Target => {
        if (side !== adapterSide) return target;
        if (scenario.ownHook) addOwnHook(target, scenario.ownHook);
        if (adapter) recordTwice(target, adapter, isInstalledTwice ?? false);
        return target;
      };
      const client = await connect(scenario, adapt);
      try {
        return await playTurns(client, scenario);
      } finally {
        await client.close();
      }
    },
  };
}

/** The second guard differs from the first: both apply, and the call is recorded once. */
function recordTwice(target: Parameters<typeof actlog>[0], adapter: AdapterOptions, isTwice: boolean): void {
  actlog(target, adapter);
  if (isTwice) actlog(actlog(target, adapter), { ...adapter, guard: { mode: 'off' } });
}

/** MCP has no hooks, so users wrap a method with their own function, as here. */
function addOwnHook(target: object, hear: (toolName: string) => void): void {
  const { callTool } = target as { callTool?: (params: { name: string }, ...rest: unknown[]) => unknown };
  if (callTool) {
    Object.assign(target, {
      callTool: (params: { name: string }, ...rest: unknown[]) => {
        hear(params.name);
        return callTool.call(target, params, ...rest);
      },
    });
    return;
  }
  const { registerTool } = target as {
    registerTool: (name: string, config: object, run: (...args: unknown[]) => unknown) => unknown;
  };
  Object.assign(target, {
    registerTool: (name: string, config: object, run: (...args: unknown[]) => unknown) =>
      registerTool.call(target, name, config, (...args) => {
        hear(name);
        return run(...args);
      }),
  });
}
