import { recordPlugin } from './plugin.ts';

/**
 * Records every tool call of all agents of a runner, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = new InMemoryRunner({ agent, plugins: [actlog()] });
 * ```
 *
 * Put it first in the list: when a plugin returns a value from a callback, the plugins after it are not called.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordPlugin = recordPlugin;
