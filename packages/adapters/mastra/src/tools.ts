import { type AdapterOptions, refuseOptions, type ToolsOnly, withMethods } from '@actlog/recorder/adapter';
import type { ToolsInput } from '@mastra/core/agent';
import { prepareScopes } from './call-scope.ts';
import { noteReporting, runReported } from './covered-tools.ts';
import { hookInstructions } from './instructions.ts';
import { mastraCalls } from './mastra-calls.ts';
import { nameForModel } from './model-name.ts';
import { type Execute, isExecutable, recordedExecute } from './recorded-execute.ts';
import { hookWorkflowSteps } from './workflow-steps.ts';

/**
 * Wraps tools for `actlog.tools()`: the same tools, of the same types, recorded and guarded wherever Mastra runs them.
 *
 * @param tools - tools by name, as passed to an agent
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function recordTools<Tools extends ToolsInput>(
  tools: Tools & ToolsOnly<Tools>,
  options: AdapterOptions = {},
): Tools {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  prepareScopes();
  hookWorkflowSteps();
  const calls = mastraCalls(options);
  if (calls.tracesOrigins) hookInstructions();
  const entries = Object.entries(tools as Record<string, unknown>).map(([name, tool]) => {
    const toolName = nameForModel(name);
    const isRecorded = isExecutable(tool) && calls.covers(toolName);
    if (!isRecorded) return [name, tool];
    const execute: Execute = (...args) => runReported(tool, ...args);
    const recorded = recordedExecute(toolName, execute, calls, tool.execute);
    noteReporting(recorded);
    // Its own functions may be schemas.
    return [name, withMethods(tool, { execute: recorded }, 'class-methods')];
  });
  return Object.fromEntries(entries) as Tools;
}
