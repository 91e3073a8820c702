import { ActionDeniedError, type RecorderSession } from '@actlog/recorder';

/** A call that a model asks for. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Model that receives the results so far and returns calls or its final text. */
export type Model = (results: readonly string[]) => Promise<readonly RequestedCall[] | string>;

/** Maximum number of turns of a run. */
const mostTurns = 20;

/**
 * Runs an agent: calls the model, runs the calls that it requests, and returns their results to it.
 *
 * @param signal - ends the run, also while a call is held
 * @throws the signal's reason
 */
export async function runAgent(
  model: Model,
  tools: Readonly<Record<string, (args: never) => unknown>>,
  session: RecorderSession,
  signal: AbortSignal,
): Promise<string> {
  const results: string[] = [];
  for (let turn = 0; turn < mostTurns; turn += 1) {
    signal.throwIfAborted();
    const said = await model(results);
    if (typeof said === 'string') return said;
    for (const call of said) results.push(await runCall(call));
  }
  throw new Error(`The agent did not finish in ${mostTurns} turns.`);

  async function runCall({ id, name, arguments: args }: RequestedCall): Promise<string> {
    const tool = tools[name];
    try {
      // The one call that records and guards; `callId` distinguishes two equal calls of the model.
      const call = { toolName: name, arguments: args, callId: id, signal };
      const result = await session.toolCall(call, () => {
        if (!tool) throw Object.assign(new Error(`There is no tool ${name}.`), { status: 404 });
        return tool(args as never);
      });
      return JSON.stringify(result);
    } catch (error) {
      signal.throwIfAborted();
      // The message of a denial is written for the model.
      return ActionDeniedError.isInstance(error)
        ? error.message
        : `${name} failed: ${(error as Error).message}`;
    }
  }
}
