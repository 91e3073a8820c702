import { installForProcess } from './install.ts';
import { recordPlugin } from './plugin.ts';

/**
 * Records every tool call of all agents of a runner, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = new InMemoryRunner({ agent, plugins: [actlog()] });
 * ```
 *
 * Runners that a tool's function or a callback starts are covered too. `actlog.install()` covers all runners of the
 * process. Put the plugin first in the list: when a plugin returns a value from a callback, the plugins after it are not
 * called.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordPlugin & {
  /**
   * Covers the whole process: records and guards the calls of all runners without a plugin of this package, in their next
   * runs, also of those that exist already. Of several installs, the last one applies.
   *
   * Returns a function that ends the coverage; runs that have begun end as they began.
   */
  readonly install: typeof installForProcess;
} = Object.assign(recordPlugin, { install: installForProcess });
