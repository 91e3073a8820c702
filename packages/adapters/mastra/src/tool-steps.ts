import { MethodHooks, withMethods } from '@actlog/recorder/adapter';
import { DefaultExecutionEngine } from '@mastra/core/workflows';
import { runReportedId } from './covered-tools.ts';
import { processCoverage } from './process-coverage.ts';
import { recordedExecute } from './recorded-execute.ts';
import type { ToolContext } from './tool-context.ts';

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

/** Covers the tools that are steps of workflows, also of those created before. */
export function hookToolSteps(): void {
  const engine = DefaultExecutionEngine.prototype as unknown as { executeStep: unknown };
  methods.hook(engine, 'executeStep', (target: object, executeStep, [params, ...more]) => {
    const { step } = params as { readonly step: Step };
    const changed = step?.component === 'TOOL' ? { ...(params as object), step: coveredStep(step) } : params;
    return executeStep.apply(target, [changed, ...more]);
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
