import { type Method, MethodHooks, stepwise } from '@actlog/recorder/adapter';
import { type BasePlugin, Runner } from '@google/adk';
import { processCoverage, surroundingRuns, within } from './coverage.ts';

/** Symbol on the plugins of this package. */
export const recordsCalls: unique symbol = Symbol.for('@actlog/google-adk/records-calls') as never;

const methods = new MethodHooks('@actlog/google-adk/runner-methods');

/** The used part of a runner. */
interface PluginRunner {
  /** Its list of plugins has no public accessor. */
  readonly pluginManager: { readonly plugins?: ReadonlySet<BasePlugin> };
}

type Run = AsyncGenerator<unknown, void, undefined>;

/**
 * Hooks all runners, so that a run has the plugins of the run or call whose code starts it, else those of the process. A
 * runner with a plugin of this package keeps that.
 */
export function hookRunners(): void {
  for (const name of ['runAsync', 'runLive']) {
    const prototype = Runner.prototype as unknown as Record<string, Method>;
    methods.hook(prototype, name, (runner: PluginRunner, run: Method<Run>, args) => {
      const plugins = recordingPlugins(runner);
      if (plugins.length === 0) return run.apply(runner, args);
      const { sessionId } = args[0] as { readonly sessionId?: string };
      const events = run.apply(coveredRunner(runner, plugins), args);
      return stepwise(events, (step) => within({ plugins, sessionId }, step));
    });
  }
}

/** Returns the plugins of this package that a run must have. */
function recordingPlugins({ pluginManager }: PluginRunner): readonly BasePlugin[] {
  const own = [...(pluginManager.plugins ?? [])].filter((plugin) => recordsCalls in plugin);
  if (own.length > 0) return own;
  const installed = processCoverage.current;
  const [innermost] = surroundingRuns();
  return innermost?.plugins ?? (installed ? [installed] : []);
}

/** Returns a view of a runner that has the plugins for this run only; the runner itself if it has them. */
function coveredRunner(runner: PluginRunner, plugins: readonly BasePlugin[]): PluginRunner {
  const { pluginManager } = runner;
  const own = pluginManager.plugins ?? new Set();
  if (plugins.every((plugin) => own.has(plugin))) return runner;
  const manager = Object.create(pluginManager, { plugins: { value: new Set([...plugins, ...own]) } });
  return Object.create(runner, { pluginManager: { value: manager } }) as PluginRunner;
}
