import type { AgentOutputType, FunctionToolResult, ToolUseBehavior } from '@openai/agents';
import { currentRun } from './runs/run-scope.ts';
import { type NamedCall, nameOf } from './tool-call.ts';

type BehaviorFunction = Extract<ToolUseBehavior, (...args: never[]) => unknown>;
type Finality = Awaited<ReturnType<BehaviorFunction>>;

/** An agent whose output may be the result of a tool. */
interface OutputAgent {
  readonly outputType?: AgentOutputType | undefined;
  toolUseBehavior: ToolUseBehavior;
}

const notFinal: Finality = { isFinalOutput: false, isInterrupted: undefined };

const guarded = new WeakSet<object>();

/**
 * Makes the model continue after a denial in a run that would use a tool's result as its typed output: the denial's
 * text does not match the type, and the SDK would end the run with a `ModelBehaviorError`. An agent without a type ends
 * with the text as its output, as configured by the user.
 */
export function keepDenialsFromOutput(agent: OutputAgent): void {
  const own = Object.getOwnPropertyDescriptor(agent, 'toolUseBehavior');
  if (guarded.has(agent) || !own?.configurable || !('value' in own)) return;
  guarded.add(agent);
  let behavior: ToolUseBehavior = own.value;
  Object.defineProperty(agent, 'toolUseBehavior', {
    configurable: true,
    enumerable: true,
    get: () => {
      const denied = currentRun()?.denied;
      const isTyped = agent.outputType !== undefined && agent.outputType !== 'text';
      const isKept = isTyped && behavior !== 'run_llm_again' && denied && denied.size > 0;
      return isKept ? withoutDenials(behavior, denied) : behavior;
    },
    set: (value: ToolUseBehavior) => {
      behavior = value;
    },
  });
}

/** Returns the behavior for a turn with denied calls: none of their results is final. */
function withoutDenials(behavior: ToolUseBehavior, denied: ReadonlySet<string>): BehaviorFunction {
  return async (context, results) => {
    const isDenied = ({ runItem }: FunctionToolResult) =>
      denied.has(String((runItem.rawItem as { callId?: unknown }).callId));
    if (typeof behavior === 'function') {
      const kept = results.filter((result) => !isDenied(result));
      return kept.length > 0 ? behavior(context, kept) : notFinal;
    }
    if (typeof behavior === 'string') return finalityOf(results.at(0), isDenied);
    const stops = (result: FunctionToolResult) => {
      const names = [result.tool.name, nameOf(result.runItem.rawItem as NamedCall)];
      return !isDenied(result) && behavior.stopAtToolNames.some((name) => names.includes(name));
    };
    return finalityOf(results.find(stops), isDenied);
  };
}

function finalityOf(
  result: FunctionToolResult | undefined,
  isDenied: (result: FunctionToolResult) => boolean,
): Finality {
  if (result?.type !== 'function_output' || isDenied(result)) return notFinal;
  const { output } = result;
  const finalOutput = typeof output === 'string' ? output : JSON.stringify(output);
  return { isFinalOutput: true, isInterrupted: undefined, finalOutput };
}
