import { refuseOptions } from '@actlog/recorder/adapter';
import type { ActlogOptions } from './a2a-calls.ts';
import { type A2aClient, recordClient } from './client.ts';
import { type A2aExecutor, recordExecutor } from './executor.ts';

/**
 * Records every message between agents over the Agent2Agent protocol, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const client = actlog(await new ClientFactory().createFromUrl('https://recipes.example.com'));
 * const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), actlog(new RecipeExecutor()));
 * ```
 *
 * Modifies and returns the given object. Records a message as one call of a tool with the name of the called agent and
 * the status of the response or the task. A second call for the same object has no effect, unless it has another
 * recorder or guard: then both apply.
 *
 * @param target - a `Client` of `@a2a-js/sdk/client`, for an agent that calls another; or an `AgentExecutor` of
 * `@a2a-js/sdk/server`, for an agent that is called
 * @throws TypeError when the target is neither, or an option is invalid
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Target extends A2aClient | A2aExecutor>(
  target: Target,
  options: ActlogOptions = {},
): Target {
  if (isClient(target)) recordClient(target, options);
  else if (isExecutor(target)) recordExecutor(target, options);
  else {
    refuseOptions(target, 'actlog(client, { guard })');
    throw new TypeError(
      'target must be a Client of @a2a-js/sdk/client or an AgentExecutor of @a2a-js/sdk/server.',
    );
  }
  return target;
}

function isClient(target: object): target is A2aClient {
  const { transport, sendMessage } = target as Partial<A2aClient>;
  const { sendMessageStream } = (transport ?? {}) as { sendMessageStream?: unknown };
  return typeof sendMessage === 'function' && typeof sendMessageStream === 'function';
}

function isExecutor(target: object): target is A2aExecutor {
  const { execute, cancelTask } = target as Partial<A2aExecutor>;
  return typeof execute === 'function' && typeof cancelTask === 'function';
}
