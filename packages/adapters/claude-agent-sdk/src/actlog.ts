import type { Recorder } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  refuseOptions,
  toolContent,
  type WithoutOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import type {
  CanUseTool,
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookJSONOutput,
  McpSdkServerConfigWithInstance,
  McpServerConfig,
  Options,
} from '@anthropic-ai/claude-agent-sdk';
import { HookedCalls, systemTextsOf } from './hooked-calls.ts';
import { OpenCalls, replaced } from './open-calls.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * for await (const message of query({ prompt, options: actlog({ model, allowedTools }) })) console.log(message);
 * ```
 *
 * It adds hooks beside yours and never allows a call: your permissions and prompts still decide about all calls that
 * the guard lets through.
 *
 * @param options - options of the query
 * @param settings - options of the adapter
 * @returns the same options with the hooks added; adding them twice has no effect
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 * @throws TypeError when the options start a bare Claude Code, which calls no hooks
 */
export function actlog<Given extends Options>(
  options?: Given & WithoutOptions<'sessionId'>,
  settings: AdapterOptions = {},
): Given {
  const given: Given = options ?? ({} as Given);
  // A string `sessionId` is also an option of the query.
  const isOfQuery = (value: unknown, name: string) => name === 'sessionId' && typeof value === 'string';
  refuseOptions(given, 'options: actlog({ model }, { guard })', isOfQuery);
  refuseBareMode(given);
  const calls = claudeCalls(settings);
  if (isInstalled(given.hooks, calls.recorder)) return given;
  const open = new OpenCalls(given.abortController?.signal);
  const hooked = new HookedCalls(calls, open, calls.tracesOrigins ? systemTextsOf(given) : []);
  const { canUseTool, mcpServers } = given;
  return {
    ...given,
    hooks: recordHooks(given.hooks, hooked, calls.recorder),
    ...(canUseTool && { canUseTool: withGuard(canUseTool, hooked) }),
    ...(mcpServers && { mcpServers: withCalls(mcpServers, open) }),
  };
}

/**
 * Wraps the user's permission callback. If it allows a call with an input that has not been checked, the guard checks
 * that input; a call that the guard then denies is denied. A denial by the user is recorded at once, because it may end
 * the turn, unless the prompt was withdrawn, because its result is then ignored.
 */
function withGuard(canUseTool: CanUseTool, calls: HookedCalls): CanUseTool {
  return async (toolName, input, options) => {
    const result = await canUseTool(toolName, input, options);
    if (result?.behavior === 'deny' && !options.signal.aborted) await calls.refuse(options);
    if (result?.behavior !== 'allow') return result;
    const message = await calls.change(options, result.updatedInput ?? input, options.signal);
    return message === undefined ? result : { behavior: 'deny', message };
  };
}

/** Creates the `AdapterCalls` of this adapter. */
function claudeCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'claude-agent-sdk',
      sdk: `@actlog/claude-agent-sdk/${version}`,
      form: 'options: actlog({ model }, { guard })',
      // Claude Code returns typed results with it; the run cannot end otherwise.
      internalTools: ['StructuredOutput'],
      resultOf: toolContent,
      outcomeOf: (outcome) => (!outcome.ok && outcome.error === replaced.error ? undefined : outcome),
    },
    options,
  );
}

/** Values that Claude Code treats as true in its environment. */
const yes = ['1', 'true', 'yes', 'on'];

/**
 * Rejects options that start Claude Code in bare mode, which calls no hooks: nothing would be recorded, and calls that
 * the guard denies would run.
 *
 * @throws TypeError for such options
 */
function refuseBareMode({ extraArgs = {}, env = process.env }: Options): void {
  const isBare =
    Object.hasOwn(extraArgs, 'bare') || yes.includes(String(env.CLAUDE_CODE_SIMPLE).trim().toLowerCase());
  if (!isBare) return;
  throw new TypeError(
    'The options start a bare Claude Code, which calls no hooks: nothing would be recorded or guarded. ' +
      'Remove `bare` from `extraArgs` and CLAUDE_CODE_SIMPLE from the environment.',
  );
}

/** Key under which Claude Code passes the id of a call to tools in this process. */
const toolUseIdKey = 'claudecode/toolUseId';

/** The used part of a connection to a server in this process. */
interface Connection {
  onmessage?: (message: unknown, ...rest: unknown[]) => unknown;
}

/**
 * Returns the same MCP servers. Those in this process handle a call as part of it, so that inner calls of their tools
 * are attributed to it.
 */
function withCalls(
  servers: Record<string, McpServerConfig>,
  open: OpenCalls,
): Record<string, McpServerConfig> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, config]) => [
      name,
      config.type === 'sdk' && 'instance' in config ? withInstance(config, open) : config,
    ]),
  );
}

function withInstance(config: McpSdkServerConfigWithInstance, open: OpenCalls): McpServerConfig {
  const connect = async (connection: Connection) => {
    await config.instance.connect(connection as never);
    const { onmessage } = connection;
    if (onmessage) connection.onmessage = within(onmessage.bind(connection), open);
  };
  return { ...config, instance: withMethods(config.instance, { connect }) };
}

function within(
  handle: (...args: unknown[]) => unknown,
  open: OpenCalls,
): NonNullable<Connection['onmessage']> {
  return (message, ...rest) => {
    const toolUseId = toolUseIdOf(message);
    const run = () => handle(message, ...rest);
    return toolUseId === undefined ? run() : open.step(toolUseId, run);
  };
}

function toolUseIdOf(message: unknown): string | undefined {
  const { params } = (message ?? {}) as { params?: { _meta?: Record<string, unknown> } };
  const toolUseId = params?._meta?.[toolUseIdKey];
  return typeof toolUseId === 'string' ? toolUseId : undefined;
}

/** One week in seconds: a person may take longer to approve than the default time limit of a hook. */
const holdTimeoutSeconds = 7 * 24 * 60 * 60;

/** Marks a hook with its recorder. */
const brand = Symbol.for('@actlog/claude-agent-sdk/recorder');

type Hooks = NonNullable<Options['hooks']>;
type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;

/** Returns `true` if the hooks already record for this recorder. */
function isInstalled(hooks: Options['hooks'], recorder: Recorder): boolean {
  const callbacks = hooks?.PreToolUse?.flatMap((matcher) => matcher.hooks) ?? [];
  return callbacks.some((callback) => (callback as { [brand]?: unknown })[brand] === recorder);
}

/** Returns the user's hooks with ours added. All hooks of an event run in parallel, and the strictest result wins. */
function recordHooks(own: Options['hooks'], calls: HookedCalls, recorder: Recorder): Hooks {
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
