import type { AdapterOptions } from '@actlog/recorder/adapter';
import type { ToolHooks } from '@mastra/core/tools';
import { RecordingHooks } from './recording-hooks.ts';

/** The hooks behind `actlog()`. */
export function recordHooks(options: AdapterOptions = {}): ToolHooks {
  return recordAround({}, options);
}

/**
 * The hooks behind `actlog.around()`. Your `beforeToolCall` comes first, so that the guard is asked about what will
 * really run; your `afterToolCall` comes last.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export function recordAround(hooks: ToolHooks, options: AdapterOptions = {}): ToolHooks {
  const recording = new RecordingHooks(hooks, options);
  /** Mastra calls a hook on the object that holds it, which is how a hook knows what became of the other. */
  function beforeToolCall(this: ToolHooks | undefined, ...args: Parameters<RecordingHooks['before']>) {
    keepAfter(this);
    return recording.before(...args);
  }
  const afterToolCall: ToolHooks['afterToolCall'] = (context) => recording.after(context);
  const kept = new WeakSet<object>([afterToolCall]);

  /** Where another hook took the place of the second one, no call would ever end: it goes first, and then the other. */
  function keepAfter(installed: ToolHooks | undefined): void {
    const other = installed?.afterToolCall;
    if (!installed || (other && kept.has(other))) return;
    const both: ToolHooks['afterToolCall'] = async (context) => {
      await recording.end(context);
      await other?.call(installed, context);
    };
    if (Reflect.set(installed, 'afterToolCall', both)) kept.add(both);
  }

  return { beforeToolCall, afterToolCall };
}
