import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type AdapterOptions, ownName } from '@actlog/recorder/adapter';
import { BasePlugin, type Context, type LlmResponse } from '@google/adk';
import { endOfRun } from './denied-runs.ts';
import { googleAdkCalls, surroundings } from './google-adk-calls.ts';
import { hookRunners, recordsCalls } from './hooked-runners.ts';
import { providerCalls } from './provider-calls.ts';
import { hasRun, recordRun } from './recorded-tool.ts';
import { failed, type ResponseCall } from './response-call.ts';
import { noteModelCall } from './shown-texts.ts';
import { awaitsInput } from './tool-run.ts';
import { noteTools, unknownToolCalls } from './unknown-tools.ts';

type Given<Callback extends keyof BasePlugin> = BasePlugin[Callback] extends (given: infer Params) => unknown
  ? Params
  : never;

/** Creates the plugin behind `actlog()`. */
export function recordPlugin(options: AdapterOptions = {}): BasePlugin {
  return new RecordPlugin(options);
}

/**
 * Records a call when its tool runs, or from ADK's callbacks if the tool does not run. Its callbacks return nothing, so
 * that others may.
 */
class RecordPlugin extends BasePlugin {
  static {
    // ADK warns of its own experimental callbacks when it calls those of the base class, which do nothing.
    for (const name of Object.getOwnPropertyNames(BasePlugin.prototype)) {
      if (Object.hasOwn(RecordPlugin.prototype, name)) continue;
      Object.defineProperty(RecordPlugin.prototype, name, { value: async () => undefined });
    }
  }

  readonly [recordsCalls] = true;
  readonly #calls: AdapterCalls;

  constructor(options: AdapterOptions) {
    super(ownName('google-adk')); // ADK rejects two plugins with the same name, and a runner with two should work
    this.#calls = googleAdkCalls(options);
    hookRunners();
  }

  override async beforeToolCallback({ tool, toolContext }: Given<'beforeToolCallback'>): Promise<undefined> {
    recordRun(tool, toolContext, this.#calls, this);
  }

  override async afterToolCallback(given: Given<'afterToolCallback'>): Promise<undefined> {
    const { tool, toolArgs, toolContext, result } = given;
    if (hasRun(toolContext) || awaitsInput({ context: toolContext })) return;
    const call = { toolName: tool.name, arguments: toolArgs, callId: toolContext.functionCallId };
    this.#recordOnce(toolContext, { ...call, outcome: callbackOutcome(result), source: toolContext });
  }

  override async beforeModelCallback(given: Given<'beforeModelCallback'>): Promise<LlmResponse | undefined> {
    const { invocationContext } = given.callbackContext;
    noteModelCall(this.#calls, invocationContext);
    noteTools(invocationContext, given.llmRequest.toolsDict);
    const reason = endOfRun(invocationContext);
    if (reason === undefined) return undefined;
    given.callbackContext.actions.escalate = true; // a LoopAgent would start again
    return { content: { role: 'model', parts: [{ text: reason }] } };
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

/** Returns the outcome of a call for which a callback returned a result in place of the tool. */
function callbackOutcome(result: unknown): ToolOutcome {
  const hasError = typeof result === 'object' && result !== null && 'error' in result;
  return hasError ? failed(responseStatuses.denied, 'A callback returned an error.') : { ok: true, result };
}
