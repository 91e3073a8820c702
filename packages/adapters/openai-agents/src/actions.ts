import { type AdapterCalls, withMethods } from '@actlog/recorder/adapter';
import { asAction } from './agents-calls.ts';
import { currentRun, type NamedAgent } from './run-scope.ts';

/** Who asked for a command or a patch. */
interface Asked {
  readonly agent: NamedAgent;
  readonly callId: string;
}

const askedBy = new WeakMap<object, Asked>();

/** Notes who asked for an action, which the SDK passes on as the very same object. */
export function noteAction(action: object, asked: Asked): void {
  askedBy.set(action, asked);
}

/**
 * An object that carries out what the model asks for: a shell or an editor. Its named methods are recorded and
 * guarded; all else, private fields too, is its own. What a method throws is what the model reads.
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
  const { agent, callId } = askedBy.get(action) ?? {};
  const calls: AdapterCalls | undefined = run?.callsOf(agent);
  if (!run || !calls?.covers(toolName)) return act();
  if (!run.hasSession) await run.sessionId();
  return calls.run(asAction(run.call(agent, { toolName, arguments: action, callId })), act);
}
