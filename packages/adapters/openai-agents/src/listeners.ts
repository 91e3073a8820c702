import { responseStatuses } from '@actlog/recorder';
import type { FunctionTool, Runner } from '@openai/agents';
import { noteAction } from './actions.ts';
import { failure } from './agents-calls.ts';
import { outcomeOf } from './guardrails.ts';
import { currentRun } from './runs/run-scope.ts';

const listening = new WeakSet<object>();

/** Listens to tool starts and ends of a runner; the SDK calls its listeners synchronously. */
export function listen(runner: Runner): void {
  if (listening.has(runner)) return;
  listening.add(runner);
  runner.on('agent_start', (_context, agent) => currentRun()?.reach(agent));
  runner.on('agent_handoff', (_context, _from, to) => currentRun()?.reach(to));
  runner.on('agent_tool_start', (_context, agent, _tool, { toolCall }) => {
    const run = currentRun();
    if (!run) return;
    if (toolCall.type === 'function_call') run.enter(toolCall.callId);
    if (toolCall.type !== 'shell_call' && toolCall.type !== 'apply_patch_call') return;
    const { callId } = toolCall;
    run.seen.add(callId);
    noteAction(toolCall.type === 'shell_call' ? toolCall.action : toolCall.operation, { agent, callId });
  });
  runner.on('agent_tool_end', (_context, _agent, tool, output, { toolCall }) => {
    const run = currentRun();
    if (!run || toolCall.type !== 'function_call') return;
    const { callId } = toolCall;
    // The output guardrail handles successful calls; the remaining ones threw or were interrupted.
    if (!run.isUnderWay(callId)) return;
    const outcome = outcomeOf(run, tool as unknown as FunctionTool, callId, output);
    const status = output === 'aborted' ? responseStatuses.aborted : responseStatuses.threw;
    void run.end(callId, outcome.ok ? failure(status, output) : outcome);
  });
}
