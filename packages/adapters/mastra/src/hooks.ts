import { type AdapterOptions, refuseOptions, type WithoutOptions } from '@actlog/recorder/adapter';
import type { ToolHooks } from '@mastra/core/tools';
import { hookInnerAgents, noteRecording } from './inner-agents.ts';
import { RecordingHooks } from './recording-hooks.ts';
import { hookWorkflowSteps } from './workflow-steps.ts';

/** Creates the hooks behind `actlog()`. */
export function recordHooks(options: AdapterOptions = {}): ToolHooks {
  return recordAround({}, options);
}

/**
 * Creates the hooks behind `actlog.around()`. Your `beforeToolCall` runs first, so that the guard checks what will
 * really run; your `afterToolCall` runs last.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function recordAround(hooks: ToolHooks & WithoutOptions, options: AdapterOptions = {}): ToolHooks {
  refuseOptions(hooks, 'actlog.around(hooks, { guard })');
  hookInnerAgents();
  hookWorkflowSteps();
  const recording = new RecordingHooks(hooks, options, (own) => recordAround(own, options));
  /** Mastra calls a hook as a method of its container, through which the other hook can be inspected. */
  function beforeToolCall(this: ToolHooks | undefined, ...args: Parameters<RecordingHooks['before']>) {
    keepAfter(this);
    return recording.before(...args);
  }
  const afterToolCall: ToolHooks['afterToolCall'] = (context) => recording.after(context);
  const kept = new WeakSet<object>([afterToolCall]);

  /**
   * Restores the second hook if another one has replaced it, because calls would never end otherwise. Runs it first,
   * then the other.
   */
  function keepAfter(installed: ToolHooks | undefined): void {
    const other = installed?.afterToolCall;
    if (!installed || (other && kept.has(other))) return;
    const both: ToolHooks['afterToolCall'] = async (context) => {
      await recording.end(context);
      await other?.call(installed, context);
    };
    if (Reflect.set(installed, 'afterToolCall', both)) kept.add(both);
  }

  const recordingHooks = { beforeToolCall, afterToolCall };
  noteRecording(recordingHooks);
  return recordingHooks;
}
