import {
  AdapterCalls,
  type AdapterOptions,
  TargetHooks,
  targetHooks,
  toolContent,
  toolOutcomeStatus,
} from '@actlog/recorder/adapter';
import { version } from './version.ts';

const brand = Symbol.for('@actlog/mcp');

/** The recorders of one client or server. The first records; the others only apply their guards. */
export type Hooks = TargetHooks;

/**
 * Returns the hooks of a client or server.
 *
 * @param wrap - installs the hooks, the first time
 * @param given - those to install; default: new ones
 */
export function hooksOf(target: object, wrap: (hooks: Hooks) => void, given?: Hooks): Hooks {
  return targetHooks(target, brand, wrap, () => given ?? new TargetHooks(mcpCalls));
}

/** Creates the `AdapterCalls` of this adapter. */
function mcpCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'mcp',
      sdk: `@actlog/mcp/${version}`,
      form: 'actlog(client, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: toolContent,
    },
    options,
  );
}
