import { AsyncLocalStorage } from 'node:async_hooks';
import { type Method, MethodHooks, processWide } from '@actlog/recorder/adapter';
import { AbstractChatCompletionRunner } from 'openai/lib/AbstractChatCompletionRunner';

interface AssistantMessage {
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function?: { readonly name: string; readonly arguments: string };
  }[];
}

/** The used part of the runner of `runTools`. */
export interface ToolRunner {
  readonly messages?: readonly AssistantMessage[];
  readonly controller?: AbortController;
}

const hookedMethods = new MethodHooks('@actlog/openai/hooked-methods');

const runners = processWide('@actlog/openai/runner', () => new AsyncLocalStorage<ToolRunner>());

/** Returns the runner in which code runs. The SDK passes it to the functions of tools, but not to their `parse`. */
export function currentRunner(): ToolRunner | undefined {
  return runners().getStore();
}

/** Hooks the loop of `runTools` once, so that `currentRunner` knows it. */
export function hookToolRunner(): void {
  const prototype = AbstractChatCompletionRunner.prototype as unknown as { _runTools?: Method };
  if (!prototype._runTools) return; // undocumented
  hookedMethods.hook(prototype, '_runTools', (runner: ToolRunner, run: Method, args) =>
    runners().run(runner, () => run.apply(runner, args)),
  );
}
