import { type Method, MethodHooks } from '@actlog/recorder/adapter';
import { type BasePlugin, Runner } from '@google/adk';
import { callAround, processCoverage } from './coverage.ts';

/** Symbol on the plugins of this package. */
export const recordsCalls: unique symbol = Symbol.for('@actlog/google-adk/records-calls') as never;

const methods = new MethodHooks('@actlog/google-adk/runner-methods');

/** The used part of a runner. */
interface PluginRunner {
  /** Its list of plugins has no public accessor. */
  readonly pluginManager: { readonly plugins?: ReadonlySet<BasePlugin> };
}

/**
 * Hooks all runners, so that a run has the plugins of the recorded call whose tool starts it, else those of the process.
 * A runner with a plugin of this package keeps that.
 */
export function hookRunners(): void {
  for (const name of ['runAsync', 'runLive']) {
    const prototype = Runner.prototype as unknown as Record<string, Method>;
    methods.hook(prototype, name, (runner: PluginRunner, run, args) =>
      run.apply(coveredRunner(runner), args),
    );
  }
}

/** Returns a view of a runner that has the plugins for this run only; the runner itself if it needs none. */
function coveredRunner(runner: PluginRunner): PluginRunner {
  const { pluginManager } = runner;
  const own = [...(pluginManager.plugins ?? [])];
  if (own.some((plugin) => recordsCalls in plugin)) return runner;
  const installed = processCoverage.current;
  const plugins = callAround()?.plugins ?? (installed ? [installed] : []);
  if (plugins.length === 0) return runner;
  const manager = Object.create(pluginManager, { plugins: { value: new Set([...plugins, ...own]) } });
  return Object.create(runner, { pluginManager: { value: manager } }) as PluginRunner;
}
