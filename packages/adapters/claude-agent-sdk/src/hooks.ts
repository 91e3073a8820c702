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

/** In seconds, a week: a person may take longer to approve than a hook is given by default. */
const holdTimeoutSeconds = 7 * 24 * 60 * 60;

/** Marks a hook, and tells whose it is. */
const brand = Symbol.for('@actlog/claude-agent-sdk/recorder');

type Hooks = NonNullable<Options['hooks']>;
type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;

/** Whether hooks record for this recorder already. */
export function isInstalled(hooks: Options['hooks'], recorder: Recorder): boolean {
  const callbacks = hooks?.PreToolUse?.flatMap((matcher) => matcher.hooks) ?? [];
  return callbacks.some((callback) => (callback as { [brand]?: unknown })[brand] === recorder);
}

/** The user's hooks with ours beside them. All hooks of an event are asked at once, and the strictest answer holds. */
export function recordHooks(own: Options['hooks'], calls: HookedCalls, recorder: Recorder): Hooks {
  const admit = Object.assign(
    on('PreToolUse', (input, signal) => calls.admit(input, signal)),
    { [brand]: recorder },
  );
  const added: Hooks = {
    // Claude Code lets a call run whose hook failed, unless it is told to block it.
    PreToolUse: [{ hooks: [admit], onFailure: 'block', timeout: holdTimeoutSeconds }],
    PostToolUse: after('PostToolUse', (input) => calls.succeeded(input)),
    PostToolUseFailure: after('PostToolUseFailure', (input) => calls.failed(input)),
    PostToolBatch: after('PostToolBatch', (input) => calls.reconcile(input)),
    UserPromptSubmit: after('UserPromptSubmit', (input) => calls.leave(input)),
    SubagentStop: after('SubagentStop', (input) => calls.leave(input)),
  };
  const merged: Hooks = { ...own };
  for (const [event, matchers] of Object.entries(added) as [HookEvent, HookCallbackMatcher[]][]) {
    merged[event] = [...(own?.[event] ?? []), ...matchers];
  }
  return merged;
}

/** A hook that answers. */
function on<Event extends HookEvent>(
  event: Event,
  answer: (input: InputOf<Event>, signal: AbortSignal) => Promise<HookJSONOutput>,
): HookCallback {
  return async (input, _toolUseId, { signal }) =>
    input.hook_event_name === event ? answer(input as InputOf<Event>, signal) : {};
}

/** A hook that is told of something, and changes nothing. */
function after<Event extends HookEvent>(
  event: Event,
  hear: (input: InputOf<Event>) => Promise<void>,
): HookCallbackMatcher[] {
  const callback = on(event, async (input) => {
    await hear(input);
    return {};
  });
  return [{ hooks: [callback] }];
}
