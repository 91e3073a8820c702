import { AsyncLocalStorage } from 'node:async_hooks';
import {
  AdapterCalls,
  type AdapterOptions,
  type CallParams,
  isSameCall,
  processWide,
  TargetHooks,
  targetHooks,
  toolContent,
  toolOutcomeStatus,
} from '@actlog/recorder/adapter';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** A call made by a recorded client. */
interface ClientCall {
  readonly client: object;
  readonly params: CallParams;
  readonly callId: string;
}

/** A running call; a server may have taken its id. */
interface UnderwayCall extends ClientCall {
  isTaken: boolean;
}

const underway = processWide('@actlog/mcp/client-call', () => new AsyncLocalStorage<UnderwayCall>());

/** Returns the current client call; requests that the client sends for it are part of it. */
export function currentClientCall(): ClientCall | undefined {
  return underway().getStore();
}

/**
 * Returns the id of the client's call, for a server in the same process that handles it. Inner calls of the tool come
 * from here too, so the id is returned once, and only for exactly the same tool and arguments, because an approval
 * allows one call.
 */
export function takeClientCallId(params: CallParams): string | undefined {
  const call = underway().getStore();
  if (!call || call.isTaken || !isSameCall(call.params, params)) return undefined;
  call.isTaken = true;
  return call.callId;
}

/** Makes a call. */
export function asClientCall<Result>(call: ClientCall, run: () => Result): Result {
  return underway().run({ ...call, isTaken: false }, run);
}

const brand = Symbol.for('@actlog/mcp');

/** The recorders of one client or server. The first records; the others only apply their guards. */
export type Hooks = TargetHooks;

/**
 * Returns the hooks of a client or server.
 *
 * @param wrap - installs the hooks, the first time
 * @param given - those to install; default: new ones
 */
export function hooksOf(target: object, wrap: (hooks: Hooks) => void, given?: Hooks): Hooks {
  return targetHooks(target, brand, wrap, () => given ?? new TargetHooks(mcpCalls));
}

/** Creates the `AdapterCalls` of this adapter. */
function mcpCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'mcp',
      sdk: `@actlog/mcp/${version}`,
      form: 'actlog(client, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: toolContent,
    },
    options,
  );
}
