import type { Recorder } from '@actlog/recorder';
import type {
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookJSONOutput,
  Options,
} from '@anthropic-ai/claude-agent-sdk';
import type { HookedCalls } from './hooked-calls.ts';

/** One week in seconds: a person may take longer to approve than the default time limit of a hook. */
const holdTimeoutSeconds = 7 * 24 * 60 * 60;

/** Marks a hook with its recorder. */
const brand = Symbol.for('@actlog/claude-agent-sdk/recorder');

type Hooks = NonNullable<Options['hooks']>;
type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;

/** Returns `true` if the hooks already record for this recorder. */
export function isInstalled(hooks: Options['hooks'], recorder: Recorder): boolean {
  const callbacks = hooks?.PreToolUse?.flatMap((matcher) => matcher.hooks) ?? [];
  return callbacks.some((callback) => (callback as { [brand]?: unknown })[brand] === recorder);
}

/** Returns the user's hooks with ours added. All hooks of an event run in parallel, and the strictest result wins. */
export function recordHooks(own: Options['hooks'], calls: HookedCalls, recorder: Recorder): Hooks {
  const admit = Object.assign(
    on('PreToolUse', (input, signal) => calls.admit(input, signal)),
    { [brand]: recorder },
  );
  const added: Hooks = {
    // If a hook fails, Claude Code runs the call unless the hook blocks it.
    PreToolUse: [{ hooks: [admit], onFailure: 'block', timeout: holdTimeoutSeconds }],
    PostToolUse: after('PostToolUse', (input) => calls.succeeded(input)),
    PostToolUseFailure: after('PostToolUseFailure', (input) => calls.failed(input)),
    PostToolBatch: after('PostToolBatch', (input) => calls.reconcile(input)),
    UserPromptSubmit: after('UserPromptSubmit', (input) => calls.prompted(input)),
    SubagentStop: after('SubagentStop', (input) => calls.leave(input)),
  };
  const merged: Hooks = { ...own };
  for (const [event, matchers] of Object.entries(added) as [HookEvent, HookCallbackMatcher[]][]) {
    merged[event] = [...(own?.[event] ?? []), ...matchers];
  }
  return merged;
}

/** Creates a hook with a result. */
function on<Event extends HookEvent>(
  event: Event,
  handle: (input: InputOf<Event>, signal: AbortSignal) => Promise<HookJSONOutput>,
): HookCallback {
  return async (input, _toolUseId, { signal }) =>
    input.hook_event_name === event ? handle(input as InputOf<Event>, signal) : {};
}

/** Creates a hook that only observes. */
function after<Event extends HookEvent>(
  event: Event,
  observe: (input: InputOf<Event>) => Promise<void>,
): HookCallbackMatcher[] {
  const callback = on(event, async (input) => {
    await observe(input);
    return {};
  });
  return [{ hooks: [callback] }];
}
