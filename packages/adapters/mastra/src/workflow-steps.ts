import { MethodHooks, withMethods } from '@actlog/recorder/adapter';
import { DefaultExecutionEngine } from '@mastra/core/workflows';
import { processCoverage, runReportedId } from './covered-tools.ts';
import { recordedExecute, type ToolContext } from './recorded-execute.ts';
import { inWorkflowRun } from './workflow-runs.ts';

const methods = new MethodHooks('@actlog/mastra/workflow-methods');

/** Input of a step, from its workflow. */
interface StepInput extends ToolContext {
  readonly inputData?: unknown;
}

/** A step of a workflow. */
interface Step {
  readonly id: string;
  /** `TOOL` for a step that was made of a tool. */
  readonly component?: string;
  readonly execute: (input: StepInput) => unknown;
}

/** The used part of the engine of a workflow. */
interface Engine {
  readonly options?: { readonly tracingPolicy?: { readonly internal?: unknown } | undefined };
}

/**
 * Covers the tools that are steps of workflows, also of those created before, and keeps all calls of a workflow's run in
 * one session.
 */
export function hookWorkflowSteps(): void {
  const prototype = DefaultExecutionEngine.prototype as unknown as { executeStep: unknown };
  methods.hook(prototype, 'executeStep', (engine: Engine, executeStep, [params, ...more]) => {
    const { step, runId } = params as { readonly step: Step; readonly runId: string };
    const changed = step?.component === 'TOOL' ? { ...(params as object), step: coveredStep(step) } : params;
    const run = () => executeStep.apply(engine, [changed, ...more]);
    // Mastra's agents are internal workflows, too.
    return engine.options?.tracingPolicy?.internal ? run() : inWorkflowRun(runId, run);
  });
}

function coveredStep(step: Step): Step {
  const coverage = processCoverage.current;
  if (!coverage?.calls.covers(step.id)) return step;
  const execute = (given: StepInput) => {
    const run = () => runReportedId(step.id, () => step.execute(given));
    const { requestContext, tracingContext, abortSignal, suspend } = given;
    const context = { requestContext, tracingContext, abortSignal, workflow: { suspend } } as ToolContext;
    return recordedExecute(step.id, run, coverage.calls)(given.inputData, context);
  };
  return withMethods(step, { execute }, 'class-methods');
}
