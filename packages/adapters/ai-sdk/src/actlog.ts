import { recordSteps } from './steps.ts';
import { recordTelemetry } from './telemetry.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const agent = new ToolLoopAgent({ model, tools: actlog({ weather, sendMail }) });
 * ```
 *
 * It takes the tools of `generateText`, `streamText` and every agent, in `ai` 6 and 7. Calls that reach no tool of
 * yours are seen by `registerTelemetry(actlog.telemetry())` in `ai` 7, and by `onStepFinish: actlog.steps()` in
 * `ai` 6.
 *
 * @returns the same tools, of the same types; those that only a client or a provider can run are the same objects
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** An integration for `registerTelemetry` of `ai` 7: records every call of the process that nothing else has. */
  readonly telemetry: typeof recordTelemetry;
  /** A callback for `onStepFinish`: records the calls that reach no tool of yours. */
  readonly steps: typeof recordSteps;
} = Object.assign(recordTools, { telemetry: recordTelemetry, steps: recordSteps });
