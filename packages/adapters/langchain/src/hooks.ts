import type { Method } from '@actlog/recorder/adapter';
import { frameworkClasses } from './framework-classes.ts';
import { withGeneratedRunId } from './generated-run-ids.ts';
import { asGraphRun } from './graph-runs.ts';
import { hookedMethods } from './hooked-methods.ts';
import { hookModels } from './hooked-models.ts';
import { hookTools } from './hooked-tools.ts';
import { hookAgents } from './own-agents.ts';
import { innermostCall } from './recorded-calls.ts';
import { givenSession, messagesOf, type RunContext } from './run-context.ts';
import { hookToolNodes } from './tool-nodes.ts';

/** The used part of a graph. */
interface Graph {
  readonly name?: unknown;
  /** Configuration of every run, from `withConfig`. */
  readonly config?: RunContext | undefined;
}

/** Hooks the classes of LangChain and LangGraph, each once in the process. */
export function hookLangChain(): void {
  for (const { tools, toolNodes, agents, graphs, models } of frameworkClasses()) {
    tools.forEach(hookTools);
    toolNodes.forEach(hookToolNodes);
    agents.forEach(hookAgents);
    graphs.forEach(hookGraphs);
    models.forEach(hookModels);
  }
}

/** Hooks the method by which every graph runs, also by its other methods. */
function hookGraphs(prototype: object): void {
  const graphs = prototype as Record<string, Method>;
  hookedMethods.hook(graphs, 'streamEvents', (graph: Graph, streamEvents, [input, config, ...rest]) =>
    streamEvents.apply(graph, [input, withGeneratedRunId(config as RunContext | undefined), ...rest]),
  );
  hookedMethods.hook(graphs, 'stream', (graph: Graph, stream, args) => {
    const [input, config] = args as [unknown, RunContext | undefined];
    const given = {
      messages: messagesOf(input),
      sessionId: givenSession({ ...graph.config, ...config }),
      startedIn: innermostCall(),
    };
    return asGraphRun(graph, given, () => stream.apply(graph, args));
  });
}
