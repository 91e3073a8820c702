import type { AdapterOptions } from '@actlog/recorder/adapter';
import type { ToolHooks } from '@mastra/core/tools';
import { prepareScopes } from './call-scope.ts';
import { coverTools } from './covered-tools.ts';
import { recordAround } from './hooks.ts';
import { hookInstructions } from './instructions.ts';
import { mastraCalls } from './mastra-calls.ts';
import { processCoverage } from './process-coverage.ts';

/**
 * Covers the whole process: the agents and tools of every Mastra, also those created before, in networks, workflows and
 * code mode too. An agent with its own `actlog()` keeps that, and so do wrapped tools. Of several calls, the last
 * applies.
 *
 * @returns a function that ends the coverage; runs under way end as they began
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function installHooks(options: AdapterOptions = {}): () => void {
  prepareScopes();
  const calls = mastraCalls(options);
  if (calls.tracesOrigins) hookInstructions();
  const hooks = recordAround({}, options);
  const isOwn = (own: ToolHooks | undefined) => own?.beforeToolCall ?? own?.afterToolCall;
  coverTools();
  return processCoverage.install({
    calls,
    cover: (own) => (own && isOwn(own) ? recordAround(own, options) : hooks),
  });
}
