import type { AdapterCalls, AnnouncedCall } from '@actlog/recorder/adapter';

/** Header with the session in which the client records the call. */
const header = 'x-actlog-call';

/** Longest header, in characters: servers limit all headers together to 8 KiB and more. */
const maxLength = 4096;

/** Options of a request, which transports send as headers. */
interface RequestOptions {
  readonly serviceParameters?: Readonly<Record<string, string>>;
}

/**
 * Returns the options of a request with the running call, sealed for servers with the same API key or `hashKey`. Must be
 * called inside the call.
 */
export function withCallerSession<Options extends RequestOptions | undefined>(
  options: Options,
  recorders: readonly AdapterCalls[],
): Options | RequestOptions {
  const sealed = recorders.flatMap(({ sharedCalls }) => {
    const announced = sharedCalls?.announce();
    sharedCalls?.withdraw(); // the server records a separate event
    return announced ?? [];
  });
  const value = sealed.join(',');
  if (value === '' || value.length > maxLength) return options;
  return { ...options, serviceParameters: { ...options?.serviceParameters, [header]: value } };
}

/** The used part of the context in which a server handles a request. */
export interface ServerContext {
  readonly state?: { get?(key: string): unknown };
}

/** Returns the call of the client that sent a request; undefined if the client is not recorded in the same service. */
export function callOfClient(
  context: ServerContext | undefined,
  recorders: readonly AdapterCalls[],
): AnnouncedCall | undefined {
  const headers = context?.state?.get?.('headers') as Readonly<Record<string, unknown>> | undefined;
  const value = headers?.[header];
  if (typeof value !== 'string') return undefined;
  for (const sealed of value.split(',')) {
    for (const { sharedCalls } of recorders) {
      const call = sharedCalls?.open(sealed.trim());
      if (call) return call;
    }
  }
  return undefined;
}
