import { recordPlugin } from './plugin.ts';

/**
 * Records every tool call of all agents of a runner, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const runner = new InMemoryRunner({ agent, plugins: [actlog()] });
 * ```
 *
 * Put it first in the list: a plugin that answers a callback keeps those behind it from hearing of it.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordPlugin = recordPlugin;
