import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type AdapterOptions, ownName } from '@actlog/recorder/adapter';
import { BasePlugin, type Context } from '@google/adk';
import { googleAdkCalls, surroundings } from './google-adk-calls.ts';
import { providerCalls } from './provider-calls.ts';
import { hasRun, recordRun } from './recorded-tool.ts';
import { failed, type ResponseCall } from './response-call.ts';
import { awaitsAnswer } from './tool-run.ts';
import { tellTools, unknownToolCalls } from './unknown-tools.ts';

type Given<Callback extends keyof BasePlugin> = BasePlugin[Callback] extends (given: infer Params) => unknown
  ? Params
  : never;

/** The plugin behind `actlog()`. */
export function recordPlugin(options: AdapterOptions = {}): BasePlugin {
  return new RecordPlugin(options);
}

/**
 * Records a call by the run of its tool, and by what ADK says of it where the tool does not run. Every callback leaves
 * the answer to others.
 */
class RecordPlugin extends BasePlugin {
  readonly #calls: AdapterCalls;

  constructor(options: AdapterOptions) {
    super(ownName('google-adk')); // ADK refuses two plugins of one name, and a runner that has two is to run
    this.#calls = googleAdkCalls(options);
  }

  override async beforeToolCallback({ tool, toolContext }: Given<'beforeToolCallback'>): Promise<undefined> {
    recordRun(tool, toolContext, this.#calls, this);
  }

  override async afterToolCallback(given: Given<'afterToolCallback'>): Promise<undefined> {
    const { tool, toolArgs, toolContext, result } = given;
    if (hasRun(toolContext) || awaitsAnswer({ context: toolContext })) return;
    const call = { toolName: tool.name, arguments: toolArgs, callId: toolContext.functionCallId };
    this.#recordOnce(toolContext, { ...call, outcome: answeredOutcome(result), source: toolContext });
  }

  override async beforeModelCallback(given: Given<'beforeModelCallback'>): Promise<undefined> {
    tellTools(given.callbackContext.invocationContext, given.llmRequest.toolsDict);
  }

  override async afterModelCallback(given: Given<'afterModelCallback'>): Promise<undefined> {
    const { callbackContext, llmResponse } = given;
    if (llmResponse.partial) return;
    const { invocationContext } = callbackContext;
    for (const call of unknownToolCalls(invocationContext, llmResponse))
      this.#recordOnce(callbackContext, call);
    for (const call of providerCalls(invocationContext, llmResponse)) this.#recordOnce(callbackContext, call);
  }

  #recordOnce(context: Context, { outcome, source, ...call }: ResponseCall): void {
    if (!this.#calls.covers(call.toolName) || !this.#calls.claim(source)) return;
    this.#calls.record({ ...surroundings(context), ...call }, outcome);
  }
}

/** How a call ended that a callback answered in place of the tool. */
function answeredOutcome(result: unknown): ToolOutcome {
  const hasError = typeof result === 'object' && result !== null && 'error' in result;
  return hasError
    ? failed(responseStatuses.denied, 'A callback answered with an error.')
    : { ok: true, result };
}
