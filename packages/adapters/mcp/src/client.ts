import { randomUUID } from 'node:crypto';
import { ActionDeniedError } from '@actlog/recorder';
import type { AdapterOptions } from '@actlog/recorder/adapter';
import { keepActionId, takeActionId } from './action-ids.ts';
import { argumentsOf, type CallParams, callMethod, isCallParams } from './call-params.ts';
import { asClientCall, currentClientCall } from './client-call.ts';
import { type Hooks, hooksOf } from './hooks.ts';
import { throwFromClient } from './tool-outcome.ts';
import { deniedResult, isInputRequired } from './tool-result.ts';

/** A `Client` of `@modelcontextprotocol/sdk` or of `@modelcontextprotocol/client`. */
export interface McpClient {
  callTool(...args: never[]): Promise<unknown>;
  request(...args: never[]): Promise<unknown>;
}

/** Internals of a client. */
interface Client {
  callTool(params: unknown, ...rest: unknown[]): Promise<unknown>;
  request(request: { method?: unknown; params?: unknown } | undefined, ...rest: unknown[]): Promise<unknown>;
  readonly transport?: { readonly sessionId?: string } | undefined;
}

/** Options of a request, among the arguments after the first. */
interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly task?: unknown;
}

/** Records and guards every tool call of a client, on the client's side. */
export function recordClient(target: McpClient, options: AdapterOptions): void {
  const client = target as unknown as Client;
  hooksOf(client, (hooks) => wrapMethods(client, hooks)).add(options);
}

function wrapMethods(client: Client, hooks: Hooks): void {
  const { callTool, request } = client;
  client.callTool = (params, ...rest) =>
    recordCall({ client, hooks, params, rest }, () => callTool.call(client, params, ...rest));
  // Tool calls with `request`, and those of v1's experimental tasks, bypass `callTool`.
  client.request = (message, ...rest) => {
    const run = () => request.call(client, message, ...rest);
    return message?.method === callMethod
      ? recordCall({ client, hooks, params: message.params, rest }, run)
      : run();
  };
}

interface Attempt {
  readonly client: Client;
  readonly hooks: Hooks;
  readonly params: unknown;
  readonly rest: readonly unknown[];
}

function recordCall({ params, ...attempt }: Attempt, run: () => Promise<unknown>): Promise<unknown> {
  const call = currentClientCall();
  const isPart = call?.client === attempt.client && call.params === params;
  return isCallParams(params) && !isPart ? recordNewCall({ params, ...attempt }, run) : run();
}

async function recordNewCall(
  { client, hooks, params, rest }: Attempt & { readonly params: CallParams },
  run: () => Promise<unknown>,
): Promise<unknown> {
  const { signal, task = params.task } = requestOptions(rest);
  // A client that forwards the call of another one, for example in a gateway inside the process, makes the same call.
  const passedOn = currentClientCall();
  const callId = passedOn?.params === params ? passedOn.callId : randomUUID();
  const sessionId = client.transport?.sessionId;
  const actionId = takeActionId({ sessionId }, params) ?? callId;
  const call = {
    toolName: params.name,
    arguments: argumentsOf(params),
    callId,
    sessionId,
    actionId,
    signal,
  };
  try {
    const result = await hooks.run(call, () =>
      asClientCall({ client, params, callId }, run).catch(throwFromClient),
    );
    if (isInputRequired(result)) keepActionId({ sessionId }, params, actionId);
    return result;
  } catch (error) {
    // A task request has no result that could contain the message.
    if (!ActionDeniedError.isInstance(error) || task !== undefined) throw error;
    return deniedResult(error);
  }
}

function requestOptions(rest: readonly unknown[]): RequestOptions {
  const isOptions = (value: unknown) =>
    typeof value === 'object' && value !== null && ('signal' in value || 'task' in value);
  return (rest.findLast(isOptions) as RequestOptions | undefined) ?? {};
}
