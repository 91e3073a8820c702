import { recordSteps } from './steps.ts';
import { recordTelemetry } from './telemetry.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new ToolLoopAgent({ model, tools: actlog({ weather, sendMail }) });
 * ```
 *
 * Accepts the tools of `generateText`, `streamText` and every agent, in `ai` 6 and 7. To record calls that reach none
 * of your tools, use `registerTelemetry(actlog.telemetry())` in `ai` 7, or `onStepFinish: actlog.steps()` in `ai` 6.
 *
 * @returns the same tools, of the same types; those that only a client or a provider can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Integration for `registerTelemetry` of `ai` 7: records every call of the process that nothing else records. */
  readonly telemetry: typeof recordTelemetry;
  /** Callback for `onStepFinish`: records the calls that reach none of your tools. */
  readonly steps: typeof recordSteps;
} = Object.assign(recordTools, { telemetry: recordTelemetry, steps: recordSteps });
