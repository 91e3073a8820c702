import { type AdapterCalls, processWide, withMethods } from '@actlog/recorder/adapter';
import { asAction } from './agents-calls.ts';
import { currentRun, type NamedAgent } from './runs/run-scope.ts';

/** Origin of a command or patch. */
interface ActionOrigin {
  readonly agent: NamedAgent;
  readonly callId: string;
}

const origins = processWide(
  '@actlog/openai-agents/action-origins',
  () => new WeakMap<object, ActionOrigin>(),
);

/** Remembers the origin of an action, which the SDK passes on as the same object. */
export function rememberAction(action: object, origin: ActionOrigin): void {
  origins().set(action, origin);
}

/**
 * Wraps an object that executes the model's requests: a shell or an editor. Its named methods are recorded and guarded;
 * everything else, including private fields, is unchanged. The model reads the error that a method throws.
 */
export function withActions<Target extends object>(
  target: Target,
  toolName: string,
  methods: readonly (keyof Target)[],
): Target {
  const own = target as Record<keyof Target, (...args: unknown[]) => unknown>;
  const recorded = methods
    .filter((name) => typeof own[name] === 'function')
    .map((name) => [
      name,
      (action: object, ...rest: unknown[]) => runAction(toolName, action, () => own[name](action, ...rest)),
    ]);
  return withMethods(target, Object.fromEntries(recorded));
}

async function runAction(toolName: string, action: object, act: () => unknown): Promise<unknown> {
  const run = currentRun();
  const { agent, callId } = origins().get(action) ?? {};
  const calls: AdapterCalls | undefined = run?.callsOf(agent);
  if (!run || !calls?.covers(toolName)) return act();
  if (!run.hasSession) await run.sessionId();
  return calls.run(asAction(run.call(agent, { toolName, arguments: action, callId })), act);
}
