import { randomUUID } from 'node:crypto';
import { ActionDeniedError, type ApprovedChange } from '@actlog/recorder';
import {
  type AdapterCalls,
  type AdapterOptions,
  argumentsOf,
  type CallParams,
  callMethod,
  currentSessionId,
  deniedResult,
  giveUpCalls,
  isCallParams,
  isInputRequired,
  keepActionId,
  noteRecordedStatus,
  removeOutcomes,
  repetitionKey,
  runRepeatable,
  sealedIn,
  takeActionId,
  throwFromClient,
  withAnnouncements,
  withChangeNotice,
} from '@actlog/recorder/adapter';
import { asClientCall, currentClientCall, type Hooks, hooksOf } from './hooks.ts';

/** A `Client` of `@modelcontextprotocol/sdk` or of `@modelcontextprotocol/client`. */
export interface McpClient {
  callTool(...args: never[]): Promise<unknown>;
  request(...args: never[]): Promise<unknown>;
}

/** Internals of a client. */
interface Client {
  callTool(params: unknown, ...rest: unknown[]): Promise<unknown>;
  request(request: { method?: unknown; params?: unknown } | undefined, ...rest: unknown[]): Promise<unknown>;
  close?(): Promise<void>;
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
  const { callTool, request, close } = client;
  client.callTool = (params, ...rest) =>
    recordCall({ client, hooks, params, rest }, (sent) => callTool.call(client, sent, ...rest));
  // Tool calls with `request` or in v1's experimental tasks bypass `callTool`.
  client.request = (message, ...rest) =>
    message?.method === callMethod
      ? recordCall({ client, hooks, params: message.params, rest }, (params) =>
          request.call(client, { ...message, params }, ...rest),
        )
      : request.call(client, message, ...rest);
  if (typeof close !== 'function') return;
  client.close = () => {
    giveUpCalls(client);
    return close.call(client);
  };
}

interface Attempt {
  readonly client: Client;
  readonly hooks: Hooks;
  readonly params: unknown;
  readonly rest: readonly unknown[];
}

/** Sends a call with the given parameters. */
type Send = (params: unknown) => Promise<unknown>;

function recordCall({ params, ...attempt }: Attempt, send: Send): Promise<unknown> {
  const call = currentClientCall();
  const isPart = call?.client === attempt.client && call.params === params;
  return isCallParams(params) && !isPart ? recordNewCall({ params, ...attempt }, send) : send(params);
}

async function recordNewCall(
  { client, hooks, params, rest }: Attempt & { readonly params: CallParams },
  send: Send,
): Promise<unknown> {
  const { signal, task = params.task } = requestOptions(rest);
  // A client that forwards the call of another one, for example in a gateway inside the process, makes the same call.
  const passedOn = currentClientCall();
  const callId = passedOn?.params === params ? passedOn.callId : randomUUID();
  // Several conversations may share one connection, and with it the session of the transport.
  const sessionId = currentSessionId() || client.transport?.sessionId;
  const actionId = takeActionId({ sessionId }, params) ?? callId;
  const recorders = hooks.recordersOf(params.name);
  const call = {
    toolName: params.name,
    arguments: argumentsOf(params),
    callId,
    sessionId,
    actionId,
    signal,
    acceptsChanges: true,
  };
  const run = async (args?: unknown, change?: ApprovedChange) => {
    const sealed = recorders.flatMap((calls) => calls.sharedCalls?.announce(actionId) ?? []);
    const changed = change ? { ...params, arguments: args } : params;
    const sent = withAnnouncements(changed, sealed);
    const own = await asClientCall({ client, params: sent, callId }, () => send(sent)).catch(throwFromClient);
    const result = change ? withChangeNotice(own, change) : own;
    takeOutcomes(recorders, result);
    return result;
  };
  try {
    const result = await runRepeatable({
      owner: client,
      run,
      key: () => {
        const running = recorders[0]?.currentCall();
        return running && repetitionKey(['client', running.agentId, running.sessionId], params);
      },
      record: (recorded) => hooks.run(call, recorded),
    });
    if (isInputRequired(result)) keepActionId({ sessionId }, params, actionId);
    return result;
  } catch (error) {
    // A task request has no result that could contain the message.
    if (!ActionDeniedError.isInstance(error) || task !== undefined) throw error;
    return deniedResult(error);
  }
}

/** Takes what the server recorded out of a result. */
function takeOutcomes(recorders: readonly AdapterCalls[], result: unknown): void {
  const sealed = sealedIn(result);
  for (const calls of recorders) {
    const [status] = sealed.flatMap((outcome) => calls.sharedCalls?.openOutcome(outcome) ?? []);
    if (status !== undefined) noteRecordedStatus(result, status);
    else if (!isInputRequired(result)) calls.sharedCalls?.withdraw();
  }
  removeOutcomes(result);
}

function requestOptions(rest: readonly unknown[]): RequestOptions {
  const isOptions = (value: unknown) =>
    typeof value === 'object' && value !== null && ('signal' in value || 'task' in value);
  return (rest.findLast(isOptions) as RequestOptions | undefined) ?? {};
}
